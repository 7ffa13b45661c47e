//! Where the comments of a text are: between its tokens.

use std::ops::Range;

use super::{CommentToken, Token};
use crate::lex::gaps;

/// All comments of a text that has these tokens.
pub(in crate::lex) fn comments(text: &str, tokens: &[Token]) -> Vec<CommentToken> {
    let mut found = Vec::new();
    for gap in gaps(text, tokens) {
        between(text, gap, &mut found);
    }
    found
}

/// Between two tokens there is whitespace and comments alone.
fn between(text: &str, gap: Range<usize>, found: &mut Vec<CommentToken>) {
    let mut at = gap.start;
    while let Some(rest) = text.get(at..gap.end).filter(|rest| !rest.is_empty()) {
        let begin = at.saturating_add(2);
        if rest.starts_with("--") {
            let end = rest.find(['\n', '\r']).map_or(gap.end, |length| at.saturating_add(length));
            found.push(CommentToken { inner: begin..end, block: false });
            at = end;
        } else if rest.starts_with("/*") {
            let end = at.saturating_add(block_length(rest));
            found.push(CommentToken { inner: begin..end.saturating_sub(2), block: true });
            at = end;
        } else {
            at = at.saturating_add(rest.chars().next().map_or(1, char::len_utf8));
        }
    }
}

/// Block comments nest.
fn block_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0_usize;
    while let Some(left) = rest.as_bytes().get(at..).filter(|left| !left.is_empty()) {
        if left.starts_with(b"/*") {
            depth = depth.saturating_add(1);
            at = at.saturating_add(2);
        } else if left.starts_with(b"*/") {
            depth = depth.saturating_sub(1);
            at = at.saturating_add(2);
            if depth == 0 {
                break;
            }
        } else {
            at = at.saturating_add(1);
        }
    }
    at
}
