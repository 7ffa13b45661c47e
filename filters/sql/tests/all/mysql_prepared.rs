//! What MySQL's PREPARE, EXECUTE and EXECUTE IMMEDIATE do.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

use crate::common::shapes::analyze_in;
use crate::common::{
    Session,
    mysql::{in_dialect, mysql},
    render,
};
use fieldveil_sql::{MySqlDialect, StatementKind};

fn prepared_in(text: &str, dialect: MySqlDialect) -> String {
    let analysis = analyze_in(text, &in_dialect(dialect), &Session(Vec::new()));
    analysis.map_or_else(|refusal| format!("refused: {refusal}"), |analysis| render(text, &analysis))
}

#[test]
fn what_is_prepared_is_sealed_within_its_text() {
    let plain = MySqlDialect::default();
    for (text, expected) in [
        (
            "PREPARE S FROM 'SELECT id FROM customer WHERE ssn = \\'123-45\\' AND name = \"a\\\\\\\\b\"'",
            "PREPARE «`ours_s`» FROM «\"»«SELECT id FROM customer WHERE ssn = »«?1:123-45»« AND name = \"\"a\\\\\\\\b\"\"\"»",
        ),
        ("PREPARE s FROM 'SELECT ssn FROM customer'", "PREPARE «`ours_s`» FROM 'SELECT ssn FROM customer'"),
        ("PREPARE s FROM \"SELECT 1\"", "PREPARE «`ours_s`» FROM \"SELECT 1\""),
        (
            "EXECUTE IMMEDIATE 'DELETE FROM customer WHERE ssn = ''1'''",
            "EXECUTE IMMEDIATE «\"»«DELETE FROM customer WHERE ssn = »«?1:1»«\"»",
        ),
    ] {
        assert_eq!(prepared_in(text, plain), expected, "{text}");
    }
    let ansi = MySqlDialect { ansi_quotes: true, ..plain };
    let literal = "PREPARE s FROM 'SELECT id FROM customer WHERE ssn = ''1'''";
    assert!(prepared_in(literal, ansi).starts_with("refused"));
    for text in [
        "PREPARE s FROM @x",
        "PREPARE s FROM 'SELECT 1' 'x'",
        "PREPARE s FROM 'SELECT id FROM customer WHERE ssn = ?'",
        "PREPARE s FROM 'SELECT 1; SELECT 2'",
        "PREPARE s FROM 'PREPARE t FROM ''x'''",
        "PREPARE s FROM 'HANDLER customer OPEN'",
        "PREPARE s FROM 'CREATE TABLE vault AS SELECT 1'",
        "PREPARE s FROM N'SELECT 1'",
        "EXECUTE IMMEDIATE @x",
        "EXECUTE IMMEDIATE CONCAT('a', 'b')",
        "EXECUTE IMMEDIATE 'SELECT ?' USING (SELECT ssn FROM customer)",
        "EXECUTE s",
    ] {
        assert!(prepared_in(text, plain).starts_with("refused"), "accepted: {text}");
    }
}

#[test]
fn what_was_prepared_is_executed_by_its_own_name() {
    let catalog = mysql();
    let text = "PREPARE s FROM 'SELECT ssn FROM customer WHERE id = ?'";
    let session = Session(vec![("s", analyze_in(text, &catalog, &Session(Vec::new())).unwrap())]);
    let execute = "EXECUTE `S` USING @a";
    let analysis = analyze_in(execute, &catalog, &session).unwrap();
    assert_eq!(render(execute, &analysis), "EXECUTE «`ours_s`» USING @a");
    assert_eq!(analysis.statements[0].fields.reads, [1]);
    assert_eq!(analysis.statements[0].kind, StatementKind::Select);
    let text = "DEALLOCATE PREPARE s";
    assert_eq!(render(text, &analyze_in(text, &catalog, &session).unwrap()), "DEALLOCATE PREPARE «`ours_s`»");
}

#[test]
fn what_is_prepared_again_takes_the_place_of_the_one_before() {
    let catalog = mysql();
    let before =
        analyze_in("PREPARE s FROM 'SELECT name FROM customer'", &catalog, &Session(Vec::new())).unwrap();
    let session = Session(vec![("s", before)]);
    let text = "PREPARE s FROM 'SELECT ssn FROM customer'; EXECUTE s";
    let analysis = analyze_in(text, &catalog, &session).unwrap();
    assert_eq!(
        render(text, &analysis),
        "PREPARE «`ours_s`» FROM 'SELECT ssn FROM customer'; EXECUTE «`ours_s`»"
    );
    assert_eq!(analysis.statements[1].fields.reads, [1]);
}

#[test]
fn text_that_cannot_be_read_is_the_servers_to_refuse_where_it_names_nothing_protected() {
    let plain = MySqlDialect::default();
    for (text, expected) in [
        ("PREPARE s FROM 'SELECT 1 /*'", "PREPARE «`ours_s`» FROM 'SELECT 1 /*'"),
        ("PREPARE s FROM 'SELECT 1 /*! + 1'", "PREPARE «`ours_s`» FROM 'SELECT 1 /*! + 1'"),
        ("EXECUTE IMMEDIATE 'SELECT ''1'", "EXECUTE IMMEDIATE 'SELECT ''1'"),
        ("EXECUTE IMMEDIATE 'SELECT `a /* 1'", "EXECUTE IMMEDIATE 'SELECT `a /* 1'"),
    ] {
        assert_eq!(prepared_in(text, plain), expected, "{text}");
    }
    for text in [
        "PREPARE s FROM 'SELECT 1 FROM customer /*'",
        "PREPARE s FROM 'SELECT 1 /*! FROM Customer'",
        r"EXECUTE IMMEDIATE 'SELECT ssn FROM c\ustomer /*'",
        r"EXECUTE IMMEDIATE 'PREP\ARE s FROM @a /*'",
        "EXECUTE IMMEDIATE 'EXECUTE s /*'",
        "EXECUTE IMMEDIATE 'CREATE TABLE vault /*! AS SELECT 1'",
        "PREPARE s FROM 'SET @a = 1 /*'; EXECUTE s; SELECT ssn FROM customer",
    ] {
        let refused = prepared_in(text, plain);
        assert!(refused.starts_with("refused: "), "{text}: {refused}");
    }
}
