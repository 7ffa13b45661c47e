//! What a text is apart from its plain values, so that texts that differ in these alone are analyzed once.
//!
//! A client that writes values into its texts sends the same statement again and again, each time another text. Of such a
//! text, [`Shape::key`] is what is left when its plain values are taken out, and [`Template`] is what analysis said of one
//! text with that key: for any other it is the same, but for where splices are and what is sealed.
//!
//! # Why it is the same
//! - The lexer that analysis itself believes finds the values: what is none of its tokens, comments too, stays in the key, as
//!   does every token that is no plain value, and how a plain value was written: a number or a string.
//! - A value is plain where analysis looks at what it is and not at what it says: digits, or ASCII in single quotes without a
//!   quote, a backslash or a control character, behind a comparison or `SET column =`, or in the list of an `IN` or of `VALUES`,
//!   and with nothing behind it that could be of the value: so no cast, `LIKE`, `LIMIT`, `ORDER BY`, name of a setting, or
//!   argument of a function.
//! - What is the same twice stays the same twice in the key: expressions are compared with each other by GROUP BY.
//! - A string that could name what matters (a relation, a setting) is not plain.
//! - Only an analysis whose splices stand beside the values, or exactly on them, becomes a template, and only what was accepted.
//!
//! Tests compare with a fresh analysis, for every text of the others and of the fuzzers' corpora.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::{
    analysis::{Analysis, Replacement, Splice},
    catalog::Catalog,
    identity,
    lex::{self, Kind, Style, Token},
    mention,
};

/// Plain values of a text with a shape. They are compared with each other; and one with more is a load, whose number of rows
/// differs most times.
const MAX_VALUES: usize = 64;
/// Digits of a plain number: all of them are integers to either server.
const MAX_DIGITS: usize = 18;
/// What stands for a plain value in a key. A text that holds it has no shape.
const MARK: char = '\u{1}';

/// A text without its plain values.
pub struct Shape {
    key: String,
    values: Vec<Range<usize>>,
}

/// The analysis of all texts of one shape. It holds no plain value.
pub struct Template {
    analysis: Analysis,
    /// Where the plain values stood in the text that it was made from.
    values: Vec<Range<usize>>,
    /// Which splice seals which of the values.
    sealed: Vec<(usize, usize)>,
}

impl Shape {
    /// The shape of a text; None where it has no plain value, or is of no kind that has any.
    pub fn of(text: &str, catalog: &Catalog) -> Option<Self> {
        // Most texts that hold a value have one of these, and what has none is not worth its tokens.
        if text.contains(MARK) || !text.bytes().any(|byte| byte == b'\'' || byte.is_ascii_digit()) {
            return None;
        }
        let tokens = lex::lex(text, catalog.dialect).ok()?;
        let begins = ["select", "insert", "update", "delete", "replace"];
        let first = tokens.first()?;
        if !begins.iter().any(|word| first.is_word(word)) {
            return None;
        }
        let plain = plain_values(text, &tokens, catalog)?;
        let mut key = String::with_capacity(text.len().saturating_add(plain.len()));
        let mut values: Vec<Range<usize>> = Vec::with_capacity(plain.len());
        let mut from = 0;
        for index in plain {
            let token = tokens.get(index)?;
            let written = token.source(text);
            let same = values.iter().position(|range| text.get(range.clone()) == Some(written));
            key.push_str(text.get(from..token.range.start)?);
            key.push(MARK);
            key.push(if matches!(token.kind, Kind::Number) { '0' } else { '\'' });
            key.extend(char::from_u32(u32::try_from(same.unwrap_or(values.len())).ok()?.checked_add(0x20)?));
            from = token.range.end;
            values.push(token.range.clone());
        }
        key.push_str(text.get(from..)?);
        Some(Self { key, values })
    }

    /// The same for all texts of this shape, and for no others.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Where its plain values are, by byte range.
    pub fn values(&self) -> &[Range<usize>] {
        &self.values
    }

    /// What analysis said of the text that has this shape, for others of it; None where it may not be the same for them.
    pub fn template(&self, text: &str, analysis: &Analysis) -> Option<Template> {
        let mut sealed = Vec::new();
        let mut kept = analysis.clone();
        for (index, splice) in kept.splices.iter_mut().enumerate() {
            let on = self.values.iter().position(|value| *value == splice.range);
            match (on, &mut splice.with) {
                (Some(on), Replacement::Seal { value, .. }) => {
                    if value.as_str() != content(text.get(splice.range.clone())?) {
                        return None;
                    }
                    *value = Zeroizing::default();
                    sealed.push((index, on));
                }
                // A value that is not plain: it is not to be kept.
                (_, Replacement::Seal { .. }) => return None,
                _ => {
                    let beside = |value: &Range<usize>| {
                        splice.range.end <= value.start || value.end <= splice.range.start
                    };
                    if !self.values.iter().all(beside) {
                        return None;
                    }
                }
            }
        }
        Some(Template { analysis: kept, values: self.values.clone(), sealed })
    }
}

impl Template {
    /// The analysis of a text of this shape.
    pub fn analysis(&self, text: &str, shape: &Shape) -> Option<Analysis> {
        if shape.values.len() != self.values.len() {
            return None;
        }
        let mut analysis = self.analysis.clone();
        for Splice { range, .. } in &mut analysis.splices {
            *range = self.moved(range.start, shape)?..self.moved(range.end, shape)?;
        }
        for (splice, value) in &self.sealed {
            let range = shape.values.get(*value)?;
            let splice = analysis.splices.get_mut(*splice)?;
            let Replacement::Seal { value, .. } = &mut splice.with else { return None };
            splice.range = range.clone();
            *value = Zeroizing::new(content(text.get(range.clone())?).to_owned());
        }
        Some(analysis)
    }

    /// Where a place beside the values is in a text of this shape.
    fn moved(&self, place: usize, shape: &Shape) -> Option<usize> {
        let before = self.values.iter().zip(&shape.values).rev().find(|(old, _)| old.end <= place);
        let (old, new) = before.map_or((0, 0), |(old, new)| (old.end, new.end));
        place.checked_sub(old)?.checked_add(new)
    }
}

/// What a plain value says.
fn content(written: &str) -> &str {
    written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(written)
}

/// What a bracket holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// The list of an IN.
    List,
    /// A row of VALUES.
    Row,
    Other,
}

/// Which tokens are plain values; None if there is none, or too many, or if they can't be told.
fn plain_values(text: &str, tokens: &[Token], catalog: &Catalog) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<Bracket> = Vec::new();
    // The bracket that closed last, with nothing but a comma behind it.
    let mut closed = Bracket::Other;
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| tokens.get(before));
        let is_behind = |symbol| before.is_some_and(|token| token.is_symbol(text, symbol));
        let is_behind_word = |word| before.is_some_and(|token| token.is_word(word));
        let symbol = match token.kind {
            Kind::Symbol => token.source(text),
            _ => "",
        };
        match symbol {
            "(" => open.push(match closed {
                _ if is_behind_word("in") => Bracket::List,
                _ if is_behind_word("values") => Bracket::Row,
                Bracket::Row if is_behind(",") => Bracket::Row,
                _ => Bracket::Other,
            }),
            ")" => closed = open.pop()?,
            "," => {}
            // More than one statement: what one does may matter to the next.
            ";" if index.saturating_add(1) < tokens.len() => return None,
            _ => closed = Bracket::Other,
        }
        let is_list = !matches!(open.last(), None | Some(Bracket::Other));
        let words = ["null", "default", "true", "false"];
        if is_list && token.name().is_some() && !words.iter().any(|word| token.is_word(word)) {
            // A query, whose commas may divide what it is ordered by.
            return None;
        }
        let in_list = is_list && (is_behind("(") || is_behind(","));
        let is_compared = ["=", "<", ">", "<=", ">=", "<>", "!="].into_iter().any(is_behind);
        let next = tokens.get(index.saturating_add(1));
        if (in_list || is_compared) && ends_value(text, next) && is_plain(text, token, catalog) {
            found.push(index);
            if found.len() > MAX_VALUES {
                return None;
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Whether nothing that follows a value belongs to it.
fn ends_value(text: &str, next: Option<&Token>) -> bool {
    let Some(next) = next else { return true };
    let words = ["and", "or", "where", "order", "group", "limit", "returning", "on"];
    [",", ")", ";"].iter().any(|symbol| next.is_symbol(text, symbol)) || words.iter().any(|w| next.is_word(w))
}

fn is_plain(text: &str, token: &Token, catalog: &Catalog) -> bool {
    let written = token.source(text);
    match &token.kind {
        Kind::Number => {
            // What touches a word is not replaced where it is sealed, and so looked at.
            let digits = written.len() <= MAX_DIGITS && written.bytes().all(|byte| byte.is_ascii_digit());
            digits && (written == "0" || !written.starts_with('0')) && stands_alone(text, token)
        }
        Kind::Text { value, style: Style::Plain } => {
            let inner = content(written);
            let is_plain_byte =
                |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'\'' | b'"' | b'\\');
            inner.len().saturating_add(2) == written.len()
                && inner == value.as_str()
                && inner.bytes().all(is_plain_byte)
                && stands_alone(text, token)
                && !identity::may_mention(inner.as_bytes())
                && !mention::may_reach(inner, catalog)
        }
        _ => false,
    }
}

/// Whether a value touches neither a word nor another value.
fn stands_alone(text: &str, token: &Token) -> bool {
    let bytes = text.as_bytes();
    let apart = |byte: Option<&u8>| {
        byte.is_none_or(|b| {
            matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b',' | b';' | b'=' | b'<' | b'>')
        })
    };
    apart(token.range.start.checked_sub(1).and_then(|at| bytes.get(at))) && apart(bytes.get(token.range.end))
}
