//! Modes of `sql_mode` that give texts another meaning than is read in them.
#![allow(clippy::panic, clippy::unwrap_used)]

use fieldveil_sql::{
    Analysis, Catalog, MySqlDialect, Names, OtherMeaning, Prepared, Refusal, Statement, StatementKind,
};

use crate::common::mysql::{DEFAULT, in_dialect};
use crate::common::shapes::analyze;

const MODES: [OtherMeaning; 3] =
    [OtherMeaning::Oracle, OtherMeaning::EmptyStringIsNull, OtherMeaning::HighNotPrecedence];
/// Those in which words and strings end where they do without them.
const SAME_TOKENS: [OtherMeaning; 2] = [OtherMeaning::EmptyStringIsNull, OtherMeaning::HighNotPrecedence];

fn catalog_in(mode: OtherMeaning) -> Catalog {
    let is_oracle = mode == OtherMeaning::Oracle;
    let other_meaning = Some(mode);
    in_dialect(MySqlDialect { mariadb: true, ansi_quotes: is_oracle, other_meaning, ..DEFAULT })
}

fn check_untouched(modes: &[OtherMeaning], texts: &[&str]) {
    for (text, mode) in texts.iter().flat_map(|text| modes.iter().map(move |mode| (text, *mode))) {
        let analysis = analyze(text, &catalog_in(mode));
        let Analysis { statements, splices, parameters } =
            analysis.unwrap_or_else(|refusal| panic!("{mode:?}: {text}: {refusal}"));
        let is_untouched = statements.iter().all(|statement| !statement.touched);
        assert!(is_untouched && splices.is_empty() && parameters.is_empty(), "{mode:?}: {text}");
    }
}

fn is_of_mode(refusal: &Refusal) -> bool {
    refusal.reason.contains("the session's sql_mode has")
}

fn check_refused(modes: &[OtherMeaning], texts: &[&str]) {
    for (text, mode) in texts.iter().flat_map(|text| modes.iter().map(move |mode| (text, *mode))) {
        match analyze(text, &catalog_in(mode)) {
            Err(refusal) => assert!(is_of_mode(&refusal), "{mode:?}: {text}: {refusal}"),
            Ok(_) => panic!("{mode:?}: {text}: was accepted"),
        }
    }
}

#[test]
fn mode_is_that_which_leaves_least_to_be_read() {
    let of = |mode| MySqlDialect::of_session(mode, "10.11.6-MariaDB-0+deb12u1", "0");
    let dialect = of("ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_TRANS_TABLES");
    assert!(dialect.ansi_quotes && dialect.no_backslash_escapes && dialect.pipes_as_concat);
    assert!(dialect.mariadb && !dialect.folds_tables && dialect.other_meaning.is_none());
    assert!(!MySqlDialect::of_session("", "9.7.0", "1").mariadb);
    for (mode, meaning) in [
        ("ORACLE", OtherMeaning::Oracle),
        ("PIPES_AS_CONCAT,oracle", OtherMeaning::Oracle),
        ("EMPTY_STRING_IS_NULL,HIGH_NOT_PRECEDENCE,ORACLE", OtherMeaning::Oracle),
        ("EMPTY_STRING_IS_NULL,HIGH_NOT_PRECEDENCE", OtherMeaning::EmptyStringIsNull),
        ("HIGH_NOT_PRECEDENCE", OtherMeaning::HighNotPrecedence),
    ] {
        assert_eq!(of(mode).other_meaning, Some(meaning), "{mode}");
    }
}

#[test]
fn text_that_names_nothing_protected_passes() {
    check_untouched(
        &MODES,
        &[
            "SET @@sql_mode = ''",
            "SET sql_mode = default",
            "SELECT @@sql_mode",
            "SELECT NOT 1 BETWEEN -5 AND 5",
            "SELECT '', N'', 'a' '' FROM orders WHERE name = ''",
            "SHOW CREATE TABLE orders",
            "CREATE TABLE t1 (c1 INT, c2 VARCHAR(10) NOT NULL DEFAULT '')",
            "INSERT INTO orders VALUES (1, ''); SELECT id FROM orders",
            "SELECT 'a",
            "SELECT /*!50000 1 + */ 1, /*M! 2 */",
            "/*!50000 SET sql_mode = 'ORACLE' */",
            "CALL p(1)",
        ],
    );
    check_untouched(
        &[OtherMeaning::Oracle],
        &[
            "DECLARE a INT := 1; BEGIN <<l>> FOR i IN 1..5 LOOP a := a + i; END LOOP; SELECT a; END;",
            "SELECT :1, \"x\" || 'y' FROM dual",
            "BEGIN p1(); END",
        ],
    );
    check_untouched(&SAME_TOKENS, &["SELECT '\u{e9}' FROM orders", "EXECUTE IMMEDIATE 'SELECT NOT 1'"]);
}

#[test]
fn text_that_names_anything_protected_is_refused() {
    check_refused(
        &MODES,
        &[
            "SELECT ssn FROM customer WHERE NOT id BETWEEN 1 AND 2",
            "SELECT id FROM `customer` WHERE name = '' AND NOT id",
            "INSERT INTO Customer (ssn) VALUES (NOT 'x')",
            "SELECT NOT 1 /*! , ssn FROM customer */",
            "SELECT NOT 1 /*M!100100 , ssn FROM customer */",
            "SET sql_mode = ''; SELECT NOT ssn FROM customer",
            "PREPARE s FROM 'SELECT NOT ssn FROM customer'",
            "EXECUTE IMMEDIATE 'SELECT NOT ssn FROM customer'",
            "CREATE PROCEDURE p() SELECT NOT ssn FROM customer",
            "CREATE VIEW w AS SELECT id FROM customer WHERE NOT id",
            "RENAME TABLE notes TO customer, `not` TO n",
        ],
    );
    check_refused(
        &[OtherMeaning::Oracle],
        &[
            "SELECT ssn FROM \"customer\"",
            "BEGIN FOR r IN (SELECT ssn FROM customer) LOOP SELECT r.ssn; END LOOP; END;",
            "BEGIN EXECUTE IMMEDIATE 'SELECT ssn FROM cust' || 'omer'; END;",
            "PREPARE s FROM @a",
            "EXECUTE s",
            "CALL sys.execute_prepared_stmt(CONCAT('SELECT ssn FROM cust', 'omer'))",
            "SELECT id FROM custom\u{e9}r",
        ],
    );
    check_refused(&[OtherMeaning::EmptyStringIsNull], &["SELECT ssn FROM customer", "DELETE FROM customer"]);
}

#[test]
fn string_that_is_prepared_is_read_with_its_escapes() {
    check_refused(&SAME_TOKENS, &[r"PREPARE s FROM 'SELECT id FROM c\ustomer WHERE NOT id'"]);
    let texts = [
        r"EXECUTE IMMEDIATE 'SELECT NOT ssn FROM c\ustomer'",
        "PREPARE s FROM @a",
        "EXECUTE IMMEDIATE CONCAT('SELECT ssn FROM cust', 'omer')",
        "EXECUTE s",
    ];
    for (text, mode) in texts.iter().flat_map(|text| SAME_TOKENS.map(|mode| (text, mode))) {
        assert!(analyze(text, &catalog_in(mode)).is_err(), "{mode:?}: {text}");
    }
}

/// A session that has prepared a statement, on a protected table or not.
struct Preparing {
    touched: bool,
}

impl Names for Preparing {
    fn prepared(&self, _: &str) -> Option<std::rc::Rc<Prepared>> {
        Some(std::rc::Rc::new(Prepared {
            server_name: "fieldveil_1".to_owned(),
            parameters: Vec::new(),
            sealed: Vec::new(),
            statement: Statement { touched: self.touched, ..Statement::unread() },
            text: None,
        }))
    }

    fn cursor(&self, _: &str) -> Option<Statement> {
        None
    }

    fn server_name(&self, name: &str) -> String {
        name.to_owned()
    }
}

#[test]
fn what_was_prepared_is_executed_unless_it_is_on_a_protected_table() {
    for mode in MODES {
        let execute =
            |touched| fieldveil_sql::analyze_in("EXECUTE s", &catalog_in(mode), &Preparing { touched });
        let refusal = execute(true).unwrap_err();
        assert!(is_of_mode(&refusal), "{mode:?}: {refusal}");
        let prepares = analyze("PREPARE s FROM 'SELECT NOT ?'; EXECUTE s USING @a", &catalog_in(mode));
        assert_eq!(prepares.is_ok(), mode != OtherMeaning::Oracle, "{mode:?}");
        assert_eq!(execute(false).is_ok(), mode != OtherMeaning::Oracle, "{mode:?}");
    }
}

#[test]
fn statement_on_a_protected_table_is_read_where_not_alone_is_read_otherwise_and_it_has_none() {
    let text = "INSERT INTO customer (ssn) VALUES ('123')";
    let analysis = analyze(text, &catalog_in(OtherMeaning::HighNotPrecedence)).unwrap();
    assert_eq!(analysis.splices.len(), 1);
    assert_eq!(analysis.statements.first().map(|s| (s.kind, s.touched)), Some((StatementKind::Insert, true)));
}
