//! What asks MySQL and MariaDB about the statement before.

use fieldveil_sql::{MySqlDialect, asks_about_last_statement};

fn asks(text: &str) -> bool {
    [false, true].iter().all(|mariadb| {
        let dialect = MySqlDialect { mariadb: *mariadb, ..MySqlDialect::default() };
        asks_about_last_statement(text, dialect)
    })
}

#[test]
fn every_writing_of_a_question_about_the_last_statement_is_known() {
    for text in [
        "SELECT ROW_COUNT(), FOUND_ROWS()",
        "select row_count ( ) , Found_Rows()",
        "SELECT ROW_COUNT() AS n, FOUND_ROWS() found, LAST_INSERT_ID() `id`, @@error_count 'errors'",
        "SELECT @@warning_count, @@session.error_count, @@LOCAL . warning_count, @@identity, @@last_insert_id",
        "SELECT 1, -1, ROW_COUNT() + 0 AS n, ROW_COUNT() > 0, -ROW_COUNT() * 2 <=> 1.5",
        "SELECT FOUND_ROWS() FROM dual",
        "SELECT FOUND_ROWS() AS n FROM DUAL LIMIT 0, 1",
        "SELECT FOUND_ROWS() LIMIT 1 OFFSET 0",
        "SELECT ROW_COUNT(), FOUND_ROWS() INTO @n, @`m`",
        "SELECT ROW_COUNT() FROM DUAL INTO @n",
        "SELECT @n := ROW_COUNT(), @m:=1",
        "SET @n = FOUND_ROWS()",
        "SET @a = 1, @b := ROW_COUNT() - 1, @c = @@warning_count",
        "GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT",
        "GET CURRENT DIAGNOSTICS CONDITION 1 @s = RETURNED_SQLSTATE, @m = MESSAGE_TEXT",
        "get diagnostics condition @one @n = mysql_errno",
        "SHOW WARNINGS",
        "show errors limit 5",
        "SHOW WARNINGS LIMIT 5, 10",
        "SHOW WARNINGS LIMIT 5 OFFSET 10",
        "SHOW COUNT(*) WARNINGS",
        "SHOW COUNT(*) ERRORS;",
        "/* who */ SELECT FOUND_ROWS() -- how many\n;",
        "# first\nSHOW WARNINGS",
        "/* fieldveil.purpose='refund' */ SELECT ROW_COUNT()",
        "SELECT ROW_COUNT(); SHOW WARNINGS",
        "USE shop; SELECT FOUND_ROWS()",
        "use `shop`;select found_rows();",
    ] {
        assert!(asks(text), "{text}");
    }
}

#[test]
fn what_does_more_than_ask_about_the_last_statement_is_not_taken_for_it() {
    for text in [
        "",
        ";",
        "SELECT 1",
        "SET @n = 1",
        "USE shop",
        "USE shop; USE shop; SELECT FOUND_ROWS()",
        // Tables, columns and queries.
        "SELECT ROW_COUNT(), ssn FROM customer",
        "SELECT ROW_COUNT() FROM customer",
        "SELECT ROW_COUNT() FROM `dual`",
        "SELECT ROW_COUNT() FROM dual, customer",
        "SELECT ROW_COUNT() FROM shop.dual",
        "SELECT ROW_COUNT() FROM dual WHERE 1",
        "SELECT ROW_COUNT() FROM dual JOIN customer",
        "SELECT ROW_COUNT() UNION SELECT ssn FROM customer",
        "SELECT ROW_COUNT() UNION TABLE customer",
        "SELECT ROW_COUNT() AS n UNION VALUES ROW(1)",
        "SELECT ROW_COUNT() + (SELECT ssn FROM customer)",
        "SELECT (ROW_COUNT())",
        "SELECT ssn, ROW_COUNT()",
        "SELECT ROW_COUNT() + ssn",
        "SELECT ROW_COUNT() LIMIT (SELECT 1)",
        "SELECT ROW_COUNT() FOR UPDATE",
        "WITH a AS (SELECT 1) SELECT ROW_COUNT()",
        "(SELECT ROW_COUNT())",
        // Other functions, with side effects or an argument, and what is so named in a database or in quotes.
        "SELECT ROW_COUNT(), f()",
        "SELECT ROW_COUNT() f()",
        "SELECT shop.row_count()",
        "SELECT `row_count`()",
        "SELECT LAST_INSERT_ID(5)",
        "SELECT ROW_COUNT() + SLEEP(1)",
        "SELECT ROW_COUNT",
        "SELECT found_rows(), now()",
        // Literals and parameters.
        "SELECT ROW_COUNT(), '078-05-1120'",
        "SELECT ROW_COUNT() = '078-05-1120'",
        "SELECT ROW_COUNT(), ?",
        "SHOW WARNINGS LIMIT ?",
        // Other variables, and files.
        "SELECT @@warning_count, @@sql_mode",
        "SELECT @@global.warning_count",
        "SELECT @@session.sql_mode",
        "SELECT @n, ROW_COUNT()",
        "SELECT ROW_COUNT() INTO OUTFILE '/tmp/n'",
        "SELECT ROW_COUNT() INTO n",
        "SELECT ROW_COUNT() INTO @@sql_mode",
        "SET sql_mode = ROW_COUNT()",
        "SET @n = ROW_COUNT(), sql_mode = ''",
        "SET @n = ROW_COUNT(), NAMES latin1",
        "SET @@warning_count = ROW_COUNT()",
        "SET @n = (SELECT ROW_COUNT())",
        "SET STATEMENT max_statement_time = 1 FOR SELECT ROW_COUNT()",
        "SET GLOBAL max_connections = ROW_COUNT()",
        "GET DIAGNOSTICS",
        "GET DIAGNOSTICS n = NUMBER",
        "GET DIAGNOSTICS @n = (SELECT 1)",
        "GET DIAGNOSTICS CONDITION f() @n = NUMBER",
        "GET STACKED DIAGNOSTICS @n = NUMBER",
        "SHOW TABLES",
        "SHOW COUNT(*)",
        "SHOW COUNT(a) WARNINGS",
        "SHOW COUNT(*) WARNINGS LIMIT 1",
        "SHOW WARNINGS WHERE (SELECT 1)",
        // Who the end user is.
        "SET @fieldveil_purpose = ROW_COUNT()",
        "SELECT ROW_COUNT() INTO @fieldveil_purpose",
        "SELECT @`fieldveil_token` := ROW_COUNT()",
        "GET DIAGNOSTICS @Fieldveil_purpose = NUMBER",
        // A part of the text that is something else, or is not known.
        "SELECT ROW_COUNT(); SELECT ssn FROM customer",
        "INSERT INTO customer VALUES (1); SELECT ROW_COUNT()",
        "SELECT ROW_COUNT(); USE shop",
        "SHOW WARNINGS; COMMIT",
        "USE shop; SELECT ssn FROM customer",
        "SELECT /*! ssn, */ ROW_COUNT()",
        "SELECT ROW_COUNT() /*M! FROM customer */",
        "SELECT /*+ SET_VAR(sql_mode = ORACLE) */ ROW_COUNT()",
        "SELECT ROW_COUNT() 'open",
        "SELECT ROW_COUNT(",
        "SELECT ROW_COUNT(),",
        "SELECT ROW_COUNT() AS",
        "EXPLAIN SELECT ROW_COUNT()",
        "PREPARE s FROM 'SELECT ROW_COUNT()'",
        "EXECUTE s",
        "DO ROW_COUNT()",
        "CALL p(ROW_COUNT())",
        "BEGIN NOT ATOMIC SELECT ROW_COUNT(); END",
    ] {
        assert!(!asks(text), "{text}");
    }
}
