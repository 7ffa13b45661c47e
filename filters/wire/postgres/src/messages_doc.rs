//! Holds `docs/internals/postgres-messages.md` to the tags of this crate, both ways.

use std::collections::BTreeSet;

use crate::{backend, frontend};

const DOC: &str = include_str!("../../../../docs/internals/postgres-messages.md");

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

fn named(byte: u8, names: &[&str]) -> Vec<(String, String)> {
    names.iter().map(|name| (format!("`{}`", char::from(byte)), (*name).to_owned())).collect()
}

#[test]
fn every_tag_is_named_in_the_docs_and_no_other() {
    let sent = frontend::Tag::ALL.iter().flat_map(|tag| named(tag.code(), tag.names()));
    let answered = backend::Tag::ALL.iter().flat_map(|tag| named(tag.code(), tag.names()));
    assert_eq!(tagged("client to server"), sent.collect());
    assert_eq!(tagged("server to client"), answered.collect());
}

#[test]
fn every_row_says_what_is_done() {
    for [tag, name, _, what] in rows() {
        assert!(WORDS.iter().any(|word| what.starts_with(word)), "{tag} {name}");
    }
    assert!(rows().count() > frontend::Tag::ALL.len() + backend::Tag::ALL.len());
}

#[test]
fn no_byte_but_a_tag_is_known() {
    for byte in 0..=u8::MAX {
        let sent = frontend::Tag::ALL.iter().find(|tag| tag.code() == byte);
        let answered = backend::Tag::ALL.iter().find(|tag| tag.code() == byte);
        assert_eq!((frontend::Tag::of(byte), backend::Tag::of(byte)), (sent.copied(), answered.copied()));
    }
}
