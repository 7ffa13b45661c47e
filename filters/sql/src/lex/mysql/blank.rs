//! Whitespace and comments.

use std::ops::Range;

use super::{CommentToken, Cursor, Token, Unread};
use crate::lex::gaps;

/// What may stand in a comment that a server executes, because it is the same with and without: what mysqldump writes.
const HARMLESS: &[&str] = &["sql_no_cache"];

/// Skips whitespace and comments.
pub(super) fn skip(cursor: &mut Cursor<'_>) -> Result<(), Unread> {
    loop {
        match cursor.peek(0) {
            Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C) => cursor.advance(1),
            Some(b'#') => skip_line(cursor),
            Some(b'-') if is_line(cursor.rest()) => skip_line(cursor),
            Some(b'/') if cursor.peek(1) == Some(b'*') => block(cursor)?,
            _ => return Ok(()),
        }
    }
}

/// Whether `-- ` stands here: with a blank or a control character behind it, or nothing.
fn is_line(rest: &str) -> bool {
    rest.strip_prefix("--").is_some_and(|rest| rest.bytes().next().is_none_or(|b| b <= b' ' || b == 0x7F))
}

/// A carriage return doesn't end it.
fn skip_line(cursor: &mut Cursor<'_>) {
    cursor.skip_while(|b| b != b'\n');
}

/// Block comments don't nest.
fn block(cursor: &mut Cursor<'_>) -> Result<(), Unread> {
    let rest = cursor.rest();
    let length = block_length(rest).ok_or(Unread::Doubt)?;
    let comment = rest.get(..length).unwrap_or_default();
    if is_executed(comment) && !is_harmless(comment) {
        return Err(Unread::Executed);
    }
    // A hint's quotes may hold what looks like its end; and it can set variables.
    if comment.starts_with("/*+") && (comment.contains(['\'', '"', '`']) || sets_variable(comment)) {
        return Err(Unread::Doubt);
    }
    cursor.advance(length);
    Ok(())
}

fn sets_variable(hint: &str) -> bool {
    hint.to_ascii_lowercase().contains("set_var")
}

fn block_length(rest: &str) -> Option<usize> {
    rest.get(2..)?.find("*/")?.checked_add(4)
}

/// `/*! … */`, `/*M! … */`: what a server of some version, or MariaDB, reads as a part of the text.
fn is_executed(comment: &str) -> bool {
    comment.starts_with("/*!") || comment.starts_with("/*M!")
}

fn is_harmless(comment: &str) -> bool {
    let inner = comment.strip_prefix("/*!").and_then(|rest| rest.strip_suffix("*/")).unwrap_or_default();
    let (digits, rest) = inner.split_at(inner.bytes().take_while(u8::is_ascii_digit).count());
    // Of more digits one may be a part of what follows.
    matches!(digits.len(), 5 | 6)
        && rest.starts_with(' ')
        && HARMLESS.iter().any(|words| rest.trim_ascii().eq_ignore_ascii_case(words))
}

/// Where comments are executed that change nothing.
pub(in crate::lex) fn executed(comments: &[CommentToken], text: &str) -> Vec<Range<usize>> {
    let whole =
        |comment: &CommentToken| comment.inner.start.saturating_sub(2)..comment.inner.end.saturating_add(2);
    let blocks = comments.iter().filter(|comment| comment.block).map(whole);
    blocks.filter(|range| text.get(range.clone()).is_some_and(is_executed)).collect()
}

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
        let line = if rest.starts_with('#') { Some(1) } else { is_line(rest).then_some(2) };
        if let Some(mark) = line {
            let end = rest.find('\n').map_or(gap.end, |length| at.saturating_add(length));
            found.push(CommentToken { inner: at.saturating_add(mark)..end, block: false });
            at = end;
        } else if let Some(length) = rest.starts_with("/*").then(|| block_length(rest)).flatten() {
            let end = at.saturating_add(length);
            found.push(CommentToken { inner: at.saturating_add(2)..end.saturating_sub(2), block: true });
            at = end;
        } else {
            at = at.saturating_add(rest.chars().next().map_or(1, char::len_utf8));
        }
    }
}
