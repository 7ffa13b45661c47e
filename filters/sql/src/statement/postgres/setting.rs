//! SET, and the settings that change what a text means.

use crate::{refusal::Refusal, segment::Segment};

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
