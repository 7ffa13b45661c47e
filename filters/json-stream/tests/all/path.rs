//! Which paths can be followed: the same as the policy says of a catalog's.
#![allow(missing_docs, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use fieldveil_json_stream::{Path, PathError, Step};

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn fault(text: &str) -> PathError {
    text.parse::<Path>().unwrap_err()
}

#[test]
fn every_step_that_can_be_followed_is_read() {
    let name = |name: &str| Step::Name(name.into());
    for (text, steps) in [
        ("$.customer.ssn", vec![name("customer"), name("ssn")]),
        ("$['customer']['ssn']", vec![name("customer"), name("ssn")]),
        ("$['any name, even [*] and .dots']", vec![name("any name, even [*] and .dots")]),
        (r"$['it\'s \\ \u00e9']", vec![name(r"it's \ é")]),
        (r#"$['"\/\b\f\n\r\t']"#, vec![name("\"/\u{8}\u{c}\n\r\t")]),
        (r"$['\ud83d\ude00']", vec![name("😀")]),
        ("$['']", vec![name("")]),
        ("$.items[*].card", vec![name("items"), Step::Any, name("card")]),
        ("$.items[0].card", vec![name("items"), Step::Index(0), name("card")]),
        ("$[*]", vec![Step::Any]),
        ("$[999999999]", vec![Step::Index(999_999_999)]),
        ("$..ssn", vec![Step::Descendant("ssn".into())]),
        ("$.a..b[*]['c']", vec![name("a"), Step::Descendant("b".into()), Step::Any, name("c")]),
        ("$.größe", vec![name("größe")]),
        ("$._1", vec![name("_1")]),
    ] {
        assert_eq!(path(text).steps(), steps, "{text}");
    }
}

#[test]
fn two_spellings_of_one_path_are_equal() {
    assert_eq!(path("$.a.b[*]..c[0]"), path(r"$['a']['\u0062'][*]..c[0]"));
    assert_ne!(path("$..a"), path("$.a"));
}

#[test]
fn what_is_no_path_is_told_how_one_looks() {
    for text in [
        "",
        "$",
        "customer.ssn",
        ".a",
        "$a",
        "$.",
        "$..",
        "$...a",
        "$.a.",
        "$.1a",
        "$.a-b",
        "$.a b",
        "$[]",
        "$[a",
        "$a]",
        "$.a$",
        "$ .a",
        "$['a]",
        "$.a]",
        "@.a",
        "$['a'",
        "$[0",
        "$['a\\",
        "$[",
    ] {
        let fault = fault(text);
        let remedy = "begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step";
        if text != "$[a" {
            assert_eq!(fault.reason, "this is no JSON path", "{text}");
            assert_eq!(fault.remedy, remedy, "{text}");
        }
        assert_eq!(fault.path, text);
    }
}

#[test]
fn what_can_not_stream_is_named_by_its_place() {
    for (text, at) in [
        ("$.a[-1].b", 4),
        ("$[1:3]", 2),
        ("$[::2]", 2),
        ("$['a','b']", 2),
        ("$[?@.b == 'x']", 2),
        (r#"$.a[?(@['b'] == "]")].c"#, 4),
        ("$.a.*", 4),
        ("$..*", 2),
        ("$.größe..['a']", 8),
        ("$..[0]", 2),
        ("$[01]", 2),
        ("$[\"a\"]", 2),
        (r"$['a\x']", 2),
        (r"$['\u00g0']", 2),
        (r#"$['\"']"#, 2),
        ("$['\u{1f}']", 2),
        ("$[1000000000]", 2),
    ] {
        let fault = fault(text);
        assert_eq!(
            (fault.at, fault.reason),
            (at, "this can not be followed while a body streams by"),
            "{text}"
        );
        assert_eq!(fault.remedy, "use .name, ['any name'], [*], [0] and ..name alone");
    }
}

#[test]
fn a_name_with_half_a_surrogate_pair_is_refused() {
    for text in [r"$['\ud83d']", r"$['\ude00']", r"$['\ud83dx']", r"$['\ud83d\u0061']"] {
        assert_eq!(fault(text).reason, "this name is no Unicode text", "{text}");
    }
}

#[test]
fn an_error_reads_as_a_sentence() {
    assert_eq!(
        fault("$.a[-1]").to_string(),
        "the JSON path $.a[-1]: at character 4, this can not be followed while a body streams by; \
         use .name, ['any name'], [*], [0] and ..name alone"
    );
}
