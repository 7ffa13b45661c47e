//! Which relations of the catalog a statement may name, by its tokens alone.

use std::collections::HashSet;

use crate::{
    catalog::{Catalog, Relation, RelationKind},
    dialect::Dialect,
    lex::{Kind, Style, Token},
    names,
    occurrence::{Letters, SoughtWord, occurs, occurs_anywhere},
    refusal::Refusal,
    segment::Segment,
};

/// Comparisons of names by their letters, of all names of a statement together. What needs more is taken to name
/// something protected.
const MAX_COMPARISONS: usize = 1_000_000;

/// Whether any token is an identifier with the bare name of a relation of the catalog. Without one, a
/// statement can't reach the catalog's relations but through functions, cursors and prepared statements.
pub(crate) fn may_name(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    segment.tokens.iter().filter_map(Token::name).any(|name| is_known(name, catalog))
        || resembles(segment, catalog)
}

/// Whether any token is an identifier of a table that the policy names.
pub(crate) fn names_planned(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    segment.tokens.iter().filter_map(Token::name).any(|token| catalog.plans(token))
}

/// Whether a name is, or may be, that of a table that the policy names: not one of a schema in which the policy names none.
pub(crate) fn may_be_planned(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let is_dot = |index: usize| segment.is_symbol(index, ".");
    let is_elsewhere = |index: usize| match index.checked_sub(1).filter(|before| is_dot(*before)) {
        Some(dot) => dot.checked_sub(1).is_some_and(|schema| is_in_another_schema(segment, schema, catalog)),
        None => catalog.is_in_unplanned_database() && !is_dot(index.saturating_add(1)),
    };
    let is_planned = |index: usize| {
        let name = segment.tokens.get(index).and_then(Token::name);
        name.is_some_and(|name| catalog.plans(name)) && !is_elsewhere(index)
    };
    (0..segment.tokens.len()).any(is_planned)
}

/// The name of a schema, at this token before a dot. In MySQL a word may stand there that is none: `RENAME TABLE a TO .b`,
/// `CREATE VIEW .b`.
fn schema_at<'t>(segment: &'t Segment<'_>, index: usize) -> Option<&'t str> {
    let token = segment.tokens.get(index)?;
    let is_none = |name: &str| {
        let is_keyword = || name == "view" || names::is_keyword(name, segment.dialect);
        segment.dialect.is_mysql() && token.is_word(name) && is_keyword()
    };
    token.name().filter(|name| !is_none(name))
}

/// Whether a relation's name with its schema begins with this token, and the policy names no table in that schema, nor does a
/// protected row come by that name.
pub(crate) fn is_in_another_schema(segment: &Segment<'_>, index: usize, catalog: &Catalog) -> bool {
    let is_dot = |index: usize| segment.is_symbol(index, ".");
    let name = |index: usize| segment.tokens.get(index).and_then(Token::name);
    let dot = index.saturating_add(1);
    let (Some(schema), Some(table)) = (schema_at(segment, index), name(dot.saturating_add(1))) else {
        return false;
    };
    let is_one_of_two =
        is_dot(dot) && !is_dot(dot.saturating_add(2)) && !index.checked_sub(1).is_some_and(is_dot);
    is_one_of_two
        && catalog.is_unplanned_schema(schema)
        && !catalog.named(table).any(|relation| catalog.is_schema(&relation.schema, schema))
}

/// Whether any token is a name with other letters than ASCII's, which a MySQL may take for a relation's or a protected
/// column's: which letters are the same to it differs with what it compares by.
fn resembles(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let mut comparisons = 0_usize;
    segment.dialect.is_mysql()
        && segment.tokens.iter().any(|token| {
            let Some(folded) = token.name().filter(|name| !name.is_ascii()) else { return false };
            let surely = !names::changes_letters(token.source(segment.text));
            let same_length = catalog.index().of_letters(folded.chars().count(), catalog);
            comparisons = comparisons.saturating_add(same_length.len());
            let may_be = |own: &str| names::resemble(own, folded) && !(surely && own == folded);
            comparisons > MAX_COMPARISONS || same_length.iter().any(|(_, own)| may_be(own))
        })
}

/// Refuses names that the server may take for protected ones, though they are written otherwise.
pub(crate) fn refuse_resembling(segment: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    match resembles(segment, catalog) {
        false => Ok(()),
        true => Err(Refusal::unsupported(
            "a name that isn't a protected one may be the same to the server, but for its accents or letter case",
            "write protected names in lower case, with the letters that the policy has",
        )),
    }
}

/// Whether a folded name is the bare name of a relation that may show a protected column: of any but those of which
/// nothing is known.
pub(crate) fn is_known(name: &str, catalog: &Catalog) -> bool {
    catalog.named(name).any(|relation| !is_unseen(relation))
}

/// Whether it is a view that stands upon what this session may not see.
pub(crate) fn is_unseen(relation: &Relation) -> bool {
    relation.kind == RelationKind::UnseenView
}

/// The relations that the tokens name, if what they name are relations: `schema.name`, or `name` where it is
/// visible.
pub(crate) fn named<'c>(segment: &Segment<'_>, catalog: &'c Catalog) -> Vec<&'c Relation> {
    named_among(segment, catalog, |relation| !is_unseen(relation))
}

/// Whether the tokens name a relation of the catalog, if what they name are relations, be it one of which nothing is known.
pub(crate) fn may_show(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    !named_among(segment, catalog, |_| true).is_empty()
}

/// The same of views that stand upon what this session may not see.
pub(crate) fn named_unseen<'c>(segment: &Segment<'_>, catalog: &'c Catalog) -> Vec<&'c Relation> {
    named_among(segment, catalog, is_unseen)
}

fn named_among<'c>(
    segment: &Segment<'_>,
    catalog: &'c Catalog,
    among: impl Fn(&Relation) -> bool,
) -> Vec<&'c Relation> {
    let mut found: Vec<&Relation> = Vec::new();
    // Many relations may have one name, each in a schema of its own.
    let (mut looked_up, mut places) = (HashSet::new(), HashSet::new());
    for (index, token) in segment.tokens.iter().enumerate() {
        let Some(name) = token.name() else { continue };
        let schema = index
            .checked_sub(2)
            .filter(|_| segment.is_symbol(index.saturating_sub(1), "."))
            .and_then(|before| schema_at(segment, before));
        if catalog.named(name).next().is_none() || !looked_up.insert((schema, name)) {
            continue;
        }
        for relation in catalog.named(name).filter(|relation| among(relation)) {
            if schema.map_or(relation.visible, |schema| catalog.is_schema(&relation.schema, schema))
                && places.insert(std::ptr::from_ref(relation))
            {
                found.push(relation);
            }
        }
    }
    found
}

/// Whether the text of the statement, strings and comments and all, contains a relation's bare name in any
/// case, or may contain it in escapes.
pub(crate) fn may_contain(text: &str, catalog: &Catalog) -> bool {
    if catalog.relations.is_empty() {
        return false;
    }
    let text = text.to_lowercase();
    text.contains("u&\"") || catalog.index().contained(catalog).stand_in(text.as_bytes())
}

/// Whether a text that isn't cut into tokens may reach anything protected, or change how texts are read: by a
/// relation's name, a name in escapes, a cursor, a prepared statement or a setting. Looks at its bytes alone, so
/// that a long text costs no memory.
pub(crate) fn may_reach(text: &str, catalog: &Catalog) -> bool {
    if !catalog.protects() {
        return false;
    }
    let letters = Letters::of(text.as_bytes());
    let contains = |part: &SoughtWord| letters.may_hold(part) && occurs_anywhere(text.as_bytes(), part.text);
    let has = |word: &SoughtWord| letters.may_hold(word) && has_word_of(text, &[word.text]);
    let in_escapes = match catalog.dialect {
        Dialect::Postgres => {
            const ESCAPES: [SoughtWord; 2] =
                [SoughtWord::new("u&\""), SoughtWord::new("standard_conforming_strings")];
            const STATEMENTS: [SoughtWord; 3] =
                [SoughtWord::new("execute"), SoughtWord::new("fetch"), SoughtWord::new("move")];
            ESCAPES.iter().any(contains) || STATEMENTS.iter().any(has)
        }
        // What is prepared may be written with escapes; and letters of other alphabets may be the same to the server.
        Dialect::MySql(_) => {
            const STATEMENTS: [SoughtWord; 3] =
                [SoughtWord::new("execute"), SoughtWord::new("prepare"), SoughtWord::new("handler")];
            const PROCEDURE: SoughtWord = SoughtWord::new("execute_prepared_stmt");
            STATEMENTS.iter().any(has) || contains(&PROCEDURE) || !text.is_ascii()
        }
    };
    in_escapes || holds_name(text, catalog)
}

/// Whether a text holds the name of a relation, or of a table that the policy names, in a string or a comment too.
pub(crate) fn holds_name(text: &str, catalog: &Catalog) -> bool {
    catalog.index().reached(catalog).stand_in(text.as_bytes())
        // Rare enough to pay for: names of other letters than ASCII's, in whatever case.
        || (!text.is_ascii() && may_contain(text, catalog))
}

/// Whether a text has any of these words, in a string or a comment too.
pub(crate) fn has_word_of(text: &str, words: &[&str]) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || *b >= 0x80)
    };
    let is_word = |before: &[u8], behind: &[u8]| !is_part(before.last()) && !is_part(behind.first());
    words.iter().any(|word| occurs(text.as_bytes(), word, is_word))
}

/// Whether a string of the statement contains, or may contain, a relation's bare name in any case: code in a function's body.
pub(crate) fn in_strings(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    // What characters its escapes are is not certain.
    let has_code_points = |token: &Token| {
        segment.dialect == Dialect::Postgres && token.source(segment.text).starts_with(['u', 'U'])
    };
    segment.tokens.iter().any(|token| match &token.kind {
        Kind::Text { style: Style::Other, .. } if has_code_points(token) => !catalog.relations.is_empty(),
        Kind::Text { value, .. } => may_contain(value, catalog),
        _ => false,
    })
}

/// Whether the relation is known to have a protected column.
pub(crate) fn is_protected(relation: &Relation) -> bool {
    relation.kind != RelationKind::OpaqueView && relation.columns.protect()
}
