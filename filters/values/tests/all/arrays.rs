//! What holds for all arrays. The server's own answers are in `postgres.rs`.

#![allow(clippy::arithmetic_side_effects, clippy::unwrap_used)]

use fieldveil_values::{DeclaredType, ValueError, ValueUse, array_elements, decode_binary, oid, text_array};
use proptest::prelude::*;

type Elements = Vec<Option<Vec<u8>>>;

fn declared(name: &str) -> DeclaredType {
    name.parse().unwrap()
}

fn elements() -> impl Strategy<Value = Elements> {
    let element = prop_oneof!["[^\0]{0,6}", "[nNuUlL]{3,4}", "[ \t\"\\\\{},]{0,3}"];
    prop::collection::vec(prop::option::weighted(0.8, element.prop_map(String::into_bytes)), 0..12)
}

/// Up to six dimensions, each with its lower bound and its length.
fn dimensions() -> impl Strategy<Value = Vec<(i32, usize)>> {
    prop::collection::vec((-2..3_i32, 1..3_usize), 1..7)
}

/// The text of an array with these dimensions, whose elements are counted.
fn counted(dimensions: &[(i32, usize)]) -> String {
    fn level(dimensions: &[(i32, usize)], next: &mut usize) -> String {
        let Some(((_, length), inner)) = dimensions.split_first() else {
            *next += 1;
            return if next.is_multiple_of(5) { "NULL".to_owned() } else { next.to_string() };
        };
        let parts: Vec<String> = (0..*length).map(|_| level(inner, next)).collect();
        format!("{{{}}}", parts.join(","))
    }
    let bounds = |(lower, length): &(i32, usize)| format!("[{lower}:{}]", lower + *length as i32 - 1);
    let bounds: String = if dimensions.iter().any(|d| d.0 != 1) {
        dimensions.iter().map(bounds).collect::<String>() + "="
    } else {
        String::new()
    };
    bounds + &level(dimensions, &mut 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn text_of_a_list_reads_back(elements in elements()) {
        prop_assert_eq!(array_elements(false, &text_array(&elements)), Ok((0, elements)));
    }

    #[test]
    fn canonical_array_holds_the_same_elements_and_survives_binary(elements in elements()) {
        let texts = declared("text[]");
        let canonical = texts.canonicalize(&text_array(&elements)).unwrap();
        prop_assert_eq!(array_elements(false, &canonical), Ok((0, elements.clone())));
        let binary = texts.encode_binary(&canonical).unwrap();
        prop_assert_eq!(array_elements(true, &binary), Ok((oid::TEXT, elements)));
        prop_assert_eq!(decode_binary(texts.oid(), &binary), Ok(canonical));
    }

    #[test]
    fn bounds_and_dimensions_are_kept(dimensions in dimensions()) {
        let text = counted(&dimensions).into_bytes();
        for name in ["int2[]", "text[]", "numeric(9)[]"] {
            let declared = declared(name);
            prop_assert_eq!(declared.canonicalize(&text), Ok(text.clone()));
            let binary = declared.encode_binary(&text).unwrap();
            prop_assert_eq!(decode_binary(declared.oid(), &binary), Ok(text.clone()));
            prop_assert_eq!(declared.read_parameter(ValueUse::Store, 0, true, &binary), Ok(text.clone()));
        }
    }

    #[test]
    fn list_of_numbers_is_read_alike_in_either_format_and_width(numbers in prop::collection::vec(any::<i16>(), 0..8)) {
        let text = format!("{{{}}}", numbers.iter().map(i16::to_string).collect::<Vec<_>>().join(","));
        let expected: Elements = numbers.iter().map(|n| Some(n.to_string().into_bytes())).collect();
        for (column, client) in [("int8", "int2[]"), ("numeric(10,2)", "int4[]"), ("int2", "int8[]"), ("text", "int4[]")] {
            let (column, client) = (declared(column), declared(client));
            // The server has no operator for text beside int4.
            let use_ = if column.name() == "text" { ValueUse::Store } else { ValueUse::Search };
            let read = |oid, binary, bytes| column.read_array_parameter(use_, oid, binary, bytes);
            let binary = client.encode_binary(text.as_bytes()).unwrap();
            prop_assert_eq!(read(client.oid(), false, text.as_bytes()), Ok(expected.clone()));
            prop_assert_eq!(read(client.oid(), true, &binary), Ok(expected.clone()));
            prop_assert_eq!(read(0, true, &binary), Ok(expected.clone()));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "[\\[{\\]}:=,\"\\\\ a0-9-]{0,20}") {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            let _ = array_elements(true, bytes);
            let _ = array_elements(false, bytes);
            for oid in [1000, 1001, 1005, 1009, 1014, 1182, 1183, 1231, 3807] {
                let _ = decode_binary(oid, bytes);
            }
        }
    }

    #[test]
    fn broken_binary_array_never_panics(elements in elements(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut binary = declared("text[]").encode_binary(&text_array(&elements)).unwrap();
        let at = at.index(binary.len());
        binary.splice(at..=at, [byte]);
        let _ = array_elements(true, &binary);
        let _ = array_elements(true, binary.get(..at).unwrap());
        let _ = decode_binary(1009, &binary);
    }
}

#[test]
fn array_types_are_known_by_their_elements() {
    for (name, oid, modifier) in [
        ("text[]", 1009, -1),
        ("integer[]", 1007, -1),
        ("numeric(10, 2)[]", 1231, 655_366),
        ("VARCHAR(5) []", 1015, 9),
        ("timestamp(3) with time zone[]", 1185, 3),
        ("time[]", 1183, -1),
        ("jsonb[]", 3807, -1),
    ] {
        let declared = declared(name);
        assert_eq!((declared.oid(), declared.size(), declared.modifier()), (oid, -1, modifier), "{name}");
        assert_eq!(declared.max_text_bytes(), None, "{name}");
    }
    for name in ["[]", "text[][]", "text[3]", "text array", "[]text", "money[]", "text]", "text["] {
        assert_eq!(name.parse::<DeclaredType>(), Err(ValueError::UnknownType), "{name}");
    }
}

#[test]
fn every_known_type_has_arrays_and_they_have_it() {
    for name in
        ["text", "varchar", "bpchar", "int2", "int4", "int8", "bool", "float8", "numeric", "date", "time"]
            .into_iter()
            .chain(["timestamp", "timestamptz", "uuid", "json", "jsonb", "bytea"])
    {
        let array = oid::array_of(declared(name).oid()).unwrap();
        assert_eq!(oid::element_of(array), Some(declared(name).oid()), "{name}");
        assert_eq!(declared(&format!("{name}[]")).oid(), array, "{name}");
    }
    assert_eq!(oid::element_of(oid::TEXT), None);
    assert_eq!(oid::array_of(1009), None);
}

#[test]
fn arrays_compare_as_their_elements_do() {
    assert!(declared("text[]").has_one_text());
    assert!(declared("numeric(10,2)[]").has_one_text());
    for name in ["numeric[]", "float8[]", "jsonb[]", "bpchar[]"] {
        assert!(!declared(name).has_one_text(), "{name}");
    }
    let search = |name: &str, text: &str| declared(name).canonicalize_for(ValueUse::Search, text.as_bytes());
    assert_eq!(search("numeric(10,2)[]", "{1,2.675}"), Err(ValueError::NeverStored));
    assert_eq!(search("numeric(10,2)[]", "{1,NULL}"), Ok(b"{1.00,NULL}".to_vec()));
}

#[test]
fn list_of_arrays_is_refused() {
    let read = declared("int4[]").read_array_parameter(ValueUse::Search, 0, false, b"{\"{1}\"}");
    assert!(matches!(read, Err(ValueError::Unsupported(_))));
}

#[test]
fn array_that_would_take_too_much_memory_is_refused() {
    let many = format!("{{{}a}}", "a,".repeat(20));
    assert!(matches!(
        declared("char(1000000)[]").canonicalize(many.as_bytes()),
        Err(ValueError::LongText(_))
    ));
    let digits = format!("{{{}1}}", "1e4000,".repeat(5000));
    assert!(matches!(declared("numeric[]").canonicalize(digits.as_bytes()), Err(ValueError::LongText(_))));
    let list = declared("numeric").read_array_parameter(ValueUse::Store, 1231, false, digits.as_bytes());
    assert_eq!(list.map(|l| l.len()), Ok(5001));
}
