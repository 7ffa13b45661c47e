//! Holds `docs/postgres-messages.md` to the tags of this crate, both ways.

use std::collections::BTreeSet;

use crate::{backend, frontend};

const DOC: &str = include_str!("../../../docs/postgres-messages.md");

const WORDS: [&str; 3] = ["parsed", "passed", "refused"];

/// Tag (as shown), name and direction of every row about a message.
fn rows() -> impl Iterator<Item = [&'static str; 4]> {
    DOC.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        cells.try_into().ok().filter(|[_, _, direction, _]: &[&str; 4]| direction.contains(" to "))
    })
}

fn tagged(direction: &'static str) -> BTreeSet<(String, String)> {
    rows()
        .filter(|[tag, _, way, _]| *tag != "–" && *way == direction)
        .map(|[tag, name, ..]| (tag.to_owned(), name.to_owned()))
        .collect()
}

fn constants(all: &[(u8, &[&str])]) -> BTreeSet<(String, String)> {
    all.iter()
        .flat_map(|(tag, names)| {
            names.iter().map(|name| (format!("`{}`", char::from(*tag)), (*name).to_owned()))
        })
        .collect()
}

#[test]
fn every_tag_is_named_in_the_docs_and_no_other() {
    assert_eq!(tagged("client to server"), constants(frontend::tag::ALL));
    assert_eq!(tagged("server to client"), constants(backend::tag::ALL));
}

#[test]
fn every_row_says_what_is_done() {
    for [tag, name, _, what] in rows() {
        assert!(WORDS.iter().any(|word| what.starts_with(word)), "{tag} {name}");
    }
    assert!(rows().count() > frontend::tag::ALL.len() + backend::tag::ALL.len());
}

#[test]
fn no_byte_but_a_tag_is_known() {
    for byte in 0..=u8::MAX {
        let sent = frontend::tag::ALL.iter().filter(|(tag, _)| *tag == byte).count();
        let answered = backend::tag::ALL.iter().filter(|(tag, _)| *tag == byte).count();
        assert!(sent <= 1 && answered <= 1, "a tag is declared twice");
        assert_eq!((frontend::tag::is_known(byte), backend::tag::is_known(byte)), (sent == 1, answered == 1));
        assert_eq!(frontend::tag::name(byte).is_some(), sent == 1);
    }
}
