//! JSON bodies that stream by.

use std::sync::Arc;

use fieldveil_json_stream::{
    Found, Framing, Limits, Matcher, Path, Replacement, RewriteError, Rewriter, read_string, write_string,
};
use serde_json::value::RawValue;

const LIMITS: Limits = Limits { depth: 100, key_bytes: 1 << 10, value_bytes: 1 << 10 };

/// Each path is a field of its own; no two of one set can select one value.
const PATHS: [&[&str]; 4] =
    [&[], &["$.a", "$.b[*].c", "$.b[*].d[0]"], &["$[*]"], &["$..a", "$.b[1]", "$['\\u00e9']..c.d"]];

/// The first byte picks paths and framing, the next two where the body is cut. Its first line may be a path too.
pub(crate) fn json_stream(bytes: &[u8]) {
    let [kind, one, other, body @ ..] = bytes else { return };
    let framing = match kind % 4 {
        0 => Framing::Document,
        1 => Framing::Lines,
        2 => Framing::Sequence,
        _ => Framing::Events,
    };
    let paths = PATHS[usize::from(kind >> 2) % PATHS.len()];
    let mut paths: Vec<Path> = paths.iter().map(|path| path.parse().expect("a path")).collect();
    let first = body.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok());
    paths.extend(first.and_then(|line| line.parse().ok()));
    let Ok(matcher) = Matcher::compile(paths.iter().zip(0..)) else { return };
    let matcher = Arc::new(matcher);

    let rewrite = |pieces: &[&[u8]], treat: fn(Found<'_>) -> Result<Replacement, ()>| {
        rewrite(Rewriter::new(Arc::clone(&matcher), framing, LIMITS), pieces, treat)
    };
    let one = usize::from(*one).min(body.len());
    let other = usize::from(*other).clamp(one, body.len().max(one)).min(body.len());
    let cut = [&body[..one], &body[one..other], &body[other..]];
    let marked = rewrite(&[body], mark);
    assert_eq!(marked, rewrite(&cut, mark), "one result at every cut");
    let kept = rewrite(&[body], keep);
    assert_eq!(kept.is_ok(), marked.is_ok());
    if framing != Framing::Document {
        return;
    }
    match (kept, serde_json::from_slice::<&RawValue>(body)) {
        (Ok(kept), Ok(_)) => assert_eq!(kept, body, "what is kept is as it came"),
        (Ok(_), Err(error)) => panic!("not refused: {error}"),
        // Half a surrogate pair in a key is refused here alone.
        (Err(RewriteError::Malformed { reason, .. }), Ok(_)) => {
            assert!(reason.contains("surrogate"), "refused: {reason}");
        }
        _ => {}
    }
}

fn rewrite(
    mut rewriter: Rewriter,
    pieces: &[&[u8]],
    treat: fn(Found<'_>) -> Result<Replacement, ()>,
) -> Result<Vec<u8>, RewriteError<()>> {
    let mut out = Vec::new();
    for piece in pieces {
        rewriter.push(piece, &mut out, treat)?;
        assert!(rewriter.held() <= LIMITS.key_bytes + LIMITS.value_bytes, "what is held is bounded");
    }
    rewriter.finish(&mut out, treat)?;
    Ok(out)
}

fn keep(_: Found<'_>) -> Result<Replacement, ()> {
    Ok(Replacement::Keep)
}

/// The value and its field as one JSON string, which is read back as it was written.
fn mark(found: Found<'_>) -> Result<Replacement, ()> {
    let text = format!("{} {:?} {}", found.field, found.kind, String::from_utf8_lossy(found.json));
    let mut json = Vec::new();
    write_string(&text, &mut json);
    assert_eq!(read_string(&json).as_deref(), Ok(text.as_bytes()), "a string is read as written");
    if let Ok(read) = read_string(found.json) {
        assert_eq!(
            serde_json::from_slice::<String>(found.json).ok().as_deref().map(str::as_bytes),
            Some(&*read),
            "a string is read as serde_json reads it"
        );
    }
    Ok(Replacement::Json(json))
}
