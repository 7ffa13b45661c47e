//! What the server answers a statement with, rows aside: how many results, and the request for a file of the client's.

use crate::kind::mysql::set;
use crate::{
    analysis::{ClientFile, Results, StatementKind},
    lex::{Kind, Style},
    segment::{self, Segment},
};

/// The results of a statement of this kind.
pub(crate) fn results(segment: &Segment<'_>, kind: StatementKind) -> Results {
    if let Some(inner) = set::for_statement(segment) {
        return results(&inner, kind);
    }
    if set::is_too_deep(segment) {
        return Results::Unknown;
    }
    match segment.word(0) {
        "call" => Results::UntilOk,
        "create" | "alter" => Results::One,
        // What it executes may be a CALL.
        "execute" if kind == StatementKind::Other => Results::Unknown,
        _ if segment::is_compound(segment) => Results::UntilOk,
        _ => Results::One,
    }
}

/// The file that `LOAD {DATA | XML} … LOCAL INFILE` names.
pub(crate) fn client_file(segment: &Segment<'_>) -> Option<ClientFile> {
    if !segment.dialect.is_mysql() {
        return None;
    }
    if let Some(inner) = set::for_statement(segment) {
        return client_file(&inner);
    }
    if set::is_too_deep(segment) {
        return Some(ClientFile::Any);
    }
    if !(segment.is_word(0, "load") && matches!(segment.word(1), "data" | "xml")) {
        return None;
    }
    let kind = |index: usize| segment.tokens.get(index).map(|token| &token.kind);
    let file = (2..segment.tokens.len()).find(|index| matches!(kind(*index), Some(Kind::Text { .. })))?;
    let is_local = (2..file).any(|index| segment.is_word(index, "local"));
    is_local.then(|| match kind(file) {
        Some(Kind::Text { value, style: Style::Plain }) => ClientFile::Named(value.to_string()),
        _ => ClientFile::Any,
    })
}
