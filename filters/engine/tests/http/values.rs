//! Values of every declared type in JSON: what is sealed comes back as it was, here and at the database.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::http::*;
use fieldveil_engine::field::StoredForm;
use fieldveil_engine::http::value::{to_json, to_text};
use fieldveil_values::DeclaredType;
use proptest::prelude::*;
use serde_json::json;

/// Type, what is sent, the text that is sealed, and what is shown for it.
const SAMPLES: &[(&str, &str, &str, &str)] = &[
    ("text", r#""a\"b\\\u00e4\ud83d\ude00\n\/""#, "a\"b\\ä😀\n/", "\"a\\\"b\\\\ä😀\\n/\""),
    ("text", r#""""#, "", r#""""#),
    ("varchar(3)", r#""abc  ""#, "abc", r#""abc""#),
    ("char(5)", r#""ab""#, "ab", r#""ab""#),
    ("int2", "-32768", "-32768", "-32768"),
    ("int4", "-0", "0", "0"),
    ("int8", "9223372036854775807", "9223372036854775807", "9223372036854775807"),
    (
        "numeric",
        "0.10000000000000000000000000000000001",
        "0.10000000000000000000000000000000001",
        "0.10000000000000000000000000000000001",
    ),
    ("numeric", "12E3", "12000", "12000"),
    ("numeric", "-0.0", "0.0", "0.0"),
    ("numeric", r#""NaN""#, "NaN", r#""NaN""#),
    ("numeric(10,2)", "2.675", "2.68", "2.68"),
    ("float8", "-0", "-0", "-0"),
    ("float8", "1e21", "1e+21", "1e+21"),
    ("float8", r#""-Infinity""#, "-Infinity", r#""-Infinity""#),
    ("bool", "true", "t", "true"),
    ("bool", "false", "f", "false"),
    ("date", r#""2024-02-29""#, "2024-02-29", r#""2024-02-29""#),
    ("time", r#""23:59""#, "23:59:00", r#""23:59:00""#),
    ("timestamp", r#""2024-02-29T01:02:03.5""#, "2024-02-29 01:02:03.5", r#""2024-02-29 01:02:03.5""#),
    (
        "timestamptz",
        r#""2024-02-29T01:02:03+01:00""#,
        "2024-02-29 00:02:03+00",
        r#""2024-02-29 00:02:03+00""#,
    ),
    (
        "uuid",
        r#""A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11""#,
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        r#""a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11""#,
    ),
    ("bytea", r#""\\xDEad""#, "\\xdead", r#""\\xdead""#),
    ("json", r#"{"b" : 1.50, "b":[ ]}"#, r#"{"b" : 1.50, "b":[ ]}"#, r#"{"b" : 1.50, "b":[ ]}"#),
    ("json", r#""text""#, r#""text""#, r#""text""#),
    ("json", "true", "true", "true"),
    ("jsonb", r#"{"bb":1.50,"a":null,"bb":2e2}"#, r#"{"a": null, "bb": 200}"#, r#"{"a": null, "bb": 200}"#),
    (
        "text[]",
        r#"["a","b c",null,"NULL",""]"#,
        r#"{a,"b c",NULL,"NULL",""}"#,
        r#"["a","b c",null,"NULL",""]"#,
    ),
    ("text[]", "[]", "{}", "[]"),
    ("int4[]", "[[1, 2],[3,null]]", "{{1,2},{3,NULL}}", "[[1,2],[3,null]]"),
    ("numeric[]", r#"[1.50,"NaN"]"#, "{1.50,NaN}", r#"[1.50,"NaN"]"#),
    ("bool[]", "[true,false]", "{t,f}", "[true,false]"),
    ("char(3)[]", r#"["a"]"#, r#"{"a  "}"#, r#"["a"]"#),
    ("char(3)[]", r#"["a\n"]"#, "{\"a\n \"}", r#"["a\n"]"#),
    (
        "jsonb[]",
        r#"[[1,2],{"a":[]},null,"x"]"#,
        r#"{"[1, 2]","{\"a\": []}",NULL,"\"x\""}"#,
        r#"[[1, 2],{"a": []},null,"x"]"#,
    ),
];

#[test]
fn values_of_every_type_are_sealed_as_their_canonical_text_and_shown_as_json() {
    for (type_name, sent, text, shown) in SAMPLES {
        let declared: DeclaredType = type_name.parse().unwrap();
        let found = found(sent);
        let given = to_text(&declared, found.kind, found.json).unwrap().unwrap();
        let canonical = declared.canonicalize(&given).unwrap();
        assert_eq!(String::from_utf8_lossy(&canonical), *text, "{type_name} {sent}");
        assert_eq!(
            String::from_utf8(to_json(&declared, &canonical).unwrap()).unwrap(),
            *shown,
            "{type_name}"
        );
    }
}

#[test]
fn what_one_protocol_seals_the_other_opens() {
    for (type_name, sent, text, shown) in SAMPLES {
        for protection in ["randomized", "deterministic", "indexed"] {
            let treated = Treated::under(&[value_of(protection, type_name)]);
            let sealed = treated.seal(sent).unwrap().unwrap();
            let envelope: String = serde_json::from_str(&sealed).unwrap();
            assert!(envelope.starts_with("fv1."), "{type_name}");

            let at_database = treated.opened(envelope.as_bytes(), StoredForm::Armored);
            assert_eq!(at_database, Ok(text.as_bytes().to_vec()), "{type_name} {sent}");

            let stored = treated.stored(text, StoredForm::Armored);
            let stored = json!(String::from_utf8(stored).unwrap()).to_string();
            assert_eq!(treated.open(&stored).unwrap().as_deref(), Some(*shown), "{type_name} {sent}");
            assert_eq!(treated.open(&sealed).unwrap().as_deref(), Some(*shown), "{type_name} {sent}");
            if protection == "deterministic" {
                assert_eq!(sealed, stored, "{type_name} {sent}");
            }
        }
    }
}

#[test]
fn format_preserving_values_stay_in_their_format_here_and_at_the_database() {
    let mut field = value_of("format_preserving", "text");
    field["alphabet"] = json!("digits");
    let treated = Treated::under(&[field]);
    let sealed = treated.seal(r#""4111111111111111""#).unwrap().unwrap();
    let text: String = serde_json::from_str(&sealed).unwrap();
    assert!(text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit()) && text != "4111111111111111");
    assert_eq!(treated.stored("4111111111111111", StoredForm::Formatted), text.as_bytes());
    assert_eq!(treated.open(&sealed).unwrap().as_deref(), Some(r#""4111111111111111""#));
    // As a number it would lose its zeros.
    let problem = treated.open("4111111111111111").unwrap_err();
    assert_eq!((problem.status(), problem.name()), (502, "unreadable-value"));
}

#[test]
fn null_is_never_sealed_and_stays() {
    for type_name in ["text", "int4", "json", "jsonb", "text[]"] {
        let treated = Treated::under(&[value_of("deterministic", type_name)]);
        assert_eq!(treated.seal("null"), Ok(None));
        assert_eq!(treated.open("null"), Ok(None));
        assert!(treated.counts().is_empty() && treated.lines().is_empty(), "{type_name}");
    }
}

#[test]
fn another_kind_than_the_types_is_refused_with_label_and_kind() {
    for (type_name, sent, expected) in [
        ("text", "1", "a string"),
        ("text", "true", "a string"),
        ("text", "{}", "a string"),
        ("date", "20240229", "a string"),
        ("int4", r#""1""#, "a number"),
        ("int8", r#""NaN""#, "a number"),
        ("float8", r#""nan""#, "a number"),
        ("numeric", r#""1.5""#, "a number"),
        ("bool", "1", "true or false"),
        ("bool", r#""true""#, "true or false"),
        ("int4[]", "1", "an array"),
        ("int4[]", r#""{1}""#, "an array"),
        ("int4[]", r#"["1"]"#, "a number"),
    ] {
        let problem = Treated::under(&[value_of("deterministic", type_name)]).seal(sent).unwrap_err();
        assert_eq!((problem.status(), problem.name()), (422, "invalid-value"), "{type_name} {sent}");
        let told = told(&problem);
        assert_eq!(told["label"], "customer.value");
        let reason = told["reason"].as_str().unwrap();
        assert!(reason.ends_with(&format!("must be {expected}")), "{type_name} {sent}: {reason}");
        assert!(told["remedy"].as_str().unwrap().contains(type_name));
    }
}

#[test]
fn value_that_the_database_could_not_hold_is_refused() {
    let nested = |open: &str, close: &str, depth| format!("{}{}", open.repeat(depth), close.repeat(depth));
    let (deep, deeper) = (nested("[", "]", 129), nested("[", "]", 7));
    let many = format!("[{}1]", "1,".repeat(65_536));
    for (type_name, sent) in [
        ("text", r#""\ud800""#),
        ("text", r#""\udc00\ud800""#),
        ("text", r#""a\u0000b""#),
        ("varchar(3)", r#""abcd""#),
        ("int2", "32768"),
        ("int4", "1.0"),
        ("int4", "1e2"),
        ("int8", "9223372036854775808"),
        ("numeric", "1E4097"),
        ("numeric", "1e99999999999999999999"),
        ("numeric(3,2)", "10"),
        ("numeric(3,2)", r#""Infinity""#),
        ("float8", "1E400"),
        ("float8", "-1E400"),
        ("float8", "1E-400"),
        ("date", r#""2023-02-29""#),
        ("date", r#""01/02/2020""#),
        ("timestamptz", r#""2024-02-29 00:00:00""#),
        ("uuid", r#""no""#),
        ("bytea", r#""\\xabc""#),
        ("jsonb", r#""\u0000""#),
        ("jsonb", r#"{"a":"\ud800"}"#),
        ("jsonb", &deep),
        ("int4[]", &many),
        ("int4[]", &deeper),
        ("int4[]", "[[1],[2,3]]"),
        ("int4[]", "[1,[2]]"),
        ("int4[]", "[[1],2]"),
        ("int4[]", "[[1],null]"),
        ("int4[]", "[[]]"),
        ("int4[]", "[[],[]]"),
        ("int4[]", "[{}]"),
        ("text[]", r#"["\u0000"]"#),
        ("text[]", r#"["\ud800"]"#),
    ] {
        let treated = Treated::under(&[value_of("deterministic", type_name)]);
        let problem = treated.seal(sent).map(|_| format!("{type_name} {sent}")).unwrap_err();
        assert_eq!(problem.status(), 422, "{type_name} {sent}");
        assert!(treated.counts().is_empty());
    }
}

#[test]
fn value_past_the_limit_is_refused_whatever_its_type() {
    let text = |length: usize| format!("\"{}\"", "x".repeat(length));
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    assert!(treated.seal(&text(1 << 20)).is_ok());
    let problem = treated.seal(&text((1 << 20) + 1)).unwrap_err();
    assert_eq!((problem.status(), problem.label()), (413, Some("customer.value")));
}

#[test]
fn what_is_sealed_already_is_not_sealed_again() {
    for type_name in ["text", "json", "jsonb"] {
        let treated = Treated::under(&[value_of("deterministic", type_name)]);
        let value = if type_name == "text" { "once" } else { "\"once\"" };
        let envelope = String::from_utf8(treated.stored(value, StoredForm::Armored)).unwrap();
        for sent in [format!("\"{envelope}\""), format!("\"\\u0066{}\"", envelope.trim_start_matches('f'))] {
            assert_eq!(treated.seal(&sent).unwrap_err().status(), 422, "{type_name}");
        }
    }
}

#[test]
fn opened_text_that_is_no_value_of_the_type_does_not_get_into_a_body() {
    let as_text = Treated::under(&[value_of("deterministic", "text")]);
    let stored = |text: &str| String::from_utf8(as_text.stored(text, StoredForm::Armored)).unwrap();
    for (type_name, text) in [
        ("json", r#"1,"admin":true"#),
        ("int4", r#"1,"admin":true"#),
        ("int4", "\"1\""),
        ("bool", "true"),
        ("int4[]", "1"),
        ("json[]", "{\"1,2\"}"),
    ] {
        let treated = Treated::under(&[value_of("deterministic", type_name)]);
        let problem = treated.open(&format!("\"{}\"", stored(text))).unwrap_err();
        assert_eq!((problem.status(), problem.name()), (502, "unreadable-value"), "{type_name} {text}");
    }
}

/// A type, and JSON of one of its values in the spelling in which it is shown.
fn value() -> impl Strategy<Value = (&'static str, String)> {
    let string = |text: String| json!(text).to_string();
    let scalar = prop_oneof![
        "[^\0]{0,40}".prop_map(move |text| ("text", string(text))),
        any::<i16>().prop_map(|n| ("int2", n.to_string())),
        any::<i32>().prop_map(|n| ("int4", n.to_string())),
        any::<i64>().prop_map(|n| ("int8", n.to_string())),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,40})?".prop_map(|n| ("numeric", n)),
        prop::num::f64::NORMAL.prop_map(|n| ("float8", json!(n).to_string())),
        any::<bool>().prop_map(|b| ("bool", b.to_string())),
        "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])".prop_map(move |text| ("date", string(text))),
        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{0,5}[1-9])?"
            .prop_map(move |text| ("time", string(text))),
        "20[0-9]{2}-0[1-9]-1[0-9] [01][0-9]:[0-5][0-9]:[0-5][0-9]\\+00"
            .prop_map(move |text| ("timestamptz", string(text))),
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
            .prop_map(move |text| ("uuid", string(text))),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(move |bytes| (
            "bytea",
            string(bytes.iter().fold("\\x".into(), |t, b| format!("{t}{b:02x}")))
        )),
        document().prop_map(|value| ("json", value.to_string())),
        document().prop_map(|value| ("jsonb", value.to_string())),
    ];
    prop_oneof![3 => scalar.clone(), 1 => (scalar, 1..4_usize, 0..3_usize, any::<bool>()).prop_map(listed)]
}

/// An array of so many times the value, or of as many arrays, with a null.
fn listed(
    ((type_name, json), length, depth, null): ((&'static str, String), usize, usize, bool),
) -> (&'static str, String) {
    let array_type = match type_name {
        "text" => "text[]",
        "int2" => "int2[]",
        "int4" => "int4[]",
        "int8" => "int8[]",
        "numeric" => "numeric[]",
        "float8" => "float8[]",
        "bool" => "bool[]",
        "date" => "date[]",
        "time" => "time[]",
        "timestamptz" => "timestamptz[]",
        "uuid" => "uuid[]",
        "bytea" => "bytea[]",
        "json" => "json[]",
        _ => "jsonb[]",
    };
    let many = |item: &str| format!("[{}]", vec![item; length].join(","));
    let mut items = vec![json.as_str(); length];
    if null {
        items.push("null");
    }
    let innermost = format!("[{}]", items.join(","));
    // Arrays in arrays of json are values of json themselves.
    let depth = if type_name.starts_with("json") { 0 } else { depth };
    (array_type, (0..depth).fold(innermost, |inner, _| many(&inner)))
}

/// Any JSON value but `null`, with numbers that no reader of tests rounds.
fn document() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(|b| json!(b)),
        any::<i32>().prop_map(|n| json!(n)),
        "[^\0]{0,10}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let member = prop_oneof![4 => inner.clone(), 1 => Just(serde_json::Value::Null)];
        prop_oneof![
            prop::collection::vec(member.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::btree_map("[a-c\"ä]{0,3}", member, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

/// Whether two JSON texts say the same: to the last digit, where a type keeps digits.
fn assert_same(type_name: &str, one: &str, other: &str) {
    if type_name.starts_with("numeric") || type_name == "json" {
        assert_eq!(one, other, "{type_name}");
    }
    let parse = |json| serde_json::from_str::<serde_json::Value>(json).unwrap();
    if type_name.starts_with("float8") {
        // A whole number is written without `.0`, as PostgreSQL writes it.
        assert_eq!(floats(&parse(one)), floats(&parse(other)), "{type_name}");
    } else {
        assert_eq!(parse(one), parse(other), "{type_name}");
    }
}

/// The value with each number read as a float.
fn floats(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(items) => items.iter().map(floats).collect(),
        other => other.as_f64().map_or_else(|| other.clone(), |number| json!(number)),
    }
}

#[test]
fn whole_float_comes_back_as_the_same_number() {
    let treated = Treated::under(&[value_of("randomized", "float8")]);
    let sealed = treated.seal("994007778038557.0").unwrap().unwrap();
    assert_same("float8", &treated.open(&sealed).unwrap().unwrap(), "994007778038557.0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_value_comes_back_with_its_type((type_name, json) in value()) {
        let treated = Treated::under(&[value_of("randomized", type_name)]);
        let sealed = treated.seal(&json).unwrap().unwrap();
        assert_same(type_name, &treated.open(&sealed).unwrap().unwrap(), &json);
    }

    #[test]
    fn equal_values_are_sealed_equal_by_both_protocols((type_name, json) in value()) {
        let treated = Treated::under(&[value_of("deterministic", type_name)]);
        let sealed: String = serde_json::from_str(&treated.seal(&json).unwrap().unwrap()).unwrap();
        let found = found(&json);
        let text = to_text(&treated.field().declared, found.kind, found.json).unwrap().unwrap();
        let stored = treated.stored(std::str::from_utf8(&text).unwrap(), StoredForm::Armored);
        prop_assert_eq!(sealed.as_bytes(), &stored);
    }

    #[test]
    fn any_json_of_any_type_is_sealed_or_refused(
        type_name in prop::sample::select(vec!["text", "int4", "numeric", "float8", "bool", "date", "json", "jsonb", "text[]", "int4[]", "jsonb[]"]),
        json in document(),
    ) {
        let treated = Treated::under(&[value_of("deterministic", type_name)]);
        match treated.seal(&json.to_string()) {
            Ok(sealed) => prop_assert!(treated.open(&sealed.unwrap()).is_ok()),
            Err(problem) => prop_assert_eq!(problem.status(), 422),
        }
    }
}
