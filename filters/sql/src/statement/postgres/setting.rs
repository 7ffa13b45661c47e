//! SET, and the settings that change what a text means.

use crate::{lex::Kind, refusal::Refusal, segment::Segment};

/// With this off, a backslash in an ordinary string is an escape, and strings end elsewhere than they seem to.
const STRINGS: &str = "standard_conforming_strings";

/// Whether a SET changes which relation a name means.
pub(crate) fn changes_names(segment: &Segment<'_>) -> bool {
    let first = usize::from(matches!(segment.word(1), "session" | "local")).saturating_add(1);
    // Settings' names are told apart without regard to case, also in quotes.
    let name =
        segment.tokens.get(first).and_then(|token| token.name()).unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        // `SET SESSION AUTHORIZATION x`, `SET LOCAL SESSION AUTHORIZATION x`
        "authorization" | "session" => true,
        "search_path" | "schema" | "role" | "session_authorization" => true,
        // Not names, but how the next text is read: it waits for the answer, as after a change of names.
        "names" | "client_encoding" | STRINGS => true,
        // `SET SESSION CHARACTERISTICS`, `SET TIME ZONE`, `SET x = …`, `SET x.y = …`
        _ => name.is_empty(),
    }
}

/// Refuses a change of how strings are read.
pub(crate) fn refuse_other_strings(segment: &Segment<'_>) -> Result<(), Refusal> {
    let names_it = segment.tokens.iter().any(|token| match &token.kind {
        Kind::Word { value, .. } => value.eq_ignore_ascii_case(STRINGS),
        Kind::Text { value, .. } => value.to_ascii_lowercase().contains(STRINGS),
        _ => false,
    });
    if !names_it || !changes_settings(segment) || turns_on(segment) {
        return Ok(());
    }
    Err(Refusal::unsupported(
        "standard_conforming_strings must stay on: literals can't be told from the text with certainty otherwise",
        "leave the setting as it is",
    ))
}

/// Refuses a cursor or a prepared statement that changes settings when it is run: a later FETCH or EXECUTE would
/// not tell.
pub(crate) fn refuse_hidden_settings(segment: &Segment<'_>) -> Result<(), Refusal> {
    let runs_later = matches!(segment.word(0), "declare" | "prepare");
    if runs_later && segment.tokens.iter().any(|token| token.name() == Some("set_config")) {
        return Err(Refusal::unsupported(
            "a cursor or prepared statement that calls set_config changes what names mean when it is run",
            "use SET, or SELECT set_config(…) as a statement of its own",
        ));
    }
    Ok(())
}

fn changes_settings(segment: &Segment<'_>) -> bool {
    let has = |name| segment.tokens.iter().any(|token| token.name() == Some(name));
    match segment.word(0) {
        "show" => false,
        "select" | "with" | "values" | "insert" | "delete" => has("set_config") || has("pg_settings"),
        "update" => has("set_config") || has("pg_settings"),
        // RESET goes back to the server's own setting, which the engine sees reported.
        "reset" => false,
        _ => true,
    }
}

/// `SET [SESSION | LOCAL] standard_conforming_strings = on`
fn turns_on(segment: &Segment<'_>) -> bool {
    let first = usize::from(matches!(segment.word(1), "session" | "local")).saturating_add(1);
    let (equals, value) = (first.saturating_add(1), first.saturating_add(2));
    segment.is_word(0, "set")
        && segment.is_word(first, STRINGS)
        && (segment.is_symbol(equals, "=") || segment.is_word(equals, "to"))
        && segment.tokens.len() == value.saturating_add(1)
        && segment.tokens.get(value).is_some_and(|token| match &token.kind {
            Kind::Word { value, .. } => matches!(value.as_str(), "on" | "true" | "yes"),
            Kind::Text { value, .. } => {
                matches!(value.to_ascii_lowercase().as_str(), "on" | "true" | "yes" | "1")
            }
            Kind::Number => token.source(segment.text) == "1",
            Kind::Parameter(_) | Kind::Variable { .. } | Kind::Symbol => false,
        })
}
