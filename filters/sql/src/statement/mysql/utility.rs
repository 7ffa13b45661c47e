//! Statements other than those that read and write rows, by their words: a list of those that may name a protected table,
//! as none of them carries a value to or from it.

use crate::{
    analysis::effects::Effects,
    catalog::Catalog,
    kind::mysql::{is_transaction, set},
    lex::Kind,
    mention,
    refusal::Refusal,
    segment::{self, Segment},
    statement::mysql::{ddl, load},
};

/// What the statement does with relations of the catalog; refused where it isn't surely harmless.
pub(super) fn analyze(segment: &Segment<'_>, catalog: &Catalog) -> Result<Effects, Refusal> {
    let plain = |touched| Effects { touched, ..Effects::default() };
    if brings_code(segment) && catalog.protects() && runs_names(segment, catalog) {
        return Err(Refusal::unsupported(
            "code that names a table with sealed columns, or prepares statements, would run in the server",
            "send its statements from the application, or create it by a connection to the server itself",
        ));
    }
    if segment.is_word(0, "binlog") && catalog.protects() {
        return Err(unsupported());
    }
    ddl::refuse_of_others(segment, catalog)?;
    if segment.is_word(0, "rename") || ddl::is_rename(segment) {
        ddl::refuse_planned_name(segment, catalog)?;
    }
    if !mention::may_name(segment, catalog) {
        return Ok(plain(false));
    }
    mention::refuse_resembling(segment, catalog)?;
    let relations = mention::named(segment, catalog);
    match (segment.word(0), segment.word(1)) {
        _ if is_transaction(segment) => Ok(plain(false)),
        // Names of variables, users, databases and the like, not of tables; what reads a table is a sub-select.
        ("set", _) if set::is_plain(segment) => Ok(plain(false)),
        ("set" | "show" | "call" | "do", _) => match reads_rows(segment) {
            false => Ok(plain(false)),
            true => Err(Refusal::unsupported(
                "a sub-select on a table with sealed columns stands in a statement that isn't a SELECT",
                "select the values into the application first",
            )),
        },
        ("use" | "kill" | "help" | "unlock", _) => Ok(plain(false)),
        // `DESCRIBE table [column]`
        ("describe" | "desc" | "explain", _) if segment.tokens.len() <= 5 => Ok(plain(false)),
        ("truncate" | "lock" | "analyze" | "check" | "checksum" | "optimize" | "repair" | "flush", _)
            if !reads_rows(segment) =>
        {
            Ok(plain(!relations.is_empty()))
        }
        ("grant" | "revoke", _) => Ok(plain(!relations.is_empty())),
        ("load", "data" | "xml") => load::analyze(segment, catalog),
        ("handler", _) => Err(Refusal::unsupported(
            "HANDLER reads a table with sealed columns without a query that could be understood",
            "use SELECT",
        )),
        ("create" | "alter" | "drop" | "rename", _) => {
            if let Some(query) = ddl::created_query(segment) {
                return ddl::create_as(segment, &query, catalog);
            }
            ddl::check(segment, &relations, catalog)?;
            Ok(plain(!relations.is_empty()))
        }
        _ => Err(unsupported()),
    }
}

fn unsupported() -> Refusal {
    Refusal::unsupported(
        "this kind of statement can't be used with a table with sealed columns",
        "use SELECT, INSERT, UPDATE and DELETE",
    )
}

/// Whether a query may stand in it.
fn reads_rows(segment: &Segment<'_>) -> bool {
    let words = ["select", "with", "values", "table"];
    (1..segment.tokens.len()).any(|index| {
        let word = segment.word(index);
        // `SHOW TABLE STATUS`, `LOCK TABLE`, `FLUSH TABLE`: only behind a bracket it is a query.
        words.contains(&word) && (word == "select" || segment.is_symbol(index.saturating_sub(1), "("))
    })
}

/// Statements that hold statements.
fn brings_code(segment: &Segment<'_>) -> bool {
    let calls = || segment.tokens.iter().any(|token| token.name() == Some("execute_prepared_stmt"));
    // A trigger is looked at by its own rule.
    (segment::is_compound(segment) && segment.word(segment::object(segment)) != "trigger")
        || (segment.is_word(0, "call") && calls())
}

/// Whether code may reach a relation: by its name, in whatever letters, or in a text that it prepares.
fn runs_names(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let prepares = || segment.tokens.iter().any(|token| token.is_word("prepare") || token.is_word("execute"));
    prepares()
        || mention::names_planned(segment, catalog)
        || mention::may_contain(segment.text, catalog)
        || mention::may_name(segment, catalog)
        || calls_with_names(segment, catalog)
}

/// Whether a string of a CALL that executes it names a relation, perhaps in escapes.
fn calls_with_names(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    segment.tokens.iter().any(|token| match &token.kind {
        Kind::Text { value, .. } => mention::may_contain(value, catalog),
        // What it holds isn't seen.
        Kind::Variable { .. } | Kind::Parameter(_) => segment.is_word(0, "call"),
        _ => false,
    })
}
