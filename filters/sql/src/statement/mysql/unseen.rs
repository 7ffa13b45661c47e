//! Views behind which may be a protected table, for all that this session may see: they are read as any other relation is, and
//! what would be stored through one is refused.

use crate::{catalog::Catalog, mention, refusal::Refusal, resolve::view, segment::Segment};

/// Whether a statement names such a view.
pub(crate) fn names_unseen(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    !mention::named_unseen(segment, catalog).is_empty()
}

/// Refuses a statement that stores values through such a view, or may.
pub(super) fn refuse_stored(segment: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    if !catalog.relations.iter().any(mention::is_unseen) {
        return Ok(());
    }
    let Some(targets) = targets(segment) else { return Ok(()) };
    match mention::named_unseen(&targets, catalog).first() {
        None => Ok(()),
        Some(view) => Err(view::unseen(view, catalog.dialect)),
    }
}

/// The part of a statement that says where values are stored; None if it stores none.
fn targets<'t>(segment: &Segment<'t>) -> Option<Segment<'t>> {
    let first = (0..segment.tokens.len()).find(|index| {
        matches!(segment.word(*index), "insert" | "replace" | "update" | "load")
            && (*index == 0 || segment.is_word(0, "with"))
    })?;
    let rest = segment.starting_at(first);
    let mut depth = 0_usize;
    let end = (1..rest.tokens.len()).find(|index| {
        let ends = match rest.word(0) {
            "load" => false,
            "update" => depth == 0 && rest.is_word(*index, "set"),
            _ => {
                rest.is_symbol(*index, "(")
                    || matches!(rest.word(*index), "values" | "select" | "set" | "with" | "table")
            }
        };
        if rest.is_symbol(*index, "(") {
            depth = depth.saturating_add(1);
        } else if rest.is_symbol(*index, ")") {
            depth = depth.saturating_sub(1);
        }
        ends
    });
    Some(rest.up_to(end.unwrap_or(rest.tokens.len())))
}
