//! What a text is apart from its plain values, so that texts that differ in these alone are analyzed once.
//!
//! A client that writes values into its texts sends the same statement again and again, each time another text. Of such a
//! text, [`Shape::key`] is what is left when its plain values are taken out, and [`Template`] is what analysis said of one
//! text with that key: for any other it is the same, but for where splices are and what is sealed.
//!
//! # Why it is the same
//! - Between the values, texts with one key are the same byte for byte: comments and spaces too. How each value is written
//!   ([`value::Notation`]) is in the key.
//! - Whoever made a template has seen that the lexer that analysis itself believes finds the same values, each a token of its
//!   own. The lexer goes from left to right, and what stands around a plain value ends a token (see
//!   [`value::PlainValue::stands_alone`]); so it finds them in every text with that key.
//! - A value is plain where analysis looks at what it is and not at what it says: behind a comparison or `SET column =`, in the
//!   list of an `IN`, or in a row of `VALUES`, and with nothing behind it that could be of the value: so no `LIKE`, `LIMIT`,
//!   `ORDER BY`, name of a setting, or argument of a function. Of strings the parser is told nothing but that they are there.
//! - Analysis does ask what a value says that is cast. Then each answer is in the key.
//! - What is written in a way that the two readings of a text, or two servers, may read otherwise is not plain: a number with
//!   an exponent or a needless zero, a string with other escapes than the plainest, or with control characters.
//! - What is the same twice stays the same twice in the key: no text looks as if an expression stood in it twice that does not.
//! - A string that could name what matters (a relation, a setting) is not plain.
//! - Only an analysis whose splices stand beside the values, or around one of them, becomes a template, and only what was
//!   accepted.
//!
//! Tests compare with a fresh analysis, for every text of the others and of the fuzzers' corpora.

mod context;
mod scan;
mod template;
mod tokens;
mod value;

use std::{borrow::Cow, ops::Range};

use zeroize::Zeroizing;

pub use self::template::Template;
use self::{context::PlacedValue, scan::Stop, value::PlainValue};
use crate::{analysis::Analysis, catalog::Catalog, dialect::Dialect, identity, mention};

/// What stands for a plain value in a key. A text that holds it has no shape.
const MARK: char = '\u{1}';

/// A text without its plain values.
pub struct Shape {
    key: String,
    values: Vec<PlainValue>,
    /// For each value that is cast, what analysis may ask of it.
    asked: Vec<Option<u32>>,
    dialect: Dialect,
}

impl Shape {
    /// The shape of a text; None where it has no plain value, or is of no kind that has any.
    pub fn of(text: &str, catalog: &Catalog) -> Option<Self> {
        if !may_have_values(text) {
            return None;
        }
        let check = PlainCheck::of(text, catalog);
        let is_plain = |value: &PlainValue| check.is_plain(value);
        let found = match scan::plain_values(text, catalog.dialect, &is_plain) {
            Ok(found) => found,
            Err(Stop::HasNone) => return None,
            Err(Stop::NeedsTokens) => tokens::plain_values(text, catalog.dialect, &is_plain)?,
        };
        Self::with(text, catalog.dialect, found)
    }

    fn with(text: &str, dialect: Dialect, found: Vec<PlacedValue>) -> Option<Self> {
        let mut key = String::with_capacity(text.len().saturating_add(found.len()));
        let mut values: Vec<PlainValue> = Vec::with_capacity(found.len());
        let mut asked = Vec::with_capacity(found.len());
        let mut from = 0;
        for PlacedValue { value, is_cast } in found {
            let same = first_same(text, &values, &value);
            key.push_str(text.get(from..value.range.start)?);
            key.push(MARK);
            key.push(value.notation.mark());
            key.extend(char::from_u32(u32::try_from(same).ok()?.checked_add(0x20)?));
            let its_asked = is_cast.then(|| value.asked_when_cast(text));
            if let Some(asked) = its_asked {
                key.push(MARK);
                key.extend(char::from_u32(asked.checked_add(0x20)?));
            }
            asked.push(its_asked);
            from = value.range.end;
            values.push(value);
        }
        key.push_str(text.get(from..)?);
        Some(Self { key, values, asked, dialect })
    }

    /// The same for all texts of this shape, and for no others.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Where its plain values are, by byte range.
    pub fn values(&self) -> Vec<Range<usize>> {
        self.values.iter().map(|value| value.range.clone()).collect()
    }

    /// What analysis said of the text that has this shape, for others of it; None where it may not be the same for them.
    pub fn template(&self, text: &str, analysis: &Analysis) -> Option<Template> {
        if !self.is_by_tokens(text) {
            return None;
        }
        Template::of(text, self, analysis)
    }

    /// Whether the tokens of the text that has this shape have the same values, in places of plain values.
    fn is_by_tokens(&self, text: &str) -> bool {
        let is_one = |value: &PlainValue| self.values.iter().any(|own| own.range == value.range);
        tokens::plain_values(text, self.dialect, &is_one)
            .and_then(|found| Self::with(text, self.dialect, found))
            .is_some_and(|shape| shape.key == self.key && shape.values() == self.values())
    }
}

/// The first words of statements that have plain values.
const KINDS: [&str; 5] = ["select", "insert", "update", "delete", "replace"];

/// Whether a text may be of a kind that has plain values: it begins as one, or with a comment.
fn may_have_values(text: &str) -> bool {
    if text.contains(MARK) {
        return false;
    }
    let text = text.trim_ascii_start().as_bytes();
    let begins = |word: &&str| {
        let first = text.split_at_checked(word.len()).map(|(first, _)| first);
        first.is_some_and(|first| first.eq_ignore_ascii_case(word.as_bytes()))
    };
    KINDS.iter().any(begins) || matches!(text.first(), Some(b'/' | b'-' | b'#'))
}

/// Returns which of the values is the first that would be the same expression as another one, but for a sign: that one itself,
/// which is the next, if none is.
fn first_same(text: &str, values: &[PlainValue], next: &PlainValue) -> usize {
    let inner = next.inner(text);
    let is_same = |value: &PlainValue| {
        value.inner_len() == inner.len()
            && value.is_string() == next.is_string()
            && value.inner(text) == inner
    };
    values.iter().position(is_same).unwrap_or(values.len())
}

/// Tells which values of a text are plain but for their places.
struct PlainCheck<'t> {
    text: &'t str,
    catalog: &'t Catalog,
    /// Whether it may say anything of the end user.
    mentions: bool,
}

impl<'t> PlainCheck<'t> {
    fn of(text: &'t str, catalog: &'t Catalog) -> Self {
        Self { text, catalog, mentions: may_mention(text, catalog.dialect) }
    }

    /// Whether a value touches nothing, and names nothing that matters.
    fn is_plain(&self, value: &PlainValue) -> bool {
        value.stands_alone(self.text) && !(value.is_string() && self.may_matter(value))
    }

    fn may_matter(&self, value: &PlainValue) -> bool {
        let names = |content: &str| {
            (self.mentions || value.is_encoded()) && may_mention(content, self.catalog.dialect)
                || mention::may_reach(content, self.catalog)
        };
        match value.content(self.text) {
            Cow::Borrowed(content) => names(content),
            Cow::Owned(content) => names(&Zeroizing::new(content)),
        }
    }
}

fn may_mention(text: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => identity::mentions(text.as_bytes()),
        Dialect::MySql(_) => identity::may_mention(text.as_bytes()),
    }
}
