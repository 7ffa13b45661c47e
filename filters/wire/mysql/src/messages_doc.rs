//! Holds `docs/internals/mysql-messages.md` to the capabilities and commands of this crate, both ways.

use std::collections::BTreeSet;

use crate::Capabilities;
use crate::command::CommandCode;

const DOC: &str = include_str!("../../../../docs/internals/mysql-messages.md");

const WORDS: [&str; 4] = ["parsed", "passed", "cleared", "refused"];

/// Number, name and what is done, of every row of the table under a heading.
fn rows(heading: &str) -> Vec<[&'static str; 3]> {
    let section = DOC.split("\n## ").find_map(|section| section.strip_prefix(heading));
    let cells = |line: &'static str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        cells.try_into().ok()
    };
    // The first two lines of a table are its head.
    section.into_iter().flat_map(str::lines).filter_map(cells).skip(2).collect()
}

fn named(heading: &str) -> BTreeSet<(String, String)> {
    rows(heading).iter().map(|[number, name, _]| ((*number).to_owned(), (*name).to_owned())).collect()
}

#[test]
fn every_capability_is_named_in_the_docs_and_no_other() {
    let all = Capabilities::ALL.iter();
    let expected = all.map(|(flag, name)| (flag.bits().trailing_zeros().to_string(), (*name).to_owned()));
    assert_eq!(named("Capabilities"), expected.collect());
}

#[test]
fn every_command_is_named_in_the_docs_and_no_other() {
    let all = CommandCode::ALL.iter();
    let expected = all.map(|(code, byte)| (format!("`{byte:#04x}`"), code.name().to_owned()));
    assert_eq!(named("Commands"), expected.collect());
}

#[test]
fn every_row_says_what_is_done() {
    for heading in ["Capabilities", "Commands", "Before the first command"] {
        assert!(!rows(heading).is_empty(), "{heading}");
        for [_, name, what] in rows(heading) {
            assert!(WORDS.iter().any(|word| what.starts_with(word)), "{name}");
        }
    }
}
