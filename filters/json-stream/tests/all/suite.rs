//! The well-known cases of the JSON parsing test-suite: accepted and refused as a strict reader does, at every cut.
//!
//! What RFC 8259 leaves open is decided so. A number of any size passes: its text is not turned into a float here.
//! An escaped half of a surrogate pair passes in a value, as it stands; in a key it is refused, since readers
//! differ in the name that they make of it. What is not UTF-8 is refused, in whatever encoding it might be, and so
//! is a byte order mark. Nesting is refused past its limit.
#![allow(missing_docs, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;

use crate::common::{LIMITS, matcher};
use fieldveil_json_stream::{Framing, Limits, Matcher, Replacement, RewriteError, Rewriter};

struct Case {
    name: String,
    accepted: bool,
    body: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let table = include_str!("../../testdata/json_test_suite.txt");
    let written = table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (name, body) = line.split_once('|').unwrap();
        let accepted = name.starts_with("y_") || name.starts_with("i_+");
        Case { name: name.into(), accepted, body: bytes(body) }
    });
    let long = [
        ("n_structure_100000_opening_arrays", false, b"[".repeat(100_000)),
        ("n_structure_open_array_object", false, b"[{\"\":".repeat(50_000)),
        ("i_+structure_500_nested_arrays", true, [b"[".repeat(500), b"]".repeat(500)].concat()),
    ];
    let long = long.map(|(name, accepted, body)| Case { name: name.into(), accepted, body });
    written.chain(long).collect()
}

/// A body of the table, whose bytes in angle brackets are hexadecimal.
fn bytes(text: &str) -> Vec<u8> {
    let mut pieces = text.split('<');
    let mut body = pieces.next().unwrap().as_bytes().to_vec();
    for piece in pieces {
        let (byte, rest) = piece.split_once('>').unwrap();
        body.push(u8::from_str_radix(byte, 16).unwrap());
        body.extend(rest.as_bytes());
    }
    body
}

fn read(matcher: &Arc<Matcher>, framing: Framing, pieces: &[&[u8]]) -> Result<Vec<u8>, RewriteError<()>> {
    let mut rewriter = Rewriter::new(Arc::clone(matcher), framing, LIMITS);
    let mut out = Vec::new();
    for piece in pieces {
        rewriter.push(piece, &mut out, |_| Ok(Replacement::Keep))?;
    }
    rewriter.finish(&mut out, |_| Ok(Replacement::Keep))?;
    Ok(out)
}

#[test]
fn the_table_is_whole() {
    let count = |kind: &str| cases().iter().filter(|case| case.name.starts_with(kind)).count();
    assert_eq!((count("y_"), count("n_"), count("i_")), (95, 188, 35));
}

#[test]
fn each_case_is_accepted_or_refused_at_every_cut() {
    // Nothing found, keys looked at, and all kept as fields: the verdict is one.
    let matchers = [matcher(&[]), matcher(&["$..a", "$.x[0].id"]), matcher(&["$[*]"])];
    for case in cases() {
        for matcher in &matchers {
            let whole = read(matcher, Framing::Document, &[&case.body]);
            assert_eq!(whole.is_ok(), case.accepted, "{}", case.name);
            if case.accepted {
                assert_eq!(whole.as_ref(), Ok(&case.body), "{}", case.name);
            }
            // Nesting ends a long case early.
            for cut in 0..=case.body.len().min(2 * LIMITS.depth) {
                let (before, after) = case.body.split_at(cut);
                let cut = read(matcher, Framing::Document, &[before, after]);
                assert_eq!(cut, whole, "{} at {}", case.name, before.len());
            }
        }
    }
}

#[test]
fn each_case_has_the_same_verdict_in_every_framing() {
    let matcher = matcher(&["$..a"]);
    let limits = Limits { depth: 10_000, ..LIMITS };
    for case in cases().iter().filter(|case| !case.body.contains(&b'\n')) {
        // Events and lines may be blank, and an event's stream may begin with a byte order mark.
        let is_blank = case.body.iter().all(|byte| *byte == b' ');
        for (framing, before, after) in [
            (Framing::Lines, &b"{}\n"[..], &b"\n{}"[..]),
            (Framing::Sequence, b"\x1e{}\n\x1e", b"\n\x1e{}\n"),
            (Framing::Events, b"data: {}\n\ndata: ", b"\n\ndata: {}\n\n"),
        ] {
            let body = [before, &case.body, after].concat();
            let accepted = case.accepted || (is_blank && framing != Framing::Sequence);
            let mut rewriter = Rewriter::new(Arc::clone(&matcher), framing, limits);
            let mut out = Vec::new();
            let keep = |_: fieldveil_json_stream::Found<'_>| Ok::<_, ()>(Replacement::Keep);
            let read = rewriter.push(&body, &mut out, keep).and_then(|()| rewriter.finish(&mut out, keep));
            assert_eq!(read.is_ok(), accepted, "{} in {framing:?}", case.name);
            if accepted {
                assert_eq!(out, body, "{} in {framing:?}", case.name);
            }
        }
    }
}
