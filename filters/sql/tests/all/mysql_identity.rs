//! What texts of MySQL and MariaDB say of the end user behind the session.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use crate::common::mysql::MYSQL;
use crate::common::tokens;
use fieldveil_sql::identity::{Comment, Identity, begins_transaction, identify, is_for_anybody, names_token};

fn understood(text: &str) -> Identity {
    tokens::understood(text, MYSQL)
}

fn marked(text: &str) -> String {
    tokens::marked(text, MYSQL)
}

#[test]
fn literals_that_are_tokens_are_found() {
    for (text, expected) in [
        ("SET @fieldveil_token = 'a.b'", "SET @fieldveil_token = <a.b>"),
        ("set @FIELDVEIL_Token:=\"a.b\" ;", "set @FIELDVEIL_Token:=<a.b> ;"),
        ("SET @`fieldveil_token`='a\\.b'", "SET @`fieldveil_token`=<a.b>"),
        ("SET @'fieldveil_token' = 'a'", "SET @'fieldveil_token' = <a>"),
        (
            "SET autocommit = 0, @fieldveil_token = 'a', @fieldveil_purpose = 'b', NAMES utf8mb4",
            "SET autocommit = 0, @fieldveil_token = <a>, @fieldveil_purpose = 'b', NAMES utf8mb4",
        ),
        (
            "SET @fieldveil_token='a'; SELECT 1; SET @x=f(1, 2), @fieldveil_token='b'",
            "SET @fieldveil_token=<a>; SELECT 1; SET @x=f(1, 2), @fieldveil_token=<b>",
        ),
        ("SET @fieldveil_token = '' # so", "SET @fieldveil_token = '' # so"),
        ("SET @fieldveil_token = NULL", "SET @fieldveil_token = NULL"),
        ("SET @fieldveil_purpose = 'x'", "SET @fieldveil_purpose = 'x'"),
        (
            "SELECT @fieldveil_token, @@sql_mode AS fieldveil_token",
            "SELECT @fieldveil_token, @@sql_mode AS fieldveil_token",
        ),
        ("SELECT 'fieldveil'", "SELECT 'fieldveil'"),
        ("SET @'field\\veil_token' = 'a'", "SET @'field\\veil_token' = <a>"),
        ("SET @\"FIELDVEIL_TOKE\\N\" = 'a'", "SET @\"FIELDVEIL_TOKE\\N\" = <a>"),
        ("SELECT 'ada@fïrst.example', 'a@müller.de'", "SELECT 'ada@fïrst.example', 'a@müller.de'"),
    ] {
        assert_eq!(marked(text), expected, "{text}");
    }
    assert_eq!(understood("SET @x = 1, @fieldveil_token = ?").parameters[0].number, 1);
}

#[test]
fn tokens_in_other_places_are_refused() {
    for text in [
        "SET @fieldveil_token = 'a' 'b'",
        "SET @fieldveil_token = CONCAT('a', 'b')",
        "SET @fieldveil_token = _utf8mb4'a'",
        "SET @fieldveil_token = N'a'",
        "SET @fieldveil_token = x'61'",
        "SET @fieldveil_token = ('a')",
        "SET @fieldveil_token = @a := 'b'",
        "SET @a = @fieldveil_token := 'b'",
        "SET @a = @fieldveil_token",
        "SET @`fieldveil_token ` = 'a'",
        "SET @`fieldveil_tokén` = 'a'",
        "SET @fíéldveil_token = 'a'",
        "SET @ﬁeldveil_token = 'a', @FÍELDVEIL_TOKEN = 'a'",
        "SET @'fìeldveil_to\\ken ' = 'a'",
        "SELECT 'a' INTO @fïeldveil_token",
        "PREPARE s FROM 'SET @fïeldveil_token = ''a'''",
        "PREPARE s FROM 'SET @\\'field\\\\veil_token\\' = ''a'''",
        "SET @@fieldveil_token = 'a'",
        "SET STATEMENT max_statement_time = 1 FOR SET @fieldveil_token = 'a'",
        "SELECT @fieldveil_token := 'a'",
        "SELECT 'a' INTO @fieldveil_token",
        "SELECT @fieldveil_token INTO @x",
        "CALL p(@fieldveil_token)",
        "EXECUTE s USING @fieldveil_token",
        "GET DIAGNOSTICS @fieldveil_token = NUMBER",
        "LOAD DATA INFILE 'x' INTO TABLE t (@fieldveil_token)",
        "PREPARE s FROM 'SET @fieldveil_token = ''a'''",
        "EXECUTE IMMEDIATE 'SET @fieldveil_token = \"a\"'",
        "CREATE PROCEDURE p() SET @fieldveil_token = 'a'",
        "CREATE PROCEDURE p() BEGIN END; SET @fieldveil_token = 'a'",
        "BEGIN NOT ATOMIC SET @fieldveil_token = 'a'; END",
        "/*! SET @fieldveil_token = 'a' */",
        "SET /*!99999 @x = 1, */ @fieldveil_token = 'a'",
        "SET @fieldveil_token = 'a",
        "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SET @fieldveil_token = 'a\\'; SET @x = ' '",
        "SELECT 1 -- fieldveil.token='a'",
        "SELECT 1 # fieldveil.token='a'",
        "SELECT /*+ fieldveil.token=a */ 1",
    ] {
        assert!(identify(text, MYSQL).is_err(), "accepted: {text}");
    }
}

#[test]
fn comments_speak_as_they_do_to_postgresql() {
    let identity = understood("SELECT 1 /*fieldveil.purpose='refund',fieldveil.token='a.b'*/");
    let Comment::Says { purpose, token } = &identity.comment else { panic!("nothing is said") };
    assert_eq!((purpose.as_str(), token.as_str()), ("refund", "a.b"));
    assert_eq!(identity.comment_tokens.len(), 1);
    // Block comments don't nest.
    assert!(identify("SELECT 1 /* /* */ fieldveil.token='a' */", MYSQL).is_ok());
    assert!(understood("SELECT '/*fieldveil.purpose=''x''*/'").comment == Comment::Nothing);
}

#[test]
fn statements_that_are_the_same_for_everybody_are_known() {
    for text in [
        "SET NAMES utf8mb4",
        "SET @fieldveil_token = 'x'",
        "START TRANSACTION",
        "COMMIT;",
        "XA RECOVER",
        "SAVEPOINT a; ROLLBACK TO a",
        "SHOW WARNINGS",
        "SHOW VARIABLES LIKE 'x'",
        "SELECT ROW_COUNT(), FOUND_ROWS()",
        "SELECT @@session.transaction_isolation",
        "SELECT 1",
    ] {
        assert!(is_for_anybody(text, MYSQL), "{text}");
    }
    for text in [
        "SET @x = (SELECT 1)",
        "SELECT 1 FROM t",
        "SELECT (SELECT 1)",
        "SELECT @x := 1",
        "SELECT 1 INTO @x",
        "COMMIT; SELECT a FROM t",
        "BEGIN NOT ATOMIC SELECT 1; END",
        "START REPLICA",
        "SET STATEMENT a = 1 FOR SELECT 1",
        "SHOW TABLES WHERE (SELECT 1)",
        "CALL p()",
        "/*! SET a = 1 */",
    ] {
        assert!(!is_for_anybody(text, MYSQL), "{text}");
    }
    assert!(begins_transaction("SELECT 1; BEGIN", MYSQL) && begins_transaction("XA START 'a'", MYSQL));
    assert!(!begins_transaction("START REPLICA", MYSQL) && !begins_transaction("COMMIT", MYSQL));
    assert!(names_token(b"set @FieldVeil_token", MYSQL) && !names_token(b"fieldveil.token", MYSQL));
}
