//! SET: variables, character sets, roles; and MariaDB's SET STATEMENT.

use std::ops::Range;

use crate::{
    lex::{Kind, Token},
    segment::Segment,
};

/// One assignment of a SET.
pub(crate) struct Assignment {
    pub target: Target,
    /// The tokens of the value.
    pub value: Range<usize>,
}

/// What a SET sets.
#[derive(PartialEq, Eq)]
pub(crate) enum Target {
    /// `@name`, in lower case.
    User(String),
    /// A system variable, of whatever scope, in lower case.
    System(String),
    /// `NAMES`, `CHARACTER SET`, `ROLE`, `PASSWORD`, `TRANSACTION` …: the first word.
    Special(String),
}

/// System variables that have a say in how a text is read.
const READING: &[&str] = &[
    "sql_mode",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "old_mode",
];

/// Whether a system variable has a say in how a text is read.
pub(crate) fn affects_reading(name: &str) -> bool {
    READING.contains(&name)
}

/// The assignments of a SET.
pub(crate) fn assignments(segment: &Segment<'_>) -> Vec<Assignment> {
    items(segment).map(|item| assignment(segment, item)).collect()
}

/// What stands between the commas that aren't in brackets.
fn items(segment: &Segment<'_>) -> impl Iterator<Item = Range<usize>> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (1_usize, 0_usize);
    for index in 1..segment.tokens.len() {
        if segment.is_symbol(index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(index, ")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && segment.is_symbol(index, ",") {
            items.push(start..index);
            start = index.saturating_add(1);
        }
    }
    items.push(start..segment.tokens.len());
    items.into_iter()
}

fn assignment(segment: &Segment<'_>, item: Range<usize>) -> Assignment {
    let mut at = item.start;
    while matches!(segment.word(at), "global" | "session" | "local" | "persist" | "persist_only")
        && !assigns(segment, at.saturating_add(1))
    {
        at = at.saturating_add(1);
    }
    let target = match segment.tokens.get(at).map(|token| &token.kind) {
        Some(Kind::Variable { name, system: false }) => Target::User(name.clone()),
        Some(Kind::Variable { name, system: true } | Kind::Word { value: name, .. }) => {
            let mut name = name.clone();
            // `@@session.name`; of `name.part` (a key cache's setting) the part counts.
            while segment.is_symbol(at.saturating_add(1), ".") {
                at = at.saturating_add(2);
                name = segment.tokens.get(at).and_then(Token::name).unwrap_or_default().to_owned();
            }
            match assigns(segment, at.saturating_add(1)) {
                true => Target::System(name),
                false => Target::Special(name),
            }
        }
        _ => Target::Special(String::new()),
    };
    let mut value = at.saturating_add(1);
    if assigns(segment, value) {
        value = value.saturating_add(1);
    }
    Assignment { target, value: value.min(item.end)..item.end }
}

fn assigns(segment: &Segment<'_>, index: usize) -> bool {
    segment.is_symbol(index, "=") || segment.is_symbol(index, ":=")
}

/// Whether nothing is computed: no brackets, so that no table is read and no function called.
pub(crate) fn is_plain(segment: &Segment<'_>) -> bool {
    for_statement(segment).is_none() && !(0..segment.tokens.len()).any(|index| segment.is_symbol(index, "("))
}

/// `SET STATEMENT` within `SET STATEMENT`: each level is looked at with all that it holds.
const MAX_NESTED: usize = 8;

/// The statement behind MariaDB's `SET STATEMENT name = value, … FOR`; None also where too many of them stand in one another.
pub(crate) fn for_statement<'t>(segment: &Segment<'t>) -> Option<Segment<'t>> {
    let inner = inner_at(segment, 0)?;
    (!is_too_deep(segment)).then(|| segment.starting_at(inner))
}

/// Whether more of them stand in one another than are looked at.
pub(crate) fn is_too_deep(segment: &Segment<'_>) -> bool {
    std::iter::successors(inner_at(segment, 0), |at| inner_at(segment, *at)).nth(MAX_NESTED).is_some()
}

/// The first token of the statement behind the `SET STATEMENT` that begins at a token.
fn inner_at(segment: &Segment<'_>, at: usize) -> Option<usize> {
    let (second, third) = (at.saturating_add(1), at.saturating_add(2));
    if !(segment.is_word(at, "set") && segment.is_word(second, "statement")) || assigns(segment, third) {
        return None;
    }
    let for_ = (third..segment.tokens.len()).find(|index| segment.is_word(*index, "for"))?;
    Some(for_.saturating_add(1))
}

/// Whether names, or the session's principal, or the reading of texts may be others after a SET.
pub(crate) fn changes_names(segment: &Segment<'_>) -> bool {
    changes_reading(segment)
        || assignments(segment).iter().any(|assignment| match &assignment.target {
            Target::User(_) => false,
            Target::System(name) => name == "role",
            Target::Special(word) => !matches!(word.as_str(), "transaction" | "password" | "resource"),
        })
}

/// Whether a SET has a say in how the texts behind it are read. (What it calls has none: routines give back what they had.)
pub(crate) fn changes_reading(segment: &Segment<'_>) -> bool {
    assignments(segment).iter().any(|assignment| match &assignment.target {
        Target::User(_) => false,
        Target::System(name) => affects_reading(name),
        Target::Special(word) => !matches!(word.as_str(), "transaction" | "password" | "role" | "default"),
    })
}
