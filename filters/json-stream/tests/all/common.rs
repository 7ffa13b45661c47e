//! What the tests share.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;

use fieldveil_json_stream::{Found, Framing, Limits, Matcher, Path, Replacement, RewriteError, Rewriter};

pub mod generate;
pub mod reference;

/// More than any test's body has.
pub const LIMITS: Limits = Limits { depth: 1000, key_bytes: 1 << 16, value_bytes: 1 << 20 };

/// An automaton of these paths, each of the field of its place.
pub fn matcher(paths: &[&str]) -> Arc<Matcher> {
    let paths: Vec<Path> = paths.iter().map(|path| path.parse().unwrap()).collect();
    Arc::new(Matcher::compile(paths.iter().zip(0..)).unwrap())
}

/// Writes a field's number and its text in brackets.
pub fn mark(found: Found<'_>) -> Result<Replacement, ()> {
    let mut json = format!("<{}:", found.field).into_bytes();
    json.extend_from_slice(found.json);
    json.push(b'>');
    Ok(Replacement::Json(json))
}

/// A body in one piece with its fields marked.
pub fn rewrite(paths: &[&str], framing: Framing, body: &[u8]) -> Result<Vec<u8>, RewriteError<()>> {
    rewrite_at(paths, framing, LIMITS, body, &[])
}

/// A body cut at these places, in order, with its fields marked.
pub fn rewrite_at(
    paths: &[&str],
    framing: Framing,
    limits: Limits,
    body: &[u8],
    cuts: &[usize],
) -> Result<Vec<u8>, RewriteError<()>> {
    run(Rewriter::new(matcher(paths), framing, limits), body, cuts)
}

/// Gives a body to a rewriter, cut at these places.
pub fn run(mut rewriter: Rewriter, body: &[u8], cuts: &[usize]) -> Result<Vec<u8>, RewriteError<()>> {
    let mut out = Vec::new();
    let mut begin = 0;
    for end in cuts.iter().copied().chain([body.len()]) {
        rewriter.push(&body[begin..end], &mut out, mark)?;
        begin = end;
    }
    rewriter.finish(&mut out, mark)?;
    Ok(out)
}
