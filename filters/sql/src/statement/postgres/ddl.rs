//! CREATE, ALTER and DROP of, or beside, a protected table.

use crate::{
    catalog::{Catalog, Relation},
    lex::{Kind, Token},
    mention,
    refusal::Refusal,
    segment::Segment,
    statement::ddl::{is_view, named, no_protected_column, unsupported},
    walk::search::predicate::{ARMORED_INDEX_PREFIX, RAW_INDEX_PREFIX, require_equality},
};

/// Tokens of a statement that is looked at word by word, forth and back; a table has at most 1600 columns.
const MAX_TOKENS: usize = 16_384;

/// Whether it makes or drops relations that have nothing to do with those of the catalog, nor a name of them: what the names of
/// the catalog mean is the same afterwards. (A relation that is dropped with others is one of them: a view over a protected
/// table, or a child of it.)
pub(super) fn is_apart(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let is_object = |word: &str| matches!(word, "table" | "index" | "sequence" | "view");
    let is_of_relation = match segment.word(0) {
        "create" => is_object(created_object(segment)),
        "drop" => is_object(segment.word(1)) || segment.is_word(1, "materialized"),
        _ => false,
    };
    is_of_relation && !mention::may_name(segment, catalog) && !mention::names_planned(segment, catalog)
}

/// The object of `CREATE [OR REPLACE] [UNIQUE | TEMP | UNLOGGED | MATERIALIZED | RECURSIVE …] object`
fn created_object<'s>(segment: &'s Segment<'_>) -> &'s str {
    let is_kind = |word: &&str| {
        matches!(
            *word,
            "or" | "replace"
                | "unique"
                | "temp"
                | "temporary"
                | "local"
                | "global"
                | "unlogged"
                | "materialized"
                | "recursive"
        )
    };
    let mut words = (1..segment.tokens.len()).map(|index| segment.word(index));
    words.find(|word| !is_kind(word)).unwrap_or_default()
}

/// Refuses what computes with protected columns in the server, or takes them from under the policy.
pub(super) fn check(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    if segment.tokens.len() > MAX_TOKENS {
        return Err(Refusal::unparsable("the statement is too long"));
    }
    // Each name is looked for in each of them.
    segment.budget.spend(segment.tokens.len().saturating_mul(relations.len()))?;
    let words: Vec<&str> = (0..segment.tokens.len()).map(|index| segment.word(index)).collect();
    let has = |word: &str| words.contains(&word);
    let object = if segment.is_word(0, "create") { created_object(segment) } else { segment.word(1) };
    match (segment.word(0), object) {
        ("drop", _) => Ok(()),
        ("create", "table") => {
            if is_create_as(segment) || has("stored") || has("virtual") || has("execute") {
                return Err(unsupported("a table computed from one with sealed columns"));
            }
            let has_text = segment.tokens.iter().any(|token| matches!(token.kind, Kind::Text { .. }));
            if has("inherits") || has("of") {
                if has("values") && has_text {
                    return Err(unsupported("a partition whose bounds hold strings"));
                }
                return no_protected_column(segment, relations, "the table");
            }
            Ok(())
        }
        ("create", "index") => index(segment, relations),
        ("alter", "table") => alter_table(segment, relations, &words),
        ("create", "trigger" | "policy") => no_protected_column(segment, relations, "the trigger or policy"),
        ("create", "sequence" | "role" | "user" | "group" | "database" | "extension" | "type" | "domain") => {
            Ok(())
        }
        ("create", "publication") => no_protected_column(segment, relations, "the publication"),
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

/// Whether it changes a table or view and gives it no name that the policy has. Where the statement names nothing that is
/// protected, that is another than the protected one, though its name may be the same: a temporary one, or one of another schema.
pub(super) fn alters_another(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let is = |index: usize, first: &str, second: &str| {
        segment.is_word(index, first) && segment.is_word(index.saturating_add(1), second)
    };
    let takes_planned_name = |index: usize| {
        let name = segment.tokens.get(index.saturating_add(2)).and_then(Token::name);
        is(index, "rename", "to") && name.is_none_or(|name| catalog.plans(name))
    };
    altered(segment).is_some()
        && !(0..segment.tokens.len()).any(|index| is(index, "set", "schema") || takes_planned_name(index))
}

/// Whether it is `ALTER TABLE … schema.name RENAME TO name`, or the like of a view, in a schema in which the policy names no table:
/// the new name is of the same schema.
pub(super) fn renames_elsewhere(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let Some(schema) = altered(segment) else { return false };
    let rename = schema.saturating_add(3);
    mention::is_in_another_schema(segment, schema, catalog)
        && segment.is_word(rename, "rename")
        && segment.is_word(rename.saturating_add(1), "to")
        && segment.tokens.len() == rename.saturating_add(3)
}

/// Whether it is `ALTER TABLE … name SET SCHEMA schema`, or the like of a view, of one that is not protected, to a schema in which
/// the policy names no table.
pub(super) fn moves_elsewhere(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let (Some(name), Some(set)) = (altered(segment), segment.tokens.len().checked_sub(3)) else {
        return false;
    };
    let schema = segment.tokens.last().and_then(Token::name);
    let is_name = set > name
        && segment.part(name..set).tokens.len() % 2 == 1
        && (name..set).skip(1).step_by(2).all(|dot| segment.is_symbol(dot, "."));
    is_name
        && segment.is_word(set, "set")
        && segment.is_word(set.saturating_add(1), "schema")
        && schema.is_some_and(|schema| catalog.is_unplanned_schema(schema))
        && !mention::may_show(&segment.part(name..set), catalog)
}

/// Where the name begins in `ALTER TABLE [IF EXISTS] [ONLY] name`, or the like of a view.
fn altered(segment: &Segment<'_>) -> Option<usize> {
    let object: usize = if matches!(segment.word(1), "materialized" | "foreign") { 2 } else { 1 };
    if !segment.is_word(0, "alter") || !matches!(segment.word(object), "table" | "view") {
        return None;
    }
    let is_name = |index: &usize| !matches!(segment.word(*index), "if" | "exists" | "only");
    (object.saturating_add(1)..segment.tokens.len()).find(is_name)
}

/// The query of `CREATE TABLE … AS query`, `CREATE [MATERIALIZED] VIEW … AS query`.
pub(super) fn created_query<'t>(segment: &Segment<'t>) -> Option<Segment<'t>> {
    let is_relation = matches!(
        segment.word(1),
        "table"
            | "view"
            | "temp"
            | "temporary"
            | "local"
            | "global"
            | "unlogged"
            | "materialized"
            | "recursive"
            | "or"
    );
    if !(segment.is_word(0, "create") && is_relation && (is_view(segment) || is_create_as(segment))) {
        return None;
    }
    let as_ = (0..segment.tokens.len()).find(|index| {
        let next = index.saturating_add(1);
        segment.is_word(*index, "as")
            && (matches!(segment.word(next), "select" | "with" | "values") || segment.is_symbol(next, "("))
    })?;
    let query = segment.starting_at(as_.saturating_add(1));
    // WITH [NO] DATA; WITH [LOCAL | CASCADED] CHECK OPTION
    let tail = query.tokens.len().saturating_sub(4);
    let end = (tail..query.tokens.len()).find(|index| {
        let next = index.saturating_add(1);
        query.is_word(*index, "with")
            && matches!(query.word(next), "no" | "data" | "check" | "local" | "cascaded")
    });
    Some(end.map_or_else(|| query.starting_at(0), |end| query.up_to(end)))
}

/// `CREATE TABLE x [(…)] … AS query`
pub(super) fn is_create_as(segment: &Segment<'_>) -> bool {
    (0..segment.tokens.len()).any(|index| {
        let next = index.saturating_add(1);
        segment.is_word(index, "as")
            && (matches!(segment.word(next), "select" | "with" | "values" | "table" | "execute")
                || segment.is_symbol(next, "(") && !segment.is_word(next.saturating_sub(2), "always"))
    })
}

/// Columns as they are, where equality is all that is asked of them.
fn index(segment: &Segment<'_>, relations: &[&Relation]) -> Result<(), Refusal> {
    let alone = standing_alone(segment);
    for (index, protected) in named(segment, relations) {
        if protected.field.indexed && is_index_part(segment, index) {
            continue;
        }
        require_equality(protected)?;
        if alone.get(index) != Some(&true) {
            return Err(Refusal::on(
                protected.field,
                "only the column as it is can be indexed",
                "index the column without an expression, a condition or an operator class",
            ));
        }
    }
    Ok(())
}

/// `left(column, 33)`, `substr(column, 1, 22)`: what equal values of the column have in common.
fn is_index_part(segment: &Segment<'_>, column: usize) -> bool {
    let is = |ahead: usize, source: &str| {
        let token = segment.tokens.get(column.saturating_add(ahead));
        token.is_some_and(|token| token.source(segment.text) == source)
    };
    let function = column.checked_sub(2).and_then(|at| segment.tokens.get(at)).and_then(Token::name);
    let opens = column.checked_sub(1).is_some_and(|at| segment.is_symbol(at, "("));
    let (armored, raw) = (ARMORED_INDEX_PREFIX.to_string(), RAW_INDEX_PREFIX.to_string());
    opens
        && match function {
            Some("left") => is(1, ",") && is(2, &armored) && is(3, ")"),
            Some("substr") => is(1, ",") && is(2, "1") && is(3, ",") && is(4, &raw) && is(5, ")"),
            _ => false,
        }
}

/// Which tokens are all that stands between two commas or brackets of a list of columns.
fn standing_alone(segment: &Segment<'_>) -> Vec<bool> {
    let mut depth = 0_usize;
    let mut in_where = false;
    let stands = |index: usize| {
        let opens = index
            .checked_sub(1)
            .is_some_and(|before| segment.is_symbol(before, "(") || segment.is_symbol(before, ","));
        let stands = opens && depth == 1 && !in_where && {
            let next = index.saturating_add(1);
            segment.is_symbol(next, ")") || segment.is_symbol(next, ",")
        };
        if segment.is_symbol(index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(index, ")") {
            depth = depth.saturating_sub(1);
        }
        in_where |= segment.is_word(index, "where");
        stands
    };
    (0..segment.tokens.len()).map(stands).collect()
}

fn alter_table(segment: &Segment<'_>, relations: &[&Relation], words: &[&str]) -> Result<(), Refusal> {
    let has = |word: &str| words.contains(&word);
    if has("rename") || has("schema") {
        return Err(unsupported("another name for a table with sealed columns, or for a part of it,"));
    }
    if has("stored") || has("virtual") {
        no_protected_column(segment, relations, "the computed column")?;
    }
    let has_text = segment.tokens.iter().any(|token| matches!(token.kind, Kind::Text { .. }));
    if has("attach") && has_text {
        return Err(unsupported("a partition whose bounds hold strings"));
    }
    let alone = standing_alone(segment);
    let (drops, has_unique) = (has("drop"), has("unique") || has("primary"));
    let only_unique = has_unique && !has("check") && !has("references");
    for (index, protected) in named(segment, relations) {
        let word = |back: usize| index.checked_sub(back).map(|at| segment.word(at)).unwrap_or_default();
        let after = |ahead: usize| segment.word(index.saturating_add(ahead));
        let before = if word(1) == "column" { word(2) } else { word(1) };
        let dropped = before == "drop" || (word(1) == "exists" && drops);
        let null =
            before == "alter" && matches!((after(1), after(2), after(3)), ("set" | "drop", "not", "null"));
        let unique = only_unique && protected.field.equality && alone.get(index) == Some(&true);
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
