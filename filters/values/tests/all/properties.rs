//! What holds for all values.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use fieldveil_values::{DeclaredType, Mask, ValueUse, decode_binary};
use proptest::prelude::*;

use crate::vocabulary;

const TYPES: [&str; 33] = [
    "text",
    "varchar(5)",
    "char(5)",
    "int2",
    "int4",
    "int8",
    "bool",
    "float8",
    "numeric",
    "numeric(10,2)",
    "date",
    "timestamp",
    "timestamp(0)",
    "timestamptz",
    "timestamptz(3)",
    "uuid",
    "json",
    "bytea",
    "numeric(5,5)",
    "bpchar",
    "time",
    "time(2)",
    "jsonb",
    "text[]",
    "varchar(3)[]",
    "char(3)[]",
    "int4[]",
    "float8[]",
    "numeric(10,2)[]",
    "date[]",
    "timestamptz(3)[]",
    "jsonb[]",
    "bytea[]",
];

fn declared() -> impl Strategy<Value = DeclaredType> {
    prop::sample::select(vocabulary::with_described(&TYPES)).prop_map(|name| name.parse().unwrap())
}

/// Digits and what stands between them, more often a value than arbitrary text.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "[-+]?[0-9]{0,20}\\.?[0-9]{0,8}([eE][-+]?[0-9]{1,3})?",
        "[0-9]{4}-[01][0-9]-[0-3][0-9]([ T][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,6})?)?)?(Z|[-+][01][0-9])?",
        "[0-9]{4,7}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{6})?Z?)?( BC)?",
        "\\\\x([0-9a-fA-F]{2}){0,8}",
        "[0-9a-f]{32}",
        "[0-2][0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]{0,9})?)?",
        "[\\[{\\]}:, 0-9.eE\"a\\\\-]{0,12}",
        "(\\[-?[0-9]:[0-9]\\]=)?\\{(NULL|\"?[a0-9. -]{0,3}\"?)(, ?(NULL|\"?[a0-9. -]{0,3}\"?)){0,3}\\}",
    ]
}

fn mask() -> impl Strategy<Value = Mask> {
    let partial = "partial\\([0-9],\"[X* ]{1,9}\",[0-9]\\)";
    prop_oneof![4 => prop::sample::select(vocabulary::formats()), 1 => partial]
        .prop_map(|name| name.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn canonical_text_is_a_fixed_point_and_survives_binary(declared in declared(), text in text()) {
        let Ok(canonical) = declared.canonicalize(text.as_bytes()) else { return Ok(()) };
        prop_assert_eq!(declared.canonicalize(&canonical), Ok(canonical.clone()));
        prop_assert_eq!(declared.canonicalize_for(ValueUse::Search, &canonical), Ok(canonical.clone()));
        let binary = declared.encode_binary(&canonical).unwrap();
        let back = decode_binary(declared.oid(), &binary).unwrap();
        prop_assert_eq!(declared.canonicalize(&back), Ok(canonical.clone()));
        let shown = declared.encode_text(&canonical).unwrap();
        prop_assert_eq!(declared.canonicalize(&shown), Ok(canonical));
    }

    #[test]
    fn no_canonical_text_is_longer_than_the_longest(declared in declared(), text in text()) {
        let Ok(canonical) = declared.canonicalize(text.as_bytes()) else { return Ok(()) };
        if let Some(longest) = declared.max_text_bytes() {
            prop_assert!(canonical.len() <= longest, "{} of {}", canonical.len(), declared.name());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        declared in declared(), oid in any::<prop::sample::Index>(), use_ in any::<bool>(), binary in any::<bool>(),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let oids = [0, 16, 17, 19, 20, 21, 23, 25, 114, 700, 701, 705, 1042, 1043, 1082, 1114, 1184, 1700, 2950, 3802, 600, 1083, 1007, 1009, 1231, 3807];
        let use_ = if use_ { ValueUse::Store } else { ValueUse::Search };
        let _ = declared.canonicalize_for(use_, &bytes);
        let _ = declared.encode_text(&bytes);
        let _ = declared.encode_binary(&bytes);
        let _ = declared.read_parameter(use_, *oid.get(&oids), binary, &bytes);
        let _ = declared.read_array_parameter(use_, *oid.get(&oids), binary, &bytes);
    }

    #[test]
    fn float8_bits_survive(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        let text = decode_binary(fieldveil_values::oid::FLOAT8, &value.to_be_bytes()).unwrap();
        let float8: DeclaredType = "float8".parse().unwrap();
        let back = float8.encode_binary(&float8.canonicalize(&text).unwrap()).unwrap();
        let same = if value.is_nan() { f64::NAN } else { value };
        prop_assert_eq!(back, same.to_be_bytes().to_vec());
    }

    #[test]
    fn declared_type_of_any_text_never_panics(text in ".{0,30}") {
        let _ = text.parse::<DeclaredType>();
    }

    #[test]
    fn masked_value_is_a_value_of_the_type(declared in declared(), text in text(), mask in mask()) {
        let Ok(canonical) = declared.canonicalize(text.as_bytes()) else { return Ok(()) };
        prop_assume!(mask.applies_to(&declared));
        let masked = mask.apply(&declared, std::str::from_utf8(&canonical).unwrap());
        prop_assert!(declared.canonicalize(masked.as_bytes()).is_ok());
        prop_assert!(declared.encode_text(masked.as_bytes()).is_ok());
        prop_assert!(declared.encode_binary(masked.as_bytes()).is_ok());
    }

    #[test]
    fn partial_shows_what_it_says_and_never_more_than_half(
        value in "\\PC{0,40}", first in 0_usize..=8, last in 0_usize..=8, padding in "[^\"\\\\\\p{Cc}]{1,5}",
    ) {
        let mask: Mask = format!("partial({first},\"{padding}\",{last})").parse().unwrap();
        let masked = mask.apply(&"text".parse().unwrap(), &value);
        let characters: Vec<char> = value.chars().collect();
        if characters.len() < 2 * (first + last) {
            prop_assert_eq!(masked, padding);
        } else {
            let shown = |part: &[char]| part.iter().collect::<String>();
            let (head, tail) = (shown(&characters[..first]), shown(&characters[characters.len() - last..]));
            prop_assert_eq!(masked, format!("{head}{padding}{tail}"));
        }
    }
}

#[test]
fn longest_text_is_that_of_a_value() {
    for (name, value) in [
        ("varchar(3)", "𝄞𝄞𝄞"),
        ("char(3)", "𝄞𝄞𝄞"),
        ("int2", "-32768"),
        ("int4", "-2147483648"),
        ("int8", "-9223372036854775808"),
        ("bool", "t"),
        ("float8", "-1.7976931348623157e+308"),
        ("numeric(1)", "NaN"),
        ("numeric(3)", "-999"),
        ("numeric(4,2)", "-99.99"),
        ("numeric(2,2)", "-0.99"),
        ("date", "5874897-12-31"),
        ("date", "4714-11-24 BC"),
        ("timestamp", "4714-11-24 00:00:00.000001 BC"),
        ("timestamp(0)", "4714-11-24 00:00:01 BC"),
        ("timestamptz", "4714-11-24 00:00:00.000001+00 BC"),
        ("timestamptz(3)", "4714-11-24 00:00:00.001+00 BC"),
        ("uuid", "00000000-0000-0000-0000-000000000000"),
    ] {
        let declared: DeclaredType = name.parse().unwrap();
        assert_eq!(declared.canonicalize(value.as_bytes()).as_deref(), Ok(value.as_bytes()), "{name}");
        assert_eq!(declared.max_text_bytes(), Some(value.len()), "{name}");
    }
    for name in ["text", "varchar", "numeric", "json", "bytea"] {
        assert_eq!(name.parse::<DeclaredType>().unwrap().max_text_bytes(), None, "{name}");
    }
}
