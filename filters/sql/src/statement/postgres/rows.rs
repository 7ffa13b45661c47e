//! Rows that a client sends as statements, because its COPY failed before the server asked for them: psql does that with the
//! script of a dump.

use crate::{
    budget::Budget,
    dialect::Dialect,
    kind,
    lex::{Kind, Unread, postgres::StringDoubt},
    segment::{self, Segment},
    statement::dml,
};

/// The first words of PostgreSQL's statements that neither read nor write rows.
const COMMANDS: &[&str] = &[
    "abort",
    "alter",
    "analyse",
    "analyze",
    "begin",
    "call",
    "checkpoint",
    "close",
    "cluster",
    "comment",
    "commit",
    "copy",
    "create",
    "deallocate",
    "declare",
    "discard",
    "do",
    "drop",
    "end",
    "execute",
    "explain",
    "fetch",
    "grant",
    "import",
    "listen",
    "load",
    "lock",
    "move",
    "notify",
    "prepare",
    "reassign",
    "refresh",
    "reindex",
    "release",
    "reset",
    "revoke",
    "rollback",
    "savepoint",
    "security",
    "set",
    "show",
    "start",
    "truncate",
    "unlisten",
    "vacuum",
];

/// The data of the first `COPY … FROM STDIN` in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientData {
    /// `FORMAT text`, `FORMAT csv`
    Text,
    /// `FORMAT binary`
    Binary,
}

/// Says whether a text has a `COPY … FROM STDIN`, and in which format its data would come.
///
/// # Errors
/// [`StringDoubt`] if the text cannot be cut into statements with certainty.
pub fn client_data(text: &str) -> Result<Option<ClientData>, StringDoubt> {
    let budget = Budget::new();
    let segments = split(text, &budget).map_err(|_| StringDoubt)?;
    Ok(segments.iter().find_map(|segment| {
        let at = |index: usize| segment.is_word(index, "from");
        // The server takes either word both ways.
        let asks = (1..segment.tokens.len())
            .any(|index| at(index) && matches!(segment.word(index.saturating_add(1)), "stdin" | "stdout"));
        let is_binary = || {
            segment.tokens.iter().any(|token| match &token.kind {
                Kind::Word { value, .. } => value == "binary",
                Kind::Text { value, .. } => value.eq_ignore_ascii_case("binary"),
                _ => false,
            })
        };
        (segment.is_word(0, "copy") && asks)
            .then(|| if is_binary() { ClientData::Binary } else { ClientData::Text })
    }))
}

/// Whether a text may be rows of data in the place of statements: a query or a statement that writes rows does not parse, or
/// another one begins as none does. A row of several columns holds a tab, or goes on behind its first value with a comma.
pub fn may_be_rows(text: &str) -> bool {
    let budget = Budget::new();
    match split(text, &budget) {
        Ok(segments) => segments.iter().any(|segment| !is_statement(segment)),
        Err(_) => true,
    }
}

fn split<'t>(text: &'t str, budget: &'t Budget) -> Result<Vec<Segment<'t>>, Unread> {
    segment::split(text, Dialect::Postgres, budget)
}

fn is_statement(segment: &Segment<'_>) -> bool {
    if kind::is_dml(segment) {
        return dml::parses(segment);
    }
    let is_continued = match segment.tokens.get(1).map(|token| &token.kind) {
        None | Some(Kind::Word { .. } | Kind::Text { .. }) => true,
        Some(_) => segment.is_symbol(1, "("),
    };
    COMMANDS.contains(&segment.word(0)) && is_continued && !segment.text.contains('\t')
}

#[cfg(test)]
mod tests {
    use super::{ClientData, StringDoubt, client_data, may_be_rows};

    #[test]
    fn the_data_of_a_copy_is_told_from_its_words() {
        for (text, data) in [
            ("COPY t FROM STDIN", Some(ClientData::Text)),
            ("BEGIN; copy t (a) from stdin with (format 'binary')", Some(ClientData::Binary)),
            ("COPY BINARY t FROM STDIN", Some(ClientData::Binary)),
            ("COPY t TO STDOUT", None),
            ("COPY t FROM '/tmp/stdin'", None),
            ("SELECT 'COPY t FROM STDIN'", None),
            ("SELECT 1 -- COPY t FROM STDIN", None),
        ] {
            assert_eq!(client_data(text), Ok(data), "{text}");
        }
        assert_eq!(client_data("COPY t FROM STDIN '"), Err(StringDoubt));
    }

    #[test]
    fn rows_are_told_from_statements() {
        for row in [
            "1\tAda",
            "Ada,078-05-1120",
            "078-05-1120",
            "Show Me\t078-05-1120",
            "show,078-05-1120",
            "Select Comfort 078-05-1120 Inc",
            "it's",
            "\\.",
            "SELECT 1; 078-05-1120",
        ] {
            assert!(may_be_rows(row), "{row}");
        }
        for statement in [
            "",
            "SELECT 1",
            "\tSELECT\ta FROM t",
            "INSERT INTO t VALUES ('a\tb')",
            "ROLLBACK",
            "BEGIN; SELECT 1; COMMIT",
            "CREATE TABLE t (a int)",
            "VACUUM (ANALYZE) t",
            "SHOW ALL",
            "NOTIFY \"a\"",
        ] {
            assert!(!may_be_rows(statement), "{statement}");
        }
    }
}
