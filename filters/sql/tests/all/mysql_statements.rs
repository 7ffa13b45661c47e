//! MySQL's and MariaDB's statements besides those that read and write rows: SET, data definition, and the rest.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use crate::common::shapes::analyze;
use crate::common::{catalog, check_rewritten_in, check_untouched_in, render};
use fieldveil_sql::{Analysis, Catalog, Dialect, MySqlDialect, RefusalClass, StatementKind};

fn mysql() -> Catalog {
    mysql_in(MySqlDialect { folds_tables: true, ..MySqlDialect::default() })
}

fn mysql_in(dialect: MySqlDialect) -> Catalog {
    catalog().in_dialect(Dialect::MySql(dialect)).with_planned(vec!["Planned".to_owned()])
}

fn accepted(text: &str) -> Analysis {
    analyze(text, &mysql()).unwrap_or_else(|refusal| panic!("refused: {text}\n  {refusal}"))
}

fn check_kept(texts: &[&str]) {
    let pairs: Vec<_> = texts.iter().map(|text| (*text, *text)).collect();
    check_rewritten_in(&mysql(), &pairs);
}

fn check_untouched(texts: &[&str]) {
    check_untouched_in(&mysql(), texts);
}

fn check_refused_in(catalog: &Catalog, texts: &[&str]) {
    let mut wrong = String::new();
    for text in texts {
        match analyze(text, catalog) {
            Ok(analysis) => wrong.push_str(&format!("{text}\n  was accepted: {}\n", render(text, &analysis))),
            Err(refusal) => {
                assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty());
                assert!(!refusal.to_string().contains("123-45"), "tells a literal: {refusal}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn check_refused(texts: &[&str]) {
    check_refused_in(&mysql(), texts);
}

#[test]
fn statements_that_reach_no_protected_row_pass() {
    check_untouched(&[
        "SET NAMES utf8mb4",
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin', @customer = 1",
        "SET autocommit=0, SESSION sql_mode = 'ANSI_QUOTES', @@session.time_zone := '+00:00'",
        "SET @customer = 'x', @y = 5 + 6",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET ROLE customer",
        "SET PASSWORD FOR customer = 'x'",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        "BEGIN WORK",
        "SAVEPOINT customer",
        "ROLLBACK TO SAVEPOINT customer",
        "RELEASE SAVEPOINT customer",
        "XA START 'customer'",
        "COMMIT AND CHAIN",
        "UNLOCK TABLES",
        "USE customer",
        "SHOW CREATE TABLE customer",
        "SHOW FULL COLUMNS FROM `customer` LIKE 's%'",
        "SHOW TABLE STATUS LIKE 'customer'",
        "SHOW WARNINGS",
        "DESCRIBE customer",
        "DESC customer ssn",
        "EXPLAIN `customer`",
        "KILL QUERY 7",
        "CALL customer('x', @y)",
        "DO SLEEP(0)",
        "SELECT 1 INTO @x",
        "SELECT * FROM orders INTO OUTFILE '/tmp/x'",
        "LOAD DATA INFILE 'x' INTO TABLE orders (a, @b) SET c = @b",
        "HANDLER orders OPEN",
        "CREATE PROCEDURE p() BEGIN DECLARE EXIT HANDLER FOR NOT FOUND BEGIN END; UPDATE orders SET a = 1; END",
        "/*!40101 SET NAMES utf8 */",
        "/*M!100100 SET a = 1 */",
        "RENAME USER a TO b",
        "RENAME TABLE orders TO old_orders",
        "SET STATEMENT max_statement_time = 1 FOR SELECT 1",
    ]);
}

#[test]
fn harmless_statements_on_protected_tables_pass() {
    check_kept(&[
        "TRUNCATE TABLE Customer",
        "LOCK TABLES customer AS c READ LOCAL, orders WRITE",
        "ANALYZE TABLE customer",
        "OPTIMIZE TABLE `customer`",
        "CHECK TABLE customer",
        "GRANT SELECT (ssn) ON customer TO app@localhost",
        "REVOKE ALL ON customer FROM app",
        "DROP TABLE IF EXISTS customer",
        "DROP VIEW customer_view",
        "FLUSH TABLES customer",
        "CREATE INDEX i ON customer (ssn)",
        "CREATE INDEX i ON customer (ssn(64) DESC, name)",
        "CREATE UNIQUE INDEX i ON customer (SSN)",
        "CREATE INDEX i ON vault (token(33))",
        "CREATE UNIQUE INDEX i ON vault (token(33))",
        "ALTER TABLE vault ADD UNIQUE (token(33))",
        "ALTER TABLE customer ADD COLUMN age INT DEFAULT 5 AFTER ssn",
        "ALTER TABLE customer ADD COLUMN age INT AFTER ssn, ADD COLUMN b INT",
        "ALTER TABLE customer DROP COLUMN ssn",
        "ALTER TABLE customer DROP ssn, DROP COLUMN IF EXISTS email",
        "ALTER TABLE customer ADD INDEX i (ssn(10)), ADD UNIQUE KEY u (email, id)",
        "ALTER TABLE customer ENGINE = InnoDB",
        "ALTER TABLE orders ADD FOREIGN KEY (cid) REFERENCES customer (id)",
        "CREATE TABLE IF NOT EXISTS customer (id BIGINT AUTO_INCREMENT PRIMARY KEY, ssn VARCHAR(300) NOT NULL)",
        "CREATE TABLE copy LIKE customer",
        "CREATE TRIGGER t BEFORE UPDATE ON customer FOR EACH ROW SET NEW.name = 'x'",
        "SELECT count(*) INTO @n FROM customer",
        "SELECT id FROM customer WHERE id = 1 INTO @a",
    ]);
}

#[test]
fn statements_that_carry_or_compute_values_are_refused() {
    check_refused(&[
        "SELECT ssn INTO @x FROM customer",
        "SELECT id, ssn FROM customer INTO @a, @b",
        "SELECT * FROM customer INTO OUTFILE '/tmp/x' FIELDS TERMINATED BY ','",
        "SELECT ssn INTO DUMPFILE '/tmp/x' FROM customer",
        "SET @x = (SELECT ssn FROM customer LIMIT 1)",
        "SET @@session.sort_buffer_size = (SELECT ssn FROM customer LIMIT 1)",
        "DO (SELECT ssn FROM customer LIMIT 1)",
        "CALL p((SELECT ssn FROM customer LIMIT 1))",
        "SHOW TABLES WHERE (SELECT ssn FROM customer) = 1",
        "CALL sys.execute_prepared_stmt('SELECT ssn FROM customer')",
        "CALL sys.execute_prepared_stmt(@q)",
        "HANDLER customer OPEN",
        "HANDLER customer READ FIRST",
        "LOAD DATA INFILE 'x' REPLACE INTO TABLE public.customer FIELDS TERMINATED BY ','",
        "LOAD XML INFILE 'x' INTO TABLE customer",
        "IMPORT TABLE FROM customer",
        "BINLOG 'abc'",
        "RENAME TABLE customer TO client",
        "RENAME TABLE orders TO planned",
        "ALTER TABLE orders RENAME TO `Planned`",
        "ALTER TABLE customer RENAME COLUMN ssn TO s",
        "ALTER TABLE customer MODIFY ssn VARCHAR(20)",
        "ALTER TABLE customer CHANGE COLUMN ssn s TEXT",
        "ALTER TABLE customer ALTER COLUMN ssn SET DEFAULT '123-45'",
        "ALTER TABLE customer ADD COLUMN h CHAR(64) AS (sha2(ssn, 256))",
        "ALTER TABLE .customer ADD COLUMN h CHAR(64) AS (sha2(ssn, 256))",
        "ALTER TABLE customer ADD CHECK (ssn <> '123-45')",
        "ALTER TABLE customer ADD UNIQUE (ssn(10))",
        "ALTER TABLE customer ADD FULLTEXT INDEX f (ssn)",
        "ALTER TABLE customer ADD INDEX f (phone)",
        "ALTER TABLE customer CONVERT TO CHARACTER SET latin1",
        "ALTER TABLE customer EXCHANGE PARTITION p WITH TABLE orders",
        "ALTER TABLE customer IMPORT TABLESPACE",
        "CREATE FULLTEXT INDEX f ON customer (ssn)",
        "CREATE INDEX f ON customer ((lower(ssn)))",
        "CREATE INDEX f ON customer (phone)",
        "CREATE UNIQUE INDEX f ON customer (ssn(20))",
        "CREATE UNIQUE INDEX f ON vault (token(20))",
        "CREATE UNIQUE INDEX f ON vault (token)",
        "CREATE TRIGGER t BEFORE INSERT ON customer FOR EACH ROW SET NEW.ssn = '123-45'",
        "CREATE TRIGGER t AFTER INSERT ON orders FOR EACH ROW INSERT INTO customer (id) VALUES (1)",
        "CREATE TRIGGER t AFTER INSERT ON customer FOR EACH ROW INSERT INTO log SELECT * FROM customer",
        "CREATE PROCEDURE p() SELECT ssn FROM customer",
        "CREATE PROCEDURE p() BEGIN SELECT 1; DELETE FROM customer; END",
        "CREATE DEFINER = view@localhost PROCEDURE p() BEGIN SELECT 1; DELETE FROM customer; END",
        "CREATE OR REPLACE DEFINER=CURRENT_USER() FUNCTION f() RETURNS INT RETURN (SELECT ssn FROM customer)",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM customer",
        "CREATE PROCEDURE p() BEGIN PREPARE s FROM @q; EXECUTE s; END",
        "BEGIN NOT ATOMIC SELECT 1; DELETE FROM customer; END",
        "IF 1 THEN SELECT 1; DELETE FROM customer; END IF",
        "a: LOOP SELECT 1; DELETE FROM customer; END LOOP",
        "CREATE TABLE planned AS SELECT 1",
        "CREATE TABLE planned SELECT 1",
        "CREATE TEMPORARY TABLE planned (id INT)",
        "CREATE TABLE t (h CHAR(64) AS (sha2(ssn, 256))) LIKE customer",
        "EXPLAIN FORMAT=JSON SELECT * FROM customer WHERE phone = '123-45'",
        "SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT id FROM customer",
        "SELECT /*! ssn */ 1 FROM customer",
        "SELECT id FROM customer /*M! WHERE ssn = 1 */",
        "INSTALL PLUGIN customer SONAME 'x'",
    ]);
}

#[test]
fn what_mysqldump_says_is_understood() {
    check_kept(&["SELECT /*!40001 SQL_NO_CACHE */ * FROM `customer`"]);
    let analysis = accepted("SELECT /*!40001 SQL_NO_CACHE */ id, ssn FROM `customer`");
    assert_eq!(analysis.statements[0].fields.reads, [1]);
}

#[test]
fn tables_of_queries_copy_what_is_sealed() {
    for (text, copies) in [
        ("CREATE TABLE t AS SELECT id, ssn FROM customer", vec![1]),
        ("CREATE TABLE t (a INT) SELECT id, email FROM customer", vec![0]),
        ("CREATE OR REPLACE VIEW v AS SELECT ssn FROM customer WITH CHECK OPTION", vec![]),
        (
            "CREATE ALGORITHM=MERGE DEFINER=`a`@`b` SQL SECURITY INVOKER VIEW v (s) AS SELECT ssn FROM customer",
            vec![],
        ),
        ("ALTER VIEW v AS SELECT ssn FROM customer", vec![]),
    ] {
        let analysis = accepted(text);
        let statement = &analysis.statements[0];
        assert_eq!(statement.fields.copies, copies, "{text}");
        assert!(
            statement.touched && statement.changes_catalog && statement.fields.reads.is_empty(),
            "{text}"
        );
    }
    check_refused(&[
        "CREATE TABLE t AS SELECT id FROM customer WHERE ssn = '123-45'",
        "CREATE VIEW v AS SELECT id FROM customer WHERE ssn = '123-45'",
        "CREATE TEMPORARY TABLE t AS SELECT ssn FROM customer",
        "CREATE TABLE t (h INT AS (a + 1)) AS SELECT ssn FROM customer",
    ]);
}

/// `kind`, then `c` where names may change, and `i` where the session may be another's.
fn changes(text: &str) -> String {
    let analysis = accepted(text);
    let statement = &analysis.statements[0];
    let c = if statement.changes_catalog { "c" } else { "" };
    let i = if statement.changes_identity { "i" } else { "" };
    format!("{:?} {c}{i}", statement.kind)
}

#[test]
fn what_a_statement_changes_is_said() {
    for (text, expected) in [
        ("SET autocommit = 1", "Set "),
        ("SET @x = 1", "Set "),
        ("SET @x = concat('a')", "Other "),
        ("SET @FieldVeil_Token = 'x'", "Set i"),
        ("SET @x = 1, @fieldveil_purpose = 'x'", "Set i"),
        ("SET SESSION sql_mode = ''", "Set ci"),
        ("SET @@sql_mode := ''", "Set ci"),
        ("SET @@session.`sql_mode` = ''", "Set ci"),
        ("SET time_zone = '+00:00', NAMES utf8mb4", "Set ci"),
        ("SET CHARACTER SET utf8", "Set ci"),
        ("SET CHARSET utf8", "Set ci"),
        ("SET character_set_results = NULL", "Set ci"),
        ("SET ROLE NONE", "Set ci"),
        ("SET DEFAULT ROLE a TO b", "Set ci"),
        ("SET TRANSACTION READ ONLY", "Set "),
        ("USE shop", "Other ci"),
        ("CALL p()", "Other ci"),
        ("CREATE TABLE t (a INT)", "Other ci"),
        ("DROP DATABASE d", "Other ci"),
        ("ALTER USER u ACCOUNT LOCK", "Other ci"),
        ("BEGIN", "Transaction "),
        ("ROLLBACK", "Transaction "),
        ("XA END 'a'", "Transaction "),
        ("SHOW WARNINGS", "Other "),
        ("SELECT ROW_COUNT()", "Select "),
        ("SELECT @fieldveil_token", "Select i"),
        ("REPLACE INTO orders VALUES (1)", "Insert "),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "Select "),
        ("TRUNCATE orders", "Other "),
        ("GRANT a TO b", "Other "),
        ("RESET MASTER", "Other ci"),
        ("/*!40101 SET NAMES utf8 */", "Other ci"),
    ] {
        assert_eq!(changes(text), expected, "{text}");
    }
}

#[test]
fn a_text_that_changes_how_it_is_read_names_nothing_protected_behind() {
    check_refused(&[
        "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT '\\'; DELETE FROM customer -- ';",
        "SET sql_mode = 'ANSI_QUOTES'; SELECT \"; DELETE FROM customer; \"",
        "SET NAMES gbk; SELECT id FROM customer",
        "CALL p(); SELECT id FROM customer",
        "CALL p(); SELECT '\\'; DELETE FROM customer -- ';",
        "USE hr; SELECT id FROM customer",
        "SET sql_mode = ''; PREPARE s FROM 'x'",
        "CREATE TABLE planned (ssn TEXT); INSERT INTO planned VALUES ('123-45')",
    ]);
    check_untouched(&[
        "SET sql_mode = 'ANSI_QUOTES'; SELECT \"a\"",
        "SET NAMES utf8mb4; SET autocommit = 1;",
    ]);
    check_rewritten_in(
        &mysql(),
        &[(
            "SET @a = 1; COMMIT; DELETE FROM customer WHERE ssn = '123-45'; SHOW WARNINGS;",
            "SET @a = 1; COMMIT; DELETE FROM customer WHERE ssn = «?1:123-45»; SHOW WARNINGS;",
        )],
    );
}

#[test]
fn tables_are_told_apart_by_letter_case_where_the_server_does() {
    let exact = mysql_in(MySqlDialect::default());
    check_rewritten_in(
        &mysql(),
        &[(
            "SELECT SSN FROM CUSTOMER C WHERE c.`Ssn` = '1'",
            "SELECT SSN FROM CUSTOMER C WHERE c.`Ssn` = «?1:1»",
        )],
    );
    check_rewritten_in(
        &exact,
        &[
            ("SELECT SSN FROM customer", "SELECT SSN FROM customer"),
            ("SELECT MIXED FROM person", "SELECT MIXED FROM person"),
        ],
    );
    check_refused_in(&exact, &["SELECT ssn FROM Customer", "SELECT ssn FROM PUBLIC.customer"]);
}

#[test]
fn names_that_the_server_may_take_for_protected_ones_are_refused() {
    check_refused(&[
        "SELECT ŝsn FROM customer",
        "SELECT id FROM customer WHERE `ssñ` = 1",
        "SELECT * FROM cüstomer",
        "SELECT ssn FROM customer WHERE \"ssn\" = ssn AND 'a",
    ]);
    check_untouched(&["SELECT größe FROM größen"]);
    check_kept(&["SELECT größe, id FROM customer"]);
}

#[test]
fn a_text_that_cannot_be_read_passes_only_without_protected_names() {
    assert_eq!(accepted("SELECT 'a").statements[0].kind, StatementKind::Other);
    let refusal = analyze("SELECT ssn FROM customer WHERE a = 'a", &mysql()).unwrap_err();
    assert_eq!(refusal.class, RefusalClass::Unparsable);
    check_refused(&["PREPARE s FROM 'a", "EXECUTE s 'a", "SELECT \0 FROM customer", "SELECT '\u{e9} "]);
}
