//! COPY through a session: rows sealed on their way in and opened on their way out, wherever CopyData is cut.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use serde_json::json;

use crate::support::{
    Connection, Dialogue, bind, complete, contains, execute, field, message, parse, query, ready, revealing,
    server_error, sync, tags,
};

const CANARY: &str = "078-05-1120";

/// The bodies of the CopyData messages, put together.
pub fn copied(bytes: &[u8]) -> Vec<u8> {
    let mut rest = bytes;
    let mut data = Vec::new();
    while rest.len() >= 5 {
        let length = u32::from_be_bytes(rest[1..5].try_into().unwrap()) as usize;
        if rest[0] == b'd' {
            data.extend(&rest[5..1 + length]);
        }
        rest = &rest[1 + length..];
    }
    data
}

/// Runs `COPY … FROM STDIN` with this data, cut into messages of `size` bytes; gives what the server got of it.
pub fn copy_in(statement: &str, data: &[u8], size: usize) -> (Dialogue, Vec<u8>) {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query(statement));
    dialogue.take_to_server();
    dialogue.server(&message(b'G', &[0, 0, 0]));
    for piece in data.chunks(size) {
        dialogue.client(&message(b'd', piece));
    }
    dialogue.client(&message(b'c', b""));
    let sent = dialogue.take_to_server();
    (dialogue, sent)
}

/// Runs `COPY … TO STDOUT` with rows as the server sends them; gives what the client got of them.
pub fn copy_out(statement: &str, rows: &[&[u8]]) -> (Dialogue, Vec<u8>) {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query(statement));
    let mut answer = message(b'H', &[0, 0, 0]);
    rows.iter().for_each(|row| answer.extend(message(b'd', row)));
    answer.extend([message(b'c', b""), complete("COPY 1"), ready(b'I')].concat());
    dialogue.server(&answer);
    let got = dialogue.take_to_client();
    (dialogue, got)
}

#[test]
fn what_goes_in_sealed_comes_out_opened_in_every_format_and_at_every_cut() {
    let binary: Vec<u8> = [
        b"PGCOPY\n\xff\r\n\0".as_slice(),
        &[0; 8],
        &[0, 3, 0, 0, 0, 1, b'7', 0, 0, 0, 11],
        CANARY.as_bytes(),
        &[0xff; 4],
        &[0xff, 0xff],
    ]
    .concat();
    let csv = format!("id;ssn;name\n7;'{CANARY}';x\n8;;'y'\n");
    let cases: [(&str, &[u8]); 4] = [
        ("COPY customer (id, ssn, name) FROM STDIN", b"7\t078-05-1120\tx\\ty\n8\t\\N\t\n"),
        (
            "COPY customer (id, ssn, name) FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';', QUOTE '''')",
            csv.as_bytes(),
        ),
        ("COPY customer (id, ssn, name) FROM STDIN", b"7\t078-05-1120\tlast line"),
        ("COPY customer (id, ssn, name) FROM STDIN (FORMAT binary)", &binary),
    ];
    for (statement, data) in cases {
        for size in [1, 2, 3, 7, 1000] {
            let (_, sent) = copy_in(statement, data, size);
            assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()), "{statement}");
            let stored = copied(&sent);
            let text = data.iter().filter(|b| **b == b'\n').count()
                == stored.iter().filter(|b| **b == b'\n').count();
            assert!(text, "{statement}: lines");
            if statement.contains("binary") {
                let out = statement.replace("FROM STDIN", "TO STDOUT");
                let (_, got) = copy_out(&out, &[&stored[..stored.len() - 2], &[0xff, 0xff]]);
                assert_eq!(copied(&got), data, "{statement}");
            } else {
                let out = statement.replace("FROM STDIN", "TO STDOUT");
                let rows: Vec<&[u8]> = stored.split_inclusive(|b| *b == b'\n').collect();
                let (_, got) = copy_out(&out, &rows);
                // Quotes that are not needed are gone, and so is the header.
                let expected =
                    String::from_utf8(data.to_vec()).unwrap().replace(&format!("'{CANARY}'"), CANARY);
                let expected = expected.replace("id;ssn;name\n", "\n");
                assert_eq!(String::from_utf8(copied(&got)).unwrap(), expected, "{statement}");
            }
        }
    }
}

#[test]
fn a_row_that_cannot_be_sealed_fails_the_copy_and_nothing_of_it_goes() {
    for (data, code) in [
        (&b"7\t078-05-1120\tx\n8\t\\000\tx\n"[..], b"22P02"),
        (b"7\tx\n", b"22P04"),
        (b"7\tx\ty\tz\n", b"22P04"),
        (b"7\tx\ry\n", b"22P04"),
        (b"7\tx\\.y\tz\n", b"22P04"),
        (b"\\.\\N\n", b"22P04"),
        (b"\\.x\n", b"22P04"),
        (b"\\.\rx\n", b"22P04"),
        (b"\\.\r", b"22P04"),
        (b"7\tx\tz\n\\.", b"22P04"),
    ] {
        let (mut dialogue, sent) = copy_in("COPY customer (id, ssn, name) FROM STDIN", data, 5);
        assert!(contains(&sent, b"fieldveil refused a row"), "CopyFail");
        assert_eq!(tags(&sent).chars().filter(|tag| *tag == 'c' || *tag == 'f').collect::<String>(), "f");
        let failed = [server_error("57014"), ready(b'I')].concat();
        dialogue.server(&failed);
        assert!(contains(&dialogue.take_to_client(), code), "{data:?}");
        // The session goes on.
        dialogue.client(&query("SELECT 1"));
        assert_eq!(dialogue.take_to_server(), query("SELECT 1"));
    }
}

#[test]
fn a_text_may_have_several_copies() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY other FROM STDIN; COPY other FROM STDIN; SELECT 1"));
    dialogue.take_to_server();
    for _ in 0..2 {
        dialogue.server(&message(b'G', &[0, 0, 0]));
        let data = [message(b'd', b"7\n"), message(b'c', b"")].concat();
        dialogue.client(&data);
        assert_eq!(dialogue.take_to_server(), data);
        dialogue.server(&complete("COPY 1"));
    }
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.client(&query("SELECT 1"));
    assert_eq!(dialogue.take_to_server(), query("SELECT 1"));
}

#[test]
fn the_end_of_data_mark_ends_what_is_read() {
    let (_, sent) = copy_in("COPY customer (id, ssn) FROM STDIN", b"7\t078-05-1120\n\\.\n", 3);
    let stored = copied(&sent);
    assert!(stored.ends_with(b"\n\\.\n") && !contains(&stored, CANARY.as_bytes()));
    // What stands behind it is nobody's, and goes nowhere.
    let (_, sent) = copy_in("COPY customer (id, ssn) FROM STDIN", b"7\tx\n\\.\n8\t078-05-1120\n", 3);
    assert!(!contains(&sent, CANARY.as_bytes()));
}

#[test]
fn a_long_column_streams_in_bounded_memory() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (ssn, notes, name) FROM STDIN"));
    dialogue.server(&message(b'G', &[0, 0, 0]));
    dialogue.take_to_server();
    dialogue.client(&message(b'd', b"078-05-1120\t\\N\t"));
    let piece = vec![b'x'; 1 << 20];
    let mut sent = 0;
    for _ in 0..64 {
        dialogue.client(&message(b'd', &piece));
        sent += copied(&dialogue.take_to_server()).len();
    }
    assert!(sent >= 62 << 20, "what passes does not wait for the row's end");
    dialogue.client(&[message(b'd', b"\n"), message(b'c', b"")].concat());
    assert!(dialogue.take_to_server().ends_with(&message(b'c', b"")));
}

#[test]
fn an_envelope_that_cannot_be_opened_ends_the_copy_with_an_error() {
    let (mut dialogue, got) = copy_out("COPY customer (id, ssn) TO STDOUT", &[b"7\tplain\n", b"8\tplain\n"]);
    assert_eq!(tags(&got), "HEZ");
    assert!(contains(&got, b"XX001") && !contains(&got, b"plain"));
    dialogue.client(&query("SELECT 1"));
    assert!(dialogue.take_to_server().ends_with(&query("SELECT 1")));
}

#[test]
fn a_long_row_is_opened_at_its_begin_and_streams_on() {
    let (_, sent) = copy_in("COPY customer (ssn, notes) FROM STDIN", b"078-05-1120\t\\N\n", 100);
    let stored = copied(&sent);
    let envelope = stored.split(|b| *b == b'\t').next().unwrap();
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (ssn, name) TO STDOUT"));
    let name = vec![b'x'; 40 << 20];
    let row = message(b'd', &[envelope, b"\t", &name, b"\n"].concat());
    let mut got = 0;
    dialogue.server(&message(b'H', &[0, 0, 0]));
    dialogue.take_to_client();
    let mut first = Vec::new();
    for piece in row.chunks(1 << 20) {
        dialogue.server(piece);
        let out = dialogue.take_to_client();
        if first.is_empty() {
            first.extend(&out[..out.len().min(100)]);
        }
        got += out.len();
    }
    assert!(contains(&first, CANARY.as_bytes()), "opened");
    assert_eq!(got, 5 + CANARY.len() + 1 + name.len() + 1);
}

#[test]
fn data_of_the_next_copy_passes_after_one_that_failed() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (id, ssn) FROM STDIN"));
    dialogue.server(&[server_error("42501"), ready(b'I')].concat());
    dialogue.take_to_server();
    // The client never ended the first one.
    dialogue.client(&query("COPY other FROM STDIN"));
    dialogue.server(&message(b'G', &[0, 0, 0]));
    let data = [message(b'd', b"7\tx\n"), message(b'c', b"")].concat();
    dialogue.client(&data);
    assert!(dialogue.take_to_server().ends_with(&data));
}

#[test]
fn a_statement_within_the_data_of_a_copy_ends_the_session() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("COPY customer (id, ssn) FROM STDIN"));
    dialogue.server(&message(b'G', &[0, 0, 0]));
    dialogue.take_to_server();
    dialogue.client(&query("SELECT ssn FROM customer"));
    let sent = dialogue.take_to_server();
    assert!(sent.starts_with(b"f") && sent.ends_with(&[0xff, 0, 0, 0, 4]), "CopyFail, then the end");
}

#[test]
fn a_header_is_never_a_row_that_the_server_gets_to_see() {
    let row = format!("7,{CANARY}\n8,x\n");
    let (_, sent) = copy_in("COPY customer (id, ssn) FROM STDIN (FORMAT csv, HEADER)", row.as_bytes(), 3);
    assert!(copied(&sent).starts_with(b"\n8,fv1."), "the first line is one that nobody looks at");
    let (_, sent) =
        copy_in("COPY customer (id, ssn) FROM STDIN (FORMAT csv, HEADER match)", row.as_bytes(), 3);
    assert!(contains(&sent, b"fieldveil refused a row") && !contains(&sent, CANARY.as_bytes()));
    let matching = format!("id,\"ssn\"\n{row}");
    let (_, sent) =
        copy_in("COPY customer (id, ssn) FROM STDIN (FORMAT csv, HEADER match)", matching.as_bytes(), 3);
    assert!(copied(&sent).starts_with(b"id,\"ssn\"\n7,fv1.") && !contains(&sent, CANARY.as_bytes()));
    let (_, sent) =
        copy_in("COPY customer (id, ssn) FROM STDIN (FORMAT csv, HEADER)", b"\\.\n7,078-05-1120\n", 3);
    assert!(!contains(&sent, CANARY.as_bytes()));
}

#[test]
fn an_error_of_an_earlier_copy_leaves_the_next_one_alone() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let copy = query("COPY customer (id, ssn) FROM STDIN");
    let first = [copy.clone(), message(b'd', b"1\tx\n"), message(b'c', b"")].concat();
    dialogue.client(&[first, copy, message(b'd', b"2\ty\n")].concat());
    dialogue.server(
        &[message(b'G', &[0, 0, 0]), server_error("23505"), ready(b'I'), message(b'G', &[0, 0, 0])].concat(),
    );
    dialogue.take_to_server();
    dialogue.client(&[message(b'd', b"3\tz\n"), message(b'c', b"")].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "dc", "the second goes on");
}

#[test]
fn a_copy_that_the_server_skips_is_not_waited_for() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let failing = [parse("", "SELECT 1/0"), bind("", &[]), execute()].concat();
    let copy = [parse("c", "COPY customer (id, ssn) FROM STDIN"), bind("c", &[]), execute(), sync()].concat();
    dialogue.client(&[failing, copy].concat());
    dialogue.server(&[server_error("22012"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&[parse("", "SELECT 7"), bind("", &[]), execute(), sync()].concat());
    assert!(!dialogue.session.is_waiting());
    assert_eq!(tags(&dialogue.take_to_server()), "PBES");
}

#[test]
fn short_data_that_stands_for_long_values_fails_the_copy() {
    let numeric = || vec![field("ssn", "randomized", "numeric", json!({"treatment": "reveal"}), "seal")];
    for (line, count, is_refused) in
        [("1e4000\n", 40_000, true), ("1e100\n", 170_000, false), ("7\n", 300_000, false)]
    {
        let mut dialogue = Dialogue::with_catalog(&numeric());
        dialogue.client(&query("COPY customer (ssn) FROM STDIN"));
        dialogue.take_to_server();
        dialogue.server(&message(b'G', &[0, 0, 0]));
        dialogue.client(&message(b'd', line.repeat(count).as_bytes()));
        dialogue.client(&message(b'c', b""));
        let sent = dialogue.take_to_server();
        assert_eq!(contains(&sent, b"fieldveil refused a row"), is_refused, "{line}");
        assert!(sent.len() < 128 << 20, "{}", sent.len());
        if is_refused {
            dialogue.server(&[server_error("57014"), ready(b'I')].concat());
            assert!(contains(&dialogue.take_to_client(), b"54000"));
        }
    }
}

#[test]
fn row_behind_the_end_of_the_data_waits_for_no_answer_that_the_server_keeps() {
    // The server ignores a Sync that comes before the end of the data, and keeps its answer until the next one.
    for (asked_for, sent) in
        [(vec![sync()], vec![]), (vec![], vec![sync()]), (vec![sync()], vec![sync(), sync()])]
    {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        let copy = [parse("", "COPY customer (id, ssn) FROM STDIN"), bind("", &[]), execute()].concat();
        dialogue.client(&[copy, asked_for.concat()].concat());
        dialogue.server(&[message(b'1', b""), message(b'2', b""), message(b'G', &[0, 0, 0])].concat());
        dialogue.take_to_server();
        let row = message(b'd', format!("7\t{CANARY}\n").as_bytes());
        dialogue.client(&[row.clone(), sent.concat(), message(b'c', b""), row, sync()].concat());
        let went = tags(&dialogue.take_to_server());
        assert_eq!(went.trim_start_matches(['d', 'S']), "cH", "{went}");
        dialogue.server(&complete("COPY 1"));
        assert_eq!(tags(&dialogue.take_to_server()), "S");
        dialogue.server(&ready(b'I'));
        assert_eq!(tags(&dialogue.take_to_client()), "12GCZ");
    }
}

#[test]
fn mark_of_the_end_goes_on_with_the_line_end_that_it_came_with() {
    for (data, end) in [(&b"7\tx\tz\n\\.\nrest"[..], &b"\\.\n"[..]), (b"7\tx\tz\r\n\\.\r\nrest", b"\\.\r\n")]
    {
        for size in [1, 3, 100] {
            let (_, sent) = copy_in("COPY customer (id, ssn, name) FROM STDIN", data, size);
            assert!(copied(&sent).ends_with(end), "{data:?} {size}");
        }
    }
}
