//! The kinds of MySQL's and MariaDB's statements, by their words alone.

pub(crate) mod set;

use crate::{
    analysis::StatementKind,
    kind::{is_dml, with_kind},
    segment::{self, Segment},
};

/// The kind of a statement of MySQL's or MariaDB's.
pub(crate) fn of(segment: &Segment<'_>) -> StatementKind {
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

/// `DEALLOCATE PREPARE name`, `DROP PREPARE name`
pub(crate) fn is_deallocate(segment: &Segment<'_>) -> bool {
    matches!((segment.word(0), segment.word(1)), ("deallocate" | "drop", "prepare"))
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
pub(crate) fn changes_catalog(segment: &Segment<'_>, is_dml: bool) -> bool {
    if segment.is_word(0, "set") {
        return set::changes_names(segment);
    }
    !(is_dml || is_transaction(segment) || KEEP_NAMES.contains(&segment.word(0)) || is_deallocate(segment))
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
