//! Bodies of several JSON texts: where each begins and ends.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use crate::common::{self, LIMITS, rewrite_at, run};
use fieldveil_json_stream::{Framing, Replacement, RewriteError, Rewriter};

/// One result at every cut.
fn rewrite(framing: Framing, body: &str) -> Result<String, (u64, &'static str)> {
    let at = |cuts: &[usize]| rewrite_at(&["$.a"], framing, LIMITS, body.as_bytes(), cuts);
    let whole = at(&[]);
    for cut in 0..=body.len() {
        assert_eq!(at(&[cut]), whole, "{body:?} cut at {cut}");
    }
    assert_eq!(at(&(0..body.len()).collect::<Vec<_>>()), whole, "{body:?} byte by byte");
    match whole {
        Ok(out) => Ok(String::from_utf8(out).unwrap()),
        Err(RewriteError::Malformed { offset, reason }) => Err((offset, reason)),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn each_line_is_a_text_of_its_own() {
    for (body, expected) in [
        ("", ""),
        ("{\"a\":1}\n{\"a\":2}\n", "{\"a\":<0:1>}\n{\"a\":<0:2>}\n"),
        ("{\"a\":1}\r\n{\"a\":2}", "{\"a\":<0:1>}\r\n{\"a\":<0:2>}"),
        ("\n{\"a\":1}\n\n \r\n{}", "\n{\"a\":<0:1>}\n\n \r\n{}"),
        ("1\n2\ntrue\n\"x\"\n-3", "1\n2\ntrue\n\"x\"\n-3"),
    ] {
        assert_eq!(rewrite(Framing::Lines, body).as_deref(), Ok(expected));
    }
    for (body, offset, reason) in [
        ("{\n}\n", 1, "the JSON text ends too early"),
        ("{\"a\":\n1}\n", 5, "the JSON text ends too early"),
        ("{\"a\":1\n}\n", 6, "the JSON text ends too early"),
        ("1 2\n", 2, "nothing may follow the JSON text"),
        ("{}\n\u{feff}{}\n", 3, "a byte order mark, or no JSON at all"),
        ("{}\n{\"a\":", 8, "the JSON text ends too early"),
    ] {
        assert_eq!(rewrite(Framing::Lines, body), Err((offset, reason)), "{body:?}");
    }
}

#[test]
fn each_text_of_a_sequence_has_a_separator_before_it() {
    for (body, expected) in [
        ("", ""),
        ("\x1e{\"a\":1}\n\x1e{\n\"a\":2}\n", "\x1e{\"a\":<0:1>}\n\x1e{\n\"a\":<0:2>}\n"),
        ("\x1e\x1e[]\x1e", "\x1e\x1e[]\x1e"),
        ("\x1e1\n\x1e2 \x1etrue\x1e\"x\"", "\x1e1\n\x1e2 \x1etrue\x1e\"x\""),
    ] {
        assert_eq!(rewrite(Framing::Sequence, body).as_deref(), Ok(expected));
    }
    for (body, offset, reason) in [
        ("{}\n", 0, "a record separator must come before each JSON text"),
        ("\n\x1e{}\n", 0, "a record separator must come before each JSON text"),
        ("\x1e{}\n{}\n", 4, "nothing may follow the JSON text"),
        ("\x1e\n\x1e{}\n", 2, "there is no JSON text"),
        ("\x1e12\x1e3\n", 3, "the number may be cut"),
        ("\x1e{\"a\":1\x1e{}\n", 7, "the JSON text ends too early"),
        ("\x1e{}\n\x1e12", 7, "the number may be cut"),
        ("\x1e\"a\x1e\"\n", 3, "the JSON text ends too early"),
    ] {
        assert_eq!(rewrite(Framing::Sequence, body), Err((offset, reason)), "{body:?}");
    }
}

#[test]
fn events_keep_every_line_end_and_field_but_the_values() {
    for (body, expected) in [
        ("", ""),
        ("data: {\"a\":1}\n\n", "data: {\"a\":<0:1>}\n\n"),
        ("data: {\"a\":1}\r\n\r\n", "data: {\"a\":<0:1>}\r\n\r\n"),
        ("data: {\"a\":1}\r\r", "data: {\"a\":<0:1>}\r\r"),
        ("data: {\"a\":1}\n\rdata: {\"a\":2}\r\n\n", "data: {\"a\":<0:1>}\n\rdata: {\"a\":<0:2>}\r\n\n"),
        ("data:{\"a\":1}\r\n\ndata:  {\"a\":2}\r\r\n", "data:{\"a\":<0:1>}\r\n\ndata:  {\"a\":<0:2>}\r\r\n"),
        ("\u{feff}data:{\"a\":1}\n\n", "\u{feff}data:{\"a\":<0:1>}\n\n"),
        ("\u{feff}\n\ndata:1\n\n", "\u{feff}\n\ndata:1\n\n"),
        (": {\"a\":1}\nevent: {\"a\":1}\nid: 1\nretry: 5\nDATA: {\n data: {\n\n", ""),
        ("data: {\ndata: \"a\"\ndata\ndata::1}\n\n", "data: {\ndata: \"a\"\ndata\ndata::<0:1>}\n\n"),
        (
            "data: {\ndata: \"a\":\nid: 7\ndata: 12\ndata: }\n\n",
            "data: {\ndata: \"a\":\nid: 7\ndata: <0:12>\ndata: }\n\n",
        ),
        (
            "data:{\"a\":[1,\r\n: note\r\ndata:2]}\r\n\r\n",
            "data:{\"a\":\r\n: note\r\ndata:<0:[1, 2]>}\r\n\r\n",
        ),
        ("data: {\"a\":[1\ndata\ndata: ]}\n\n", "data: {\"a\":\ndata\ndata: <0:[1  ]>}\n\n"),
        ("data:\n\ndata\n\ndata: \n\n\n\n", "data:\n\ndata\n\ndata: \n\n\n\n"),
        ("data: [DONE]\n\n", "data: [DONE]\n\n"),
        ("data: {\"a\":1}\n\ndata:[DONE]\r\n\r\n", "data: {\"a\":<0:1>}\n\ndata:[DONE]\r\n\r\n"),
        ("data: [DONE]\r\rdata: {\"a\":1}\r\r", "data: [DONE]\r\rdata: {\"a\":<0:1>}\r\r"),
        ("data: [\ndata: 1]\n\n", "data: [\ndata: 1]\n\n"),
        ("data: [DONE]", "data: [DONE]"),
        ("data: {\"a\":1}", "data: {\"a\":<0:1>}"),
        ("data: 12", "data: 12"),
        ("data", "data"),
    ] {
        let expected = if expected.is_empty() { body } else { expected };
        assert_eq!(rewrite(Framing::Events, body).as_deref(), Ok(expected), "{body:?}");
    }
}

#[test]
fn data_of_events_that_is_no_json_is_refused() {
    for (body, offset, reason) in [
        ("data: hello\n\n", 6, "a value must come here"),
        ("data: {\"a\":\n\n", 12, "the JSON text ends too early"),
        ("data: {\"a\":1}\ndata: {\"a\":2}\n\n", 20, "nothing may follow the JSON text"),
        ("data: [DON]\n\n", 7, "a value or the end of the array must come here"),
        ("data: [DONE] \n\n", 7, "a value or the end of the array must come here"),
        ("data:  [DONE]\n\n", 8, "a value or the end of the array must come here"),
        ("data:\ndata:[DONE]\n\n", 12, "a value or the end of the array must come here"),
        ("data:[DONE]\ndata:1\n\n", 17, "nothing may follow [DONE] in the data of an event"),
        ("data: \u{feff}{}\n\n", 6, "a byte order mark, or no JSON at all"),
        ("data: \"a\ndata: b\"\n\n", 8, "a control character in a string must be escaped"),
        ("data: {\"a\":", 11, "the JSON text ends too early"),
    ] {
        assert_eq!(rewrite(Framing::Events, body), Err((offset, reason)), "{body:?}");
    }
}

#[test]
fn a_replacement_stays_on_one_line_where_lines_count() {
    for (framing, body, expected) in [
        (Framing::Lines, "{\"a\":1}\n", "{\"a\":[1,  2]}\n"),
        (Framing::Events, "data:{\"a\":1}\n\n", "data:{\"a\":[1,  2]}\n\n"),
        (Framing::Sequence, "\x1e{\"a\":1}\n", "\x1e{\"a\":[1,\r\n2]}\n"),
        (Framing::Document, "{\"a\":1}", "{\"a\":[1,\r\n2]}"),
    ] {
        let mut rewriter = Rewriter::new(common::matcher(&["$.a"]), framing, LIMITS);
        let mut out = Vec::new();
        let treat =
            |_: fieldveil_json_stream::Found<'_>| Ok::<_, ()>(Replacement::Json(b"[1,\r\n2]".to_vec()));
        rewriter.push(body.as_bytes(), &mut out, treat).unwrap();
        rewriter.finish(&mut out, treat).unwrap();
        assert_eq!(std::str::from_utf8(&out), Ok(expected));
    }
}

#[test]
fn a_piece_leaves_at_once_in_every_framing() {
    for (framing, piece) in [
        (Framing::Document, "{\"b\": \"lo"),
        (Framing::Lines, "{\"b\":1}\n{\"b\": tr"),
        (Framing::Sequence, "\x1e{\"b\":1}\n\x1e-"),
        (Framing::Events, "event: x\ndata: {\"b\":1}\n\ndata: {\"b\": \"lo"),
    ] {
        let mut rewriter = Rewriter::new(common::matcher(&["$.a"]), framing, LIMITS);
        let mut out = Vec::new();
        rewriter.push(piece.as_bytes(), &mut out, common::mark).unwrap();
        assert_eq!((std::str::from_utf8(&out), rewriter.held()), (Ok(piece), 0));
    }
}

#[test]
fn a_body_far_longer_than_its_limits_is_never_held() {
    let mut rewriter = Rewriter::new(common::matcher(&["$[*].a"]), Framing::Document, LIMITS);
    let mut out = Vec::new();
    let element = format!("{{\"b\":\"{}\",\"a\":\"{}\"}},", "x".repeat(5_000), "y".repeat(5_000));
    rewriter.push(b"[", &mut out, common::mark).unwrap();
    for _ in 0..2_000 {
        for piece in element.as_bytes().chunks(1_000) {
            out.clear();
            rewriter.push(piece, &mut out, common::mark).unwrap();
            assert!(rewriter.held() <= 5_002 && out.len() <= 6_100);
        }
    }
    out.clear();
    assert_eq!(run(rewriter, b"{}]", &[]).as_deref(), Ok(&b"{}]"[..]));
}
