//! Random documents, paths and cuts.

use std::sync::Arc;

use fieldveil_json_stream::{Matcher, MatcherError, Path};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Few names, so that paths meet them; the same name in several spellings.
const NAMES: [(&str, &[&str]); 6] = [
    ("a", &["a", "\\u0061"]),
    ("b", &["b", "\\u0062"]),
    ("ab", &["ab", "a\\u0062", "\\u0061b"]),
    ("é", &["é", "\\u00e9", "\\u00E9"]),
    ("😀", &["😀", "\\ud83d\\ude00", "\\uD83D\\uDE00"]),
    ("", &[""]),
];

const SPACE: [&str; 8] = ["", "", "", "", " ", "\t", "\n", " \r\n  "];

const ATOMS: [&str; 16] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-12.50",
    "1e5",
    "2E-3",
    "98765432109876543210.123456789",
    "\"\"",
    "\"plain text, longer than eight bytes\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"é€😀\"",
    "\"\\ud83d\"",
    "\"{[,:]}\"",
];

pub fn document() -> impl Strategy<Value = String> {
    let atom = select(&ATOMS[..]).prop_map(String::from);
    let value = atom.prop_recursive(5, 40, 5, |value| {
        let key = select(&NAMES[..]).prop_flat_map(|(_, spellings)| select(spellings));
        let member = (space(), key, space(), spaced(value.clone()))
            .prop_map(|(before, key, after, value)| format!("{before}\"{key}\"{after}:{value}"));
        let joined = |items: Vec<String>| items.join(",");
        prop_oneof![
            prop::collection::vec(member, 1..6).prop_map(move |members| format!("{{{}}}", joined(members))),
            prop::collection::vec(spaced(value), 1..6)
                .prop_map(move |values| format!("[{}]", joined(values))),
            space().prop_map(|space| format!("{{{space}}}")),
            space().prop_map(|space| format!("[{space}]")),
        ]
    });
    spaced(value)
}

fn space() -> impl Strategy<Value = &'static str> {
    select(&SPACE[..])
}

fn spaced(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (space(), value, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

/// Paths, each with its field: fields that could select one value are made one.
pub fn paths() -> impl Strategy<Value = Vec<(Path, usize)>> {
    let name = || select(&NAMES[..]).prop_map(|(name, _)| name);
    let step = prop_oneof![
        4 => name().prop_map(|name| format!("['{name}']")),
        2 => (0..3).prop_map(|index| format!("[{index}]")),
        2 => Just("[*]".to_owned()),
        1 => select(&["a", "b", "ab", "é"][..]).prop_map(|name| format!("..{name}")),
    ];
    let path = prop::collection::vec(step, 1..5).prop_map(|steps| format!("${}", steps.concat()));
    prop::collection::vec(path, 0..6).prop_map(|paths| {
        let mut paths: Vec<(Path, usize)> = paths.iter().map(|path| path.parse().unwrap()).zip(0..).collect();
        while let Err(MatcherError::Conflict { first, second }) = compile(&paths) {
            paths.iter_mut().filter(|(_, field)| *field == second).for_each(|(_, field)| *field = first);
        }
        paths
    })
}

pub fn compile(paths: &[(Path, usize)]) -> Result<Arc<Matcher>, MatcherError> {
    Matcher::compile(paths.iter().map(|(path, field)| (path, *field))).map(Arc::new)
}

/// Places to cut a body at, in order.
pub fn cuts() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..6)
}

pub fn places(cuts: &[Index], length: usize) -> Vec<usize> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(length + 1)).collect();
    places.sort_unstable();
    places
}
