//! Indexes over protected columns.

use std::ops::Range;

use crate::{
    catalog::{Relation, StorageType},
    lex::Kind,
    refusal::Refusal,
    resolve::protected::Protected,
    segment::Segment,
    statement::ddl,
    walk::search::predicate::{ARMORED_INDEX_PREFIX, RAW_INDEX_PREFIX, require_equality},
};

/// `CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX name … ON table (column [(length)] [ASC | DESC], …)`
pub(super) fn created(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    let kind = segment.word(1);
    let places = places(segment);
    for (at, protected) in ddl::named(segment, relations) {
        let depth = places.get(at).map_or(0, |place| place.depth);
        check(segment, (at, depth), protected, kind)?;
    }
    Ok(())
}

/// Where a token of an ALTER TABLE stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Brackets around it.
    depth: usize,
    /// What kind of index the last bracket before it lists the columns of, empty for a plain one: `ADD [CONSTRAINT [name]]
    /// {INDEX | KEY | UNIQUE | PRIMARY KEY} … (`. None where it lists none.
    index: Option<&'static str>,
}

/// Where each token stands, in one pass over all.
pub(super) fn places(segment: &Segment<'_>) -> Vec<Place> {
    let mut place = Place::default();
    // The last ADD, with no comma or bracket behind it.
    let mut add: Option<usize> = None;
    let step = |at: usize| {
        let here = place;
        if segment.is_symbol(at, "(") {
            let behind = add.take().map(|add| add.saturating_add(1)..at);
            let index = behind.and_then(|words| kind(segment, words));
            place = Place { depth: place.depth.saturating_add(1), index };
        } else if segment.is_symbol(at, ")") {
            place.depth = place.depth.saturating_sub(1);
        } else if segment.is_symbol(at, ",") {
            add = None;
        } else if segment.is_word(at, "add") {
            add = Some(at);
        }
        here
    };
    (0..segment.tokens.len()).map(step).collect()
}

/// The kind of index that these words begin; None where they begin none.
fn kind(segment: &Segment<'_>, words: Range<usize>) -> Option<&'static str> {
    let has = |word: &str| words.clone().any(|index| segment.is_word(index, word));
    if !(has("index") || has("key") || has("unique")) || has("foreign") || has("check") {
        return None;
    }
    let kinds = ["unique", "primary", "fulltext", "spatial"];
    Some(kinds.into_iter().find(|word| has(word)).unwrap_or_default())
}

/// Whether a token of an ALTER TABLE is a column of an index that is added.
pub(super) fn added(
    segment: &Segment<'_>,
    (at, place): (usize, Option<&Place>),
    protected: Protected<'_>,
) -> Result<bool, Refusal> {
    let Some(Place { depth, index: Some(kind) }) = place else { return Ok(false) };
    check(segment, (at, *depth), protected, kind)?;
    Ok(true)
}

/// A column as it is, where equality is all that is asked of it; of an index that keeps nothing apart also a prefix, and of an
/// indexed label what equal values have in common.
fn check(
    segment: &Segment<'_>,
    (at, depth): (usize, usize),
    protected: Protected<'_>,
    kind: &str,
) -> Result<(), Refusal> {
    let unique = matches!(kind, "unique" | "primary");
    let (before, mut next) = (at.checked_sub(1), at.saturating_add(1));
    let begins =
        before.is_some_and(|before| segment.is_symbol(before, "(") || segment.is_symbol(before, ","));
    let length = length_at(segment, next);
    // What equal values of an indexed label have in common.
    let common = match protected.column.stored {
        StorageType::Bytes => RAW_INDEX_PREFIX,
        StorageType::Text | StorageType::Other => ARMORED_INDEX_PREFIX,
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
    if begins && ends && !in_words && depth == 1 {
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
