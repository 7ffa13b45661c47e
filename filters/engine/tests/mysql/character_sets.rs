//! Sessions in other character sets than UTF-8: texts are decoded to be read, what is written into them is encoded again, and
//! what touches nothing protected passes as it came.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

fn text(bytes: &[u8]) -> Vec<u8> {
    packet(0, &[b"\x03", bytes].concat())
}

/// What the server gets of a text in a session that writes this character set.
fn sent_in(charset: &'static str, bytes: &[u8]) -> Vec<u8> {
    let mut dialogue = Dialogue::with_charset(&revealing(), usize::MAX, charset);
    dialogue.client(&text(bytes));
    dialogue.take_to_server()
}

/// A refused text is replaced by an empty one.
fn is_refused(sent: &[u8]) -> bool {
    sent == packet(0, b"\x03")
}

/// The first string in quotes that begins like an envelope.
fn envelope_in(sent: &[u8]) -> Vec<u8> {
    let start = sent.windows(4).position(|bytes| bytes == b"fv1.").unwrap();
    let end = sent[start..].iter().position(|byte| *byte == b'\'').unwrap();
    sent[start..start + end].to_vec()
}

#[test]
fn what_touches_nothing_protected_passes_as_it_came() {
    for (charset, bytes) in [
        ("latin1", b"SELECT '\xe9\x80\x81' AS caf\xe9 FROM orders -- \xa0".as_slice()),
        ("cp1257", b"INSERT INTO orders VALUES ('\xe0\xe8')"),
        ("koi8r", b"UPDATE orders SET note = '\xd6' WHERE _binary'\xff' = x"),
        ("greek", b"SELECT 1"),
        ("gbk", b"SELECT 'ascii' FROM orders"),
        ("sjis", b"SELECT 'it''s' FROM orders"),
    ] {
        let sent = sent_in(charset, bytes);
        // The bytes behind `_binary` are written in another way that means the same.
        let expected = String::from_utf8_lossy(bytes).contains("_binary");
        assert!(sent == text(bytes) || expected && contains(&sent, b"_binary x'ff'"), "{charset}");
    }
}

#[test]
fn literal_is_read_in_the_clients_character_set_and_the_rest_stays_in_it() {
    for (charset, ssn, note) in [
        ("cp1251", b"\xe6\xae".as_slice(), b"\xff\xfe".as_slice()),
        ("koi8r", b"\xd6\xbf", b"\xa3"),
        ("utf8mb4", "ж\u{ae}".as_bytes(), "ё".as_bytes()),
    ] {
        let text = [b"INSERT INTO customer (name, ssn) VALUES ('", note, b"', '", ssn, b"')"].concat();
        let sent = sent_in(charset, &text);
        assert!(contains(&sent, &[b"VALUES ('", note, b"', 'fv1."].concat()), "{charset}");
        assert!(!contains(&sent, ssn), "{charset}");
    }
    // Deterministic: the same value is the same envelope, whatever it was written in.
    let of = |charset, ssn: &[u8]| {
        let text = [b"SELECT id FROM customer WHERE ssn = '", ssn, b"'"].concat();
        envelope_in(&sent_in(charset, &text))
    };
    assert_eq!(of("cp1251", b"\xe6"), of("utf8mb4", "ж".as_bytes()));
    assert_eq!(of("latin1", b"\x80"), of("utf8mb4", "€".as_bytes()));
    assert_eq!(of("euckr", b"\xb0\xa1"), of("utf8mb4", "가".as_bytes()));
    assert_eq!(of("ujis", b"\xb0\xa1"), of("utf8mb4", "亜".as_bytes()));
    assert_eq!(of("latin1", b"\x81"), of("utf8mb4", "\u{81}".as_bytes()));
    assert_ne!(of("latin1", b"\xc3\xa9"), of("utf8mb4", "é".as_bytes()));
}

#[test]
fn what_reads_otherwise_in_single_bytes_is_refused() {
    for (charset, bytes) in [
        // A blank, and what a server takes for the begin of a comment.
        ("latin1", b"SELECT\xa0ssn FROM customer".as_slice()),
        ("latin1", b"INSERT INTO\xa0customer (ssn) VALUES ('078')"),
        ("macroman", b"SELECT 1 --\x80'\n, ssn FROM customer -- '"),
        ("latin2", b"SELECT 1 --\x85'\n, ssn FROM customer -- '"),
        // Bytes of another set.
        ("latin1", b"INSERT INTO customer (ssn) VALUES (_utf8mb4'\xc3\xa9')"),
        ("cp1251", b"INSERT INTO customer (ssn) VALUES (_latin1'\xe9')"),
        // A byte that stands for nothing.
        ("cp1251", b"INSERT INTO customer (ssn) VALUES ('\x98')"),
        ("ascii", b"INSERT INTO customer (ssn) VALUES ('\xe9')"),
        // A text that the server decodes twice.
        ("latin1", b"PREPARE p FROM 'SELECT ssn, ''\xe9'' FROM customer'"),
        // Sets that are read as far as they are ASCII.
        ("gbk", b"INSERT INTO customer (ssn) VALUES ('\xd5\x5c')"),
        // A character that is not known here, and half of one.
        ("ujis", b"INSERT INTO customer (ssn) VALUES ('\x8f\xb0\xa9')"),
        ("euckr", b"INSERT INTO customer (ssn) VALUES ('\xb0')"),
        ("swe7", b"INSERT INTO customer (ssn) VALUES ('078')"),
    ] {
        assert!(is_refused(&sent_in_unread(charset, bytes)), "{charset}: {}", bytes.escape_ascii());
    }
}

/// As [`sent_in`], of a session in which perhaps no statement was read.
fn sent_in_unread(charset: &'static str, bytes: &[u8]) -> Vec<u8> {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.charset = charset;
    dialogue.client(&text(bytes));
    dialogue.answer_who();
    if contains(&dialogue.to_server, b"information_schema.COLUMNS") {
        dialogue.answer_catalog(&customer());
    } else {
        let question = dialogue.take_to_server();
        return question[question.len() - 5..].to_vec();
    }
    dialogue.take_to_server()
}

#[test]
fn texts_of_ascii_are_sealed_in_sets_whose_other_bytes_are_not_known() {
    for charset in ["gbk", "sjis", "cp932", "big5", "gb18030", "ujis", "eucjpms", "euckr", "gb2312"] {
        let sent = sent_in(charset, b"INSERT INTO customer (ssn) VALUES ('078')");
        assert!(contains(&sent, b"VALUES ('fv1."), "{charset}");
    }
}

/// What the client gets of this row of `customer.ssn` in a session with these results.
fn shown_in(results: &'static str, stored: &[u8]) -> Vec<u8> {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.results = results;
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.answer_questions();
    dialogue.to_client.clear();
    dialogue.server(&rows("customer", &["ssn"], &[vec![Some(stored)]]));
    dialogue.to_client.clone()
}

#[test]
fn value_is_shown_in_the_character_set_of_results() {
    let stored = envelope_in(&sent_in("utf8mb4", "SELECT id FROM customer WHERE ssn = 'aéж'".as_bytes()));
    for (results, shown) in [
        ("utf8mb4", "aéж".as_bytes()),
        ("latin1", b"a\xe9?"),
        ("cp1251", b"a?\xe6"),
        ("koi8r", b"a?\xd6"),
        ("ascii", b"a??"),
        ("gbk", b"a\xa8\xa6\xa7\xd8"),
        ("sjis", b"a?\x84\x77"),
        ("euckr", b"a?\xac\xd8"),
    ] {
        let row = [&[u8::try_from(shown.len()).unwrap()], shown].concat();
        assert!(contains(&shown_in(results, &stored), &row), "{results}");
    }
    let ascii = envelope_in(&sent_in("utf8mb4", b"SELECT id FROM customer WHERE ssn = 'ascii'"));
    assert!(contains(&shown_in("sjis", &ascii), b"\x05ascii"));
    let refused = shown_in("big5", &stored);
    assert!(contains(&refused, b"SET NAMES utf8mb4") && !contains(&refused, "é".as_bytes()));
}

#[test]
fn nothing_protected_is_shown_where_ascii_is_other_bytes() {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.results = "ucs2";
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.answer_questions();
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")));
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert!(contains(&dialogue.to_client, b"SET character_set_results = utf8mb4"));
    dialogue.to_server.clear();
    dialogue.client(&query("SELECT id FROM orders"));
    assert_eq!(dialogue.to_server, query("SELECT id FROM orders"));
}

#[test]
fn text_that_was_prepared_before_its_character_set_was_known_is_not_taken_for_another() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    let prepare = packet(0, b"\x16SELECT '\xc3\xa9', ssn FROM customer");
    dialogue.client(&prepare);
    assert_eq!(dialogue.to_server, prepare);
    dialogue.server(&packet(1, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    dialogue.to_server.clear();
    dialogue.change_plan(&revealing());
    dialogue.client(&packet(0, b"\x17\x01\0\0\0\0\x01\0\0\0"));
    dialogue.answer_questions();
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "it was executed");
}

#[test]
fn a_name_is_found_in_whatever_set_it_is_written() {
    let mut fields = revealing();
    for field in &mut fields {
        field["relation"] = "shop.\"café\"".into();
    }
    let columns: Vec<Vec<Option<&[u8]>>> = customer()
        .into_iter()
        .map(|mut row| {
            row[1] = Some("café".as_bytes());
            row
        })
        .collect();
    for (charset, name) in [
        ("latin1", b"caf\xe9".as_slice()),
        ("cp850", b"caf\x82"),
        ("macroman", b"caf\x8e"),
        ("utf8mb3", "café".as_bytes()),
    ] {
        let mut dialogue = Dialogue::ready(&fields, usize::MAX);
        (dialogue.charset, dialogue.results) = (charset, charset);
        dialogue.client(&text(&[b"INSERT INTO ", name, b" (ssn) VALUES ('078-05-1120')"].concat()));
        dialogue.answer_who();
        dialogue.answer_catalog(&columns);
        let sent = dialogue.take_to_server();
        assert!(contains(&sent, &[b"INSERT INTO ", name, b" (ssn) VALUES ('fv1."].concat()), "{charset}");
        let stored = envelope_in(&sent);
        dialogue.server(&ok(1));
        dialogue.client(&text(&[b"SELECT ssn FROM ", name].concat()));
        dialogue.server(&rows_of(name, &stored));
        assert!(contains(&dialogue.to_client, b"\x0b078-05-1120"), "{charset}");
    }
}

/// One row of one column `ssn` of a table.
fn rows_of(table: &[u8], value: &[u8]) -> Vec<u8> {
    let plain = rows("customer", &["ssn"], &[vec![Some(value)]]);
    // In the definition, the table's name stands twice with its length.
    let known = b"\x08customer\x08customer";
    let at = plain.windows(known.len()).position(|bytes| bytes == known).unwrap();
    let length = u8::try_from(table.len()).unwrap();
    let names = [&[length], table, &[length], table].concat();
    let mut written = [&plain[..at], &names, &plain[at + known.len()..]].concat();
    // The length of the packet, behind that of the number of columns.
    written[5] = u8::try_from(usize::from(written[5]) + names.len() - known.len()).unwrap();
    written
}
