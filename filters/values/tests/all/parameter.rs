//! Parameters of types that the client names itself, held against what a real PostgreSQL 18 stores of them.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use fieldveil_values::{DeclaredType, ValueError, ValueUse, oid};

/// The client's type by OID, the column's type, the value in text and in binary (hex), what the server stores of
/// it as text; nothing where it refuses.
type Cast = (u32, String, String, String, Option<String>);

fn casts() -> Vec<Cast> {
    serde_json::from_str(include_str!("../../testdata/postgres-18-casts.json")).unwrap()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn declared(name: &str) -> DeclaredType {
    name.parse().unwrap()
}

/// What is shown of the stored parameter.
fn stored(column: &DeclaredType, oid: u32, binary: bool, bytes: &[u8]) -> Result<Vec<u8>, ValueError> {
    let text = column.read_parameter(ValueUse::Store, oid, binary, bytes)?;
    column.encode_text(&column.canonicalize(&text)?)
}

#[test]
fn parameter_is_stored_as_the_server_casts_it_or_refused() {
    let (mut wrong, mut taken, mut servers) = (Vec::new(), 0, 0);
    for (oid, name, text, binary, expected) in casts() {
        // What the server refuses to cast may be taken, for it is read one way only.
        let Some(expected) = expected else { continue };
        for (format, bytes) in [(false, text.as_bytes().to_vec()), (true, unhex(&binary))] {
            servers += 1;
            match stored(&declared(&name), oid, format, &bytes) {
                Ok(ours) if ours == expected.as_bytes() => taken += 1,
                Err(_) => {}
                Ok(ours) => wrong.push(format!(
                    "{oid} {text:?} to {name}: {:?} is not {expected:?}",
                    String::from_utf8_lossy(&ours)
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    // Refusing everything would pass the loop above.
    assert!(taken * 10 >= servers * 7, "only {taken} of {servers}");
}

#[test]
fn float8_for_a_numeric_is_what_fifteen_digits_hold() {
    let numeric = declared("numeric(10,2)");
    let sum = (0.1_f64 + 0.2).to_be_bytes();
    assert_eq!(stored(&numeric, oid::FLOAT8, true, &sum), Ok(b"0.30".to_vec()));
    assert_eq!(stored(&declared("numeric"), oid::FLOAT8, true, &sum), Ok(b"0.3".to_vec()));
}

#[test]
fn value_looked_for_is_not_rounded_to_a_stored_one() {
    let cases = [
        ("numeric(10,2)", "2.675", None),
        ("numeric(10,2)", "2.6700", Some("2.67")),
        ("numeric(10,2)", "2.6", Some("2.60")),
        ("numeric(3)", "12.0", Some("12")),
        ("numeric(3)", "1e-4000", None),
        ("varchar(5)", "abcde  ", None),
        ("varchar(5)", "abc  ", Some("abc  ")),
        ("char(5)", "abcde  ", Some("abcde")),
        ("timestamp(0)", "2020-01-31 10:20:30.4", None),
        ("timestamp(0)", "2020-01-31 10:20:30.0", Some("2020-01-31 10:20:30")),
        ("timestamptz(3)", "2020-01-31 10:20:30.4004Z", None),
        ("timestamptz(3)", "2020-01-31 10:20:30.4Z", Some("2020-01-31 10:20:30.4+00")),
        ("timestamp(0)", "infinity", Some("infinity")),
        ("numeric(3,1)", "NaN", Some("NaN")),
        ("int4", "42", Some("42")),
    ];
    for (name, text, expected) in cases {
        let found = declared(name).canonicalize_for(ValueUse::Search, text.as_bytes());
        let expected = expected.map(|text| text.as_bytes().to_vec()).ok_or(ValueError::NeverStored);
        assert_eq!(found, expected, "{name} {text}");
        assert!(declared(name).canonicalize_for(ValueUse::Store, text.as_bytes()).is_ok(), "{name} {text}");
    }
}

#[test]
fn parameter_that_the_server_compares_by_another_type_is_refused_in_a_search() {
    let read =
        |name, oid, text: &str| declared(name).read_parameter(ValueUse::Search, oid, false, text.as_bytes());
    assert!(matches!(read("numeric(10,2)", oid::FLOAT8, "0.3"), Err(ValueError::NotAssignable { .. })));
    for (name, oid, text) in [
        // As text, as bpchar, by the session's zone, as a timestamp, or not at all.
        ("char(5)", oid::TEXT, "abc  "),
        ("char(5)", oid::NAME, "abc  "),
        ("varchar(5)", oid::BPCHAR, "abc"),
        ("date", oid::TIMESTAMPTZ, "2020-01-31 00:00:00+00"),
        ("timestamp", oid::TIMESTAMPTZ, "2020-01-31 00:00:00+00"),
        ("date", oid::TIMESTAMP, "2020-01-31 10:00:00"),
        ("int4", oid::TEXT, "5"),
        ("int4[]", oid::TEXT, "{5}"),
        ("text", oid::INT4, "5"),
        ("text", oid::UUID, "11111111-2222-3333-4444-555555555555"),
        ("uuid", oid::VARCHAR, "11111111-2222-3333-4444-555555555555"),
    ] {
        assert!(
            matches!(read(name, oid, text), Err(ValueError::NotAssignable { .. })),
            "{name} {oid} {text}"
        );
    }
    for (name, oid, text) in [
        ("char(5)", oid::TEXT, "abc"),
        ("char(5)", oid::VARCHAR, "abc  "),
        ("date", oid::TIMESTAMP, "2020-01-31 00:00:00"),
        ("int4", oid::INT8, "5"),
        ("text", oid::NAME, "abc"),
    ] {
        assert_eq!(read(name, oid, text), Ok(text.as_bytes().to_vec()), "{name} {oid} {text}");
    }
    assert_eq!(read("char(5)", oid::UNKNOWN, "abc  "), Ok(b"abc  ".to_vec()));
    assert_eq!(read("numeric(10,2)", oid::NUMERIC, "0.3"), Ok(b"0.3".to_vec()));
}

#[test]
fn types_whose_equal_values_differ_in_text_say_so() {
    for name in ["float8", "numeric", "json"] {
        assert!(!declared(name).has_one_text(), "{name}");
    }
    for name in ["text", "numeric(10,2)", "int8", "char(3)", "timestamptz", "bytea", "uuid", "bool", "date"] {
        assert!(declared(name).has_one_text(), "{name}");
    }
}

#[test]
fn unknown_client_type_is_refused_in_either_format() {
    for binary in [false, true] {
        assert!(declared("text").read_parameter(ValueUse::Store, 869, binary, b"127.0.0.1").is_err());
    }
}
