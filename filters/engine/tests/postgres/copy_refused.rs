//! A COPY that the filter or the server refuses: its data goes nowhere, also where the client sends it as statements.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::support::{
    Dialogue, complete, contains, message, parse, query, ready, revealing, server_error, sync, tags,
};

const CANARY: &str = "078-05-1120";

#[test]
fn data_of_a_copy_that_the_server_refuses_goes_nowhere() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (id, ssn) FROM STDIN"));
    dialogue.take_to_server();
    dialogue.server(&[server_error("42501"), ready(b'I')].concat());
    dialogue.client(&[message(b'd', format!("7\t{CANARY}\n").as_bytes()), message(b'c', b"")].concat());
    assert_eq!(dialogue.take_to_server(), b"");
    dialogue.client(&query("SELECT 1"));
    assert_eq!(dialogue.take_to_server(), query("SELECT 1"));
}

#[test]
fn a_refused_copy_is_told_so_behind_its_data_and_the_session_goes_on() {
    let sealed_column = "COPY customer (id, ssn) FROM STDIN WHERE id > 1";
    for (text, format) in
        [(sealed_column.to_owned(), 0), (format!("BEGIN; {sealed_column} (FORMAT binary)"), 1)]
    {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        // The client need not wait until it is asked for the data.
        dialogue.client(&[query(&text), message(b'd', CANARY.as_bytes())].concat());
        assert_eq!(dialogue.take_to_server(), query(""));
        dialogue.server(&[message(b'I', b""), ready(b'I')].concat());
        assert_eq!(dialogue.take_to_client(), message(b'G', &[format, 0, 0]));
        // A Sync is ignored in COPY mode.
        dialogue.client(&[message(b'd', CANARY.as_bytes()), sync(), message(b'd', &[0; 9])].concat());
        assert_eq!(dialogue.take_to_server(), b"");
        dialogue
            .client(&message(if format == 0 { b'c' } else { b'f' }, if format == 0 { b"" } else { b"no\0" }));
        assert_eq!(tags(&dialogue.take_to_server()), "Q");
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        let told = dialogue.take_to_client();
        assert_eq!(tags(&told), "EZ");
        assert!(contains(&told, b"0A000"), "{}", String::from_utf8_lossy(&told));
        dialogue.client(&query("SELECT 1"));
        assert_eq!(dialogue.take_to_server(), query("SELECT 1"));
    }
}

#[test]
fn a_statement_within_the_data_of_a_refused_copy_ends_the_session() {
    for statement in [query("SELECT 1"), parse("", "SELECT 1")] {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        dialogue.client(&query("COPY customer (id, ssn) FROM STDIN WHERE id > 1"));
        dialogue.server(&[message(b'I', b""), ready(b'I')].concat());
        dialogue.take_to_server();
        dialogue.client(&[message(b'd', CANARY.as_bytes()), statement].concat());
        assert_eq!(dialogue.take_to_server(), [0xff, 0, 0, 0, 4]);
    }
}

#[test]
fn the_client_is_not_asked_for_data_if_the_server_fails_before() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (id, ssn) FROM STDIN WHERE id > 1"));
    dialogue.take_to_server();
    dialogue.server(&[server_error("57014"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "EZ");
    dialogue.client(&query(CANARY));
    assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()));
}

#[test]
fn rows_of_a_copy_that_failed_before_its_data_do_not_go_as_statements() {
    for (begin, error) in [("SELECT 1", "25006"), ("BEGIN", "25P02")] {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        let row = query(&format!("7\t{CANARY}"));
        dialogue.client(&query(begin));
        dialogue.server(&[complete(begin), ready(if begin == "BEGIN" { b'E' } else { b'I' })].concat());
        dialogue.client(&query("COPY customer (id, ssn) FROM STDIN"));
        dialogue.server(&[server_error(error), ready(b'I')].concat());
        dialogue.take_to_client();
        dialogue.take_to_server();
        for _ in 0..2 {
            dialogue.client(&row);
            assert_eq!(tags(&dialogue.take_to_server()), "Q");
            dialogue.server(&[server_error("42601"), ready(b'I')].concat());
            assert!(contains(&dialogue.take_to_client(), b"may be a row"));
            // What can be read as a statement goes.
            dialogue.client(&query("ROLLBACK"));
            assert_eq!(dialogue.take_to_server(), query("ROLLBACK"));
            dialogue.server(&[complete("ROLLBACK"), ready(b'I')].concat());
            dialogue.take_to_client();
        }
    }
    // Nor do those that are only in doubt, for a backslash in them may be an escape.
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.server(&message(b'S', b"standard_conforming_strings\0off\0"));
    dialogue.client(&query("COPY customer (id, ssn) FROM STDIN"));
    dialogue.server(&[server_error("25006"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&query(&format!("7\t{CANARY} it's \\ in doubt")));
    assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()));
    // A refused COPY to the client has no rows to send.
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (nothing) TO STDOUT"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&query("no statement"));
    assert_eq!(dialogue.take_to_server(), query("no statement"));
    // After one that failed within its data, or in a table without protected columns, no rows follow.
    for (copy, asked) in [("COPY customer (id, ssn) FROM STDIN", true), ("COPY other FROM STDIN", false)] {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        dialogue.client(&query(copy));
        if asked {
            dialogue.server(&message(b'G', &[0, 0, 0]));
            dialogue.client(&message(b'f', b"no\0"));
        }
        dialogue.server(&[server_error("57014"), ready(b'I')].concat());
        dialogue.take_to_server();
        dialogue.client(&query("no statement"));
        assert_eq!(dialogue.take_to_server(), query("no statement"), "{copy}");
    }
}
