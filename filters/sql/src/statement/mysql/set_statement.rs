//! MariaDB's SET STATEMENT, before a statement on a protected table.

use crate::{
    catalog::Catalog,
    kind::mysql::set::{Assignment, Target, affects_reading, assignments},
    mention,
    refusal::Refusal,
    segment::Segment,
};

/// Refuses a `SET STATEMENT` before a statement on a protected table that could change how it is understood.
pub(super) fn refuse_changed_reading(
    segment: &Segment<'_>,
    inner: &Segment<'_>,
    catalog: &Catalog,
) -> Result<(), Refusal> {
    let settings = segment.up_to_query(inner);
    let harmless = |assignment: &Assignment| match &assignment.target {
        Target::System(name) => !affects_reading(name),
        // `STATEMENT name = value`: the first is told by its second word.
        Target::Special(word) => word == "statement" && !affects_reading(settings.word(2)),
        Target::User(_) => false,
    };
    let brackets = (0..settings.tokens.len()).any(|index| settings.is_symbol(index, "("));
    if !catalog.relations.is_empty()
        && mention::may_name(segment, catalog)
        && (brackets || !assignments(&settings).iter().all(harmless))
    {
        return Err(Refusal::unsupported(
            "SET STATEMENT may change how a statement on a table with sealed columns is read",
            "leave the setting out, or set it before",
        ));
    }
    Ok(())
}
