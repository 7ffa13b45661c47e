//! `SELECT … INTO @variable | OUTFILE … | DUMPFILE …`: rows that go to a place in the server.

use std::ops::Range;

use crate::{
    analysis::effects::Effects,
    catalog::Catalog,
    lex::{Kind, Token},
    refusal::Refusal,
    segment::Segment,
    statement::dml,
};

/// The tokens of the INTO of a SELECT.
pub(super) fn clause(segment: &Segment<'_>) -> Option<Range<usize>> {
    if matches!(segment.word(0), "insert" | "replace" | "update" | "delete") {
        // The INTO of `INSERT INTO t SELECT …` is its own, and a SELECT within can have none.
        return None;
    }
    let start = (0..segment.tokens.len()).find(|index| segment.is_word(*index, "into"))?;
    let mut end = start.saturating_add(1);
    if matches!(segment.word(end), "outfile" | "dumpfile") {
        // It goes on to the end, or to FROM; neither stands in its options.
        let stop = |index: &usize| matches!(segment.word(*index), "from" | "for" | "lock");
        return Some(start..(end..segment.tokens.len()).find(stop).unwrap_or(segment.tokens.len()));
    }
    while matches!(segment.tokens.get(end).map(|token| &token.kind), Some(Kind::Variable { .. })) {
        end = end.saturating_add(1);
        if !segment.is_symbol(end, ",") {
            return Some(start..end);
        }
        end = end.saturating_add(1);
    }
    Some(start..end)
}

/// The statement without the clause, as long as it reads nothing protected.
pub(super) fn analyze(
    segment: &Segment<'_>,
    clause: Range<usize>,
    catalog: &Catalog,
) -> Result<Effects, Refusal> {
    let place = |index: usize| segment.tokens.get(index).map(|token| token.range.clone());
    let last = clause.end.saturating_sub(1);
    let bytes = place(clause.start).zip(place(last)).map(|(first, last)| first.start..last.end);
    let bytes = bytes.ok_or_else(|| Refusal::unparsable("where the rows go isn't understood"))?;
    let mut text = segment.text.to_owned();
    let blank = " ".repeat(bytes.len());
    text.replace_range(bytes, &blank);
    let outside = |(index, _): &(usize, &Token)| !clause.contains(index);
    let tokens = segment.tokens.iter().enumerate().filter(outside).map(|(_, token)| token.clone());
    let without = Segment { text: &text, tokens: tokens.collect(), ..*segment };
    let effects = dml::analyze(&without, catalog)?;
    if let Some(id) = effects.fields.reads.first() {
        let mut columns = catalog.relations.iter().flat_map(|relation| &relation.columns);
        let field = columns.find_map(|column| column.field.as_ref().filter(|field| field.id == *id));
        let refusal = Refusal::unsupported(
            "sealed values would go to a variable or a file in the server",
            "select them into the application",
        );
        return Err(Refusal { label: field.map(|field| field.label.clone()), ..refusal });
    }
    Ok(Effects { columns: None, ..effects })
}
