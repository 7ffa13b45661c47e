//! Indexes over protected columns.

use crate::{
    catalog::{Relation, Stored},
    ddl,
    lexer::Kind,
    predicate::{ARMORED_INDEX_PREFIX, RAW_INDEX_PREFIX, require_equality},
    refusal::Refusal,
    scope::Protected,
    segment::Segment,
};

/// `CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX name … ON table (column [(length)] [ASC | DESC], …)`
pub(super) fn created(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    let kind = segment.word(1);
    for (at, protected) in ddl::named(segment, relations) {
        check(segment, at, protected, kind)?;
    }
    Ok(())
}

/// `ADD [CONSTRAINT [name]] {INDEX | KEY | UNIQUE | PRIMARY KEY} … (column, …)` around a token of an ALTER TABLE; whether it
/// is that.
pub(super) fn added(segment: &Segment<'_>, at: usize, protected: Protected<'_>) -> Result<bool, Refusal> {
    let Some(open) = (0..at).rev().find(|index| segment.is_symbol(*index, "(")) else { return Ok(false) };
    let Some(add) = (0..open).rev().find(|index| segment.is_word(*index, "add")) else { return Ok(false) };
    let behind = add.saturating_add(1);
    let plain = (behind..open).all(|index| !segment.is_symbol(index, ",") && !segment.is_symbol(index, "("));
    let has = |word: &str| (behind..open).any(|index| segment.is_word(index, word));
    let is_index = has("index") || has("key") || has("unique");
    if !plain || !is_index || has("foreign") || has("check") {
        return Ok(false);
    }
    let kind = ["unique", "primary", "fulltext", "spatial"].into_iter().find(|word| has(word));
    check(segment, at, protected, kind.unwrap_or_default())?;
    Ok(true)
}

/// A column as it is, where equality is all that is asked of it; of an index that keeps nothing apart also a prefix, and of an
/// indexed label what equal values have in common.
fn check(segment: &Segment<'_>, at: usize, protected: Protected<'_>, kind: &str) -> Result<(), Refusal> {
    let unique = matches!(kind, "unique" | "primary");
    let (before, mut next) = (at.checked_sub(1), at.saturating_add(1));
    let begins =
        before.is_some_and(|before| segment.is_symbol(before, "(") || segment.is_symbol(before, ","));
    let length = length_at(segment, next);
    // What equal values of an indexed label have in common.
    let common = match protected.column.stored {
        Stored::Bytes => RAW_INDEX_PREFIX,
        Stored::Text | Stored::Other => ARMORED_INDEX_PREFIX,
    };
    let by_common = protected.field.indexed && length == Some(common.to_string().as_str());
    if !(by_common || (protected.field.indexed && !unique)) {
        require_equality(protected)?;
    }
    if length.is_some() && (by_common || !unique) {
        next = next.saturating_add(3);
    }
    if matches!(segment.word(next), "asc" | "desc") {
        next = next.saturating_add(1);
    }
    let ends = segment.is_symbol(next, ")") || segment.is_symbol(next, ",");
    let in_words = matches!(kind, "fulltext" | "spatial");
    if begins && ends && !in_words && depth(segment, at) == 1 {
        return Ok(());
    }
    Err(Refusal::on(
        protected.field,
        "only the column as it is can be indexed",
        "index the column without an expression; where values must be unique, without a length",
    ))
}

/// `(length)`
fn length_at<'s>(segment: &'s Segment<'_>, open: usize) -> Option<&'s str> {
    let number = segment.tokens.get(open.saturating_add(1))?;
    let is_length = segment.is_symbol(open, "(")
        && matches!(number.kind, Kind::Number)
        && segment.is_symbol(open.saturating_add(2), ")");
    is_length.then(|| number.source(segment.text))
}

/// Brackets around a token.
fn depth(segment: &Segment<'_>, index: usize) -> usize {
    (0..index).fold(0_usize, |depth, at| {
        if segment.is_symbol(at, "(") {
            depth.saturating_add(1)
        } else if segment.is_symbol(at, ")") {
            depth.saturating_sub(1)
        } else {
            depth
        }
    })
}
