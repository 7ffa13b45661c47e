//! Bytes that drivers of MySQL write into a text as they are.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use crate::common::mysql::{DEFAULT, in_dialect, mysql};
use crate::common::shapes::analyze;
use fieldveil_sql::{MySqlDialect, Replacement, binary_as_hexadecimal, single_bytes_as_hexadecimal};
use proptest::prelude::*;

fn rewritten(text: &[u8], dialect: MySqlDialect) -> Option<String> {
    binary_as_hexadecimal(text, dialect).map(|text| text.to_string())
}

#[test]
fn bytes_of_a_binary_literal_become_hexadecimal_digits() {
    for (text, expected) in [
        (b"SELECT _binary'\xff\\0\0\\n\\'\\\\''\"'".as_slice(), "SELECT _binary x'ff00000a275c2722'"),
        (b"SELECT(_BINARY \t\n'\xc3')", "SELECT(_BINARY \t\n x'c3')"),
        (
            b"INSERT INTO t VALUES('\xc3\xa9',_binary\"\xff'\\\"\"\"\")",
            "INSERT INTO t VALUES('\u{e9}',_binary x'ff272222')",
        ),
        (
            b"SELECT a=_binary'\xff', _binary'b', _binary'\xfe';",
            "SELECT a=_binary x'ff', _binary'b', _binary x'fe';",
        ),
        (
            b"SELECT _binary'\\%\\_\xff' /*fieldveil.purpose='a'*/",
            "SELECT _binary x'5c255c5fff' /*fieldveil.purpose='a'*/",
        ),
        (
            b"SELECT `_binary'` , @`a`, _binary'\xff' -- it's\n, 1",
            "SELECT `_binary'` , @`a`, _binary x'ff' -- it's\n, 1",
        ),
        (b"SELECT _binary'\0'", "SELECT _binary x'00'"),
    ] {
        assert_eq!(rewritten(text, DEFAULT).as_deref(), Some(expected));
    }
}

#[test]
fn quotes_and_backslashes_go_by_the_mode() {
    let ansi = MySqlDialect { ansi_quotes: true, ..DEFAULT };
    let plain = MySqlDialect { no_backslash_escapes: true, ..DEFAULT };
    assert_eq!(rewritten(b"SELECT _binary\"\xff\"", ansi), None);
    assert_eq!(
        rewritten(b"SELECT \"'\", _binary'\xff'", ansi).as_deref(),
        Some("SELECT \"'\", _binary x'ff'")
    );
    assert_eq!(rewritten(b"SELECT _binary'\xff\\'", plain).as_deref(), Some("SELECT _binary x'ff5c'"));
    assert_eq!(rewritten(b"SELECT _binary'\xff\\'", DEFAULT), None);
    assert_eq!(
        rewritten(b"SELECT _binary'\xff\\n', '\\'", plain).as_deref(),
        Some("SELECT _binary x'ff5c6e', '\\'")
    );
}

#[test]
fn text_that_needs_nothing_is_left() {
    assert_eq!(rewritten("SELECT _binary'é', 'a\\0'".as_bytes(), DEFAULT), None);
}

#[test]
fn whatever_is_not_certain_is_left_as_it_is() {
    for text in [
        b"SELECT '\xff'".as_slice(),
        b"SELECT \xff",
        b"SELECT `\xff`",
        b"SELECT '\xff', _binary'\xff'",
        b"SELECT _utf8mb4'\xff'",
        b"SELECT _latin1'\xff'",
        b"SELECT a_binary'\xff'",
        b"SELECT \xc3\xa9_binary'\xff'",
        b"SELECT 1_binary'\xff'",
        b"SELECT 1._binary'\xff'",
        b"SELECT $_binary'\xff'",
        b"SELECT _binary$'\xff'",
        b"SELECT _binary2'\xff'",
        b"SELECT @_binary'\xff'",
        b"SELECT @@_binary'\xff'",
        b"SELECT @'_binary' '\xff'",
        b"SELECT `_binary`'\xff'",
        b"SELECT x._binary'\xff'",
        b"SELECT x . _binary'\xff'",
        b"SELECT x. _binary '\xff'",
        b"SELECT 'a'_binary'\xff'",
        b"SELECT /**/_binary/**/'\xff'",
        b"SELECT _binary -- a\n '\xff'",
        b"SELECT _binary'a' '\xff'",
        b"SELECT _binary'\xff' 'a'",
        b"SELECT _binary'\xff' /**/ 'a'",
        b"SELECT _binary'\xff'\"a\"",
        b"SELECT _binary'\xff'N'a'",
        b"SELECT _binary'\xff' x'41'",
        b"SELECT N'\xff'",
        b"SELECT _binary N'\xff'",
        b"SELECT _binary x'\xff'",
        b"SELECT x'_binary'\xff'",
        b"SELECT 1 /* _binary'\xff' */",
        b"SELECT 1 -- _binary'\xff'",
        b"SELECT 1 # _binary'\xff'",
        b"SELECT 1 /*! , _binary'\xff' */",
        b"SELECT 1 /*M! , */ _binary'\xff'",
        b"SELECT /*!50000 */ _binary'\xff'",
        b"SELECT /*+ INDEX(`a*/`) */ _binary'\xff'",
        b"SELECT '_binary\\'\xff'",
        b"SELECT '_binary''\xff'",
        b"SELECT \"_binary'\xff'\"",
        b"SELECT `_binary'\xff'`",
        b"SELECT _binary'\xff",
        b"SELECT _binary'\xff\\",
        b"SELECT _binary'\xff' \\N",
        b"SELECT _binary'\xff' $$ $$",
        b"SELECT _binary'\xff' \0",
        b"SELECT '\0', _binary'\xff'",
        b"SELECT 1\0_binary'\xff'",
        b"SET sql_mode = ''; SELECT _binary'\xff'",
        b"SELECT _binary'\xff'; SELECT 1",
    ] {
        assert_eq!(rewritten(text, DEFAULT), None, "{}", text.escape_ascii());
    }
}

#[test]
fn bytes_of_a_protected_column_are_sealed_as_they_are() {
    let text = rewritten(b"INSERT INTO typed (id, photo) VALUES (1, _binary'\0\xff\\'')", DEFAULT).unwrap();
    let analysis = analyze(&text, &mysql()).unwrap();
    let [splice] = analysis.splices.as_slice() else { panic!("one literal is sealed") };
    assert!(matches!(&splice.with, Replacement::Seal { value, .. } if value.as_str() == "\\x00ff27"));
    assert_eq!(&text[splice.range.clone()], "_binary x'00ff27'");
}

/// How a driver writes bytes between quotes.
#[derive(Clone, Copy, Debug)]
enum Driver {
    /// Connector/Python
    Python,
    /// PyMySQL, mysqlclient, MySQL Connector/J
    Escape,
    /// go-sql-driver
    Go,
    /// MariaDB Connector/J
    MariaDb,
    /// All of them where a backslash is none.
    Doubled,
}

fn written(driver: Driver, value: &[u8]) -> Vec<u8> {
    let mut text = match driver {
        Driver::MariaDb => b"_binary '".to_vec(),
        _ => b"_binary'".to_vec(),
    };
    for byte in value {
        let own: &[u8] = match (driver, byte) {
            (Driver::Doubled, b'\'') => b"''",
            (Driver::Doubled, _) => b"",
            (_, b'\'') => b"\\'",
            (_, b'\\') => b"\\\\",
            (_, b'"') => b"\\\"",
            (Driver::Escape | Driver::Go | Driver::MariaDb, 0) => b"\\0",
            (Driver::MariaDb, _) => b"",
            (_, b'\n') => b"\\n",
            (_, b'\r') => b"\\r",
            (_, 0x1a) => b"\\Z",
            _ => b"",
        };
        text.extend_from_slice(if own.is_empty() { std::slice::from_ref(byte) } else { own });
    }
    text.push(b'\'');
    text
}

/// What may stand between two literals.
fn rest() -> impl Strategy<Value = String> {
    let pieces = [
        "(",
        ", ",
        "= ",
        " '_binary', ",
        " '\\'', ",
        " 'é''\"', ",
        " \"it's\", ",
        " `a'b`, ",
        " @x, ",
        " /* ' é */ ",
        " -- '\n",
        " # \"\n",
        " 1, ",
        " NULL, ",
        " x'41', ",
        " a.b, ",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn bytes_come_out_as_they_were_and_the_rest_of_the_text_too(
        literals in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), rest()), 1..5),
        driver in prop::sample::select(vec![Driver::Python, Driver::Escape, Driver::Go, Driver::MariaDb]),
        doubled in any::<bool>(),
    ) {
        let dialect = MySqlDialect { no_backslash_escapes: doubled, ..DEFAULT };
        let driver = if doubled { Driver::Doubled } else { driver };
        let (mut text, mut expected) = (b"SELECT ".to_vec(), String::from("SELECT "));
        for (value, rest) in &literals {
            let rest = if doubled { rest.replace('\\', "").replace("'''", "''''")} else { rest.clone() };
            let literal = written(driver, value);
            match literal.is_ascii() && !literal.contains(&0) {
                true => expected.push_str(std::str::from_utf8(&literal).unwrap()),
                false => {
                    let introducer = if matches!(driver, Driver::MariaDb) { "_binary " } else { "_binary" };
                    let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
                    expected.push_str(&format!("{introducer} x'{digits}'"));
                }
            }
            text.extend_from_slice(&literal);
            for into in [", ", rest.as_str(), " 0, "] {
                text.extend_from_slice(into.as_bytes());
                expected.push_str(into);
            }
        }
        let needs = std::str::from_utf8(&text).is_err() || text.contains(&0);
        prop_assert_eq!(rewritten(&text, dialect), needs.then_some(expected));
    }

    #[test]
    fn no_bytes_panic_and_what_comes_out_needs_nothing_more(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..3),
                prop::sample::select(vec![
                    b"_binary".as_slice(), b"'", b"\"", b"\\", b"`", b" ", b"--", b"/*", b"*/", b"/*!", b"#", b"\n", b"\xff", b"@",
                    b".", b"x", b"N", b",", b";", b"\0",
                ]).prop_map(<[u8]>::to_vec),
            ],
            0..20,
        ),
        ansi_quotes in any::<bool>(),
        no_backslash_escapes in any::<bool>(),
    ) {
        let dialect = MySqlDialect { ansi_quotes, no_backslash_escapes, ..DEFAULT };
        let text = pieces.concat();
        if let Some(once) = rewritten(&text, dialect) {
            prop_assert!(text.windows(7).any(|word| word.eq_ignore_ascii_case(b"_binary")));
            prop_assert_eq!(rewritten(once.as_bytes(), dialect), None);
        }
    }
}

#[test]
fn bytes_of_a_text_in_single_bytes_become_hexadecimal_digits_and_the_rest_stays() {
    let read = |text: &[u8]| single_bytes_as_hexadecimal(text, DEFAULT).map(|written| written.to_vec());
    for (text, expected) in [
        (b"SELECT '\xe9', _binary'\xff\xc3\xa9'".as_slice(), b"SELECT '\xe9', _binary x'ffc3a9'".as_slice()),
        (
            b"INSERT INTO caf\xe9 VALUES (_BINARY '\0\xa0') -- \xa0",
            b"INSERT INTO caf\xe9 VALUES (_BINARY  x'00a0') -- \xa0",
        ),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected));
    }
    // There is none, it is ASCII, or it is not certain where it ends.
    for text in [
        b"SELECT '\xe9'".as_slice(),
        b"SELECT '\xe9', _binary'a'",
        b"SELECT _binary'\xff' 'a\xe9'",
        b"SELECT _binary'\xff'; SELECT 1",
    ] {
        assert_eq!(read(text), None);
    }
}

#[test]
fn what_stands_behind_the_name_of_a_set_is_no_text_of_single_bytes() {
    let single = MySqlDialect { decoded: true, ..DEFAULT };
    let catalog = in_dialect(single);
    for text in [
        "INSERT INTO customer (ssn) VALUES (_utf8mb4'é')",
        "INSERT INTO customer (ssn) VALUES (_binary'é')",
        "INSERT INTO typed (photo) VALUES ('é')",
        "PREPARE p FROM 'UPDATE customer SET ssn = ''é'''",
    ] {
        assert!(analyze(text, &catalog).is_err(), "{text}");
    }
    for text in ["INSERT INTO customer (ssn) VALUES (_utf8mb4'e')", "INSERT INTO customer (ssn) VALUES ('é')"]
    {
        assert!(analyze(text, &catalog).is_ok(), "{text}");
    }
}
