use sqlparser::{ast::*, dialect::PostgreSqlDialect, parser::Parser};
use std::ops::ControlFlow;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (kind, phase, n, kb) = (&a[1], &a[2], a[3].parse::<usize>().unwrap(), a[4].parse::<usize>().unwrap());
    let c = |l: &str| l.repeat(n);
    let t = match kind.as_str() {
        "or" => format!("SELECT 1 FROM customer WHERE id = 1 {}", c(" OR id = 1")),
        "cast" => format!("SELECT id {} FROM customer", c("::text")),
        "null" => format!("SELECT id {} FROM customer", c(" IS NULL")),
        "paren" => format!("SELECT {} id {} FROM customer", c("("), c(")")),
        "case" => format!("SELECT {} id {} FROM customer", c("CASE WHEN true THEN "), c(" END")),
        "sub" => format!("SELECT {} 1 {} FROM customer", c("(SELECT "), c(")")),
        "union" => format!("SELECT id FROM customer {}", c(" UNION SELECT id FROM customer")),
        _ => panic!(),
    };
    let phase = phase.clone();
    std::thread::Builder::new()
        .stack_size(kb * 1024)
        .spawn(move || {
            if phase == "all" {
                use fieldveil_sql::*;
                let r = Relation {
                    oid: 1,
                    schema: "public".into(),
                    name: "customer".into(),
                    visible: true,
                    kind: RelationKind::Table,
                    columns: vec![
                        Column {
                            number: 1,
                            name: "ssn".into(),
                            stored: Stored::Text,
                            has_default: false,
                            generated: false,
                            field: Some(Field { id: 0, label: "l".into(), equality: true }),
                        },
                        Column {
                            number: 2,
                            name: "id".into(),
                            stored: Stored::Other,
                            has_default: false,
                            generated: false,
                            field: None,
                        },
                    ],
                };
                println!(
                    "{:?}",
                    analyze(&t, &Catalog { relations: vec![r] }).map(|_| ()).map_err(|e| e.reason)
                );
                return;
            }
            let p = Parser::parse_sql(&PostgreSqlDialect {}, &t);
            let p = match p {
                Ok(p) => p,
                Err(e) => {
                    println!("err {e}");
                    return;
                }
            };
            match phase.as_str() {
                "parse" => {}
                "drop" => {
                    drop(p);
                    return;
                }
                "fmt" => {
                    p[0].to_string();
                }
                "visit" => {
                    let _: ControlFlow<()> = visit_expressions(&p, |_| ControlFlow::Continue(()));
                }
                _ => {}
            }
            std::mem::forget(p);
        })
        .unwrap()
        .join()
        .unwrap();
}
