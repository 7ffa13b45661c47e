//! Which relations of the catalog a statement may name, by its tokens alone.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    catalog::{Catalog, Relation, RelationKind},
    dialect::Dialect,
    lexer::{Kind, Token},
    names,
    refusal::Refusal,
    segment::Segment,
};

/// Whether any token is an identifier with the bare name of a relation of the catalog. Without one, a
/// statement can't reach the catalog's relations but through functions, cursors and prepared statements.
pub(crate) fn may_name(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    let names = Names::of(catalog);
    segment.tokens.iter().filter_map(Token::name).any(|name| names.contains(name))
        || resembling(segment, catalog).next().is_some()
}

/// Whether any token is an identifier of a table that the policy names.
pub(crate) fn names_planned(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    segment.tokens.iter().filter_map(Token::name).any(|token| catalog.plans(token))
}

/// The tokens that are names with other letters than ASCII's, which a MySQL may take for a relation's or a protected
/// column's: which letters are the same to it differs with what it compares by.
fn resembling<'s>(segment: &'s Segment<'_>, catalog: &'s Catalog) -> impl Iterator<Item = &'s Token> {
    let own = move |folded: &str, token: &Token| {
        let relations = catalog.relations.iter();
        let columns = relations.flat_map(|r| &r.columns).filter(|column| column.field.is_some());
        let names = catalog.relations.iter().map(|relation| &relation.name);
        let surely = !names::changes_letters(token.source(segment.text));
        names.chain(columns.map(|column| &column.name)).chain(&catalog.planned).any(|own| {
            let own = names::lower(own);
            names::resemble(&own, folded) && !(surely && own == folded)
        })
    };
    let in_mysql = segment.dialect.is_mysql();
    segment.tokens.iter().filter(move |token| {
        in_mysql && token.name().is_some_and(|name| !name.is_ascii() && own(name, token))
    })
}

/// Refuses names that the server may take for protected ones, though they are written otherwise.
pub(crate) fn refuse_resembling(segment: &Segment<'_>, catalog: &Catalog) -> Result<(), Refusal> {
    match resembling(segment, catalog).next() {
        None => Ok(()),
        Some(_) => Err(Refusal::unsupported(
            "a name that isn't a protected one may be the same to the server, but for its accents or letter case",
            "write protected names in lower case, with the letters that the policy has",
        )),
    }
}

/// The bare names of the catalog's relations.
pub(crate) enum Names<'c> {
    /// Too few to be worth a table.
    Few(&'c Catalog),
    Many(HashSet<Cow<'c, str>>),
}

impl<'c> Names<'c> {
    pub fn of(catalog: &'c Catalog) -> Self {
        const FEW: usize = 16;
        if catalog.relations.len() <= FEW {
            return Self::Few(catalog);
        }
        Self::Many(known(catalog).map(|relation| catalog.fold(&relation.name)).collect())
    }

    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::Few(catalog) => known(catalog).any(|r| catalog.is_name(&r.name, name)),
            Self::Many(names) => names.contains(name),
        }
    }
}

/// The relations that may show a protected column: all but those of which nothing is known.
fn known(catalog: &Catalog) -> impl Iterator<Item = &Relation> {
    catalog.relations.iter().filter(|relation| !is_unseen(relation))
}

/// Whether it is a view that stands upon what this session may not see.
pub(crate) fn is_unseen(relation: &Relation) -> bool {
    relation.kind == RelationKind::UnseenView
}

/// The relations that the tokens name, if what they name are relations: `schema.name`, or `name` where it is
/// visible.
pub(crate) fn named<'c>(segment: &Segment<'_>, catalog: &'c Catalog) -> Vec<&'c Relation> {
    let names = Names::of(catalog);
    named_among(segment, catalog, |name| names.contains(name), |relation| !is_unseen(relation))
}

/// The same of views that stand upon what this session may not see.
pub(crate) fn named_unseen<'c>(segment: &Segment<'_>, catalog: &'c Catalog) -> Vec<&'c Relation> {
    named_among(segment, catalog, |_| true, is_unseen)
}

fn named_among<'c>(
    segment: &Segment<'_>,
    catalog: &'c Catalog,
    may_be: impl Fn(&str) -> bool,
    among: impl Fn(&Relation) -> bool,
) -> Vec<&'c Relation> {
    let mut found: Vec<&Relation> = Vec::new();
    for (index, token) in segment.tokens.iter().enumerate() {
        let Some(name) = token.name().filter(|name| may_be(name)) else { continue };
        let schema = index
            .checked_sub(2)
            .filter(|_| segment.is_symbol(index.saturating_sub(1), "."))
            .and_then(|before| segment.tokens.get(before))
            .and_then(Token::name);
        for relation in catalog.relations.iter().filter(|r| among(r) && catalog.is_name(&r.name, name)) {
            if schema.map_or(relation.visible, |schema| catalog.is_name(&relation.schema, schema))
                && !found.iter().any(|r| std::ptr::eq(*r, relation))
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
    text.contains("u&\"")
        || catalog.relations.iter().any(|relation| {
            let name = relation.name.to_lowercase();
            text.contains(&name)
                || text.contains(&name.replace('"', "\"\""))
                || (name.contains('`') && text.contains(&name.replace('`', "``")))
        })
}

/// Whether a text that isn't cut into tokens may reach anything protected, or change how texts are read: by a
/// relation's name, a name in escapes, a cursor, a prepared statement or a setting. Looks at its bytes alone, so
/// that a long text costs no memory.
pub(crate) fn may_reach(text: &str, catalog: &Catalog) -> bool {
    if catalog.relations.is_empty() && catalog.planned.is_empty() {
        return false;
    }
    let contains = |part: &str| contains(text.as_bytes(), part.as_bytes(), false);
    let has_word = |word: &str| self::contains(text.as_bytes(), word.as_bytes(), true);
    let planned = catalog.planned.iter().map(String::as_str);
    let mut names = catalog.relations.iter().map(|relation| relation.name.as_str()).chain(planned);
    let in_escapes = match catalog.dialect {
        Dialect::Postgres => {
            contains("u&\"")
                || contains("standard_conforming_strings")
                || ["execute", "fetch", "move"].into_iter().any(has_word)
        }
        // What is prepared may be written with escapes; and letters of other alphabets may be the same to the server.
        Dialect::MySql(_) => ["execute", "prepare", "handler"].into_iter().any(has_word) || !text.is_ascii(),
    };
    in_escapes
        || names.any(|name| {
            contains(name)
                || (name.contains('"') && contains(&name.replace('"', "\"\"")))
                || (name.contains('`') && contains(&name.replace('`', "``")))
        })
        // Rare enough to pay for: names of other letters than ASCII's, in whatever case.
        || (!text.is_ascii() && may_contain(text, catalog))
}

/// Whether the bytes contain the part, ASCII letters in either case; as a whole word, if asked.
fn contains(bytes: &[u8], part: &[u8], word: bool) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || *b >= 0x80)
    };
    bytes.iter().enumerate().any(|(at, byte)| {
        let start = at.saturating_add(1);
        let end = start.saturating_add(rest.len());
        byte.eq_ignore_ascii_case(first)
            && bytes.get(start..end).is_some_and(|tail| tail.eq_ignore_ascii_case(rest))
            && !(word && (is_part(at.checked_sub(1).and_then(|at| bytes.get(at))) || is_part(bytes.get(end))))
    })
}

/// Whether a string of the statement contains a relation's bare name in any case: code in a function's body.
pub(crate) fn in_strings(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    segment.tokens.iter().any(|token| match &token.kind {
        Kind::Text { value, .. } => may_contain(value, catalog),
        _ => false,
    })
}

/// Whether the relation is known to have a protected column.
pub(crate) fn is_protected(relation: &Relation) -> bool {
    relation.kind != RelationKind::OpaqueView && relation.columns.iter().any(|column| column.field.is_some())
}
