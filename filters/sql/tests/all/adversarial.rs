//! Texts made to be misread, and texts made to exhaust.
#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, clippy::indexing_slicing)]

use crate::common;
use crate::common::shapes::analyze;
use crate::common::{check_refused, check_rewritten, check_untouched};

#[test]
fn names_are_folded_and_cut_as_the_server_does() {
    let long = "c".repeat(70);
    let mut catalog = common::catalog();
    catalog.relations_mut()[0].name = long[..63].to_owned();
    let accepted = analyze(&format!("INSERT INTO {long} (ssn) VALUES ('x')"), &catalog).unwrap();
    assert_eq!(accepted.splices.len(), 1);
    let accepted = analyze(&format!("INSERT INTO \"{long}zzz\" (SSN) VALUES ('x')"), &catalog).unwrap();
    assert_eq!(accepted.splices.len(), 1);

    catalog.relations_mut()[0].name = "Кунде\"x".to_owned();
    catalog.relations_mut()[0].columns[3].name = "номер".to_owned();
    let text = "INSERT INTO \"Кунде\"\"x\" (номер) VALUES ('é', 'x')".replace("'é', ", "");
    assert_eq!(analyze(&text, &catalog).unwrap().splices.len(), 1);
    // Only ASCII letters are folded.
    assert!(analyze("INSERT INTO \"Кунде\"\"x\" (НОМЕР) VALUES ('x')", &catalog).is_err());
    assert!(analyze("SELECT 'unfinished \"КУНДЕ\"\"X\"", &catalog).is_err());
}

#[test]
fn quotes_and_comments_do_not_hide_tables() {
    check_rewritten(&[
        (
            "INSERT/**/INTO/**/customer/**/(ssn)/**/VALUES/**/('x')",
            "INSERT/**/INTO/**/customer/**/(ssn)/**/VALUES/**/(«S1:x»)",
        ),
        ("INSERT INTO\n--'\ncustomer(ssn)VALUES('x')", "INSERT INTO\n--'\ncustomer(ssn)VALUES(«S1:x»)"),
        ("insert into cUsToMeR(\"ssn\")values('x')", "insert into cUsToMeR(\"ssn\")values(«S1:x»)"),
        (
            "SELECT 'a\\' , ssn FROM customer WHERE ssn = 'b'",
            "SELECT 'a\\' , ssn FROM customer WHERE ssn = «?1:b»",
        ),
        (
            "SELECT $a$ ' $a$ , ssn FROM customer WHERE ssn = $$'$$",
            "SELECT $a$ ' $a$ , ssn FROM customer WHERE ssn = «?1:'»",
        ),
    ]);
    check_refused(&[
        ("SELECT * FROM U&\"\\0063ustomer\"", ""),
        ("SELECT * FROM U&\"\\+000063ustomer\"", ""),
        ("SELECT * FROM U&\"!0063ustomer\" UESCAPE '!'", ""),
        ("SELECT 1 /*!50000 , ssn FROM customer */ FROM customer WHERE upper(ssn) = 'x'", "customer.ssn"),
    ]);
    check_untouched(&[
        "SELECT * FROM \"customer \"",
        "SELECT * FROM \"cus tomer\"",
        "SELECT * FROM customer2",
    ]);
}

#[test]
fn operators_are_split_as_the_server_does() {
    check_rewritten(&[
        ("UPDATE customer SET ssn=-5", "UPDATE customer SET ssn=«S1:-5»"),
        (
            "SELECT 1 FROM customer WHERE ssn='a'--'\n AND id=1",
            "SELECT 1 FROM customer WHERE ssn=«?1:a»--'\n AND id=1",
        ),
        ("SELECT 1 FROM customer WHERE ssn=/**/'a'", "SELECT 1 FROM customer WHERE ssn=/**/«?1:a»"),
    ]);
    check_refused(&[
        ("SELECT 1 FROM customer WHERE ssn!=-5", ""),
        // To the server `<>` and `-5`, to the parser one operator.
        ("SELECT 1 FROM customer WHERE ssn<>-5", ""),
        ("SELECT 1 FROM customer WHERE ssn=@-5", ""),
        ("SELECT 1 FROM customer WHERE ssn=~'x'", ""),
        ("SELECT 1 FROM customer WHERE ssn==='x'", ""),
        ("SELECT 1 FROM customer WHERE ssn == 'x'", ""),
    ]);
}

#[test]
fn syntax_of_other_dialects_is_not_believed() {
    check_refused(
        &[
            ("SELECT TOP 5 ssn FROM customer", ""),
            ("SELECT ssn FROM customer PREWHERE ssn = '123-45'", ""),
            ("SELECT * EXCLUDE (ssn) FROM customer", ""),
            ("SELECT * EXCEPT (ssn) FROM customer", ""),
            ("SELECT * REPLACE (upper(ssn) AS ssn) FROM customer", ""),
            ("FROM customer SELECT ssn", ""),
            ("FROM customer", ""),
            ("SELECT ssn FROM customer QUALIFY ssn = '123-45'", ""),
            ("SELECT ssn FROM customer LIMIT 1, 2", ""),
            ("SELECT ssn FROM customer LIMIT 1 BY ssn", ""),
            ("SELECT ssn FROM customer FOR XML AUTO", ""),
            ("SELECT ssn FROM customer SETTINGS a = 1", ""),
            ("SELECT ssn FROM customer WHERE ssn RLIKE '123-45'", ""),
            ("SELECT ssn FROM customer WHERE ssn <=> '123-45'", ""),
            ("SELECT ssn FROM customer CONNECT BY ssn = '123-45'", ""),
            ("SELECT ssn FROM customer c LEFT SEMI JOIN orders o ON true", ""),
            ("SELECT ssn FROM customer LATERAL VIEW explode(x) t", ""),
            ("SELECT ssn FROM `customer`", ""),
            ("SELECT ssn FROM [customer]", ""),
            ("SELECT 'ssn' 'x' FROM customer", ""),
            ("INSERT OR REPLACE INTO customer (ssn) VALUES ('123-45')", ""),
            ("INSERT INTO TABLE customer (ssn) VALUES ('123-45')", ""),
            ("INSERT OVERWRITE customer (ssn) VALUES ('123-45')", ""),
            ("INSERT INTO customer (ssn) VALUES ROW ('123-45')", ""),
            ("INSERT INTO customer (ssn) VALUE ('123-45')", ""),
            ("INSERT INTO customer PARTITION (ssn = '123-45') VALUES (1)", ""),
            ("INSERT INTO customer (ssn) VALUES ('123-45') AS new", ""),
            ("UPDATE customer, orders SET ssn = '123-45'", ""),
            ("UPDATE OR IGNORE customer SET ssn = '123-45'", ""),
            ("DELETE customer, orders FROM customer", ""),
            ("SELECT ssn FROM customer |> WHERE ssn = '123-45'", ""),
            ("SELECT {fn upper(ssn)} FROM customer", ""),
            ("SELECT ssn := 5 FROM customer", ""),
            ("SELECT @ssn FROM customer", ""),
            ("SELECT ssn FROM customer@remote", ""),
        ]
        .map(|(text, _)| (text, label_of(text))),
    );
}

/// Whichever label the refusal names: here it is enough that there is one.
fn label_of(text: &str) -> &'static str {
    let label = analyze(text, &common::catalog()).err().and_then(|refusal| refusal.label);
    label.map_or("", |label| Box::leak(label.into_boxed_str()))
}

#[test]
fn no_refusal_tells_a_literal_or_an_unprotected_name() {
    for text in [
        "SELECT upper(ssn || '123-45-secret') FROM customer WHERE verysecret = 1",
        "INSERT INTO customer (ssn, verysecret) VALUES ('123-45-secret', 1)",
        "SELECT '123-45-secret FROM customer verysecret",
        "SELECT * FROM customer WHERE ssn LIKE '123-45-secret' verysecret ((",
        "SELECT verysecret.x FROM customer WHERE ssn = '123-45-secret'",
    ] {
        let refusal = analyze(text, &common::catalog()).unwrap_err();
        assert!(!format!("{refusal} {refusal:?}").contains("secret"), "{refusal}");
    }
    let analysis = common::accepted("INSERT INTO customer (ssn) VALUES ('123-45-secret')");
    assert!(!format!("{analysis:?}").contains("secret"));
}

/// Runs on a stack as small as a Wasm module's.
fn on_a_small_stack(texts: Vec<String>) {
    let run = move || {
        for text in texts {
            let analysis = analyze(&text, &common::catalog());
            assert!(analysis.is_err() || analysis.unwrap().statements[0].touched, "{}", &text[..60]);
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap();
}

const STACK: usize = 1024 * 1024;

#[test]
fn long_texts_are_answered_in_time() {
    let started = std::time::Instant::now();
    let many = |text: &str| text.repeat(100_000);
    for text in [
        format!("CREATE INDEX ON customer ({} id)", many("ssn,")),
        format!("ALTER TABLE customer {}", many("DROP ssn,")),
        format!("SELECT ssn FROM customer {}", many(",x")),
        format!("SELECT ssn FROM customer WHERE ssn IN ('x' {})", many(",'x'")),
        format!("SELECT ssn {} FROM customer", many(",ssn")),
        format!("INSERT INTO customer (ssn) VALUES ('x') {}", many(",('x')")),
        format!("SELECT 1; {}", many("SELECT 1;")),
        format!("SELECT ssn FROM customer; {}", many(";")),
        format!("SELECT ssn {}", many("\"")),
        format!("SELECT {} customer", many("(")),
        many("$a$ $b$"),
    ] {
        let _ = analyze(&text, &common::catalog());
    }
    // A second or two in this build; with anything quadratic, minutes.
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn chains_and_nests_of_any_length_end_in_an_answer() {
    let mut texts = Vec::new();
    for n in [10, 50, 100, 290, 300, 1000, 20_000] {
        let chain = |link: &str| link.repeat(n);
        texts.extend([
            format!("SELECT 1 FROM customer WHERE id = 1 {}", chain(" OR id = 1")),
            format!("SELECT 1 FROM customer WHERE ssn = 'x' {}", chain(" AND ssn = 'x'")),
            format!("SELECT 1 FROM customer WHERE {} true", chain("NOT ")),
            format!("SELECT id {} FROM customer", chain("::text")),
            format!("SELECT id {} FROM customer", chain(" IS NULL")),
            format!("SELECT id {} FROM customer", chain(" + 1")),
            format!("SELECT {} id FROM customer", chain("- ")),
            format!("SELECT id {} FROM customer", chain("[1]")),
            format!("SELECT id {} FROM customer", chain(" || (name)")),
            format!("SELECT id {} FROM customer", chain(" COLLATE \"C\"")),
            format!("SELECT {} id {} FROM customer", chain("("), chain(")")),
            format!("SELECT {} id {} FROM customer", chain("f("), chain(")")),
            format!("SELECT {} id {} FROM customer", chain("CASE WHEN true THEN "), chain(" END")),
            format!("SELECT {} 1 {} FROM customer", chain("(SELECT "), chain(")")),
            format!("SELECT id FROM customer {}", chain(" UNION SELECT id FROM customer")),
            format!("SELECT id FROM customer {}", chain(", orders")),
            format!("SELECT id FROM customer {}", chain(" CROSS JOIN orders")),
            format!("SELECT id FROM {} customer {}", chain("("), chain(")")),
            format!("SELECT id FROM {} SELECT 1 FROM customer {}", chain("(SELECT id FROM "), chain(") x")),
            format!("INSERT INTO customer (ssn) VALUES ('x') {}", chain(", ('x')")),
            format!("SELECT 1 FROM customer WHERE ssn IN ('x' {})", chain(", 'x'")),
            format!("SELECT 1 FROM customer {}", chain("/*")),
            format!("SELECT {} FROM customer", chain("$a$")),
            format!("WITH {} a AS (SELECT 1) SELECT 1 FROM customer", chain("a AS (SELECT 1), ")),
            format!("EXPLAIN {} SELECT 1 FROM customer", chain("EXPLAIN ")),
            format!("SELECT 1 FROM customer WHERE {} id = 1 {}", chain("(id = 1 AND "), chain(")")),
            format!("SELECT a{} FROM customer", chain(".a")),
        ]);
    }
    on_a_small_stack(texts);
}
