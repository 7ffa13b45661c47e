//! CREATE, ALTER and DROP of, or beside, a protected table.

use crate::{
    catalog::Relation, lexer::Token, predicate::require_equality, refusal::Refusal, scope::Protected,
    segment::Segment,
};

/// Tokens of a statement that is looked at word by word, forth and back; a table has at most 1600 columns.
const MAX_TOKENS: usize = 16_384;

/// Refuses what computes with protected columns in the server, or takes them from under the policy.
pub(crate) fn check(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    if segment.tokens.len() > MAX_TOKENS {
        return Err(Refusal::unparsable("the statement is too long"));
    }
    let words: Vec<&str> = (0..segment.tokens.len()).map(|index| segment.word(index)).collect();
    let has = |word: &str| words.contains(&word);
    // CREATE [OR REPLACE] [UNIQUE | TEMP | UNLOGGED | MATERIALIZED | RECURSIVE …] object
    let object = words.iter().skip(1).find(|word| {
        !matches!(
            **word,
            "or" | "replace"
                | "unique"
                | "temp"
                | "temporary"
                | "local"
                | "global"
                | "unlogged"
                | "recursive"
        )
    });
    match (words.first().copied().unwrap_or_default(), object.copied().unwrap_or_default()) {
        ("drop", _) => Ok(()),
        ("create", "table") => {
            if is_create_as(segment) || has("stored") || has("virtual") || has("execute") {
                return Err(unsupported("a table computed from one with sealed columns"));
            }
            Ok(())
        }
        ("create", "index") => index(segment, relations),
        ("alter", "table") => alter_table(segment, relations, &words),
        ("create", "trigger" | "policy") => no_protected_column(segment, relations, "the trigger or policy"),
        (
            "create",
            "sequence" | "role" | "user" | "group" | "database" | "extension" | "type" | "domain"
            | "publication",
        ) => Ok(()),
        ("create", "schema")
            if !words.iter().skip(1).any(|w| matches!(*w, "create" | "select" | "table")) =>
        {
            Ok(())
        }
        (
            "alter",
            "sequence" | "role" | "user" | "group" | "database" | "schema" | "type" | "default"
            | "publication" | "index" | "trigger" | "policy",
        ) => no_protected_column(segment, relations, "the change"),
        _ => Err(unsupported("this object over a table with sealed columns")),
    }
}

fn unsupported(what: &str) -> Refusal {
    Refusal::unsupported(
        format!("{what} can't be made through the sidecar"),
        "connect to the server directly, as its owner, if it is meant",
    )
}

/// `CREATE TABLE x [(…)] … AS query`
pub(crate) fn is_create_as(segment: &Segment<'_>) -> bool {
    (0..segment.tokens.len()).any(|index| {
        let next = index.saturating_add(1);
        segment.is_word(index, "as")
            && (matches!(segment.word(next), "select" | "with" | "values" | "table" | "execute")
                || segment.is_symbol(next, "(") && !segment.is_word(next.saturating_sub(2), "always"))
    })
}

/// The protected columns that the tokens name.
fn named<'c>(
    segment: &Segment<'_>,
    relations: &[&'c Relation],
) -> impl Iterator<Item = (usize, Protected<'c>)> {
    let columns: Vec<Protected<'c>> =
        relations.iter().flat_map(|relation| &relation.columns).filter_map(Protected::of).collect();
    segment
        .tokens
        .iter()
        .enumerate()
        .filter_map(move |(index, token)| {
            let name = Token::name(token)?;
            columns
                .iter()
                .find(|protected| protected.column.name == name)
                .map(|protected| (index, *protected))
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn no_protected_column(segment: &Segment<'_>, relations: &[&Relation], what: &str) -> Result<(), Refusal> {
    match named(segment, relations).next() {
        None => Ok(()),
        Some((_, protected)) => Err(Refusal::on(
            protected.field,
            format!("{what} names a sealed column"),
            "leave the column out, or connect to the server directly",
        )),
    }
}

/// Columns as they are, where equality is all that is asked of them.
fn index(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    for (index, protected) in named(segment, relations) {
        require_equality(protected)?;
        if !stands_alone(segment, index) {
            return Err(Refusal::on(
                protected.field,
                "only the column as it is can be indexed",
                "index the column without an expression, a condition or an operator class",
            ));
        }
    }
    Ok(())
}

/// Whether the token is all that stands between two commas or brackets of a list of columns.
fn stands_alone(segment: &Segment<'_>, index: usize) -> bool {
    let before = index.checked_sub(1);
    let next = index.saturating_add(1);
    let opens = before.is_some_and(|before| segment.is_symbol(before, "(") || segment.is_symbol(before, ","));
    let depth = (0..index).fold(0_usize, |depth, at| {
        if segment.is_symbol(at, "(") {
            depth.saturating_add(1)
        } else if segment.is_symbol(at, ")") {
            depth.saturating_sub(1)
        } else {
            depth
        }
    });
    let in_where = (0..index).any(|at| segment.is_word(at, "where"));
    opens && depth == 1 && !in_where && (segment.is_symbol(next, ")") || segment.is_symbol(next, ","))
}

fn alter_table(segment: &Segment<'_>, relations: &[&Relation], words: &[&str]) -> Result<(), Refusal> {
    let has = |word: &str| words.contains(&word);
    if has("rename") || has("schema") {
        return Err(unsupported("another name for a table with sealed columns, or for a part of it,"));
    }
    if has("stored") || has("virtual") {
        no_protected_column(segment, relations, "the computed column")?;
    }
    for (index, protected) in named(segment, relations) {
        let word = |back: usize| index.checked_sub(back).map(|at| segment.word(at)).unwrap_or_default();
        let after = |ahead: usize| segment.word(index.saturating_add(ahead));
        let before = if word(1) == "column" { word(2) } else { word(1) };
        let dropped = before == "drop" || (word(1) == "exists" && words.contains(&"drop"));
        let null =
            before == "alter" && matches!((after(1), after(2), after(3)), ("set" | "drop", "not", "null"));
        let unique = (has("unique") || has("primary"))
            && !has("check")
            && !has("references")
            && protected.field.equality
            && stands_alone(segment, index);
        if !(dropped || null || unique) {
            return Err(Refusal::on(
                protected.field,
                "this change of a sealed column can't be made through the sidecar",
                "connect to the server directly, as the table's owner, if it is meant",
            ));
        }
    }
    Ok(())
}
