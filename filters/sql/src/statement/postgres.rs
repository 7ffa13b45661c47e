//! The statements of PostgreSQL, by their first words: which rules each goes by.

mod copy;
mod ddl;
pub(crate) mod prepared;
pub(crate) mod rows;
mod setting;
mod utility;

use super::{
    self as statement, Analyzed, dml,
    session::{self, Names},
};
use crate::{
    analysis::{StatementKind, effects::Effects},
    catalog::Catalog,
    identity, kind, mention,
    refusal::{Refusal, RefusalClass},
    segment::Segment,
};

/// Analyzes one statement.
pub(super) fn analyze(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    setting::refuse_hidden_settings(segment)?;
    let inner = explained(segment);
    // EXPLAIN can't be explained; nor may a chain of them be walked by recursion.
    if let Some(inner) = inner.filter(|inner| !inner.is_word(0, "explain")) {
        return Ok(analyze(&inner, catalog, names)?.explained());
    }
    match (segment.word(0), segment.word(1)) {
        ("prepare", second) if second != "transaction" => return session::prepare(segment, catalog, names),
        ("declare", _) => return session::declare(segment, catalog),
        ("execute", _) => return session::execute(segment, catalog, names),
        ("create", _) => {
            if let Some(created) = prepared::create_as_execute(segment, catalog, names)? {
                return Ok(created);
            }
        }
        _ => {}
    }
    let is_dml = kind::is_dml(segment);
    let mut kind = kind::of(segment);
    let effects = if is_dml {
        if mention::may_name(segment, catalog) {
            match dml::analyze(segment, catalog) {
                // What it names is another relation of the name, whatever the rest of it says.
                Err(refusal)
                    if refusal.class == RefusalClass::Unparsable && !mention::may_show(segment, catalog) =>
                {
                    utility::refuse_code_in_strings(segment, catalog)?;
                    Effects::default()
                }
                analyzed => analyzed?,
            }
        } else {
            utility::refuse_code_in_strings(segment, catalog)?;
            Effects::default()
        }
    } else {
        match (segment.word(0), segment.word(1)) {
            ("fetch" | "move" | "deallocate" | "close", _) if session::lacks_name(segment) => {
                return prepared::unreadable(segment, catalog);
            }
            ("fetch" | "move", _) => {
                kind = StatementKind::Select;
                session::fetch(segment, names, catalog)?
            }
            ("deallocate", _) | ("discard", "all") => session::deallocate(segment, names)?,
            ("close", _) => session::close(segment)?,
            ("copy", _) if mention::may_name(segment, catalog) => {
                let effects = copy::analyze(segment, catalog)?;
                if effects.copy.as_ref().is_some_and(|copy| !copy.from_client)
                    && effects.fields.writes.is_empty()
                {
                    kind = StatementKind::Select;
                }
                effects
            }
            _ if kind == StatementKind::Transaction => {
                Effects { session: session::transaction(segment), ..utility::analyze(segment, catalog)? }
            }
            _ => utility::analyze(segment, catalog)?,
        }
    };
    let changes_catalog = changes_catalog(segment, is_dml, catalog);
    Ok(Analyzed { kind, changes_catalog, effects, is_dml })
}

/// Whether it makes a table together with its rows, or a view.
fn makes_with_rows(segment: &Segment<'_>) -> bool {
    if let Some(inner) = explained(segment).filter(|inner| !inner.is_word(0, "explain")) {
        return makes_with_rows(&inner);
    }
    let has = |name| segment.tokens.iter().any(|token| token.is_word(name));
    match segment.word(0) {
        "create" => {
            ["select", "values", "execute", "with", "default", "view"].into_iter().any(has)
                || ddl::is_create_as(segment)
        }
        "select" | "with" | "values" => selects_into(segment),
        _ => segment.is_symbol(0, "(") && selects_into(segment),
    }
}

/// Whether it makes a table with its rows, or a view, by one of these names.
pub(super) fn makes_one_of(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    if let Some(inner) = explained(segment).filter(|inner| !inner.is_word(0, "explain")) {
        return makes_one_of(&inner, catalog);
    }
    if !(makes_with_rows(segment) && mention::names_planned(segment, catalog)) {
        return false;
    }
    let is_of_query = || statement::ddl::is_view(segment) || ddl::is_create_as(segment);
    if statement::ddl::makes_in_temporary_schema(segment) && is_of_query() {
        return false;
    }
    if let Some(query) = ddl::created_query(segment) {
        return mention::may_be_planned(&segment.up_to_query(&query), catalog);
    }
    if segment.is_word(0, "create") {
        // Of a table its own name, not its parent's; a trigger or the like makes none.
        let table = (1..segment.tokens.len().min(5)).any(|index| segment.is_word(index, "table"));
        let end = (0..segment.tokens.len()).find(|index| {
            segment.is_symbol(*index, "(") || matches!(segment.word(*index), "partition" | "of" | "inherits")
        });
        return table && mention::names_planned(&segment.up_to(end.unwrap_or(segment.tokens.len())), catalog);
    }
    match into(segment) {
        // A temporary table is in a schema that no policy names.
        Some(into) if matches!(segment.word(into.saturating_add(1)), "temp" | "temporary") => false,
        Some(into) => mention::names_planned(&target(segment, into), catalog),
        None => true,
    }
}

/// `INTO` that isn't that of an INSERT or a MERGE.
fn into(segment: &Segment<'_>) -> Option<usize> {
    (1..segment.tokens.len()).find(|index| {
        segment.is_word(*index, "into")
            && !matches!(segment.word(index.saturating_sub(1)), "insert" | "merge")
    })
}

/// The name behind an INTO: `INTO [TEMP] [TABLE] [schema.]name`
fn target<'t>(segment: &Segment<'t>, into: usize) -> Segment<'t> {
    let is_kind = |index: &usize| {
        matches!(segment.word(*index), "temp" | "temporary" | "local" | "global" | "unlogged" | "table")
    };
    let first = into.saturating_add(1);
    let name = (first..segment.tokens.len()).find(|index| !is_kind(index)).unwrap_or(first);
    // With a dot between each two parts.
    let parts = (name..segment.tokens.len())
        .step_by(2)
        .take_while(|index| *index == name || segment.is_symbol(index.saturating_sub(1), "."));
    let last = parts.last().unwrap_or(name);
    segment.part(name..last.saturating_add(1))
}

fn selects_into(segment: &Segment<'_>) -> bool {
    into(segment).is_some()
}

/// Whether it surely neither reads nor writes rows, nor gives a table another name or its rows to another table:
/// DROP, CREATE INDEX, and CREATE TABLE with columns alone.
pub(super) fn only_defines(segment: &Segment<'_>) -> bool {
    let has = |name| segment.tokens.iter().any(|token| token.is_word(name));
    let object = if segment.is_word(1, "unique") { 2 } else { 1 };
    match (segment.word(0), segment.word(object)) {
        ("drop", _) | ("create", "index") => true,
        ("create", "table") => {
            !(makes_with_rows(segment) || ["inherits", "partition", "of", "like"].into_iter().any(has))
        }
        _ => false,
    }
}

/// The statement behind `EXPLAIN …`.
fn explained<'t>(segment: &Segment<'t>) -> Option<Segment<'t>> {
    if !segment.is_word(0, "explain") {
        return None;
    }
    let mut index = 1_usize;
    if segment.is_symbol(1, "(") {
        // Options hold no brackets, but `EXPLAIN (SELECT …)` is a statement in brackets.
        if matches!(segment.word(2), "select" | "values" | "table" | "with") || segment.is_symbol(2, "(") {
            return Some(segment.starting_at(1));
        }
        index = (2..segment.tokens.len()).find(|i| segment.is_symbol(*i, ")"))?.saturating_add(1);
    } else {
        while matches!(segment.word(index), "analyze" | "analyse" | "verbose") {
            index = index.saturating_add(1);
        }
    }
    (index < segment.tokens.len()).then(|| segment.starting_at(index))
}

/// Whether names may mean something else afterwards.
fn changes_catalog(segment: &Segment<'_>, is_dml: bool, catalog: &Catalog) -> bool {
    if segment.tokens.iter().any(|token| token.name() == Some("set_config")) {
        return !identity::sets_own_alone(segment);
    }
    if is_dml {
        // SELECT … INTO makes a table; an UPDATE of pg_settings is a SET.
        let has = |name| segment.tokens.iter().any(|token| token.name() == Some(name));
        return match kind::of(segment) {
            StatementKind::Select => selects_into(segment),
            StatementKind::Other => selects_into(segment) || has("pg_settings"),
            _ => has("update") && has("pg_settings"),
        };
    }
    match segment.word(0) {
        "begin" | "start" | "commit" | "end" | "savepoint" | "release" => false,
        "prepare" | "declare" | "close" | "deallocate" | "listen" | "unlisten" | "notify" | "show"
        | "copy" | "truncate" | "lock" | "analyze" | "analyse" | "vacuum" | "comment" | "grant"
        | "revoke" | "checkpoint" | "cluster" | "reindex" | "explain" => false,
        "set" => setting::changes_names(segment),
        "create" | "drop" => !ddl::is_apart(segment, catalog),
        // Also FETCH and MOVE (of what cursor, the session knows) and CALL, which may run set_config; ROLLBACK, which takes back what changed names; RESET; DISCARD; and all that isn't known.
        _ => true,
    }
}
