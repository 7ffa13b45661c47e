//! What is found when paths are compiled.
#![allow(missing_docs, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use fieldveil_json_stream::{Matcher, MatcherError, Path};

fn compile(paths: &[(&str, usize)]) -> Result<(), MatcherError> {
    let paths: Vec<(Path, usize)> =
        paths.iter().map(|(path, field)| (path.parse().unwrap(), *field)).collect();
    Matcher::compile(paths.iter().map(|(path, field)| (path, *field))).map(|_| ())
}

#[test]
fn paths_of_two_fields_that_can_select_one_value_conflict() {
    for (one, other) in [
        ("$.a", "$.a"),
        ("$.a", "$['\\u0061']"),
        ("$.a", "$[*]"),
        ("$[0]", "$[*]"),
        ("$.a.b", "$..b"),
        ("$..b", "$.a[*].b"),
        ("$..a[*]", "$.a.x"),
        ("$..a..b", "$.c.a.d.b"),
        ("$..a..b", "$..b"),
        ("$.x..a[0].b", "$.x[*][*][0].b"),
    ] {
        let conflict = Err(MatcherError::Conflict { first: 3, second: 7 });
        assert_eq!(compile(&[(one, 3), (other, 7)]), conflict, "{one} {other}");
        assert_eq!(compile(&[(other, 7), (one, 3)]), conflict, "{other} {one}");
        assert_eq!(compile(&[(one, 3), (other, 3)]), Ok(()), "one field may be selected twice");
    }
}

#[test]
fn paths_that_part_ways_do_not_conflict() {
    for (one, other) in [
        ("$.a", "$.b"),
        ("$.a", "$[0]"),
        ("$[0]", "$[1]"),
        ("$.a[*].b", "$.c[*].b"),
        ("$.a..x", "$.b..x"),
        // Nothing is looked for inside a field.
        ("$.a", "$.a.b"),
        ("$.a[*]", "$.a.b.c"),
    ] {
        assert_eq!(compile(&[(one, 3), (other, 7)]), Ok(()), "{one} {other}");
    }
}

#[test]
fn as_many_paths_as_a_plan_has_fit() {
    let plain: Vec<String> = (0..4096).map(|at| format!("$.a{at}.b[*].c[0].d{at}.e.f.g")).collect();
    let deep: Vec<String> = (0..4096).map(|at| format!("$..a{at}.b{at}")).collect();
    for paths in [plain, deep] {
        let paths: Vec<(&str, usize)> = paths.iter().map(String::as_str).zip(0..).collect();
        assert_eq!(compile(&paths), Ok(()));
    }
}

#[test]
fn paths_that_need_too_many_states_are_refused() {
    let path = format!("$..a{}", "[*]".repeat(20));
    let error = compile(&[(&path, 0)]).unwrap_err();
    assert_eq!(error, MatcherError::TooLarge { what: "states", limit: 40_960 });
    assert_eq!(
        error.to_string(),
        "the paths need more than 40960 states; name fewer paths with both ..name and [*]"
    );
    let paths: Vec<String> = (0..400).map(|at| format!("$..a{at}[*].b{at}")).collect();
    let paths: Vec<(&str, usize)> = paths.iter().map(String::as_str).zip(0..).collect();
    let limit = MatcherError::TooLarge { what: "keys and indexes to follow", limit: 131_072 };
    assert_eq!(compile(&paths), Err(limit));
}
