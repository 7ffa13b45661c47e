//! How bodies are rewritten.
#![allow(missing_docs, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::common::{LIMITS, matcher, rewrite, rewrite_at};
use fieldveil_json_stream::{Exceeded, Framing, Kind, Limits, Replacement, RewriteError, Rewriter};

/// Every field replaced by its number and its text in brackets, at every cut.
fn marked(paths: &[&str], body: &str) -> String {
    let whole = rewrite(paths, Framing::Document, body.as_bytes()).unwrap();
    for cut in 0..=body.len() {
        assert_eq!(
            rewrite_at(paths, Framing::Document, LIMITS, body.as_bytes(), &[cut]).as_ref(),
            Ok(&whole)
        );
    }
    String::from_utf8(whole).unwrap()
}

#[test]
fn what_a_path_selects_is_replaced_and_all_else_stays() {
    for (paths, body, expected) in [
        (&["$.a"][..], r#" { "b" : 1.0E+2 , "a" : "x" } "#, r#" { "b" : 1.0E+2 , "a" : <0:"x"> } "#),
        (&["$.a"], r#"{"a":1,"a":2}"#, "{\"a\":<0:1>,\"a\":<0:2>}"),
        (&["$.abc"], r#"{"\u0061b\u0063":true}"#, r#"{"\u0061b\u0063":<0:true>}"#),
        (&["$['\u{1f600}é']"], r#"{"\ud83d\uDE00\u00e9":null}"#, r#"{"\ud83d\uDE00\u00e9":<0:null>}"#),
        (&["$['a/b']"], r#"{"a\/b":[1, {"c":[]}]}"#, r#"{"a\/b":<0:[1, {"c":[]}]>}"#),
        (&[], "[1]", "[1]"),
        (&["$.a", "$[1]"], "[1, 2 ,3]", "[1, <1:2> ,3]"),
        (&["$[0][*].b"], r#"[[{"b":{}},{"c":1,"b":-0}]]"#, r#"[[{"b":<0:{}>},{"c":1,"b":<0:-0>}]]"#),
        (&["$[*].b"], r#"{"x":{"b":1},"y":[1]}"#, r#"{"x":{"b":<0:1>},"y":[1]}"#),
        (&["$..a"], r#"[{"a":{"a":1}},{"b":[[{"a":2}]]}]"#, r#"[{"a":<0:{"a":1}>},{"b":[[{"a":<0:2>}]]}]"#),
        (&["$..a.b"], r#"{"a":{"a":{"b":1},"b":2}}"#, r#"{"a":{"a":{"b":<0:1>},"b":<0:2>}}"#),
        (&["$.x..a[0]"], r#"{"a":[1],"x":{"a":[2,3]}}"#, r#"{"a":[1],"x":{"a":[<0:2>,3]}}"#),
        (&["$['']"], r#"{"":1}"#, r#"{"":<0:1>}"#),
        (&["$.a"], r#"{"A":1,"aa":2,"":3,"á":4}"#, r#"{"A":1,"aa":2,"":3,"á":4}"#),
        (&["$.a"], r#"[{"a":1}]"#, r#"[{"a":1}]"#),
        (&["$.a"], "\"a\"", "\"a\""),
        (&["$.a"], "12", "12"),
    ] {
        assert_eq!(marked(paths, body), expected, "{paths:?} {body}");
    }
}

#[test]
fn a_value_that_stays_is_as_it_stood() {
    let body = br#"{"a": [1 , "\u0061"] }"#;
    let mut rewriter = Rewriter::new(matcher(&["$.a"]), Framing::Document, LIMITS);
    let mut out = Vec::new();
    for byte in body {
        rewriter.push(&[*byte], &mut out, |_| Ok::<_, ()>(Replacement::Keep)).unwrap();
    }
    rewriter.finish(&mut out, |_| Ok::<_, ()>(Replacement::Keep)).unwrap();
    assert_eq!(out, body);
}

#[test]
fn each_kind_is_told() {
    let body = br#"["s", 1, -1, true, false, null, {}, []]"#;
    let mut kinds = Vec::new();
    let mut rewriter = Rewriter::new(matcher(&["$[*]"]), Framing::Document, LIMITS);
    let treat = |found: fieldveil_json_stream::Found<'_>| {
        kinds.push(found.kind);
        Ok::<_, ()>(Replacement::Keep)
    };
    rewriter.push(body, &mut Vec::new(), treat).unwrap();
    let number = Kind::Number;
    let words = [Kind::True, Kind::False, Kind::Null, Kind::Object, Kind::Array];
    assert_eq!(kinds, [&[Kind::String, number, number][..], &words].concat());
}

#[test]
fn all_but_a_field_leaves_at_once() {
    let mut rewriter = Rewriter::new(matcher(&["$.a"]), Framing::Document, LIMITS);
    let mut out = Vec::new();
    let mut push = |bytes: &[u8], leaves: &str, held: usize| {
        out.clear();
        rewriter.push(bytes, &mut out, |_| Ok::<_, ()>(Replacement::Json(b"0".to_vec()))).unwrap();
        assert_eq!((std::str::from_utf8(&out).unwrap(), rewriter.held()), (leaves, held));
    };
    push(b"{\"b\": \"long and lon", "{\"b\": \"long and lon", 0);
    push(b"ger\", \"", "ger\", \"", 0);
    push(b"a", "a", 1);
    push(b"\" : ", "\" : ", 0);
    push(b"[1, ", "", 4);
    push(b"2", "", 5);
    push(b"] ", "0 ", 0);
    push(b"}", "}", 0);
}

#[test]
fn an_error_of_the_treatment_ends_the_body() {
    let mut rewriter = Rewriter::new(matcher(&["$.a"]), Framing::Document, LIMITS);
    let mut out = Vec::new();
    let error = rewriter.push(b"{\"a\":1,", &mut out, |_| Err::<Replacement, _>("no"));
    assert_eq!(error, Err(RewriteError::Field("no")));
    assert_eq!(out, b"{\"a\":", "nothing of the field left");
    for _ in 0..2 {
        let error = rewriter.push(b"\"b\":1}", &mut out, |_| Ok::<_, ()>(Replacement::Keep));
        assert_eq!(
            error,
            Err(RewriteError::Malformed { offset: 0, reason: "the body was given up or ended before" })
        );
    }
}

#[test]
fn nothing_comes_after_the_end() {
    let mut rewriter = Rewriter::new(matcher(&[]), Framing::Lines, LIMITS);
    let keep = |_: fieldveil_json_stream::Found<'_>| Ok::<_, ()>(Replacement::Keep);
    assert_eq!(rewriter.finish(&mut Vec::new(), keep), Ok(()));
    assert!(rewriter.push(b"1", &mut Vec::new(), keep).is_err());
}

#[test]
fn errors_name_the_byte_and_hold_none() {
    for (body, offset, reason) in [
        ("", 0, "there is no JSON text"),
        ("  ", 2, "there is no JSON text"),
        ("\u{feff}{}", 0, "a byte order mark, or no JSON at all"),
        ("{\"a\":1,}", 7, "a key must come here"),
        ("{a:1}", 1, "a key or the end of the object must come here"),
        ("[1,]", 3, "a value must come here"),
        ("[,]", 1, "a value or the end of the array must come here"),
        ("[1 2]", 3, "a comma or the end of the array must come here"),
        ("{\"a\" 1}", 5, "a colon must come here"),
        ("{\"a\":1]", 6, "a comma or the end of the object must come here"),
        ("{} {}", 3, "nothing may follow the JSON text"),
        ("[-]", 2, "a digit must come here"),
        ("[nul]", 4, "only true, false and null are words of JSON"),
        ("[\"a\tb\"]", 3, "a control character in a string must be escaped"),
        (r#"["\a"]"#, 3, "a backslash must be followed by one of \" \\ / b f n r t u"),
        (r#"["\u12g4"]"#, 6, "\\u must be followed by four hexadecimal digits"),
        (r#"{"\ud83dx":1}"#, 9, "a key must be Unicode text, without half a surrogate pair"),
        ("[\"a", 3, "the JSON text ends too early"),
        ("[1", 2, "the JSON text ends too early"),
        ("-", 1, "the number may be cut"),
    ] {
        for cut in 0..=body.len() {
            let failed = rewrite_at(&["$.x"], Framing::Document, LIMITS, body.as_bytes(), &[cut]);
            assert_eq!(failed, Err(RewriteError::Malformed { offset, reason }), "{body}");
        }
    }
    let error = RewriteError::<()>::Malformed { offset: 7, reason: "a key must come here" };
    assert_eq!(error.to_string(), "malformed JSON at byte 7: a key must come here");
    let error = RewriteError::<()>::Limit { offset: 7, what: Exceeded::Depth };
    assert_eq!(error.to_string(), "arrays and objects nested past the limit at byte 7");
}

#[test]
fn each_limit_is_held_to_at_every_cut() {
    let limits = Limits { depth: 3, key_bytes: 4, value_bytes: 5 };
    for (body, exceeded) in [
        ("[[[]]]", None),
        ("[[[[]]]]", Some((3, Exceeded::Depth))),
        (r#"{"b":[[1]],"c":{"d":{}}}"#, None),
        (r#"{"b":[[{}]]}"#, Some((7, Exceeded::Depth))),
        (r#"{"abcd":1}"#, None),
        (r#"{"abcde":1}"#, Some((6, Exceeded::KeyBytes))),
        ("{\"abcde\n", Some((6, Exceeded::KeyBytes))),
        (r#"{"\u0061":1}"#, Some((6, Exceeded::KeyBytes))),
        (r#"{"a":"123"}"#, None),
        (r#"{"a":"1234"}"#, Some((10, Exceeded::ValueBytes))),
        ("{\"a\":\"12345\n", Some((10, Exceeded::ValueBytes))),
        (r#"{"a":[[[1]"#, Some((7, Exceeded::Depth))),
        (r#"{"a":12345}"#, None),
        (r#"{"a":123456}"#, Some((10, Exceeded::ValueBytes))),
        (r#"{"a":{"abcdefgh"#, Some((10, Exceeded::ValueBytes))),
        (r#"{"b":"long enough to be past any limit"}"#, None),
    ] {
        for cut in 0..=body.len() {
            let result = rewrite_at(&["$.a"], Framing::Document, limits, body.as_bytes(), &[cut]);
            let expected = exceeded.map(|(offset, what)| RewriteError::Limit { offset, what });
            assert_eq!(result.err(), expected, "{body} cut at {cut}");
        }
    }
}
