//! Statements other than SELECT, INSERT, UPDATE and DELETE, by their words: a list of those that may name a
//! protected table, as none of them carries a value to or from it.

use super::ddl;
use crate::{
    analysis::effects::Effects, catalog::Catalog, lex::Token, mention, refusal::Refusal, segment::Segment,
    statement,
};

/// What the statement does with relations of the catalog; refused where it isn't surely harmless.
pub(crate) fn analyze(segment: &Segment<'_>, catalog: &Catalog) -> Result<Effects, Refusal> {
    let plain = |touched| Effects { touched, ..Effects::default() };
    let (first, second) = (segment.word(0), segment.word(1));
    let names_one = || mention::may_contain(segment.text, catalog) || mention::in_strings(segment, catalog);
    if brings_code(segment) && names_one() {
        return Err(Refusal::unsupported(
            "code that names a table with sealed columns would run in the server",
            "send its statements from the application",
        ));
    }
    if !mention::may_name(segment, catalog) {
        return Ok(plain(false));
    }
    let relations = mention::named(segment, catalog);
    match (first, second) {
        // Names of cursors, channels, savepoints, settings and the like, not of tables.
        (
            "fetch" | "move" | "close" | "listen" | "unlisten" | "notify" | "savepoint" | "release"
            | "rollback" | "deallocate" | "show" | "set" | "reset" | "begin" | "start" | "commit" | "end"
            | "abort" | "discard",
            _,
        ) => Ok(plain(false)),
        ("prepare", "transaction") => Ok(plain(false)),
        (
            "truncate" | "lock" | "vacuum" | "analyze" | "analyse" | "reindex" | "cluster" | "grant"
            | "revoke",
            _,
        )
        | ("comment", "on") => Ok(plain(!relations.is_empty())),
        // One that only has a protected table's name. What a view that is refreshed reads, its definition says.
        ("refresh", "materialized") if !mention::may_show(segment, catalog) => Ok(plain(false)),
        ("create" | "alter" | "drop", _) => {
            if let Some(query) = ddl::created_query(segment) {
                return statement::ddl::create_as(segment, &query, catalog);
            }
            if relations.is_empty() && ddl::alters_another(segment, catalog)
                || ddl::renames_elsewhere(segment, catalog)
                || ddl::moves_elsewhere(segment, catalog)
            {
                return Ok(plain(false));
            }
            ddl::check(segment, &relations)?;
            Ok(plain(!relations.is_empty()))
        }
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
