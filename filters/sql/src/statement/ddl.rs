//! What CREATE, ALTER and DROP of either dialect have in common.

use crate::{
    analysis::effects::Effects,
    catalog::{Catalog, Relation},
    dialect::Dialect,
    lex::Token,
    mention,
    refusal::Refusal,
    resolve::protected::Protected,
    segment::Segment,
    statement::dml,
};

/// `CREATE [OR REPLACE] [LOCAL TEMPORARY] [RECURSIVE | MATERIALIZED] VIEW`
pub(crate) fn is_view(segment: &Segment<'_>) -> bool {
    (1..segment.tokens.len().min(6)).any(|index| segment.is_word(index, "view"))
}

/// PostgreSQL's `CREATE [GLOBAL | LOCAL] TEMPORARY TABLE`, `CREATE [OR REPLACE] [GLOBAL | LOCAL] TEMPORARY [RECURSIVE] VIEW`: what it
/// makes is in a schema of its own, which no policy names, and the catalog says from then on what its name means.
pub(crate) fn makes_in_temporary_schema(segment: &Segment<'_>) -> bool {
    let mut words = (1..segment.tokens.len()).map(|index| segment.word(index));
    let is_before = |word: &&str| matches!(*word, "or" | "replace" | "global" | "local");
    segment.dialect == Dialect::Postgres
        && segment.is_word(0, "create")
        && words.find(|word| !is_before(word)).is_some_and(|word| matches!(word, "temp" | "temporary"))
        && words.find(|word| *word != "recursive").is_some_and(|word| matches!(word, "table" | "view"))
}

/// A table or view made of a query. A table's rows are copies of what is sealed; a view's columns keep their fields.
pub(crate) fn create_as(
    segment: &Segment<'_>,
    query: &Segment<'_>,
    catalog: &Catalog,
) -> Result<Effects, Refusal> {
    let mut effects = dml::analyze(query, catalog)?;
    let head = segment.up_to_query(query);
    let is_apart =
        makes_in_temporary_schema(segment) || !effects.touched && !mention::may_be_planned(&head, catalog);
    if !is_apart && mention::names_planned(&head, catalog) {
        return Err(unsupported("a relation of a protected table's name"));
    }
    if !(effects.splices.is_empty() && effects.parameters.is_empty()) {
        return Err(Refusal::unsupported(
            "a table or view would be made of a query that looks for a sealed value",
            "create it without the comparison, and compare when it is read",
        ));
    }
    let reads = std::mem::take(&mut effects.fields.reads);
    effects.fields.copies = if is_view(segment) { Vec::new() } else { reads };
    Ok(Effects { columns: None, ..effects })
}

pub(crate) fn unsupported(what: &str) -> Refusal {
    Refusal::unsupported(
        format!("{what} can't be made through the sidecar"),
        "connect to the server directly, as its owner, if it is meant",
    )
}

/// The protected columns that the tokens name.
pub(crate) fn named<'c>(
    segment: &Segment<'_>,
    relations: &[&'c Relation],
) -> impl Iterator<Item = (usize, Protected<'c>)> {
    segment.tokens.iter().enumerate().filter_map(move |(index, token)| {
        let name = Token::name(token)?;
        let mut columns = relations.iter().filter_map(|relation| relation.columns.named(name));
        columns.find_map(Protected::of).map(|protected| (index, protected))
    })
}

pub(crate) fn no_protected_column(
    segment: &Segment<'_>,
    relations: &[&Relation],
    what: &str,
) -> Result<(), Refusal> {
    match named(segment, relations).next() {
        None => Ok(()),
        Some((_, protected)) => Err(Refusal::on(
            protected.field,
            format!("{what} names a sealed column"),
            "leave the column out, or connect to the server directly",
        )),
    }
}
