//! The content of a file that the server asks the client for.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;

const PING: &[u8] = b"\x0e";

#[test]
fn empty_packet_that_ends_a_long_one_does_not_end_the_file() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.to_server.clear();
    dialogue.client(&query("LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE orders"));
    dialogue.answer_fetches();
    dialogue.server(&packet(1, b"\xfbrows.csv"));
    let full = packet(2, &vec![b'x'; 0xff_ffff]);
    let file = [full, packet(3, b""), packet(4, b"last"), packet(5, b"")].concat();
    dialogue.to_server.clear();
    dialogue.client(&file);
    assert!(dialogue.to_server == file, "the file does not pass as it is");
    dialogue.server(&ok(6));
    dialogue.to_server.clear();
    dialogue.client(&packet(0, PING));
    assert_eq!(dialogue.to_server, packet(0, PING));
    assert!(!dialogue.closed);
}

/// What the client and the server get when the server answers a text with the request for a file.
fn asked(dialogue: &mut Dialogue, text: &str, name: &[u8]) {
    dialogue.client(&query(text));
    dialogue.answer_fetches();
    dialogue.to_client.clear();
    dialogue.server(&packet(1, &[b"\xfb", name].concat()));
}

const LOAD: &str = "LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE orders";

#[test]
fn file_that_no_statement_names_is_not_asked_for() {
    for (fields, text, name) in [
        (revealing(), "SELECT 1 FROM orders", b"/etc/passwd".as_slice()),
        (revealing(), LOAD, b"/etc/passwd"),
        (revealing(), LOAD, b""),
        (revealing(), "LOAD DATA INFILE 'rows.csv' INTO TABLE orders", b"rows.csv"),
        (revealing(), "SELECT 1 FROM orders; LOAD DATA LOCAL INFILE 'a' INTO TABLE orders", b"a"),
        (vec![], "SELECT 1 FROM orders", b"/etc/passwd"),
    ] {
        let mut dialogue = match fields.is_empty() {
            true => Dialogue::ready(&fields, usize::MAX),
            false => Dialogue::with_catalog(&fields, usize::MAX),
        };
        asked(&mut dialogue, text, name);
        assert_eq!(dialogue.to_client[3..5], [1, 0xff], "{text}: the client was asked");
        assert!(dialogue.closed, "{text}: the session goes on");
        assert!(
            !crate::support::contains(&dialogue.to_client, b"passwd"),
            "{text}: the error holds the name"
        );
    }
}

#[test]
fn file_that_the_statement_names_is_asked_for() {
    for text in [
        LOAD,
        "load xml concurrent local infile \"rows.csv\" into table orders",
        "/* so */ LOAD DATA LOW_PRIORITY LOCAL INFILE 'rows\\.csv' REPLACE INTO TABLE orders",
    ] {
        for fields in [revealing(), vec![]] {
            let mut dialogue = match fields.is_empty() {
                true => Dialogue::ready(&fields, usize::MAX),
                false => Dialogue::with_catalog(&fields, usize::MAX),
            };
            asked(&mut dialogue, text, b"rows.csv");
            assert_eq!(dialogue.to_client, packet(1, b"\xfbrows.csv"), "{text}");
            assert!(!dialogue.closed, "{text}");
        }
    }
}

#[test]
fn file_is_asked_for_by_the_statement_of_a_text_that_names_it() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&query(&format!("CALL report(); {LOAD}")));
    dialogue.to_client.clear();
    let more = |sequence, first| packet(sequence, &[first, 0, 0, 8, 0, 0, 0]);
    // A set of rows of the routine's, its OK, then the request.
    let rows = [packet(1, b"\x01"), definition(2, "", "x"), packet(3, b"\x011"), more(4, 0xfe)].concat();
    dialogue.server(&[rows, more(5, 0), packet(6, b"\xfbrows.csv")].concat());
    assert!(dialogue.to_client.ends_with(&packet(6, b"\xfbrows.csv")));
    assert!(!dialogue.closed);
}

#[test]
fn server_that_answers_a_question_with_the_request_for_a_file_breaks_the_protocol() {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.client(&query("SELECT 1 FROM customer"));
    assert!(crate::support::contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()"));
    dialogue.server(&packet(1, b"\xfb/etc/passwd"));
    assert!(dialogue.closed && dialogue.to_client.is_empty());
}
