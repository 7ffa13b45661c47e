//! Texts of MySQL's that are too long to be held.
#![allow(clippy::unwrap_used)]

use crate::common::mysql::DEFAULT;
use fieldveil_sql::{LongHead, MySqlDialect};

/// The probe, and how much of what is behind the head may be sent.
fn read(text: &str, dialect: MySqlDialect) -> Option<(String, String)> {
    let LongHead { length, probe, mut rest } = LongHead::read(text, dialect, true, false)?;
    let rest_of_text = text.get(length..).unwrap();
    let end = rest.push(rest_of_text.as_bytes()).unwrap_or(rest_of_text.len());
    Some((probe, rest_of_text.get(end..).unwrap().to_owned()))
}

#[test]
fn values_of_one_table_may_be_sent() {
    for (text, probe) in [
        (
            "INSERT INTO t (a, `b c`) VALUES (1, 'x\\'y''z'), (NULL, \"a\")",
            "INSERT INTO t (a, `b c`) VALUES (NULL)",
        ),
        (
            "replace low_priority s.t value(0x1F, -2.5e+3, _utf8mb4 'é', b'01')",
            "replace low_priority s.t value (NULL)",
        ),
        ("UPDATE t SET a = 'x', t.b = c WHERE d <> -1 AND `select` = 'select' LIMIT 3", "UPDATE t SET a = 1"),
        ("UPDATE LOW_PRIORITY IGNORE s.t SET a = 'x'", "UPDATE LOW_PRIORITY IGNORE s.t SET a = 1"),
    ] {
        assert_eq!(read(text, DEFAULT), Some((probe.to_owned(), String::new())), "{text}");
    }
}

#[test]
fn nothing_is_sent_from_where_another_table_could_be_named() {
    for (text, refused) in [
        ("INSERT INTO t VALUES (1, (SELECT 1))", " 1))"),
        ("INSERT INTO t VALUES (a)", ")"),
        ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", " DUPLICATE KEY UPDATE a = 1"),
        ("INSERT INTO t VALUES (1); SELECT 1", "; SELECT 1"),
        ("INSERT INTO t VALUES (1 --\n)", "-\n)"),
        ("INSERT INTO t VALUES (1 - -\n1)", "-\n1)"),
        ("INSERT INTO t VALUES (1 /* */)", "/* */)"),
        ("INSERT INTO t VALUES (1 # )", "# )"),
        ("INSERT INTO t VALUES (@a)", "@a)"),
        ("INSERT INTO t VALUES (`a`)", "`a`)"),
        ("INSERT INTO t VALUES ('a' é)", "é)"),
        ("UPDATE t SET a = (SELECT 1)", "(SELECT 1)"),
        ("UPDATE t SET a = 1 WHERE b = SELECT 1", " 1"),
        ("UPDATE t SET a = 'x' RETURNING a", " a"),
        ("UPDATE t SET a = @b", "@b"),
        ("UPDATE t SET a = 1 /* */", "/* */"),
    ] {
        assert_eq!(read(text, DEFAULT).unwrap().1, refused, "{text}");
    }
}

#[test]
fn texts_of_another_kind_have_no_such_head() {
    for text in [
        "",
        "SELECT 1",
        "INSERT INTO t SELECT 1",
        "INSERT INTO t SET a = 1",
        "INSERT INTO t (a) VALUES",
        "INSERT INTO t SELECT 1 UNION VALUES (1)",
        "UPDATE a, b SET a.x = 1",
        "UPDATE a JOIN b SET x = 1",
        "UPDATE a AS b SET x = 1",
        "UPDATE (a) SET x = 1",
        "WITH a AS (SELECT 1) UPDATE t SET x = 1",
        "INSERT INTO /*! t */ VALUES (1)",
        "SET @a = 1; INSERT INTO t VALUES (1)",
    ] {
        assert!(LongHead::read(text, DEFAULT, true, false).is_none(), "{text}");
    }
}

#[test]
fn quotes_and_backslashes_of_long_texts_go_by_the_mode() {
    let ansi = MySqlDialect { ansi_quotes: true, ..DEFAULT };
    let plain = MySqlDialect { no_backslash_escapes: true, ..DEFAULT };
    assert_eq!(read("INSERT INTO t VALUES (\"a\")", ansi).unwrap().1, "\"a\")");
    assert_eq!(read(r"INSERT INTO t VALUES ('\'); x", DEFAULT).unwrap().1, "");
    assert_eq!(read(r"INSERT INTO t VALUES ('\'); x", plain).unwrap().1, "; x");
}

#[test]
fn a_long_text_read_piece_by_piece_is_read_alike() {
    let text = r#"INSERT INTO t VALUES (1, 'a\'b''c', _binary"x", NULL), (2, x'00'); SELECT 1"#;
    let whole = read(text, DEFAULT).unwrap().1;
    let LongHead { length, mut rest, .. } = LongHead::read(text, DEFAULT, true, false).unwrap();
    let bytes = text.as_bytes().get(length..).unwrap();
    let refused = bytes.chunks(1).position(|piece| rest.push(piece).is_some()).unwrap();
    assert_eq!(bytes.get(refused..).unwrap(), whole.as_bytes());
}
