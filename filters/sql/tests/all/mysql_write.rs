//! INSERT, REPLACE, UPDATE and DELETE in MySQL and MariaDB.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::common::check_rewritten_in;
use crate::common::mysql::{check_kept, check_refused, check_rewritten, mariadb, mysql};
use crate::common::shapes::analyze;
use fieldveil_sql::{Analysis, StatementKind};

fn accepted(text: &str) -> Analysis {
    analyze(text, &mysql()).unwrap()
}

#[test]
fn values_are_sealed_for_their_columns() {
    check_rewritten(&[
        (
            "INSERT INTO customer (id, `ssn`) VALUES (1, 'a'), (2, ?), (3, NULL)",
            "INSERT INTO customer (id, `ssn`) VALUES (1, «S1:a»), (2, ?), (3, NULL) | $1=S1",
        ),
        ("INSERT customer (ssn) VALUE (\"a\")", "INSERT customer (ssn) VALUE («S1:a»)"),
        (
            "INSERT INTO customer (id, ssn) VALUES ROW(1, 'a'), ROW(2, 'b')",
            "INSERT INTO customer (id, ssn) VALUES ROW(1, «S1:a»), ROW(2, «S1:b»)",
        ),
        (
            "INSERT INTO customer SET id = 1, ssn = 'a', phone = ?",
            "INSERT INTO customer SET id = 1, ssn = «S1:a», phone = ? | $1=S2",
        ),
        (
            "INSERT IGNORE INTO customer (ssn) VALUES ('a')",
            "INSERT IGNORE INTO customer (ssn) VALUES («S1:a»)",
        ),
        (
            "INSERT LOW_PRIORITY IGNORE customer (ssn) VALUES ('a')",
            "INSERT LOW_PRIORITY IGNORE customer (ssn) VALUES («S1:a»)",
        ),
        ("REPLACE INTO customer (ssn) VALUES ('a')", "REPLACE INTO customer (ssn) VALUES («S1:a»)"),
        ("REPLACE LOW_PRIORITY customer SET ssn = 'a'", "REPLACE LOW_PRIORITY customer SET ssn = «S1:a»"),
        (
            "INSERT INTO customer PARTITION (p0) (ssn) VALUES ('a')",
            "INSERT INTO customer PARTITION (p0) (ssn) VALUES («S1:a»)",
        ),
        (
            "INSERT INTO shift VALUES (1, DEFAULT, 'x')",
            "INSERT INTO shift« (`a`, `b`, `secret`) » VALUES (1, DEFAULT, «S12:x»)",
        ),
        ("INSERT INTO hidden VALUES (1, 'n')", "INSERT INTO hidden« (`id`, `name`) » VALUES (1, 'n')"),
        (
            "INSERT INTO shift PARTITION (p0, p1) VALUES (1, DEFAULT, 'x')",
            "INSERT INTO shift PARTITION (p0, p1)« (`a`, `b`, `secret`) » VALUES (1, DEFAULT, «S12:x»)",
        ),
        (
            "INSERT INTO other (a) VALUES ((SELECT name FROM customer WHERE ssn = 'x'))",
            "INSERT INTO other (a) VALUES ((SELECT name FROM customer WHERE ssn = «?1:x»))",
        ),
        (
            "INSERT INTO customer (ssn) VALUES (42), (-4.50), (TRUE), ('a' 'b'), (x'41'), (_utf8mb4'é')",
            "INSERT INTO customer (ssn) VALUES («S1:42»), («S1:-4.50»), («S1:1»), («S1:ab»), («S1:A»), («S1:é»)",
        ),
        (
            "INSERT INTO typed (born, at, photo, n) VALUES (DATE'2020-01-02', '2020-01-02 03:04:05', 'a', -7)",
            "INSERT INTO typed (born, at, photo, n) VALUES («S21:2020-01-02», «S25:2020-01-02 03:04:05», «S22:\\x61», «S24:-7»)",
        ),
        (
            "INSERT INTO typed (ratio, amount, n) VALUES (0.1e0, 1.5e-07, 5e0), (-1E+20, .5, 007), (-0e0, 5., 00)",
            "INSERT INTO typed (ratio, amount, n) VALUES («S28:0.1», «S20:0.00000015», «S24:5»), («S28:-100000000000000000000», «S20:0.5», «S24:7»), («S28:0», «S20:5», «S24:0»)",
        ),
        (
            "INSERT INTO customer (name, ssn) VALUES (CONCAT('a', @n), IFNULL(?, 'x'))",
            "INSERT INTO customer (name, ssn) VALUES (CONCAT('a', @n), IFNULL(?, «S1:x»)) | $1=S1",
        ),
        ("INSERT INTO vault (token) VALUES ('x')", "INSERT INTO vault (token) VALUES («S13:x»)"),
    ]);
    check_kept(&["INSERT INTO customer () VALUES ()", "INSERT INTO customer VALUES ()"]);
    check_refused(&[
        ("INSERT INTO customer VALUES (1, 'n', '123-45')", ""),
        ("INSERT INTO customer (ssn) VALUES (CONCAT('123-45', 'x'))", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES (@x)", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES (@x := '123-45')", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES (DEFAULT(ssn))", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES (UUID())", "customer.ssn"),
        ("INSERT INTO customer (ssn, name) VALUES ('123-45', ssn)", "customer.ssn"),
        ("INSERT INTO customer SET ssn = '123-45', email = ssn", "customer.email"),
        ("INSERT INTO customer (ssn) VALUES (007)", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES (1e3)", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES (.5)", "customer.ssn"),
        ("INSERT INTO typed (ratio) VALUES (1e999)", "typed.ratio"),
        ("INSERT INTO typed (born) VALUES (1e3)", "typed.born"),
        ("INSERT INTO customer (ssn) VALUES (b'01')", "customer.ssn"),
        ("INSERT INTO computed (id) VALUES (1)", "computed.digest"),
        ("INSERT INTO computed () VALUES ()", "computed.digest"),
        ("INSERT INTO hr.staff (ssn) VALUES ('123-45')", "hr.badge"),
        ("INSERT INTO customer_view (ssn) VALUES ('123-45')", ""),
        ("INSERT INTO contact (mail) VALUES ('123-45')", ""),
        ("INSERT INTO customer (ssn) VALUES ('123-45') AS", ""),
    ]);
}

#[test]
fn a_duplicate_key_writes_no_plaintext() {
    check_rewritten(&[
        (
            "INSERT INTO customer (id, ssn) VALUES (1, 'a') ON DUPLICATE KEY UPDATE ssn = 'b', name = 'n', id = LAST_INSERT_ID(id)",
            "INSERT INTO customer (id, ssn) VALUES (1, «S1:a») ON DUPLICATE KEY UPDATE ssn = «S1:b», name = 'n', id = LAST_INSERT_ID(id)",
        ),
        (
            "INSERT INTO customer (id, ssn) VALUES (?, ?) ON DUPLICATE KEY UPDATE ssn = VALUES(ssn), phone = ?",
            "INSERT INTO customer (id, ssn) VALUES (?, ?) ON DUPLICATE KEY UPDATE ssn = VALUES(ssn), phone = ? | $2=S1 $3=S2",
        ),
        (
            "INSERT INTO customer (id, ssn) VALUES (1, 'a') AS new ON DUPLICATE KEY UPDATE ssn = new.ssn, name = new.name",
            "INSERT INTO customer (id, ssn) VALUES (1, «S1:a») AS new ON DUPLICATE KEY UPDATE ssn = new.ssn, name = new.name",
        ),
        (
            "INSERT INTO customer (id, ssn) VALUES (1, 'a') AS new (i, s) ON DUPLICATE KEY UPDATE customer.ssn = s",
            "INSERT INTO customer (id, ssn) VALUES (1, «S1:a») AS new (i, s) ON DUPLICATE KEY UPDATE customer.ssn = s",
        ),
        (
            "INSERT INTO customer SET id = 1, ssn = 'a' ON DUPLICATE KEY UPDATE ssn = IF(VALUES(ssn) IS NULL, ssn, VALUES(ssn))",
            "INSERT INTO customer SET id = 1, ssn = «S1:a» ON DUPLICATE KEY UPDATE ssn = IF(VALUES(ssn) IS NULL, ssn, VALUES(ssn))",
        ),
        (
            "INSERT INTO customer (ssn) SELECT ssn FROM person p ON DUPLICATE KEY UPDATE ssn = COALESCE(p.ssn, 'x')",
            "INSERT INTO customer (ssn) SELECT ssn FROM person p ON DUPLICATE KEY UPDATE ssn = COALESCE(p.ssn, «S1:x»)",
        ),
    ]);
    let analysis =
        accepted("INSERT INTO customer (id, ssn) VALUES (1, NULL) ON DUPLICATE KEY UPDATE ssn = VALUES(ssn)");
    let statement = &analysis.statements[0];
    assert_eq!((&statement.fields.overwrites[..], &statement.fields.empties[..]), (&[1][..], &[1][..]));
    assert_eq!(statement.fields.compares, [1]);
    check_refused(&[
        (
            "INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE ssn = CONCAT(ssn, '123-45')",
            "customer.ssn",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE ssn = VALUES(name)",
            "customer.ssn",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE ssn = VALUES(phone)",
            "customer.ssn",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE name = VALUES(ssn)",
            "customer.ssn",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE name = CONCAT(VALUES(ssn), 'x')",
            "customer.ssn",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ('a') AS new ON DUPLICATE KEY UPDATE name = new.ssn",
            "customer.ssn",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ('a') AS new (s) ON DUPLICATE KEY UPDATE phone = s",
            "customer.phone",
        ),
        ("INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE ssn = @x", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES ('a') ON DUPLICATE KEY UPDATE nothing = 'x'", ""),
        (
            "INSERT INTO customer (ssn) SELECT p.ssn FROM (SELECT ssn FROM person) p ON DUPLICATE KEY UPDATE ssn = p.ssn",
            "",
        ),
        (
            "INSERT INTO customer (ssn) WITH c AS (SELECT ssn FROM person) SELECT ssn FROM c ON DUPLICATE KEY UPDATE name = c.ssn",
            "",
        ),
        (
            "INSERT INTO customer (ssn) SELECT p.ssn FROM person p ON DUPLICATE KEY UPDATE ssn = p.city",
            "customer.ssn",
        ),
    ]);
}

#[test]
fn selected_rows_are_copied_between_columns_of_one_label() {
    check_kept(&[
        "INSERT INTO customer (id, ssn) SELECT id, ssn FROM person",
        "REPLACE INTO customer (id, ssn) (SELECT id, ssn FROM person)",
        "INSERT INTO customer (id, ssn) WITH c AS (SELECT 1 AS id, ssn FROM person) SELECT id, ssn FROM c",
    ]);
    check_rewritten(&[(
        "INSERT INTO customer (id, ssn) SELECT id, 'a' FROM person WHERE ssn = ?",
        "INSERT INTO customer (id, ssn) SELECT id, «S1:a» FROM person WHERE ssn = ? | $1=?5",
    )]);
    check_refused(&[
        ("INSERT INTO customer (id, ssn) SELECT id, city FROM person", "customer.ssn"),
        ("INSERT INTO customer (id, email) SELECT id, ssn FROM person", "customer.email"),
        ("INSERT INTO customer (id, ssn) SELECT id, UPPER('123-45') FROM person", "customer.ssn"),
        ("INSERT INTO customer (id, ssn) TABLE person", ""),
        ("INSERT INTO customer (id, ssn) SELECT * FROM other", ""),
    ]);
    let copies = accepted("INSERT INTO plain (a) SELECT ssn FROM person");
    assert_eq!(copies.statements[0].fields.copies, [5]);
}

#[test]
fn a_replaced_row_loses_what_it_held() {
    let analysis = accepted("REPLACE INTO customer (id, ssn) VALUES (1, NULL)");
    let statement = &analysis.statements[0];
    assert_eq!(statement.kind, StatementKind::Insert);
    assert_eq!(statement.fields.overwrites, [0, 1, 2, 3, 4]);
    assert_eq!(statement.fields.writes, [0, 1, 2, 3, 4]);
    assert_eq!(statement.fields.empties, [1]);
    assert_eq!(statement.fields.compares, [1]);
    assert_eq!(accepted("INSERT IGNORE INTO customer (ssn) VALUES ('a')").statements[0].fields.compares, [1]);
    assert!(accepted("INSERT INTO customer (ssn) VALUES ('a')").statements[0].fields.compares.is_empty());
}

#[test]
fn updates_of_one_table_and_of_several_are_sealed() {
    check_rewritten(&[
        (
            "UPDATE customer SET ssn = 'a', name = 'b' WHERE ssn = 'c' ORDER BY id DESC LIMIT 5",
            "UPDATE customer SET ssn = «S1:a», name = 'b' WHERE ssn = «?1:c» ORDER BY id DESC LIMIT 5",
        ),
        (
            "UPDATE customer c SET c.ssn = ? WHERE c.id = ?",
            "UPDATE customer c SET c.ssn = ? WHERE c.id = ? | $1=S1",
        ),
        (
            "UPDATE LOW_PRIORITY IGNORE customer SET ssn = 'a' LIMIT 5",
            "UPDATE LOW_PRIORITY IGNORE customer SET ssn = «S1:a» LIMIT 5",
        ),
        (
            "UPDATE customer AS c, person AS p SET c.ssn = p.ssn, p.city = 'x', email = 'e' WHERE c.id = p.id",
            "UPDATE customer AS c, person AS p SET c.ssn = p.ssn, p.city = 'x', email = «S0:e» WHERE c.id = p.id",
        ),
        (
            "UPDATE customer c JOIN person p ON c.ssn = p.ssn SET c.ssn = 'a' WHERE p.ssn = 'b'",
            "UPDATE customer c JOIN person p ON c.ssn = p.ssn SET c.ssn = «S1:a» WHERE p.ssn = «?5:b»",
        ),
        (
            "UPDATE customer c, (SELECT id, ssn FROM person WHERE ssn IN ('x', 'y')) p SET c.ssn = p.ssn WHERE c.id = p.id",
            "UPDATE customer c, (SELECT id, ssn FROM person WHERE ssn IN («?5:x», «?5:y»)) p SET c.ssn = p.ssn WHERE c.id = p.id",
        ),
        (
            "UPDATE other o, customer c SET o.a = 'x', c.ssn = 'a' WHERE o.id = c.id",
            "UPDATE other o, customer c SET o.a = 'x', c.ssn = «S1:a» WHERE o.id = c.id",
        ),
        (
            "UPDATE public.customer PARTITION (p0) SET public.customer.ssn = 'a'",
            "UPDATE public.customer PARTITION (p0) SET public.customer.ssn = «S1:a»",
        ),
        (
            "WITH x AS (SELECT 1 AS id) UPDATE customer c JOIN x ON x.id = c.id SET c.ssn = 'a'",
            "WITH x AS (SELECT 1 AS id) UPDATE customer c JOIN x ON x.id = c.id SET c.ssn = «S1:a»",
        ),
        (
            "UPDATE customer SET ssn = CASE WHEN id = 1 THEN 'a' ELSE ssn END, phone = IFNULL(?, phone)",
            "UPDATE customer SET ssn = CASE WHEN id = 1 THEN «S1:a» ELSE ssn END, phone = IFNULL(?, phone) | $1=S2",
        ),
        (
            "UPDATE vault SET token = 'a' WHERE token = 'b'",
            "UPDATE vault SET token = «S13:a» WHERE token « LIKE » «?13%:b»« ESCAPE '!'»",
        ),
    ]);
    let statement = &accepted("UPDATE customer c, person p SET p.ssn = NULL, c.email = ?").statements[0];
    assert_eq!((&statement.fields.overwrites[..], &statement.fields.empties[..]), (&[0, 5][..], &[5][..]));
    check_refused(&[
        ("UPDATE customer SET ssn = UPPER('123-45')", "customer.ssn"),
        ("UPDATE customer SET ssn = @x", "customer.ssn"),
        ("UPDATE customer SET ssn = name", "customer.ssn"),
        ("UPDATE customer SET ssn = phone", "customer.ssn"),
        ("UPDATE customer SET name = ssn", "customer.ssn"),
        ("UPDATE customer c, person p SET ssn = '123-45'", ""),
        ("UPDATE customer SET name = 'x' ORDER BY ssn LIMIT 1", "customer.ssn"),
        ("UPDATE contact SET mail = '123-45'", ""),
        ("UPDATE customer c, contact v SET v.mail = '123-45'", ""),
        ("UPDATE customer c JOIN (SELECT ssn FROM person) d SET d.ssn = '123-45'", ""),
        ("UPDATE computed SET id = 1", "computed.digest"),
        ("UPDATE customer SET customer.nothing = '123-45'", ""),
        ("UPDATE customer, SET ssn = '123-45'", ""),
        ("UPDATE customer CROSS APPLY person SET name = '123-45', x", ""),
    ]);
}

#[test]
fn deletes_from_one_table_and_from_several_are_searched() {
    check_rewritten(&[
        (
            "DELETE FROM customer WHERE ssn = 'a' ORDER BY id LIMIT 3",
            "DELETE FROM customer WHERE ssn = «?1:a» ORDER BY id LIMIT 3",
        ),
        (
            "DELETE LOW_PRIORITY QUICK IGNORE FROM customer AS c WHERE c.ssn = ?",
            "DELETE LOW_PRIORITY QUICK IGNORE FROM customer AS c WHERE c.ssn = ? | $1=?1",
        ),
        (
            "DELETE c, p FROM customer AS c JOIN person AS p ON c.id = p.id WHERE c.ssn = 'a'",
            "DELETE c, p FROM customer AS c JOIN person AS p ON c.id = p.id WHERE c.ssn = «?1:a»",
        ),
        (
            "DELETE customer.*, p.* FROM customer JOIN person p ON customer.id = p.id WHERE customer.ssn = 'a'",
            "DELETE customer.*, p.* FROM customer JOIN person p ON customer.id = p.id WHERE customer.ssn = «?1:a»",
        ),
        (
            "DELETE FROM c, p.* USING customer AS c JOIN person AS p ON c.id = p.id WHERE c.ssn = 'a'",
            "DELETE FROM c, p.* USING customer AS c JOIN person AS p ON c.id = p.id WHERE c.ssn = «?1:a»",
        ),
        ("DELETE customer FROM customer WHERE ssn = 'x'", "DELETE customer FROM customer WHERE ssn = «?1:x»"),
    ]);
    check_refused(&[
        ("DELETE FROM customer WHERE ssn > '123-45'", "customer.ssn"),
        ("DELETE FROM customer ORDER BY ssn LIMIT 1", "customer.ssn"),
        ("DELETE FROM contact WHERE id = 1", ""),
        ("DELETE v FROM contact v JOIN customer c ON c.id = v.id", ""),
        ("DELETE x FROM customer c", ""),
    ]);
}

#[test]
fn mariadb_returns_what_was_written() {
    check_rewritten_in(
        &mariadb(),
        &[
            (
                "INSERT INTO customer (id, ssn) VALUES (1, 'a') RETURNING id, ssn AS s",
                "INSERT INTO customer (id, ssn) VALUES (1, «S1:a») RETURNING id, ssn AS s",
            ),
            (
                "REPLACE INTO customer (ssn) VALUES ('a') RETURNING *",
                "REPLACE INTO customer (ssn) VALUES («S1:a») RETURNING *",
            ),
            (
                "DELETE FROM customer WHERE id = 1 RETURNING ssn",
                "DELETE FROM customer WHERE id = 1 RETURNING ssn",
            ),
        ],
    );
    let analysis = analyze("DELETE FROM customer WHERE id = 1 RETURNING id, ssn", &mariadb()).unwrap();
    assert_eq!(analysis.statements[0].fields.reads, [1]);
    check_refused(&[("INSERT INTO customer (ssn) VALUES ('123-45') RETURNING UPPER(ssn)", "customer.ssn")]);
}

#[test]
fn a_session_variable_brings_nothing_into_a_protected_place() {
    check_refused(&[
        ("INSERT INTO customer (ssn) SELECT @x", "customer.ssn"),
        ("UPDATE customer SET ssn = COALESCE(@x, 'a')", "customer.ssn"),
        ("UPDATE customer SET ssn = IF(1, @x, 'a')", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn IN (@x)", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = @@hostname", "customer.ssn"),
    ]);
    check_kept(&["UPDATE customer SET name = @x WHERE id = @@session.auto_increment_increment"]);
}
