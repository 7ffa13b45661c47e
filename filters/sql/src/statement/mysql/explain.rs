//! EXPLAIN, DESCRIBE, and MariaDB's ANALYZE of a statement.

use crate::{kind::is_dml, segment::Segment};

/// The statement behind `EXPLAIN …`; None of `DESCRIBE table`.
pub(super) fn explained<'t>(segment: &Segment<'t>) -> Option<Segment<'t>> {
    if !matches!(segment.word(0), "explain" | "describe" | "desc" | "analyze") {
        return None;
    }
    let mut at = 1_usize;
    loop {
        let next = at.saturating_add(1);
        match segment.word(at) {
            "extended" | "partitions" | "analyze" => at = next,
            "format" if segment.is_symbol(next, "=") => at = at.saturating_add(3),
            "into" => at = at.saturating_add(2),
            "for" if matches!(segment.word(next), "schema" | "database") => at = at.saturating_add(3),
            _ => break,
        }
    }
    let inner = segment.starting_at(at);
    // `ANALYZE TABLE name` keeps statistics; `DESCRIBE table` could be a table of that name.
    let is_statement = is_dml(&inner) && !(segment.is_word(0, "analyze") && inner.is_word(0, "table"));
    is_statement.then_some(inner)
}
