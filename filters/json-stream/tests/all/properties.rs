//! What holds for all documents, paths and cuts: the same as a reader of whole documents finds.
#![allow(missing_docs, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;

use crate::common::generate::{compile, cuts, document, paths, places};
use crate::common::{LIMITS, reference, run};
use fieldveil_json_stream::{Framing, Path, RewriteError, Rewriter};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;

/// So short that every cut is tried.
const SHORT: usize = 80;

/// Whole, at the given cuts, and at every single one if it is short: one result.
fn same_at_all_cuts(
    paths: &[(Path, usize)],
    framing: Framing,
    body: &[u8],
    cuts: &[Index],
) -> Result<Result<Vec<u8>, RewriteError<()>>, TestCaseError> {
    let matcher = compile(paths).unwrap();
    let at = |cuts: &[usize]| run(Rewriter::new(Arc::clone(&matcher), framing, LIMITS), body, cuts);
    let whole = at(&[]);
    prop_assert_eq!(&at(&places(cuts, body.len())), &whole);
    if body.len() <= SHORT {
        for cut in 0..=body.len() {
            prop_assert_eq!(&at(&[cut]), &whole);
        }
        let each: Vec<usize> = (0..body.len()).collect();
        prop_assert_eq!(&at(&each), &whole);
    }
    Ok(whole)
}

/// A document with some of its bytes put in the place of others, doubled or left out.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let bytes = select(&b"\"\\{}[],:0-.eEu \n\x00\x1f\x80\xc3\xa9\xed\xf4tfn/"[..]);
    let damage = (any::<Index>(), 0..3, bytes);
    (document(), prop::collection::vec(damage, 1..3)).prop_map(|(body, damages)| {
        let mut body = body.into_bytes();
        for (at, how, byte) in damages {
            let at = at.index(body.len() + 1);
            match how {
                0 => body.insert(at, byte),
                1 if at < body.len() => body[at] = byte,
                _ if at < body.len() => drop(body.remove(at)),
                _ => {}
            }
        }
        body
    })
}

proptest! {
    #![proptest_config(Config { cases: 10_000, ..Config::default() })]

    #[test]
    fn documents_are_rewritten_as_by_a_reader_of_whole_documents(
        body in document(), paths in paths(), cuts in cuts(),
    ) {
        let streamed = same_at_all_cuts(&paths, Framing::Document, body.as_bytes(), &cuts)?;
        prop_assert_eq!(streamed.ok(), Some(reference::rewrite(&paths, body.as_bytes()).unwrap()));
    }

    #[test]
    fn damaged_documents_are_refused_where_a_reader_of_whole_documents_does(
        body in damaged(), paths in paths(), cuts in cuts(),
    ) {
        let streamed = same_at_all_cuts(&paths, Framing::Document, &body, &cuts)?;
        prop_assert_eq!(streamed.ok(), reference::rewrite(&paths, &body));
    }
}

proptest! {
    #![proptest_config(Config { cases: 2_000, ..Config::default() })]

    #[test]
    fn lines_and_sequences_are_rewritten_as_their_documents(
        bodies in prop::collection::vec(document(), 0..5), paths in paths(), cuts in cuts(),
    ) {
        let (mut lines, mut lines_after) = (Vec::new(), Vec::new());
        let (mut sequence, mut sequence_after) = (Vec::new(), Vec::new());
        for body in bodies {
            let line = body.replace('\n', " ");
            lines.extend([line.as_bytes(), b"\n"].concat());
            lines_after.extend([reference::rewrite(&paths, line.as_bytes()).unwrap(), vec![b'\n']].concat());
            sequence.extend([b"\x1e", body.as_bytes(), b"\n"].concat());
            let body = reference::rewrite(&paths, body.as_bytes()).unwrap();
            sequence_after.extend([b"\x1e", &*body, b"\n"].concat());
        }
        let read = same_at_all_cuts(&paths, Framing::Lines, &lines, &cuts)?;
        // A carriage return within a value becomes a space.
        let spaced = |bytes: Vec<u8>| bytes.into_iter().map(|byte| if byte == b'\r' { b' ' } else { byte });
        prop_assert!(spaced(read.unwrap()).eq(spaced(lines_after)));
        let read = same_at_all_cuts(&paths, Framing::Sequence, &sequence, &cuts)?;
        prop_assert_eq!(read, Ok(sequence_after));
    }

    #[test]
    fn events_are_rewritten_as_their_documents(
        bodies in prop::collection::vec((document(), select(&["\n", "\r\n", "\r"][..])), 0..4),
        between in prop::collection::vec(select(&["", ": comment", "id: 7", "event: x", "retry:1", "dat", "datas:{"][..]), 1..5),
        space in any::<bool>(), paths in paths(), cuts in cuts(),
    ) {
        let mut stream = Vec::new();
        let mut expected = Vec::new();
        let mut between = between.iter().cycle();
        for (body, line_end) in bodies {
            let body = body.replace("\r\n", "\n");
            for line in body.split('\n') {
                match between.next() {
                    None | Some(&"") => {}
                    Some(other) => stream.extend(format!("{other}{line_end}").bytes()),
                }
                let space = if space || line.starts_with(' ') { " " } else { "" };
                stream.extend(format!("data:{space}{line}{line_end}").bytes());
            }
            stream.extend(line_end.bytes());
            expected.push(reference::rewrite(&paths, body.as_bytes()).unwrap());
        }
        let read = same_at_all_cuts(&paths, Framing::Events, &stream, &cuts)?.unwrap();
        // Space between tokens may move; a marked value holds no line's end.
        let bare = |bytes: &[u8]| -> Vec<u8> { bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect() };
        let read: Vec<Vec<u8>> = events(std::str::from_utf8(&read).unwrap()).iter().map(|data| bare(data.as_bytes())).collect();
        let expected: Vec<Vec<u8>> = expected.iter().map(|data| bare(data)).collect();
        prop_assert_eq!(read, expected);
    }
}

/// The data of each event, as a client reads it.
fn events(stream: &str) -> Vec<String> {
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in stream.split('\n') {
        match line.split_once(':') {
            Some(("data", value)) => data.push(value.strip_prefix(' ').unwrap_or(value)),
            None if line.is_empty() && !data.is_empty() => events.push(std::mem::take(&mut data).join("\n")),
            _ => {}
        }
    }
    events
}
