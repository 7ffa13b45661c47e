//! Commands that are too long to be held.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

const LONGEST: usize = 0xff_ffff;

/// A command of more than 16 MiB that begins so.
fn long(begin: &[u8]) -> Vec<u8> {
    let mut payload = begin.to_vec();
    payload.resize(LONGEST, b' ');
    [packet(0, &payload), packet(1, &[b' '; 64])].concat()
}

#[test]
fn long_text_passes_where_nothing_is_protected() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    let text = long(b"\x03SELECT 1");
    dialogue.client(&text);
    assert!(dialogue.to_server == text, "it does not pass as it is");
}

#[test]
fn long_text_is_refused_once_the_plan_protects_something() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.change_plan(&revealing());
    dialogue.client(&long(b"\x03INSERT INTO customer (ssn) VALUES ('078-05-1120')"));
    dialogue.answer_fetches();
    if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
        dialogue.answer_questions();
    }
    assert!(!contains(&dialogue.to_server, b"078-05-1120"), "the server has the value");
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "it is not refused");
}

#[test]
fn long_execution_is_refused_once_the_plan_protects_its_table() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.client(&packet(0, b"\x16INSERT INTO customer (ssn) VALUES (?)"));
    dialogue.server(&[packet(1, &[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), definition(2, "", "?")].concat());
    dialogue.to_server.clear();
    dialogue.change_plan(&revealing());
    let value = b"\xfe\x00\x00\x00\x01\x00\x00\x00\x00078-05-1120";
    dialogue.client(&long(&[b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\xfd\0".as_slice(), value].concat()));
    dialogue.answer_fetches();
    if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
        dialogue.answer_questions();
    }
    assert!(!contains(&dialogue.to_server, b"078-05-1120"), "the server has the value");
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "it is not refused");
}

/// A text of more than 16 MiB, in its packets.
fn packets_of(text: &[u8]) -> Vec<u8> {
    packets_with(b"\x03", text)
}

/// The same behind the byte of another command.
fn packets_with(command: &[u8], text: &[u8]) -> Vec<u8> {
    let payload = [command, text].concat();
    let mut parts: Vec<&[u8]> = payload.chunks(LONGEST).collect();
    if payload.len().is_multiple_of(LONGEST) {
        parts.push(b"");
    }
    parts.iter().zip(0..).flat_map(|(part, sequence)| packet(sequence, part)).collect()
}

/// What comes to the server of a long text in a session where something is protected.
fn sent(text: &[u8], chunk: usize) -> (Dialogue, Vec<u8>) {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    for piece in packets_of(text).chunks(chunk) {
        dialogue.client(piece);
    }
    let sent = dialogue.take_to_server();
    (dialogue, sent)
}

fn filled(begin: &str, end: &str, length: usize) -> Vec<u8> {
    let mut text = begin.as_bytes().to_vec();
    text.resize(length - end.len(), b'x');
    [&text, end.as_bytes()].concat()
}

#[test]
fn long_values_of_a_table_that_is_not_protected_pass() {
    for (begin, end) in [
        ("INSERT INTO orders VALUES (1, '", "')"),
        (
            r"REPLACE orders (id, note) VALUES (1, 'it\'s ''', _binary'",
            r#"', x'00', -1.5e3, NULL), (2, "a\"")"#,
        ),
        ("UPDATE orders SET note = '", "', paid = 1 WHERE `id` = 7 AND name = 'customer'"),
    ] {
        // A text of one packet and an empty one behind it, and of two.
        for (length, chunk) in [(LONGEST - 1, usize::MAX), (LONGEST + 5000, 65_521)] {
            let text = filled(begin, end, length);
            let packets = packets_of(&text);
            let (mut dialogue, sent) = sent(&text, chunk);
            assert!(sent == packets, "{begin} of {length} does not pass");
            let answer = ok(2);
            dialogue.server(&answer);
            assert_eq!(dialogue.to_client, answer);
            dialogue.client(&query("SELECT 1 FROM orders"));
            assert_eq!(dialogue.to_server, query("SELECT 1 FROM orders"));
        }
    }
}

#[test]
fn semicolon_passes_at_the_end_of_a_long_text() {
    let text = filled("INSERT INTO orders VALUES (1, '", "');", LONGEST + 5000);
    assert!(sent(&text, 65_521).1 == packets_of(&text));
}

#[test]
fn what_is_more_than_values_fails_at_the_server_without_it() {
    for (begin, end) in [
        ("INSERT INTO orders VALUES (1, '", "'); INSERT INTO customer (ssn) VALUES ('078-05-1120')"),
        ("INSERT INTO orders VALUES (1, '", "'), ((SELECT ssn FROM customer WHERE ssn = '078-05-1120'))"),
        ("INSERT INTO orders VALUES (1, '", "') /* 078-05-1120 */"),
        ("UPDATE orders SET a = '", "' WHERE b = (SELECT ssn FROM customer WHERE ssn = '078-05-1120')"),
    ] {
        let text = filled(begin, end, LONGEST + 5000);
        let (mut dialogue, sent) = sent(&text, 65_521);
        assert_eq!(sent.len(), packets_of(&text).len(), "{end}");
        assert!(!contains(&sent, b"078-05"), "{end}: the server has the value");
        assert!(sent.ends_with(&[1; 8]), "{end}: the server may take it");
        dialogue.server(&error(2, 1064, "syntax"));
        assert!(contains(&dialogue.to_client, b"16 MiB"), "{end}");
        dialogue.client(&query("SELECT 1 FROM orders"));
        assert_eq!(dialogue.to_server, query("SELECT 1 FROM orders"));
    }
}

#[test]
fn long_text_of_another_kind_or_table_is_refused() {
    for begin in [
        "INSERT INTO customer (ssn) VALUES ('078-05-1120",
        "INSERT INTO customer (name) VALUES ('078-05-1120",
        "INSERT INTO shop.`customer` VALUES ('078-05-1120",
        "UPDATE customer SET name = '078-05-1120",
        "UPDATE orders, customer SET ssn = '078-05-1120",
        "UPDATE orders JOIN customer SET ssn = '078-05-1120",
        "INSERT INTO orders SELECT '078-05-1120",
        "SELECT '078-05-1120",
        "CREATE TABLE a AS SELECT '078-05-1120",
        "/* a */ SET @a = '078-05-1120",
    ] {
        let (_, sent) = sent(&filled(begin, "'", LONGEST + 5000), 65_521);
        assert!(sent == packet(0, b"\x03"), "{begin}");
    }
}

#[test]
fn long_text_in_a_set_whose_bytes_hide_quotes_passes_as_far_as_it_is_ascii() {
    let mut text = filled("INSERT INTO orders VALUES ('", "')", LONGEST + 5000);
    let sent_in = |charset, text: &[u8]| {
        let mut dialogue = Dialogue::with_charset(&revealing(), usize::MAX, charset);
        dialogue.client(&packets_of(text));
        dialogue.take_to_server()
    };
    assert!(sent_in("gbk", &text) == packets_of(&text));
    text[LONGEST] = 0xd5;
    assert!(sent_in("gbk", &text).ends_with(&[1; 8]));
    assert!(sent_in("latin1", &text) == packets_of(&text));
}

/// A session in which a statement of a text that is too long to be held was prepared: its number is 1, and it has a parameter.
fn prepared_long(mut dialogue: Dialogue, table: &str) -> Dialogue {
    let begin = format!("INSERT INTO {table} VALUES (?, '");
    let text = filled(&begin, "'), (- ?, NULL)", LONGEST + 5000);
    let packets = packets_with(b"\x16", &text);
    for piece in packets.chunks(65_521) {
        dialogue.client(piece);
    }
    assert!(dialogue.take_to_server() == packets, "it does not pass");
    let answer = [packet(2, &[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), definition(3, "", "?")].concat();
    dialogue.server(&answer);
    assert_eq!(dialogue.take_to_client(), answer);
    dialogue
}

const EXECUTION: &[u8] = b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x03\0\x05\0\0\0";

#[test]
fn long_text_is_prepared_if_its_table_is_not_protected() {
    let mut dialogue = prepared_long(Dialogue::with_catalog(&revealing(), usize::MAX), "orders");
    for _ in 0..2 {
        dialogue.client(&packet(0, EXECUTION));
        assert_eq!(dialogue.take_to_server(), packet(0, EXECUTION));
        dialogue.server(&ok(1));
        assert_eq!(dialogue.take_to_client(), ok(1));
    }
}

#[test]
fn statement_of_a_long_text_is_executed_no_more_once_its_table_is_protected() {
    let mut dialogue = prepared_long(Dialogue::ready(&[], usize::MAX), "customer");
    dialogue.change_plan(&revealing());
    dialogue.client(&packet(0, EXECUTION));
    dialogue.answer_fetches();
    if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
        dialogue.answer_questions();
    }
    let sent = dialogue.take_to_server();
    assert!(
        !contains(&sent, EXECUTION) && !contains(&sent, b"INSERT INTO"),
        "it is executed, or prepared anew"
    );
    dialogue.server(&error(1, 1064, "syntax"));
    let told = dialogue.take_to_client();
    assert!(contains(&told, b"fieldveil: "), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn what_was_prepared_before_a_long_text_that_is_refused_is_not_the_last() {
    let mut dialogue = prepared_long(Dialogue::with_catalog(&revealing(), usize::MAX), "orders");
    let last = [b"\x17\xff\xff\xff\xff", &EXECUTION[5..]].concat();
    dialogue.client(&packet(0, &last));
    // It is executed by the number that it has.
    assert_eq!(dialogue.take_to_server(), packet(0, EXECUTION));
    dialogue.server(&ok(1));
    dialogue.take_to_client();
    let protected = filled("INSERT INTO customer (ssn) VALUES (?, '", "')", LONGEST + 5000);
    dialogue.client(&packets_with(b"\x16", &protected));
    dialogue.take_to_server();
    dialogue.server(&error(1, 1064, "syntax"));
    assert!(contains(&dialogue.take_to_client(), b"16 MiB"));
    dialogue.client(&packet(0, &last));
    assert!(!contains(&dialogue.take_to_server(), &EXECUTION[5..]));
}

#[test]
fn long_text_that_is_more_than_values_is_not_prepared() {
    for (begin, end) in [
        ("INSERT INTO orders VALUES (?, '", "'), ((SELECT ssn FROM customer WHERE ssn = '078-05-1120'))"),
        ("UPDATE orders SET a = '", "' WHERE b = ? AND @a := '078-05-1120'"),
    ] {
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&packets_with(b"\x16", &filled(begin, end, LONGEST + 5000)));
        let sent = dialogue.take_to_server();
        assert!(!contains(&sent, b"078-05") && sent.ends_with(&[1; 8]), "{end}: the server may take it");
        dialogue.server(&error(2, 1064, "syntax"));
        assert!(contains(&dialogue.take_to_client(), b"16 MiB"), "{end}");
        dialogue.client(&query("SELECT 1 FROM orders"));
        assert_eq!(dialogue.take_to_server(), query("SELECT 1 FROM orders"));
    }
    // Nor one of a protected table.
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&packets_with(
        b"\x16",
        &filled("INSERT INTO customer (ssn) VALUES (?, '", "')", LONGEST + 5000),
    ));
    assert!(!contains(&dialogue.take_to_server(), b"INSERT"));
    // A question mark has no place in a text that is not prepared.
    assert!(
        sent(&filled("INSERT INTO orders VALUES (?, '", "')", LONGEST + 5000), 65_521).1.ends_with(&[1; 8])
    );
}
