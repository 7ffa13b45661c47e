//! Statements other than SELECT, INSERT, UPDATE and DELETE, by their words: a list of those that may name a
//! protected table, as none of them carries a value to or from it.

use crate::{catalog::Catalog, ddl, lexer::Token, mention, refusal::Refusal, segment::Segment};

/// Whether the statement touches a relation of the catalog; refused where it isn't surely harmless.
pub(crate) fn analyze(segment: &Segment<'_>, catalog: &Catalog) -> Result<bool, Refusal> {
    let (first, second) = (segment.word(0), segment.word(1));
    if brings_code(segment) && mention::may_contain(segment.text, catalog) {
        return Err(Refusal::unsupported(
            "code that names a table with sealed columns would run in the server",
            "send its statements from the application",
        ));
    }
    if !mention::may_name(segment, catalog) {
        return Ok(false);
    }
    let relations = mention::named(segment, catalog);
    match (first, second) {
        // Names of cursors, channels, savepoints, settings and the like, not of tables.
        (
            "fetch" | "move" | "close" | "listen" | "unlisten" | "notify" | "savepoint" | "release"
            | "rollback" | "deallocate" | "show" | "set" | "reset" | "begin" | "start" | "commit" | "end"
            | "abort" | "discard",
            _,
        ) => Ok(false),
        ("prepare", "transaction") => Ok(false),
        (
            "truncate" | "lock" | "vacuum" | "analyze" | "analyse" | "reindex" | "cluster" | "grant"
            | "revoke",
            _,
        )
        | ("comment", "on") => Ok(!relations.is_empty()),
        ("create" | "alter" | "drop", _) => {
            ddl::check(segment, &relations)?;
            Ok(!relations.is_empty())
        }
        ("copy", _) => Err(Refusal::unsupported(
            "COPY of a table with sealed columns isn't supported",
            "use INSERT and SELECT",
        )),
        ("prepare" | "declare" | "execute", _) => Err(Refusal::unsupported(
            "PREPARE, EXECUTE and DECLARE CURSOR can't be used with a table with sealed columns",
            "use the extended query protocol: the driver's prepared statements and cursors",
        )),
        _ => Err(Refusal::unsupported(
            "this kind of statement can't be used with a table with sealed columns",
            "use SELECT, INSERT, UPDATE and DELETE",
        )),
    }
}

/// Statements whose strings are code.
fn brings_code(segment: &Segment<'_>) -> bool {
    let object = (1..segment.tokens.len().min(6)).map(|index| segment.word(index));
    match segment.word(0) {
        "do" => true,
        "create" | "alter" => object.into_iter().any(|word| matches!(word, "function" | "procedure")),
        _ => false,
    }
}

/// Functions that run a query given as a string.
const QUERY_RUNNERS: &[&str] = &[
    "query_to_xml",
    "query_to_xmlschema",
    "query_to_xml_and_xmlschema",
    "table_to_xml",
    "table_to_xmlschema",
    "table_to_xml_and_xmlschema",
    "dblink",
    "dblink_exec",
    "dblink_open",
    "dblink_send_query",
    "crosstab",
    "connectby",
    "ts_stat",
    "ts_rewrite",
    "xpath_table",
];

/// Refuses a query over a protected table that is hidden in a string.
pub(crate) fn refuse_code_in_strings(segment: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    let runs = segment.tokens.iter().filter_map(Token::name).any(|name| QUERY_RUNNERS.contains(&name));
    if runs && mention::in_strings(segment, catalog) {
        return Err(Refusal::unsupported(
            "a query that names a table with sealed columns is given to a function as a string",
            "send it as a statement of its own",
        ));
    }
    Ok(())
}
