//! What kind of statement it is, by its words alone.

pub(crate) mod mysql;

use crate::{analysis::StatementKind, segment::Segment};

/// The kind of a statement of PostgreSQL's.
pub(crate) fn of(segment: &Segment<'_>) -> StatementKind {
    match segment.word(0) {
        "select" | "values" | "table" => StatementKind::Select,
        "insert" => StatementKind::Insert,
        "update" => StatementKind::Update,
        "delete" => StatementKind::Delete,
        "with" => with_kind(segment),
        "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release" => {
            StatementKind::Transaction
        }
        "prepare" if segment.is_word(1, "transaction") => StatementKind::Transaction,
        "set" | "reset" => StatementKind::Set,
        _ if segment.is_symbol(0, "(") => {
            // `(WITH … SELECT …)`
            let writes = (0..segment.tokens.len())
                .any(|index| matches!(segment.word(index), "insert" | "update" | "delete" | "merge"));
            if writes { StatementKind::Other } else { StatementKind::Select }
        }
        _ => StatementKind::Other,
    }
}

/// What follows the common table expressions: the first such keyword outside of brackets. A SELECT whose common
/// table expressions write is of no kind.
pub(crate) fn with_kind(segment: &Segment<'_>) -> StatementKind {
    let mut depth = 0_usize;
    let mut writes = false;
    for index in 0..segment.tokens.len() {
        if segment.is_symbol(index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(index, ")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 {
            match segment.word(index) {
                "insert" => return StatementKind::Insert,
                "update" => return StatementKind::Update,
                "delete" => return StatementKind::Delete,
                "merge" => return StatementKind::Other,
                "select" | "values" | "table" if writes => return StatementKind::Other,
                "select" | "values" | "table" => return StatementKind::Select,
                _ => {}
            }
        } else {
            writes |= matches!(segment.word(index), "insert" | "update" | "delete" | "merge");
        }
    }
    StatementKind::Select
}

/// Whether it reads or writes rows.
pub(crate) fn is_dml(segment: &Segment<'_>) -> bool {
    match segment.word(0) {
        "select" | "values" | "table" | "insert" | "update" | "delete" | "with" => true,
        "merge" => !segment.dialect.is_mysql(),
        "replace" => segment.dialect.is_mysql(),
        _ => segment.is_symbol(0, "("),
    }
}

/// Whether it ends a transaction.
pub(crate) fn ends_transaction(segment: &Segment<'_>) -> bool {
    // In MySQL neither names nor variables go back to what they were.
    if segment.dialect.is_mysql() {
        return false;
    }
    matches!(segment.word(0), "commit" | "end" | "rollback" | "abort")
        || (segment.is_word(0, "prepare") && segment.is_word(1, "transaction"))
}
