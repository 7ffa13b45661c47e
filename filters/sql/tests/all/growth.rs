//! Texts whose parts are many: each is analyzed in about as many steps as it has parts. A loop over all parts for each of them
//! would take minutes here.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::common;
use crate::common::mysql::{MYSQL, mysql};
use fieldveil_sql::{
    Analysis, Budget, Catalog, Column, Dialect, Refusal, RefusalClass, Relation, RelationKind, StorageType,
    analyze, analyze_within, identity,
};

fn list(part: &str, times: usize) -> String {
    vec![part; times].join(", ")
}

fn numbered(times: usize, part: impl Fn(usize) -> String) -> String {
    (0..times).map(part).collect::<Vec<_>>().join(", ")
}

/// The usual catalog, with `wide(c0, c1, …, c1599)`, whose last column has a field.
fn with_wide(catalog: Catalog) -> Catalog {
    let mut catalog = catalog;
    let relations = catalog.relations_mut();
    let ssn = relations[0].columns.iter().find(|column| column.name == "ssn").cloned().unwrap();
    let plain = |n: usize| Column {
        number: i16::try_from(n).unwrap() + 1,
        name: format!("c{n}"),
        stored: StorageType::Text,
        has_default: false,
        generated: false,
        field: (n == 1599).then(|| ssn.field.clone()).flatten(),
    };
    relations.push(table(90, "wide", (0..1600).map(plain).collect()));
    catalog
}

/// The same with 400 more relations.
fn with_many(catalog: Catalog) -> Catalog {
    let mut catalog = catalog;
    let columns = catalog.relations()[0].columns.to_vec();
    let relations = catalog.relations_mut();
    relations.extend((0..400).map(|n| table(100 + n, &format!("relation_{n}"), columns.clone())));
    catalog
}

fn table(oid: u32, name: &str, columns: Vec<Column>) -> Relation {
    Relation {
        oid,
        schema: "public".to_owned(),
        name: name.to_owned(),
        visible: true,
        kind: RelationKind::Table,
        columns: columns.into(),
        searches: Vec::new(),
        compares: Vec::new(),
    }
}

#[track_caller]
fn accepted(text: &str, catalog: &Catalog) -> Analysis {
    match analyze(text, catalog) {
        Ok(analysis) => analysis,
        Err(refusal) => panic!("refused: {refusal}"),
    }
}

#[track_caller]
fn refused(text: &str, catalog: &Catalog) -> Refusal {
    analyze(text, catalog).err().unwrap_or_else(|| panic!("accepted"))
}

#[track_caller]
fn steps(text: &str, catalog: &Catalog) -> u64 {
    let budget = Budget::new();
    assert!(analyze_within(text, catalog, &(), &budget).is_ok(), "refused");
    budget.spent()
}

#[test]
fn many_calls_of_set_config_are_read_once_each() {
    let text = |times| format!("SELECT {}", list("set_config('fieldveil.token', $1, true)", times));
    let identity = identity::identify(&text(6_400), Dialect::Postgres);
    assert_eq!(identity.map(|found| found.parameters.len()).ok(), Some(6_400));
    let purposes = format!("SELECT {}", list("set_config('fieldveil.purpose', 'x', true)", 6_400));
    assert!(identity::identify(&purposes, Dialect::Postgres).is_ok_and(|found| found.tokens.is_empty()));
    let hidden = format!("{purposes}, set_config('x', 'fieldveil.token', true)");
    assert!(identity::identify(&hidden, Dialect::Postgres).is_err());
    assert!(identity::is_for_anybody(&purposes, Dialect::Postgres));
}

#[test]
fn many_changes_of_how_texts_are_read_look_at_the_rest_once() {
    let changes = "SET sql_mode = ''; ".repeat(5_000);
    let own = format!("SET @fieldveil_purpose = 'a'; {changes}");
    assert!(identity::identify(&own, MYSQL).is_ok());
    assert!(identity::identify(&format!("{changes} SET @fieldveil_token = 'a'"), MYSQL).is_err());
    assert_eq!(accepted(&changes, &mysql()).statements.len(), 5_000);
    refused(&format!("{changes} SELECT 1 FROM customer"), &mysql());
}

#[test]
fn many_words_behind_create_are_looked_at_once() {
    accepted(&format!("CREATE {}", "execute ".repeat(32_000)), &common::catalog());
    refused(&format!("CREATE {} atomic", "execute ".repeat(32_000)), &common::catalog());
}

#[test]
fn many_columns_of_using_are_merged_one_by_one() {
    for catalog in [common::catalog(), mysql()] {
        let text = format!("SELECT 1 FROM customer JOIN person USING ({})", list("id", 8_000));
        accepted(&text, &catalog);
        let text = format!("SELECT 1 FROM customer JOIN person USING ({}, ssn)", list("id", 8_000));
        assert_eq!(accepted(&text, &catalog).statements[0].fields.compares, [1, 5]);
    }
}

#[test]
fn many_columns_of_an_index_are_looked_at_in_one_pass() {
    for catalog in [common::catalog(), mysql()] {
        accepted(&format!("ALTER TABLE customer ADD UNIQUE ({})", list("ssn", 8_000)), &catalog);
        accepted(&format!("CREATE INDEX i ON customer ({})", list("ssn", 8_000)), &catalog);
        refused(&format!("CREATE INDEX i ON customer ({}, (ssn))", list("ssn", 7_000)), &catalog);
        refused(&format!("ALTER TABLE customer ADD UNIQUE ({}, lower(ssn))", list("ssn", 7_000)), &catalog);
    }
}

#[test]
fn what_many_relations_are_called_is_found_out_once() {
    for catalog in [with_many(common::catalog()), with_many(mysql())] {
        assert_eq!(accepted(&"a;".repeat(32_000), &catalog).statements.len(), 32_000);
        let text = "1,".repeat(1 << 19);
        assert_eq!(accepted(&text, &catalog).statements.len(), 1);
        assert_eq!(refused(&format!("{text} Relation_399"), &catalog).class, RefusalClass::TooComplex);
    }
}

#[test]
fn names_of_other_letters_are_compared_with_a_bounded_number_of_names() {
    let catalog = with_many(mysql());
    let text = format!("SELECT {} FROM orders", numbered(16_000, |n| format!("é{n:09}")));
    assert!(matches!(analyze(&text, &catalog), Ok(_) | Err(Refusal { .. })));
}

#[test]
fn many_references_to_many_columns_are_looked_up() {
    let columns = numbered(1_600, |n| format!("id AS c{n}"));
    let all = numbered(1_600, |n| format!("c{n}"));
    for catalog in [common::catalog(), mysql()] {
        let text = format!("SELECT {all}, ssn FROM (SELECT {columns}, ssn FROM customer) d");
        assert_eq!(accepted(&text, &catalog).statements[0].fields.reads, [1]);
        for clause in ["ORDER BY", "GROUP BY"] {
            let keys = numbered(8_000, |n| format!("c{}", n % 1_600));
            accepted(&format!("SELECT {columns}, ssn FROM customer {clause} {keys}"), &catalog);
            let text = format!("SELECT {columns}, notes AS n FROM customer {clause} {keys}, n");
            assert_eq!(refused(&text, &catalog).label.as_deref(), Some("customer.notes"));
        }
    }
}

#[test]
fn a_chain_of_queries_that_select_all_shares_its_columns() {
    let chain = |times| numbered(times, |n| format!("c{} AS (SELECT * FROM c{n})", n + 1));
    for catalog in [with_wide(common::catalog()), with_wide(mysql())] {
        let text =
            |times| format!("WITH c0 AS (SELECT * FROM wide), {} SELECT * FROM c{times}", chain(times));
        let columns = accepted(&text(2_500), &catalog).statements[0].columns.clone().unwrap();
        assert_eq!((columns.len(), columns.iter().flatten().count()), (1_600, 1));
        // One more query of the chain costs what its own few words cost.
        let (few, many) = (steps(&text(500), &catalog), steps(&text(1_000), &catalog));
        assert!(many < few * 2, "{few} steps, and {many} for twice as much");
    }
}

#[test]
fn what_a_few_words_stand_for_is_bounded() {
    let catalog = with_wide(common::catalog());
    for text in [
        // Each makes 1,600 columns of its own.
        format!(
            "WITH c0 AS (SELECT * FROM wide), {} SELECT 1 FROM c1",
            numbered(5_000, |n| format!("c{} AS (SELECT 1, * FROM c0)", n + 1))
        ),
        format!("SELECT c1 FROM ({}) d", ["SELECT * FROM wide"; 5_000].join(" UNION ALL ")),
        "SELECT * FROM wide; ".repeat(10_000),
        "INSERT INTO wide SELECT * FROM wide; ".repeat(8_000),
    ] {
        let refusal = refused(&text, &catalog);
        assert_eq!(refusal.class, RefusalClass::TooComplex, "{refusal}");
    }
    accepted(&"SELECT * FROM wide; ".repeat(50), &catalog);
}

#[test]
fn a_long_name_is_not_written_again_for_each_of_many_values() {
    let found = |name: &str, values| {
        format!("SELECT id FROM vault AS `{name}` WHERE `{name}`.token IN ({})", list("'x'", values))
    };
    let refusal = refused(&found(&"a".repeat(60_000), 15_000), &mysql());
    assert_eq!(refusal.class, RefusalClass::TooComplex, "{refusal}");
    accepted(&found(&"a".repeat(60_000), 1), &mysql());
    accepted(&found("v", 10_000), &mysql());
}

#[test]
fn more_columns_than_the_server_takes_are_refused() {
    let select = |columns| format!("SELECT {} FROM customer", list("ssn", columns));
    accepted(&select(1_664), &common::catalog());
    refused(&select(1_665), &common::catalog());
    accepted(&select(4_096), &mysql());
    refused(&select(4_097), &mysql());
}

#[test]
fn relations_of_one_from_are_counted_as_they_come() {
    let joins = |times| (0..times).map(|n| format!(" JOIN t{n} ON a = b")).collect::<String>();
    for catalog in [common::catalog(), mysql()] {
        accepted(&format!("SELECT 1 FROM customer{}", joins(100)), &catalog);
        refused(&format!("SELECT 1 FROM customer{}", joins(9_000)), &catalog);
        refused(&format!("SELECT 1 FROM customer, {}", numbered(20_000, |n| format!("t{n}"))), &catalog);
    }
}

#[test]
fn many_assignments_are_each_looked_up() {
    let catalog = with_wide(mysql());
    accepted(&format!("UPDATE wide SET {}", list("c1598 = 1", 8_000)), &catalog);
    let text = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE customer (ssn) SET {}", list("id = 1", 12_000));
    accepted(&text, &catalog);
    let text = format!(
        "LOAD DATA LOCAL INFILE 'x' INTO TABLE customer ({}, ssn)",
        numbered(30_000, |n| format!("@a{n}"))
    );
    accepted(&text, &catalog);
    // What is listed more often than there are columns is listed twice.
    refused(&format!("INSERT INTO customer ({}) VALUES ({})", list("id", 9_000), list("1", 9_000)), &catalog);
}

#[test]
fn many_common_table_expressions_are_found_by_name() {
    let ctes = numbered(4_000, |n| format!("c{n} AS (SELECT 1)"));
    let uses = vec!["EXISTS (SELECT 1 FROM c0)"; 100].join(" AND ");
    accepted(&format!("WITH {ctes} SELECT 1 FROM customer WHERE {uses}"), &common::catalog());
    // The nearest of a name is meant, and out of reach again behind its query.
    let text = "WITH a AS (SELECT ssn FROM customer) SELECT x FROM \
                (WITH a AS (SELECT id AS x FROM customer) SELECT x FROM a) d, a WHERE a.ssn = 'y'";
    assert_eq!(accepted(text, &common::catalog()).splices.len(), 1);
}

#[test]
fn strings_as_aliases_are_noted_once() {
    let text = format!("SELECT {} FROM customer", numbered(4_000, |n| format!("ssn 'a{n}'")));
    accepted(&text, &mysql());
}

#[test]
fn statements_of_a_body_are_told_once() {
    let text = format!("CREATE {} PROCEDURE p() {}", "OR ".repeat(20_000), "; ".repeat(20_000));
    assert_eq!(accepted(&text, &mysql()).statements.len(), 1);
}

#[test]
fn set_statement_within_itself_is_bounded() {
    let nested = |times| {
        format!("{}SELECT ssn FROM customer", "SET STATEMENT max_statement_time = 1 FOR ".repeat(times))
    };
    assert_eq!(accepted(&nested(3), &mysql()).statements[0].fields.reads, [1]);
    refused(&nested(8_000), &mysql());
    assert!(analyze(&nested(8_000), &Catalog::default().in_dialect(MYSQL)).is_ok());
    let token = format!("{} @fieldveil_token := 'x'", nested(8_000));
    assert!(identity::identify(&token, MYSQL).is_err());
}
