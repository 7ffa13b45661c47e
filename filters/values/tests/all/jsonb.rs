//! What holds for all `jsonb` values. The server's own answers are in `postgres.rs`.

#![allow(clippy::unwrap_used)]

use fieldveil_values::{DeclaredType, ValueError, decode_binary, oid};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON as one may write it: spaces, escapes, numbers in any form, keys in any order and more than once.
fn json() -> impl Strategy<Value = String> {
    let string = || {
        prop_oneof![
            "\"[ab]{0,3}\"",
            "\"[ -!#-\\[\\]-~äé日𝄞]{0,6}\"",
            Just(r#""\u00e4\ud834\udd1e\/\n\u001f\"\\""#.to_owned())
        ]
    };
    let leaf = prop_oneof![
        "-?(0|[1-9][0-9]{0,7})(\\.[0-9]{1,3})?([eE][-+]?[0-9])?",
        string(),
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..5), "[ \t\n]?")
                .prop_map(|(values, space)| format!("[{space}{}{space}]", values.join(&format!(",{space}")))),
            (prop::collection::vec((string(), inner), 0..5), "[ \t\n]?").prop_map(|(entries, space)| {
                let entries: Vec<String> =
                    entries.into_iter().map(|(key, value)| format!("{space}{key}{space}:{value}")).collect();
                format!("{{{}{space}}}", entries.join(","))
            }),
        ]
    })
}

fn jsonb() -> DeclaredType {
    "jsonb".parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn canonical_text_is_the_same_value_and_survives_binary(text in json()) {
        let canonical = jsonb().canonicalize(text.as_bytes()).unwrap();
        let (given, kept): (Value, Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_slice(&canonical).unwrap());
        // As far as floats can tell; digits are held against the server.
        prop_assert_eq!(floats(given), floats(kept));
        prop_assert_eq!(jsonb().canonicalize(&canonical), Ok(canonical.clone()));
        let binary = jsonb().encode_binary(&canonical).unwrap();
        prop_assert_eq!(decode_binary(oid::JSONB, &binary), Ok(canonical));
    }

    #[test]
    fn broken_json_is_refused(text in json(), at in any::<prop::sample::Index>(), put in "[\\[\\]{},:\"x\\\\]?") {
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        chars.splice(at..=at, put.chars());
        let changed: String = chars.into_iter().collect();
        // Two numbers that became one may have an exponent that no float holds. Whoever reads that may say so before the
        // rest is read, which may not be JSON.
        let is_json = match serde_json::from_str::<Value>(&changed) {
            Err(error) if error.to_string().contains("out of range") => {
                serde_json::from_str::<&RawValue>(&changed).is_ok()
            }
            read => read.is_ok(),
        };
        match jsonb().canonicalize(changed.as_bytes()) {
            Err(ValueError::OutOfRange(_)) => {}
            canonical => prop_assert_eq!(canonical.is_ok(), is_json),
        }
    }
}

/// Every number as a float, as exactly as serde_json reads them.
fn floats(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::from(format!("{:.12e}", number.as_f64().unwrap() + 0.0)),
        Value::Array(values) => values.into_iter().map(floats).collect(),
        Value::Object(entries) => entries.into_iter().map(|(key, value)| (key, floats(value))).collect(),
        other => other,
    }
}
