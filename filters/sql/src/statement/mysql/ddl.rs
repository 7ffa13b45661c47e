//! CREATE, ALTER, DROP and RENAME of, or beside, a protected table.

use crate::{
    analysis::effects::Effects,
    catalog::{Catalog, Relation},
    lex::{Kind, Token},
    mention,
    refusal::Refusal,
    resolve::protected::Protected,
    segment::{self, Segment},
    statement::ddl::{self, no_protected_column, unsupported},
};
use crate::{
    kind::mysql::set,
    statement::mysql::{explain, index},
};

/// Tokens of a statement that is looked at word by word, forth and back; a table has at most 4096 columns.
const MAX_TOKENS: usize = 16_384;

/// Refuses what computes with protected columns in the server, or takes them from under the policy.
pub(super) fn check(
    segment: &Segment<'_>,
    relations: &[&Relation],
    catalog: &Catalog,
) -> Result<(), Refusal> {
    if segment.tokens.len() > MAX_TOKENS {
        return Err(Refusal::unparsable("the statement is too long"));
    }
    // Each name is looked for in each of them.
    segment.budget.spend(segment.tokens.len().saturating_mul(relations.len()))?;
    let object = segment.word(segment::object(segment));
    match (segment.word(0), object) {
        ("drop", _) => Ok(()),
        ("rename", "user") => Ok(()),
        ("rename", _) if relations.is_empty() => Ok(()),
        ("rename", _) => Err(another_name()),
        ("create", "table") => {
            if is_temporary(segment) && mention::may_be_planned(&head(segment), catalog) {
                return Err(unsupported("a temporary table of a protected table's name"));
            }
            if has(segment, "select") || has(segment, "with") || computes(segment) || has(segment, "union") {
                return Err(unsupported("a table computed from one with sealed columns"));
            }
            Ok(())
        }
        ("create", "index") => index::created(segment, relations),
        ("create", "trigger") => trigger(segment, relations, catalog),
        ("create", "user" | "role" | "database" | "schema" | "server" | "sequence") => Ok(()),
        ("alter", "table") => alter_table(segment, relations),
        ("alter", "user" | "role" | "database" | "schema" | "server" | "sequence") => {
            no_protected_column(segment, relations, "the change")
        }
        _ => Err(unsupported("this object over a table with sealed columns")),
    }
}

fn has(segment: &Segment<'_>, word: &str) -> bool {
    segment.tokens.iter().any(|token| token.is_word(word))
}

fn is_temporary(segment: &Segment<'_>) -> bool {
    (1..segment::object(segment)).any(|index| segment.is_word(index, "temporary"))
}

/// Up to the first bracket.
fn head<'t>(segment: &Segment<'t>) -> Segment<'t> {
    let bracket = (0..segment.tokens.len()).find(|index| segment.is_symbol(*index, "("));
    segment.up_to(bracket.unwrap_or(segment.tokens.len()))
}

/// `[GENERATED ALWAYS] AS (…)`
fn computes(segment: &Segment<'_>) -> bool {
    (1..segment.tokens.len())
        .any(|index| segment.is_word(index, "as") && segment.is_symbol(index.saturating_add(1), "("))
}

fn another_name() -> Refusal {
    unsupported("another name for a table with sealed columns, or for a part of it,")
}

/// `ALTER TABLE … RENAME`
pub(super) fn is_rename(segment: &Segment<'_>) -> bool {
    segment.is_word(0, "alter") && has(segment, "rename")
}

/// Refuses to give a table, with its rows, the name of one that the policy protects.
pub(super) fn refuse_planned_name(segment: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    let of_user = segment.is_word(0, "rename") && segment.is_word(1, "user");
    if !of_user && mention::may_be_planned(segment, catalog) {
        return Err(another_name());
    }
    Ok(())
}

/// Engines whose tables show, and take, the rows of tables that they name in strings, or go by the same name as.
const OF_OTHERS: &[&str] = &["federated", "federatedx", "connect", "spider", "merge", "mrg_myisam"];

/// Refuses a table that would stand before a protected one in the server, under another name or by a connection of the
/// server's own.
pub(super) fn refuse_of_others(segment: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    let makes =
        matches!(segment.word(0), "create" | "alter") && segment.is_word(segment::object(segment), "table");
    let is_engine = |token: &Token| match &token.kind {
        Kind::Word { value, .. } => OF_OTHERS.contains(&value.as_str()),
        Kind::Text { value, .. } => OF_OTHERS.iter().any(|engine| value.eq_ignore_ascii_case(engine)),
        _ => false,
    };
    // What it stands before is often said later, or by a string.
    let says = || has(segment, "connection") || has(segment, "srcdef") || has(segment, "tabname");
    if makes
        && mention::may_contain(segment.text, catalog)
        && (says() || segment.tokens.iter().any(is_engine))
    {
        return Err(another_name());
    }
    Ok(())
}

/// The query of `CREATE TABLE … [AS] query`, `CREATE VIEW … AS query`, `ALTER VIEW … AS query`.
pub(super) fn created_query<'t>(segment: &Segment<'t>) -> Option<Segment<'t>> {
    let is_view = is_view(segment);
    let is_table = segment.is_word(0, "create") && segment.is_word(segment::object(segment), "table");
    if !(is_view || is_table) {
        return None;
    }
    let mut depth = 0_usize;
    let start = (1..segment.tokens.len()).find(|index| {
        let next = index.saturating_add(1);
        if segment.is_symbol(*index, ")") {
            depth = depth.saturating_sub(1);
        }
        let opens = segment.is_symbol(*index, "(");
        let begins = match segment.word(*index) {
            "select" | "with" => true,
            // `CREATE TABLE name TABLE other`
            "values" | "table" => *index > segment::object(segment),
            _ => opens && (matches!(segment.word(next), "select" | "with") || segment.is_symbol(next, "(")),
        };
        let found = depth == 0 && begins;
        depth = depth.saturating_add(usize::from(opens));
        found
    })?;
    let query = segment.starting_at(start);
    // WITH [LOCAL | CASCADED] CHECK OPTION
    let tail = query.tokens.len().saturating_sub(4);
    let end = (tail..query.tokens.len()).find(|index| {
        query.is_word(*index, "with")
            && matches!(query.word(index.saturating_add(1)), "check" | "local" | "cascaded")
    });
    Some(match end.filter(|_| is_view) {
        Some(end) => query.up_to(end),
        None => query,
    })
}

fn is_view(segment: &Segment<'_>) -> bool {
    matches!(segment.word(0), "create" | "alter") && segment.is_word(segment::object(segment), "view")
}

/// A table or view made of a query. A table's rows are copies of what is sealed; a view's columns keep their fields.
pub(super) fn create_as(
    segment: &Segment<'_>,
    query: &Segment<'_>,
    catalog: &Catalog,
) -> Result<Effects, Refusal> {
    let mut effects = ddl::create_as(segment, query, catalog)?;
    let is_copy = is_temporary(segment) && effects.touched;
    if !is_view(segment) && (is_copy || computes(&segment.up_to_query(query))) {
        return Err(unsupported("a table computed from one with sealed columns"));
    }
    if is_view(segment) {
        effects.fields.copies.clear();
    }
    Ok(effects)
}

/// Whether it makes a table with its rows, or a view, by the name of a protected table; or hides such a table.
pub(crate) fn makes_one_of(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    if let Some(inner) = explain::explained(segment).or_else(|| set::for_statement(segment)) {
        return makes_one_of(&inner, catalog);
    }
    if !segment.is_word(0, "create") && !is_view(segment) {
        return false;
    }
    match created_query(segment) {
        Some(query) => mention::may_be_planned(&segment.up_to_query(&query), catalog),
        None => {
            is_temporary(segment) && !has(segment, "like") && mention::may_be_planned(&head(segment), catalog)
        }
    }
}

/// Whether it surely neither reads nor writes rows, nor gives a table another name, nor hides one: DROP, CREATE INDEX, and CREATE
/// TABLE with columns alone.
pub(crate) fn only_defines(segment: &Segment<'_>) -> bool {
    match (segment.word(0), segment.word(segment::object(segment))) {
        ("drop", _) | ("create", "index") => true,
        ("create", "table") => {
            created_query(segment).is_none() && !has(segment, "like") && !is_temporary(segment)
        }
        _ => false,
    }
}

/// A trigger's body runs in the server for every row: on a protected table it must know nothing of the table.
fn trigger(segment: &Segment<'_>, relations: &[&Relation], catalog: &Catalog) -> Result<(), Refusal> {
    no_protected_column(segment, relations, "the trigger")?;
    // `… ON table FOR EACH ROW body`
    let body = (0..segment.tokens.len()).find(|index| segment.is_word(*index, "each"));
    let body = segment.starting_at(body.unwrap_or_default());
    let runs = ["prepare", "execute", "select", "call"].iter().any(|word| has(&body, word));
    if runs || mention::may_name(&body, catalog) {
        return Err(unsupported("a trigger that goes on with a table with sealed columns"));
    }
    Ok(())
}

/// `ALTER TABLE`: what changes a protected column otherwise than by an index, a new neighbour, or dropping it.
fn alter_table(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    if relations.is_empty() {
        return Ok(());
    }
    if has(segment, "rename") {
        return Err(another_name());
    }
    if has(segment, "convert") {
        return Err(unsupported("another character set of sealed columns"));
    }
    // A table of the engine MERGE takes rows for another.
    if has(segment, "exchange") || has(segment, "import") || has(segment, "union") {
        return Err(unsupported(
            "rows that come into a table with sealed columns by ALTER TABLE, or under another name,",
        ));
    }
    let places = index::places(segment);
    for (at, protected) in ddl::named(segment, relations) {
        let word = |back: usize| at.checked_sub(back).map(|at| segment.word(at)).unwrap_or_default();
        let verb = if word(1) == "exists" { word(3) } else { word(1) };
        let dropped =
            verb == "drop" || (verb == "column" && word(if word(1) == "exists" { 4 } else { 2 }) == "drop");
        let neighbour = word(1) == "after" && at.checked_add(1).is_some_and(|next| ends_item(segment, next));
        if !(dropped || neighbour || index::added(segment, (at, places.get(at)), protected)?) {
            return Err(change(protected));
        }
    }
    Ok(())
}

/// Whether an item of the list of changes ends before a token.
fn ends_item(segment: &Segment<'_>, index: usize) -> bool {
    index >= segment.tokens.len() || segment.is_symbol(index, ",")
}

fn change(protected: Protected<'_>) -> Refusal {
    Refusal::on(
        protected.field,
        "this change of a sealed column can't be made through the sidecar",
        "connect to the server directly, as the table's owner, if it is meant",
    )
}
