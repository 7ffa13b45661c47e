//! Statements that the server knows under the client's own names: prepared in SQL or in the protocol, and nothing
//! protected is concerned. They go to the server as they are written.

use crate::{
    analysis::{PreparedText, Replacement, SessionUse, Splice, StatementKind, effects::Effects},
    budget::Budget,
    catalog::Catalog,
    identity, kind, mention,
    refusal::Refusal,
    segment::{self, Segment},
    statement::{
        self, Analyzed,
        session::{Names, OwnName, name_at},
    },
};

use super::utility;

/// What the names begin with that the filter gives to statements.
const FILTERS_NAMES: &str = "fieldveil_";

/// Whether the filter itself may have given this name to a statement.
pub(crate) fn may_be_the_filters(name: &str) -> bool {
    name.starts_with(FILTERS_NAMES)
}

/// Whether a statement reads or writes rows, concerns nothing protected, and changes no setting.
pub(crate) fn concerns_nothing(segment: &Segment<'_>, analyzed: &Analyzed) -> bool {
    let effects = &analyzed.effects;
    analyzed.is_dml
        && !effects.touched
        && effects.fields.count() == 0
        && effects.splices.is_empty()
        && effects.parameters.is_empty()
        && effects.copy.is_none()
        && effects.session.is_none()
        && !identity::changes(segment)
}

/// Analyzes the text of a prepared statement again. None where it is not a single statement that concerns nothing
/// protected.
fn analyze_again(text: &str, catalog: &Catalog, budget: &Budget) -> Option<Analyzed> {
    let mut segments = segment::split(text, catalog.dialect, budget).ok()?;
    let (Some(segment), None) = (segments.pop(), segments.pop()) else { return None };
    budget.spend(segment.tokens.len()).ok()?;
    if !kind::is_dml(&segment) {
        return None;
    }
    let analyzed = statement::analyze(&segment, catalog, &()).ok()?;
    concerns_nothing(&segment, &analyzed).then_some(analyzed)
}

/// Whether the text of a prepared statement concerns nothing that this catalog protects.
#[must_use]
pub fn is_unprotected(text: &str, catalog: &Catalog) -> bool {
    analyze_again(text, catalog.folded(), &Budget::new()).is_some()
}

/// Passes a text that is no statement as far as the filter can tell, if it can name nothing protected: the server
/// says what is wrong with it.
pub(crate) fn unreadable(segment: &Segment<'_>, catalog: &Catalog) -> Result<Analyzed, Refusal> {
    if mention::may_name(segment, catalog) {
        return Err(statement::session::not_understood());
    }
    utility::refuse_code_in_strings(segment, catalog)?;
    Ok(Analyzed::unread())
}

/// `EXECUTE name [(value, …)]` of what the server knows under the client's own name.
pub(crate) fn execute(
    segment: &Segment<'_>,
    catalog: &Catalog,
    name: String,
    own: OwnName,
) -> Result<Analyzed, Refusal> {
    let (kind, changes_catalog, splices) = match own {
        OwnName::Texts(texts) if !may_be_the_filters(&name) => {
            let (kind, changes) = check_texts(&texts, segment, catalog)?;
            check_values(&segment.starting_at(2), catalog)?;
            (kind, changes || identity::changes(segment), Vec::new())
        }
        // The server says that there is none. The values may have been meant for a PREPARE that was refused, so that they
        // must not stand in its log.
        OwnName::Free if !may_be_the_filters(&name) => {
            (StatementKind::Other, true, Vec::from_iter(without_values(segment)))
        }
        OwnName::Protected => return Err(protected()),
        _ => return Err(unseen()),
    };
    let session = Some(SessionUse::Execute { name });
    let effects = Effects { touched: true, session, splices, ..Effects::default() };
    Ok(Analyzed { kind, changes_catalog, effects, is_dml: true })
}

/// `CREATE TABLE … AS EXECUTE name [(value, …)]`. The values of a protected statement would have to be sealed, and its rows go
/// into a table. A routine's body in the statement's own text has no certain end, so that an EXECUTE in it may be one behind
/// it. None where it is another CREATE, or nothing is protected.
pub(super) fn create_as_execute(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Option<Analyzed>, Refusal> {
    let is_routine = segment.tokens.iter().any(|token| token.is_word("atomic"));
    let execute_at = (2..segment.tokens.len()).find(|index| {
        segment.is_word(*index, "execute") && (is_routine || segment.is_word(index.saturating_sub(1), "as"))
    });
    let Some(execute_at) = execute_at.filter(|_| catalog.protects()) else { return Ok(None) };
    let inner = segment.starting_at(execute_at);
    let name = name_at(&inner, 1).ok().filter(|name| !is_routine && names.prepared(name).is_none());
    let own = name
        .map(|name| (names.own_name(&name), name))
        .filter(|(own, _)| !matches!(own, OwnName::Unknown | OwnName::Protected));
    let Some((own, name)) = own else {
        return Err(Refusal::unsupported(
            "CREATE with EXECUTE isn't supported for a statement that may concern sealed columns",
            "create the table first, and insert the rows with INSERT … SELECT",
        ));
    };
    let executed = execute(&inner, catalog, name, own)?;
    let created = utility::analyze(&segment.up_to(execute_at), catalog)?;
    let effects = Effects { touched: created.touched, ..executed.effects };
    Ok(Some(Analyzed { kind: StatementKind::Other, changes_catalog: true, effects, is_dml: false }))
}

/// Checks that each of the texts concerns nothing protected. Says what kind of statement they are, and whether one of
/// them changes what names mean.
fn check_texts(
    texts: &[PreparedText],
    segment: &Segment<'_>,
    catalog: &Catalog,
) -> Result<(StatementKind, bool), Refusal> {
    let mut kinds = Vec::new();
    let mut changes_catalog = false;
    for text in texts {
        let analyzed = analyze_again(text, catalog, segment.budget).ok_or_else(protected)?;
        kinds.push(analyzed.kind);
        changes_catalog |= analyzed.changes_catalog;
    }
    match kinds.as_slice() {
        [kind] => Ok((*kind, changes_catalog)),
        _ => Ok((StatementKind::Other, changes_catalog)),
    }
}

/// Checks that the values name nothing protected.
fn check_values(values: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    if mention::may_name(values, catalog) {
        return Err(Refusal::unsupported(
            "a value of EXECUTE may name a table with sealed columns",
            "write the value as a literal",
        ));
    }
    utility::refuse_code_in_strings(values, catalog)
}

/// Removes the values of an EXECUTE, with their brackets.
fn without_values(segment: &Segment<'_>) -> Option<Splice> {
    if !segment.is_symbol(2, "(") {
        return None;
    }
    let mut depth = 0_usize;
    let close = (2..segment.tokens.len()).find(|index| {
        if segment.is_symbol(*index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(*index, ")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0
    });
    let (first, last) = (segment.tokens.get(2)?, close.and_then(|close| segment.tokens.get(close)));
    let end = last.map_or(segment.text.len(), |last| last.range.end);
    let range = first.range.start.saturating_add(segment.offset)..end.saturating_add(segment.offset);
    Some(Splice { range, with: Replacement::Text(String::new()) })
}

/// A name that stands for something else than what was seen, or whose meaning may have changed.
pub(crate) fn unseen() -> Refusal {
    Refusal::unsupported(
        "EXECUTE of a statement that was not seen to be prepared, or when names, policy or keys were others",
        "deallocate it, prepare it again, and then execute it",
    )
}

fn protected() -> Refusal {
    Refusal::unsupported(
        "EXECUTE of a statement that was prepared in the protocol, or before its table was protected, and may concern sealed columns",
        "bind and execute it in the protocol; or deallocate it, prepare it with PREPARE, and then execute it",
    )
}
