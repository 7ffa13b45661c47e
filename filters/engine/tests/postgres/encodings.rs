//! Sessions whose client_encoding is another than UTF8: what is sealed is the text, not its bytes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::support::{
    Asked, Connection, Dialogue, bind, catalog_rows, complete, contains, data_row, digits, execute, message,
    parse, query, ready, revealing, row_description, server_error, sync, tags,
};

/// Columns of the catalog that are names or texts.
const TEXTS: [usize; 6] = [1, 2, 6, 10, 11, 14];

/// The catalog's rows as they come in a session of another encoding.
fn in_digits() -> Vec<Vec<Option<Vec<u8>>>> {
    let column = |(index, value): (usize, Option<Vec<u8>>)| match TEXTS.contains(&index) {
        true => value.map(|value| digits(&value)),
        false => value,
    };
    catalog_rows().into_iter().map(|row| row.into_iter().enumerate().map(column).collect()).collect()
}

/// A session of this encoding with the catalog read.
fn session(encoding: &str) -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.server(&message(b'S', format!("client_encoding\0{encoding}\0").as_bytes()));
    dialogue.client(&query("SELECT 1"));
    assert!(contains(&dialogue.to_server, b"convert_to(c1, 'UTF8'), 'hex'"));
    dialogue.identity[0] = "617070".to_owned();
    dialogue.answer_catalog_with(in_digits());
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.take_to_client();
    dialogue
}

fn query_of(text: &[u8]) -> Vec<u8> {
    message(b'Q', &[text, b"\0"].concat())
}

/// The envelope that stands in what went to the server.
fn envelope(sent: &[u8]) -> Vec<u8> {
    let start = sent.windows(4).position(|window| window == b"fv1.").unwrap();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    sent[start..].iter().take_while(is_part).copied().collect()
}

/// What the client gets of this stored value.
fn shown(dialogue: &mut Dialogue, stored: &[u8]) -> Vec<u8> {
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.take_to_client();
    let row = [row_description(&[("ssn", 3)]), data_row(&[Some(stored.to_vec())])].concat();
    dialogue.server(&[row, complete("SELECT 1"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.take_to_client()
}

#[test]
fn values_are_the_same_whatever_encoding_they_come_in() {
    let mut latin1 = session("LATIN1");
    latin1.client(&query_of(b"INSERT INTO customer (id, ssn, name) VALUES (1, 'caf\xe9', 'na\xefve')"));
    let sent = latin1.take_to_server();
    assert!(contains(&sent, b"na\xefve") && !contains(&sent, b"caf\xe9"));
    latin1.server(&[complete("INSERT 0 1"), ready(b'I')].concat());

    let mut utf8 = Dialogue::with_catalog(&revealing());
    utf8.client(&query("INSERT INTO customer (id, ssn) VALUES (1, 'café')"));
    // Its protection is deterministic.
    assert_eq!(envelope(&utf8.take_to_server()), envelope(&sent));
    utf8.server(&[complete("INSERT 0 1"), ready(b'I')].concat());

    latin1.client(
        &[parse("", "SELECT id FROM customer WHERE ssn = $1"), bind("", &[b"caf\xe9"]), sync()].concat(),
    );
    assert_eq!(envelope(&latin1.take_to_server()), envelope(&sent));
    latin1.server(&[message(b'1', b""), message(b'2', b""), ready(b'I')].concat());

    assert!(contains(&shown(&mut latin1, &envelope(&sent)), b"\0\0\0\x04caf\xe9"));
    assert!(contains(&shown(&mut utf8, &envelope(&sent)), "\0\0\0\x05café".as_bytes()));
}

#[test]
fn a_value_that_the_encoding_lacks_is_an_error_in_its_rows_place() {
    let mut utf8 = Dialogue::with_catalog(&revealing());
    utf8.client(&query("INSERT INTO customer (id, ssn) VALUES (1, '10 €')"));
    let stored = envelope(&utf8.take_to_server());
    for (encoding, code) in [("LATIN1", "C22P05\0"), ("SJIS", "C0A000\0"), ("MULE_INTERNAL", "C0A000\0")] {
        let got = shown(&mut session(encoding), &stored);
        assert!(contains(&got, code.as_bytes()) && !contains(&got, "€".as_bytes()), "{encoding}");
        assert_eq!(tags(&got), "TEZ");
    }
    assert!(contains(&shown(&mut session("LATIN9"), &stored), b"10 \xa4"));
}

#[test]
fn of_other_encodings_ascii_is_read_alone() {
    for encoding in ["SJIS", "GB18030"] {
        let mut dialogue = session(encoding);
        let ascii = query("INSERT INTO customer (id, name) VALUES (1, 'a')");
        dialogue.client(&ascii);
        assert_eq!(dialogue.take_to_server(), ascii);
        dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
        dialogue.client(&query_of(b"INSERT INTO customer (id, ssn) VALUES (1, '\x83\x5c')"));
        assert!(!contains(&dialogue.take_to_server(), b"\x83\x5c"));
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&dialogue.take_to_client(), b"C0A000\0"));
    }
}

#[test]
fn of_characters_that_are_not_known_the_text_is_read_and_no_value() {
    for (encoding, character) in
        [("EUC_TW", &b"\xc4\xe3"[..]), ("EUC_JP", b"\x8f\xb0\xa1"), ("MULE_INTERNAL", b"\x81\xe9")]
    {
        let mut dialogue = session(encoding);
        let passing: [&[&[u8]]; 3] = [
            &[b"INSERT INTO customer (id, name) VALUES (1, '", character, b"')"],
            &[b"SELECT id AS ", character, b", '", character, b"a''' FROM customer -- ", character],
            &[b"SELECT \"", character, b" \" FROM t"],
        ];
        for text in passing {
            dialogue.client(&query_of(&text.concat()));
            assert_eq!(dialogue.take_to_server(), query_of(&text.concat()), "{encoding}");
            dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
        }
        // What is sealed in such a text is sealed, and the rest goes as it came.
        let insert: [&[u8]; 3] = [b"INSERT INTO customer (ssn, name) VALUES ('clear', '", character, b"')"];
        dialogue.client(&query_of(&insert.concat()));
        let sent = dialogue.take_to_server();
        assert!(contains(&sent, character) && contains(&sent, b"fv1.") && !contains(&sent, b"clear"));
        dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
        dialogue.take_to_client();
        let refused: [&[&[u8]]; 3] = [
            &[b"INSERT INTO customer (ssn) VALUES ('", character, b"')"],
            &[b"SELECT id FROM customer WHERE ssn IN ('a', '", character, b"')"],
            &[b"PREPARE \"", character, b"\" AS SELECT 1"],
        ];
        for text in refused {
            dialogue.client(&query_of(&text.concat()));
            let sent = dialogue.take_to_server();
            assert!(!contains(&sent, character), "{encoding}: {}", String::from_utf8_lossy(&sent));
            dialogue.server(&[server_error("42601"), ready(b'I')].concat());
            assert!(contains(&dialogue.take_to_client(), b"C0A000\0"), "{encoding}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_as_the_server_would() {
    let mut dialogue = session("EUC_JP");
    dialogue.client(&[parse("", "INSERT INTO customer (ssn, name) VALUES ($1, $2)"), sync()].concat());
    dialogue.take_to_server();
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    for (ssn, name, refused) in [(&b"\xa4"[..], &b"a"[..], true), (b"\xa4\xa2", b"\xa4", false)] {
        dialogue.client(&[bind("", &[ssn, name]), sync()].concat());
        assert!(!contains(&dialogue.take_to_server(), b"\0\0\0\x02\xa4\xa2"));
        let answer = if refused { server_error("42601") } else { message(b'2', b"") };
        dialogue.server(&[answer, ready(b'I')].concat());
        assert_eq!(contains(&dialogue.take_to_client(), b"C22021\0"), refused);
    }
}

#[test]
fn behind_a_change_of_encoding_ascii_is_read_alone_until_the_server_has_reported() {
    let sets = [
        "SET client_encoding = 'LATIN1'",
        "SET NAMES 'LATIN1'",
        "SELECT set_config('client_encoding', 'LATIN1', false)",
        "SELECT set_config('client' || '_encoding', 'LATIN1', false)",
    ];
    for set in sets {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        dialogue.client(&[parse("", set), bind("", &[]), execute()].concat());
        let insert = parse("i", "INSERT INTO customer (id, ssn) VALUES ($1, $2)");
        dialogue.client(&[insert, bind("i", &[b"1", "café".as_bytes()]), execute(), sync()].concat());
        let answer = [message(b'1', b""), message(b'2', b""), complete("SET")].concat();
        dialogue.server(&answer);
        assert!(contains(&dialogue.take_to_server(), b"convert_to(c1, 'UTF8'), 'hex'"), "{set}");
        // `app`
        dialogue.identity[0] = "617070".to_owned();
        while !dialogue.asked().is_empty() {
            let catalog = dialogue.answer_with(in_digits());
            dialogue.server(&catalog);
        }
        let sent = dialogue.take_to_server();
        assert!(!contains(&sent, "café".as_bytes()) && !contains(&sent, b"fv1."), "{set}");
        dialogue.server(&[message(b'1', b""), server_error("42601")].concat());
        let got = dialogue.take_to_client();
        assert!(contains(&got, b"client_encoding"), "{set}: {}", String::from_utf8_lossy(&got));
        dialogue.server(&[message(b'S', b"client_encoding\0LATIN1\0"), ready(b'I')].concat());
        // From here on it is sure.
        dialogue.client(&query_of(b"INSERT INTO customer (id, ssn) VALUES (1, 'caf\xe9')"));
        if dialogue.session.is_waiting() {
            dialogue.answer_catalog_with(in_digits());
        }
        assert!(contains(&dialogue.take_to_server(), b"fv1."), "{set}");
    }
}

#[test]
fn a_name_of_the_protocol_is_ascii_where_texts_are_decoded() {
    let mut dialogue = session("LATIN1");
    dialogue.client(&[message(b'P', b"\xc3\xa9\0SELECT 1\0\0\0"), sync()].concat());
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_client(), b"C0A000\0"));
}

#[test]
fn rows_that_are_copied_are_decoded_before_their_escapes() {
    let mut dialogue = session("LATIN1");
    dialogue.client(&query("COPY customer (id, ssn) FROM STDIN"));
    dialogue.take_to_server();
    dialogue.server(&message(b'G', &[0, 0, 0]));
    dialogue.client(&message(b'd', b"1\tcaf\xe9\n2\tcaf\\xc3\\xa9\n"));
    let sent = dialogue.take_to_server();
    let first = envelope(&sent);
    assert_eq!(sent.windows(first.len()).filter(|window| *window == first).count(), 2);
    dialogue.client(&message(b'd', b"3\tcaf\\xe9\n"));
    assert_eq!(tags(&dialogue.take_to_server()), "f");
}

/// The same with another name for a column that is not protected.
fn with_column(rows: Vec<Vec<Option<Vec<u8>>>>, in_hex: bool) -> Vec<Vec<Option<Vec<u8>>>> {
    let (name, other) = match in_hex {
        true => (&b"6e616d65"[..], &b"6ec3a96d65"[..]),
        false => (&b"name"[..], "n\u{e9}me".as_bytes()),
    };
    let rename =
        |value: Option<Vec<u8>>| value.map(|value| if value == name { other.to_vec() } else { value });
    rows.into_iter().map(|row| row.into_iter().map(rename).collect()).collect()
}

#[test]
fn text_that_may_hold_a_protected_name_is_refused_although_its_strings_are_in_doubt() {
    let mut app = Dialogue::with_catalog(&revealing());
    let settings =
        [&b"client_encoding\0EUC_TW\0"[..], b"standard_conforming_strings\0off\0"].map(|s| message(b'S', s));
    app.server(&settings.concat());
    app.client(&query("SELECT 1"));
    app.answer_catalog_with(with_column(in_digits(), true));
    app.server(&[complete("SELECT 1"), ready(b'I')].concat());
    app.take_to_server();
    app.client(&query_of(b"INSERT INTO \xc4\xe3 (\xc4\xe3) VALUES (N'A\\'078-05-1120')"));
    assert!(!contains(&app.take_to_server(), b"078-05-1120"));
}

#[test]
fn prepared_text_is_not_executed_once_the_server_may_find_a_protected_name_in_it() {
    for name in ["\u{c9}", "e"] {
        let mut app = Dialogue::with_catalog(&revealing());
        app.server(&message(b'S', b"server_encoding\0LATIN1\0"));
        let prepare = query(&format!("PREPARE p AS INSERT INTO {name} VALUES ($1)"));
        app.client(&prepare);
        app.take_to_server();
        app.server(&[complete("PREPARE"), ready(b'I')].concat());
        app.client(&query("ALTER TABLE customer ADD COLUMN other int"));
        app.server(&[complete("ALTER TABLE"), ready(b'I')].concat());
        app.client(&query("EXECUTE p ('078-05-1120')"));
        assert_eq!(app.asked(), [Asked::Digest]);
        app.answer_catalog_with(with_column(catalog_rows(), false));
        assert_eq!(contains(&app.take_to_server(), b"078-05-1120"), name == "e", "{name}");
    }
}
