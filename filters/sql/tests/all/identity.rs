//! What texts say of the end user behind the session.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

use crate::common::{catalog, check_refused, tokens};
use fieldveil_sql::Dialect;
use fieldveil_sql::identity::{Comment, Identity, identify};

const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl";

fn is_for_anybody(text: &str) -> bool {
    fieldveil_sql::identity::is_for_anybody(text, Dialect::Postgres)
}

fn understood(text: &str) -> Identity {
    tokens::understood(text, Dialect::Postgres)
}

fn marked(text: &str) -> String {
    tokens::marked(text, Dialect::Postgres)
}

#[test]
fn literals_that_are_tokens_are_found() {
    for (text, expected) in [
        ("SET fieldveil.token = 'a.b'", "SET fieldveil.token = <a.b>"),
        ("set session FIELDVEIL.Token to 'a.b' ;", "set session FIELDVEIL.Token to <a.b> ;"),
        ("SET LOCAL \"fieldveil\".\"TOKEN\"=$t$a.b$t$", "SET LOCAL \"fieldveil\".\"TOKEN\"=<a.b>"),
        ("SET \"Fieldveil.token\" = E'a\\x2eb'", "SET \"Fieldveil.token\" = <a.b>"),
        ("BEGIN; SET LOCAL fieldveil.token = 'a'; COMMIT", "BEGIN; SET LOCAL fieldveil.token = <a>; COMMIT"),
        ("SET fieldveil.token = 'a' -- so", "SET fieldveil.token = <a> -- so"),
        (
            "SELECT pg_catalog.set_config('Fieldveil.Token', 'a'::text, true) AS t, set_config('x.y', 'b', false)",
            "SELECT pg_catalog.set_config('Fieldveil.Token', <a>::text, true) AS t, set_config('x.y', 'b', false)",
        ),
    ] {
        assert_eq!(marked(text), expected);
    }
}

#[test]
fn what_holds_no_token_is_left_alone() {
    for text in [
        "SELECT 1",
        "SET fieldveil.token = ''",
        "SET fieldveil.token TO DEFAULT",
        "RESET fieldveil.token",
        "SHOW fieldveil.token",
        "SET fieldveil.purpose = 'refund'",
        "SELECT set_config('fieldveil.token', '', false)",
        "SELECT set_config('fieldveil.token', NULL, false)",
        "SELECT set_config('fieldveil.purpose', $1, false)",
        "SELECT current_setting('fieldveil.token', true)",
        "CREATE POLICY p ON t USING (who = current_setting('fieldveil.purpose', true))",
        "SELECT * FROM fieldveil_jobs WHERE token = 'a'",
        "ALTER ROLE app SET fieldveil.purpose = 'x'",
    ] {
        let identity = understood(text);
        assert!(identity.tokens.is_empty() && identity.parameters.is_empty(), "{text}");
        assert!(identity.comment == Comment::Nothing, "{text}");
    }
}

#[test]
fn parameters_that_are_tokens_are_found() {
    for (text, expected) in [
        ("SELECT set_config('fieldveil.token', $1, true)", vec![1]),
        (
            "SELECT set_config('fieldveil.token', $2::varchar, $3), set_config('fieldveil.purpose', $1, $3)",
            vec![2],
        ),
    ] {
        let numbers: Vec<u16> = understood(text).parameters.iter().map(|carries| carries.number).collect();
        assert_eq!(numbers, expected, "{text}");
    }
}

#[test]
fn token_where_it_could_not_be_replaced_is_refused_and_not_told() {
    for text in [
        format!("SET fieldveil.token = {}", JWT.replace('.', "_")),
        format!("SET fieldveil.token = '{JWT}', 'b'"),
        format!("SET fieldveil.token = U&'{JWT}\\'"),
        format!("SET fieldveil.token = '{JWT}"),
        format!("SELECT set_config('fieldveil.token', 'a' || '{JWT}', true)"),
        format!("SELECT set_config('fieldveil' || '.token', '{JWT}', true)"),
        format!("SELECT set_config(concat('fieldveil.', 'token'), '{JWT}', true)"),
        format!("SELECT set_config('fieldveil.token', '{JWT}', true) FROM t"),
        format!("SELECT set_config('fieldveil.purpose', 'fieldveil.token={JWT}', true)"),
        format!("DO $$ BEGIN SET fieldveil.token = '{JWT}'; END $$"),
        format!("DO $$ BEGIN PERFORM set_config('fieldveil.token', '{JWT}', true); END $$"),
        format!("ALTER ROLE app SET fieldveil.token = '{JWT}'"),
        format!("ALTER DATABASE shop SET fieldveil.token TO '{JWT}'"),
        format!("ALTER SYSTEM SET \"fieldveil.token\" = '{JWT}'"),
        format!("CREATE FUNCTION f() RETURNS int SET fieldveil.token = '{JWT}' LANGUAGE sql AS 'SELECT 1'"),
        format!("PREPARE p AS SELECT set_config('fieldveil.token', '{JWT}', true)"),
        format!("UPDATE pg_settings SET setting = '{JWT}' WHERE name = 'fieldveil.token'"),
        format!("SELECT 1 /* fieldveil.token: {JWT} */"),
        format!("SELECT 1 -- fieldveil.token='{JWT}'"),
        format!("SELECT 1 /*fieldveil.token='{JWT}',fieldveil.token='{JWT}'*/"),
        format!("SELECT 1 /*fieldveil.token='{JWT}',fieldveil.porpoise='x'*/"),
        format!("SELECT 1 /*fieldveil.token='{JWT}*/"),
        format!("SELECT 1 /*fieldveil%2Etoken={JWT}*/"),
        format!("SELECT 1 /*fieldveil.token='%zz{JWT}'*/"),
    ] {
        let refusal = identify(&text, Dialect::Postgres).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(refusal.remedy.contains("SET fieldveil.token"), "{text}");
        assert!(!refusal.to_string().contains("eyJ"), "{refusal}");
    }
}

fn says(text: &str) -> Option<(String, String)> {
    match understood(text).comment {
        Comment::Says { purpose, token } => Some((purpose, token.to_string())),
        Comment::Nothing | Comment::Malformed => None,
    }
}

#[test]
fn comments_of_sqlcommenters_form_are_read() {
    let both = |purpose: &str, token: &str| Some((purpose.to_owned(), token.to_owned()));
    for (text, expected) in [
        ("SELECT 1 /*fieldveil.purpose='refund'*/", both("refund", "")),
        ("/* fieldveil.purpose = 'a%20b%2Cc' */ SELECT 1", both("a b,c", "")),
        (
            "SELECT /*db_driver='psycopg',fieldveil%2Epurpose='x',fieldveil.token='a.b',traceparent='00-1'*/ 1",
            both("x", "a.b"),
        ),
        ("SELECT 1 /*fieldveil.purpose='a'*/ /*fieldveil.token='b'*/", both("a", "b")),
        ("SELECT '/*fieldveil.purpose=''a''*/'", None),
        ("SELECT 1 -- fieldveil.purpose='a'", None),
        ("SELECT 1 /*controller='x'*/ FROM fieldveil", None),
    ] {
        assert_eq!(says(text), expected, "{text}");
    }
    let text = "SELECT 1 /*fieldveil.token='a%2Eb'*/";
    let at = understood(text).comment_tokens.remove(0);
    assert_eq!(&text[at], "a%2Eb");
}

#[test]
fn comments_that_are_not_understood_are_told() {
    for text in [
        "SELECT 1 /* fieldveil.purpose is set elsewhere */",
        "SELECT 1 /*fieldveil.purpose='a',fieldveil.purpose='b'*/",
        "SELECT 1 /*fieldveil.purpose='a'*/ /*fieldveil.purpose='b'*/",
        "SELECT 1 /*fieldveil.purpose='%0A'*/",
        "SELECT 1 /*fieldveil.purpose=refund*/",
        "SELECT 1 /*fieldveil.purpose='a' /*fieldveil.purpose='b'*/*/",
    ] {
        assert!(understood(text).comment == Comment::Malformed, "{text}");
    }
}

#[test]
fn statement_that_changes_the_principal_is_told() {
    let changes =
        |text: &str| fieldveil_sql::analyze(text, &catalog()).unwrap().statements[0].changes_identity;
    for text in [
        "SET fieldveil.token = 'word'",
        "SET LOCAL \"fieldveil.purpose\" TO 'x'",
        "SET application_name = 'x'",
        "SET SESSION ROLE x",
        "SET ROLE x",
        "SET SESSION AUTHORIZATION x",
        "RESET ROLE",
        "RESET ALL",
        "DISCARD ALL",
        "SELECT set_config('a.b', 'x', true)",
        "CALL f()",
        "FETCH 5 FROM c",
        "what is this",
    ] {
        assert!(changes(text), "{text}");
    }
    for text in
        ["SELECT 1", "BEGIN", "SET statement_timeout = 5", "SHOW fieldveil.token", "COPY a FROM STDIN"]
    {
        assert!(!changes(text), "{text}");
    }
}

#[test]
fn text_that_changes_the_principal_and_goes_on_with_rows_is_refused() {
    check_refused(&[
        ("SET fieldveil.token = 'word'; SELECT ssn FROM customer", ""),
        ("SET application_name = 'x'; SELECT ssn FROM customer", ""),
        ("SET ROLE x; FETCH ALL FROM c", ""),
        ("SET fieldveil.purpose = 'x'; DECLARE c CURSOR FOR SELECT ssn FROM customer", ""),
    ]);
    let set = "BEGIN; SET LOCAL fieldveil.purpose = 'x'; SELECT 1; COMMIT";
    assert!(fieldveil_sql::analyze(set, &catalog()).is_ok());
}

#[test]
fn controls_are_for_anybody() {
    assert!(is_for_anybody("BEGIN; SET LOCAL fieldveil.token = 'x'; SHOW a; COMMIT;"));
    assert!(is_for_anybody("DISCARD ALL"));
    assert!(!is_for_anybody("BEGIN; SELECT 1"));
    assert!(!is_for_anybody("SELECT set_config('a.b', 'c', true)"));
}

#[test]
fn token_of_the_transaction_alone_is_told_from_the_sessions() {
    for (text, local) in [
        ("SET LOCAL fieldveil.token = 'eyJ'", true),
        ("SELECT set_config('fieldveil.token', 'eyJ', true)", true),
        ("SELECT pg_catalog.set_config('fieldveil.token'::text, 'eyJ', true::bool)", true),
        ("SET SESSION fieldveil.token = 'eyJ'", false),
        ("SET fieldveil.token = 'eyJ'", false),
        ("SELECT set_config('fieldveil.token', 'eyJ', false)", false),
        ("SELECT set_config('fieldveil.token', 'eyJ', $1)", false),
        ("SELECT set_config('fieldveil.token', 'eyJ', 'true')", false),
    ] {
        assert_eq!(understood(text).tokens[0].local, local, "{text}");
    }
}
