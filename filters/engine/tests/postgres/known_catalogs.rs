//! Catalogs that the worker knows: a session asks whether it has one of them, and reads its catalog anew only if not.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;

const INSERT: &str = "INSERT INTO customer (ssn) VALUES ('078-05-1120')";

/// Another session of the same worker, whose first statement waits.
fn asking(first: &Dialogue, text: &str) -> Dialogue {
    let mut dialogue = first.beside();
    dialogue.client(&startup("app"));
    begun(dialogue, text)
}

/// The session is let in, and sends a statement.
fn begun(mut dialogue: Dialogue, text: &str) -> Dialogue {
    dialogue.server(&message(b'R', &[0, 0, 0, 0]));
    dialogue.server(&message(b'S', b"client_encoding\0UTF8\0"));
    dialogue.server(&ready(b'I'));
    dialogue.to_server.clear();
    dialogue.client(&query(text));
    dialogue
}

/// The rows of a table that was made anew, with other columns.
fn other_rows() -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = catalog_rows();
    rows.iter_mut().for_each(|row| row[0] = Some(b"16999".to_vec()));
    rows.pop();
    rows
}

#[test]
fn session_asks_for_the_digest_alone_and_uses_the_catalog_that_the_worker_knows() {
    let first = Dialogue::with_catalog(&revealing());
    let mut second = asking(&first, INSERT);
    assert_eq!(second.asked(), [Asked::Digest]);
    assert!(contains(&second.to_server, b"'{16400}'::pg_catalog.oid[]"));
    second.answer_catalog();
    assert!(contains(&second.to_server, b"INSERT INTO customer (ssn) VALUES ('fv1."));
    let counts = second.worker.borrow_mut().take_counts();
    assert_eq!((counts["catalog.reads"], counts["catalog.known"]), (1, 1));
}

#[test]
fn catalog_that_the_worker_does_not_know_is_read_before_the_statement_goes_on() {
    let first = Dialogue::with_catalog(&revealing());
    let mut second = asking(&first, "INSERT INTO customer (notes) VALUES ('078-05-1120')");
    let answer = [second.answer_with(other_rows()), ready(b'I')].concat();
    second.server(&answer);
    assert_eq!(second.asked(), [Asked::Catalog]);
    assert!(second.session.is_waiting() && !contains(&second.to_server, b"078-05"));
    // In this one the table has no such column.
    second.answer_catalog_with(other_rows());
    second.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(!contains(&second.to_server, b"078-05"));
    // From then on it is known beside the first.
    let mut third = asking(&first, INSERT);
    assert!(contains(&third.to_server, b"'{16999}'::pg_catalog.oid[]"));
    third.answer_catalog();
    assert!(contains(&third.to_server, b"VALUES ('fv1."));
    assert_eq!(third.worker.borrow_mut().take_counts()["catalog.reads"], 2);
}

#[test]
fn session_of_another_database_is_not_asked_for_the_tables_of_the_first() {
    let first = Dialogue::with_catalog(&revealing());
    let mut second = first.beside();
    let startup = String::from_utf8(startup("app")).unwrap().replace("shop", "mart");
    second.client(startup.as_bytes());
    second.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    let mut second = begun(second, "SELECT 1");
    assert_eq!(second.asked(), [Asked::Catalog]);
    second.answer_catalog();
}

#[test]
fn catalog_that_was_read_with_other_keys_is_not_taken() {
    let first = Dialogue::with_catalog(&revealing());
    let mut second = first.beside();
    second.give_keys(&keys_among("ba"));
    let mut second = asking(&second, INSERT);
    assert_eq!(second.asked(), [Asked::Catalog]);
    second.answer_catalog();
    assert!(contains(&second.to_server, b"VALUES ('fv1."));
    assert_eq!(asking(&second, INSERT).asked(), [Asked::Digest]);
}

#[test]
fn plan_that_stores_otherwise_has_the_catalog_read() {
    let first = Dialogue::with_catalog(&revealing());
    let mut second = first.beside();
    second.client(&startup("other"));
    second.answer_fetches(Ok(&plan(&revealing()[..1])), Ok(&keys()));
    assert_eq!(begun(second, "SELECT 1").asked(), [Asked::Catalog]);
}

#[test]
fn catalog_that_is_too_large_is_read_by_each_session() {
    let mut rows = catalog_rows();
    for number in 5..30_000 {
        let mut row = rows[0].clone();
        row[5] = Some(number.to_string().into_bytes());
        row[6] = Some(format!("a column with a long name, {number}").into_bytes());
        rows.push(row);
    }
    let mut first = Dialogue::ready(&revealing());
    first.client(&query("SELECT 1"));
    first.answer_catalog_with(rows);
    assert_eq!(asking(&first, INSERT).asked(), [Asked::Catalog]);
}

#[test]
fn open_session_asks_for_the_digest_when_its_catalog_is_old() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.ports.borrow_mut().now_ms += 61_000;
    dialogue.client(&query(INSERT));
    assert_eq!(dialogue.asked(), [Asked::Digest]);
    dialogue.answer_catalog_with(other_rows());
    assert!(contains(&dialogue.to_server, b"VALUES ('fv1."));
    assert_eq!(dialogue.worker.borrow_mut().take_counts()["catalog.reads"], 2);
}

#[test]
fn digest_that_can_not_be_read_refuses_the_statement() {
    let first = Dialogue::with_catalog(&revealing());
    for answer in [data_row(&[Some(b"app".to_vec()), None, None, None, None]), Vec::new()] {
        let mut second = asking(&first, INSERT);
        let asked = [message(b'1', b""), message(b'2', b""), answer, complete("SELECT 1")].concat();
        second.server(&[asked, message(b'3', b""), message(b'3', b""), ready(b'I')].concat());
        second.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&second.to_client, b"57P03"), "{}", String::from_utf8_lossy(&second.to_client));
        assert!(!contains(&second.to_server, b"078-05"));
    }
}
