//! Statements of MySQL and MariaDB, by their first words: which rules each goes by.

mod ddl;
mod explain;
mod index;
mod into;
mod load;
mod prepared;
mod results;
pub(crate) mod set;
mod unseen;
mod utility;

pub(crate) use ddl::{makes_one_of, only_defines};
pub(crate) use results::{client_file, results};
pub(crate) use unseen::names_unseen;

use crate::{
    analysis::{StatementKind, effects::Effects},
    catalog::Catalog,
    identity, mention,
    refusal::Refusal,
    segment::{self, Segment},
    statement::{
        Analyzed, dml, is_dml,
        session::{self, Names},
        with_kind,
    },
};

/// Analyzes one statement.
pub(crate) fn analyze(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    if let Some(inner) = explain::explained(segment) {
        return Ok(analyze(&inner, catalog, names)?.explained());
    }
    if set::is_too_deep(segment) && !(catalog.relations.is_empty() && catalog.planned.is_empty()) {
        return Err(Refusal::unparsable("SET STATEMENT stands in SET STATEMENT too many times"));
    }
    if let Some(inner) = set::for_statement(segment) {
        set::refuse_changed_reading(segment, &inner, catalog)?;
        return analyze(&inner, catalog, names);
    }
    match (segment.word(0), segment.word(1)) {
        ("prepare", _) => return prepared::prepare(segment, catalog, names),
        ("execute", "immediate") => return prepared::execute_immediate(segment, catalog),
        ("execute", _) => return session::execute(segment, catalog, names),
        _ => {}
    }
    unseen::refuse_stored(segment, catalog)?;
    let is_dml = is_dml(segment);
    let effects = if is_dml {
        match (mention::may_name(segment, catalog), into::clause(segment)) {
            (false, _) => Effects::default(),
            (true, None) => dml::analyze(segment, catalog)?,
            (true, Some(clause)) => into::analyze(segment, clause, catalog)?,
        }
    } else if prepared::is_deallocate(segment) {
        session::deallocate(segment, names)?
    } else {
        utility::analyze(segment, catalog)?
    };
    Ok(Analyzed { kind: kind(segment), changes_catalog: changes_catalog(segment, is_dml), effects, is_dml })
}

fn kind(segment: &Segment<'_>) -> StatementKind {
    match (segment.word(0), segment.word(1)) {
        ("select" | "values" | "table", _) => StatementKind::Select,
        ("insert" | "replace", _) => StatementKind::Insert,
        ("update", _) => StatementKind::Update,
        ("delete", _) => StatementKind::Delete,
        ("with", _) => with_kind(segment),
        _ if segment.is_symbol(0, "(") => StatementKind::Select,
        _ if is_transaction(segment) => StatementKind::Transaction,
        ("set", _) if set::is_plain(segment) => StatementKind::Set,
        _ => StatementKind::Other,
    }
}

/// Transaction control. (`START REPLICA` is none, nor MariaDB's `BEGIN NOT ATOMIC`.)
pub(crate) fn is_transaction(segment: &Segment<'_>) -> bool {
    match segment.word(0) {
        "begin" => !segment::is_compound(segment),
        "start" => segment.is_word(1, "transaction"),
        "commit" | "rollback" | "savepoint" | "release" | "xa" => true,
        _ => false,
    }
}

/// Whether a transaction begins with it.
pub(crate) fn begins_transaction(segment: &Segment<'_>) -> bool {
    is_transaction(segment)
        && match segment.word(0) {
            "xa" => matches!(segment.word(1), "start" | "begin"),
            first => matches!(first, "begin" | "start"),
        }
}

/// Statements after which every name means what it meant before. Data definition ends a transaction and isn't taken back
/// by one.
const KEEP_NAMES: &[&str] = &[
    "show",
    "describe",
    "desc",
    "explain",
    "lock",
    "unlock",
    "analyze",
    "check",
    "checksum",
    "optimize",
    "repair",
    "truncate",
    "grant",
    "revoke",
    "kill",
    "handler",
    "deallocate",
    "help",
    "get",
    "signal",
    "resignal",
    "flush",
    "do",
    "load",
    "binlog",
    "purge",
    "shutdown",
];

/// Whether names may mean something else afterwards, or texts be read otherwise.
fn changes_catalog(segment: &Segment<'_>, is_dml: bool) -> bool {
    if segment.is_word(0, "set") {
        return set::changes_names(segment);
    }
    !(is_dml
        || is_transaction(segment)
        || KEEP_NAMES.contains(&segment.word(0))
        || prepared::is_deallocate(segment))
}

/// Whether the texts behind the statement may be read otherwise than this one: for its quotes, escapes or letters.
pub(crate) fn may_change_reading(segment: &Segment<'_>) -> bool {
    match segment.word(0) {
        "set" => {
            set::for_statement(segment).is_none_or(|inner| may_change_reading(&inner))
                && set::changes_reading(segment)
        }
        "create" | "alter" => segment::is_compound(segment),
        "use" | "drop" | "rename" | "prepare" => false,
        _ => changes_catalog(segment, is_dml(segment)),
    }
}

/// Whether the session may be another principal's after the statement: its user, its role, or what its variables say.
pub(crate) fn changes_identity(segment: &Segment<'_>) -> bool {
    match segment.word(0) {
        "set" => set::changes_identity(segment),
        _ => names_variable(segment) && !matches!(segment.word(0), "show" | "explain" | "describe" | "desc"),
    }
}

/// Whether a variable of ours stands anywhere in it.
fn names_variable(segment: &Segment<'_>) -> bool {
    segment.tokens.iter().any(|token| token.user_variable().is_some_and(identity::is_ours))
}
