//! What holds for all values in MySQL's forms.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use fieldveil_values::mysql::{self, CharacterSet, Settings};
use fieldveil_values::{DeclaredType, Mask, ValueUse};
use proptest::prelude::*;

use crate::mysql::read_parameter;
use crate::vocabulary;

/// The types that MySQL has, each with the code that a parameter of its own has.
const TYPES: [(&str, u8); 27] = [
    ("text", 253),
    ("mediumtext", 254),
    ("varchar(5)", 253),
    ("varchar", 253),
    ("char(5)", 254),
    ("bpchar", 253),
    ("int2", 2),
    ("int4", 3),
    ("int8", 8),
    ("bool", 1),
    ("tinyint(1)", 1),
    ("float8", 5),
    ("numeric", 246),
    ("numeric(10,2)", 246),
    ("numeric(5,5)", 246),
    ("date", 10),
    ("timestamp", 12),
    ("timestamp(0)", 12),
    ("datetime", 12),
    ("datetime(3)", 12),
    ("time", 11),
    ("time(2)", 11),
    ("uuid", 253),
    ("json", 253),
    ("jsonb", 253),
    ("bytea", 252),
    ("varbinary(4)", 252),
];

fn declared() -> impl Strategy<Value = (DeclaredType, u8)> {
    prop::sample::select(TYPES.to_vec()).prop_map(|(name, code)| (name.parse().unwrap(), code))
}

fn settings() -> impl Strategy<Value = Settings> {
    let version = prop_oneof![Just("9.7.4"), Just("10.11.19-MariaDB")];
    let mode = prop_oneof![Just(""), Just("TIME_TRUNCATE_FRACTIONAL"), Just("TIME_ROUND_FRACTIONAL")];
    (version, mode).prop_map(|(version, mode)| Settings::read(version, mode, Some("utf8mb4")))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "[-+]?[0-9]{0,20}\\.?[0-9]{0,8}([eE][-+]?[0-9]{1,2})?",
        "[0-2][0-9]{3}-[01]?[0-9]-[0-3]?[0-9]([ T][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]{0,8})?)?)?",
        "[0-2][0-9]{3}[01][0-9][0-3][0-9]([0-2][0-9][0-5][0-9][0-5][0-9])?",
        "[0-9]{4,7}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{6})?)?( BC)?",
        "\\\\x([0-9a-fA-F]{2}){0,8}",
        "[0-9a-f]{32}",
        "-?[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]{0,8})?)?",
        "[01]",
        "\\{\"a\": ?[0-9]{1,3}\\}",
    ]
}

/// What stands behind the length of a value of a binary row.
fn without_length(code: u8, value: &[u8]) -> &[u8] {
    match (code, value) {
        (1 | 2 | 3 | 5 | 8, value) => value,
        (_, [0xFC, _, _, rest @ ..] | [_, rest @ ..]) => rest,
        (_, []) => value,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn value_of_mysql_comes_back_from_both_protocols((declared, code) in declared(), settings in settings(), text in text()) {
        let text = text.as_bytes();
        let Ok(canonical) = mysql::read_literal(&declared, &settings, ValueUse::Store, text) else { return Ok(()) };
        // It is PostgreSQL's canonical text: either database opens what the other has sealed.
        prop_assert_eq!(declared.canonicalize(&canonical), Ok(canonical.clone()));
        prop_assert_eq!(declared.canonicalize_for(ValueUse::Search, &canonical), Ok(canonical.clone()));
        // `numeric` takes what no DECIMAL holds.
        let Ok(shown) = mysql::encode_text(&declared, &settings, &canonical) else {
            prop_assert_eq!(declared.name(), "numeric");
            return Ok(());
        };
        let binary = mysql::encode_binary(&declared, &settings, &canonical).unwrap();
        if mysql::shows_canonical(&declared, &settings) {
            mysql::check_canonical(&canonical).unwrap();
            prop_assert_eq!(&shown, &canonical);
            prop_assert_eq!(without_length(253, &binary), &canonical);
        }
        let read = |code, bytes: &[u8]| read_parameter(&declared, &settings, ValueUse::Store, code, false, bytes);
        prop_assert_eq!(read(253, &shown), Ok(canonical.clone()));
        prop_assert_eq!(read(code, without_length(code, &binary)), Ok(canonical));
    }

    #[test]
    fn value_of_postgres_is_shown_or_refused_and_comes_back(
        (declared, code) in declared(), settings in settings(), text in text(),
    ) {
        let Ok(canonical) = declared.canonicalize(text.as_bytes()) else { return Ok(()) };
        let Ok(shown) = mysql::encode_text(&declared, &settings, &canonical) else {
            // Years and numbers that MySQL has not.
            prop_assert!(mysql::encode_binary(&declared, &settings, &canonical).is_err() || code == 5);
            return Ok(());
        };
        let binary = mysql::encode_binary(&declared, &settings, &canonical).unwrap();
        let read = |code, bytes: &[u8]| read_parameter(&declared, &settings, ValueUse::Store, code, false, bytes);
        // MariaDB has no negative zero.
        let expected = if &canonical[..] == b"-0" && settings.mariadb && declared.name() == "float8" { b"0".to_vec() } else { canonical };
        prop_assert_eq!(read(253, &shown), Ok(expected.clone()));
        prop_assert_eq!(read(code, without_length(code, &binary)), Ok(expected));
    }

    #[test]
    fn what_is_looked_for_is_what_is_stored((declared, code) in declared(), settings in settings(), text in text()) {
        let text = text.as_bytes();
        let read = |use_| read_parameter(&declared, &settings, use_, code, false, text);
        if let Ok(sought) = read(ValueUse::Search) {
            prop_assert_eq!(read(ValueUse::Store), Ok(sought));
        }
        if let Ok(sought) = mysql::read_literal(&declared, &settings, ValueUse::Search, text) {
            prop_assert_eq!(mysql::read_literal(&declared, &settings, ValueUse::Store, text), Ok(sought));
        }
    }

    #[test]
    fn masked_value_is_shown_if_the_value_is((declared, _) in declared(), settings in settings(), text in text()) {
        let Ok(canonical) = declared.canonicalize(text.as_bytes()) else { return Ok(()) };
        prop_assume!(mysql::encode_text(&declared, &settings, &canonical).is_ok());
        for mask in vocabulary::formats() {
            let mask: Mask = mask.parse().unwrap();
            if mask.applies_to(&declared) {
                let masked = mask.apply(&declared, std::str::from_utf8(&canonical).unwrap());
                prop_assert!(mysql::encode_text(&declared, &settings, masked.as_bytes()).is_ok());
                prop_assert!(mysql::encode_binary(&declared, &settings, masked.as_bytes()).is_ok());
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        (declared, _) in declared(), settings in settings(), code in any::<u8>(), unsigned in any::<bool>(), search in any::<bool>(),
        bytes in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let use_ = if search { ValueUse::Search } else { ValueUse::Store };
        let _ = mysql::encode_text(&declared, &settings, &bytes);
        let _ = mysql::encode_binary(&declared, &settings, &bytes);
        let _ = mysql::read_literal(&declared, &settings, use_, &bytes);
        if let Ok(canonical) = read_parameter(&declared, &settings, use_, code, unsigned, &bytes) {
            prop_assert_eq!(declared.canonicalize_for(use_, &canonical), Ok(canonical));
        }
    }
}

fn plain(name: &str) -> DeclaredType {
    name.parse().unwrap()
}

#[test]
fn types_without_a_form_in_mysql_are_refused_with_a_remedy() {
    for (name, remedy) in [
        ("timestamptz", "declare timestamp"),
        ("timestamptz(3)", "declare timestamp"),
        ("text[]", "declare json or text"),
        ("numeric(66,2)", "65 digits"),
        ("numeric(40,31)", "30 of them"),
    ] {
        let declared = plain(name);
        let error = mysql::check(&declared).unwrap_err();
        assert!(error.to_string().contains(remedy), "{name}: {error}");
        let settings = Settings::default();
        assert_eq!(mysql::column(&declared, &settings), Err(error.clone()));
        assert_eq!(mysql::encode_text(&declared, &settings, b"1"), Err(error.clone()));
        assert_eq!(mysql::read_literal(&declared, &settings, ValueUse::Store, b"1"), Err(error));
    }
    for (name, _) in TYPES {
        assert_eq!(mysql::check(&plain(name)), Ok(()), "{name}");
    }
}

#[test]
fn zero_dates_are_refused_by_what_to_store_instead() {
    let settings = Settings::default();
    let read =
        |code, bytes: &[u8]| read_parameter(&plain("date"), &settings, ValueUse::Store, code, false, bytes);
    let texts: [&[u8]; 4] = [b"0000-00-00", b"2024-00-01", b"2024-01-00", b"0000-00-00 00:00:00"];
    let refused = texts.iter().map(|text| read(253, text)).chain([read(10, b""), read(12, &[0; 7])]);
    for answer in refused {
        assert!(answer.unwrap_err().to_string().contains("store NULL"));
    }
}

#[test]
fn values_that_mysql_has_not_are_refused_when_shown() {
    for (name, canonical) in [
        ("date", "infinity"),
        ("date", "0044-03-15 BC"),
        ("date", "10000-01-01"),
        ("timestamp", "-infinity"),
        ("timestamp", "0044-03-15 10:00:00 BC"),
        ("float8", "NaN"),
        ("float8", "Infinity"),
        ("numeric", "NaN"),
        ("numeric", "0.1234567890123456789012345678901"),
        ("numeric(3)", "NaN"),
    ] {
        let declared = plain(name);
        assert_eq!(declared.canonicalize(canonical.as_bytes()).as_deref(), Ok(canonical.as_bytes()));
        assert!(
            mysql::encode_text(&declared, &Settings::default(), canonical.as_bytes()).is_err(),
            "{canonical}"
        );
        assert!(mysql::encode_binary(&declared, &Settings::default(), canonical.as_bytes()).is_err());
    }
}

#[test]
fn fractions_are_cut_or_rounded_as_the_server_does() {
    let read = |version, mode, text: &str| {
        let settings = Settings::read(version, mode, None);
        let canonical = mysql::read_literal(&plain("datetime"), &settings, ValueUse::Store, text.as_bytes());
        canonical.map(|text| String::from_utf8(text).unwrap())
    };
    let (given, cut, rounded) = ("1999-12-31 23:59:59.5", "1999-12-31 23:59:59", "2000-01-01 00:00:00");
    for (version, mode, expected) in [
        ("9.7.4", "STRICT_TRANS_TABLES", rounded),
        ("8.0.36", "STRICT_TRANS_TABLES,TIME_TRUNCATE_FRACTIONAL", cut),
        ("10.11.19-MariaDB-0+deb12u1", "STRICT_TRANS_TABLES", cut),
        ("5.5.5-10.11.5-MariaDB-log", "TIME_ROUND_FRACTIONAL", rounded),
    ] {
        assert_eq!(read(version, mode, given).as_deref(), Ok(expected), "{version} {mode}");
        assert!(read(version, mode, "9999-12-31 23:59:59.5").is_err() || expected == cut);
    }
}

#[test]
fn text_is_sent_in_the_character_set_of_results() {
    let of = |version, results| {
        let CharacterSet { id, max_bytes, .. } = Settings::read(version, "", results).results;
        (id, max_bytes)
    };
    assert_eq!(of("10.11.19-MariaDB", Some("utf8mb4")), (45, 4));
    assert_eq!(of("9.7.4", Some("UTF8MB4")), (255, 4));
    assert_eq!(of("9.7.4", None), (255, 4));
    assert_eq!(of("9.7.4", Some("utf8mb3")), (33, 3));
    assert_eq!(of("9.7.4", Some("binary")), (63, 1));
    assert_eq!(of("9.7.4", Some("latin1")), (8, 1));
    assert_eq!(of("9.7.4", Some("gbk")), (28, 2));

    let latin1 = Settings::read("9.7.4", "", Some("latin1"));
    assert_eq!(mysql::encode_text(&plain("text"), &latin1, "éЖ".as_bytes()), Ok(b"\xe9?".into()));
    let big5 = Settings::read("9.7.4", "", Some("big5"));
    assert_eq!(mysql::encode_text(&plain("text"), &big5, b"e"), Ok(b"e".into()));
    let error = mysql::encode_text(&plain("text"), &big5, "é".as_bytes()).unwrap_err();
    assert!(error.to_string().contains("SET NAMES utf8mb4"));

    let three = Settings::read("9.7.4", "", Some("utf8mb3"));
    let varchar = plain("varchar(20)");
    assert_eq!(mysql::encode_text(&varchar, &three, "a𝄞ä".as_bytes()), Ok("a?ä".into()));
    assert_eq!(mysql::column(&varchar, &three).unwrap().length, 60);
}

#[test]
fn json_of_mysql_is_shown_by_its_own_type() {
    let column = mysql::column(&plain("json"), &Settings::default()).unwrap();
    assert_eq!((column.column_type, column.charset, column.length), (245, 63, u32::MAX));
}

#[test]
fn long_values_have_their_length_before_them() {
    let settings = Settings::default();
    let value = |length: usize| {
        mysql::encode_binary(&plain("text"), &settings, "a".repeat(length).as_bytes()).unwrap()
    };
    for (length, prefix) in [
        (0, &[0][..]),
        (250, &[250]),
        (251, &[0xFC, 251, 0]),
        (65_536, &[0xFD, 0, 0, 1]),
        (1 << 24, &[0xFE, 0, 0, 0, 1, 0, 0, 0, 0]),
    ] {
        let value = value(length);
        assert_eq!(&value[..prefix.len()], prefix);
        assert_eq!(value.len(), prefix.len() + length);
    }
}

#[test]
fn numbers_and_dates_are_not_looked_for_among_strings() {
    let settings = Settings::default();
    let sought = |name: &str, code, bytes: &[u8]| {
        read_parameter(&plain(name), &settings, ValueUse::Search, code, false, bytes)
    };
    assert!(sought("text", 3, &1_i32.to_le_bytes()).is_err());
    // Whether trailing spaces count, the column's collation says.
    assert!(sought("char(5)", 253, b"ab").is_ok());
    assert_eq!(sought("char(5)", 253, b"ab  "), Err(fieldveil_values::ValueError::NeverStored));
    assert!(sought("varchar(5)", 5, &1_f64.to_le_bytes()).is_err());
    assert!(sought("text", 10, &[0xe8, 7, 1, 2]).is_err());
    // Several decimals of so many digits are the same double.
    assert!(sought("numeric(20,2)", 5, &1.5_f64.to_le_bytes()).is_err());
    assert_eq!(sought("numeric(10,2)", 5, &1.5_f64.to_le_bytes()).as_deref(), Ok(&b"1.50"[..]));
    assert!(sought("int8", 5, &9_007_199_254_740_993_f64.to_le_bytes()).is_err());
}
