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
mod tokens;
mod value;

use std::{borrow::Cow, ops::Range};

use zeroize::Zeroizing;

use self::{context::PlacedValue, scan::Stop, value::PlainValue};
use crate::{
    analysis::{Analysis, Replacement, Splice},
    catalog::Catalog,
    dialect::Dialect,
    identity, mention,
};

/// What stands for a plain value in a key. A text that holds it has no shape.
const MARK: char = '\u{1}';

/// A text without its plain values.
pub struct Shape {
    key: String,
    values: Vec<PlainValue>,
    dialect: Dialect,
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
        if !may_have_values(text) {
            return None;
        }
        let mentions = may_mention(text, catalog.dialect);
        let is_plain = |value: &PlainValue| {
            value.stands_alone(text) && !(value.is_string() && may_matter(text, value, mentions, catalog))
        };
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
        let mut from = 0;
        for PlacedValue { value, is_cast } in found {
            let same = values.iter().position(|before| is_same(text, before, &value));
            key.push_str(text.get(from..value.range.start)?);
            key.push(MARK);
            key.push(value.notation.mark());
            key.extend(char::from_u32(u32::try_from(same.unwrap_or(values.len())).ok()?.checked_add(0x20)?));
            if is_cast {
                key.push(MARK);
                key.extend(char::from_u32(value.asked_when_cast(text).checked_add(0x20)?));
            }
            from = value.range.end;
            values.push(value);
        }
        key.push_str(text.get(from..)?);
        Some(Self { key, values, dialect })
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
        let mut sealed = Vec::new();
        let mut kept = analysis.clone();
        for (index, splice) in kept.splices.iter_mut().enumerate() {
            let is_beside = |value: &&PlainValue| {
                splice.range.end <= value.range.start || value.range.end <= splice.range.start
            };
            let mut within = self.values.iter().enumerate().filter(|(_, value)| !is_beside(value));
            match (within.next(), within.next(), &mut splice.with) {
                (Some((on, written)), None, Replacement::Seal { value, .. }) => {
                    let is_around =
                        splice.range.start <= written.range.start && written.range.end <= splice.range.end;
                    if !is_around || value.as_str() != written.content(text) {
                        return None;
                    }
                    *value = Zeroizing::default();
                    sealed.push((index, on));
                }
                (None, _, Replacement::Seal { .. }) => {
                    // A value that is not plain: it is not to be kept.
                    return None;
                }
                (None, ..) => {}
                (Some(_), ..) => return None,
            }
        }
        Some(Template { analysis: kept, values: self.values(), sealed })
    }

    /// Whether the tokens of the text that has this shape have the same values, in places of plain values.
    fn is_by_tokens(&self, text: &str) -> bool {
        let is_one = |value: &PlainValue| self.values.iter().any(|own| own.range == value.range);
        tokens::plain_values(text, self.dialect, &is_one)
            .and_then(|found| Self::with(text, self.dialect, found))
            .is_some_and(|shape| shape.key == self.key && shape.values() == self.values())
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
            let written = shape.values.get(*value)?;
            let splice = analysis.splices.get_mut(*splice)?;
            let Replacement::Seal { value, .. } = &mut splice.with else { return None };
            *value = Zeroizing::new(written.content(text).into_owned());
        }
        Some(analysis)
    }

    /// Where a place beside the values is in a text of this shape.
    fn moved(&self, place: usize, shape: &Shape) -> Option<usize> {
        let before = self.values.iter().zip(&shape.values).rev().find(|(old, _)| old.end <= place);
        let (old, new) = before.map_or((0, 0), |(old, new)| (old.end, new.range.end));
        place.checked_sub(old)?.checked_add(new)
    }
}

/// Whether a text is of a kind that has plain values.
fn may_have_values(text: &str) -> bool {
    if text.contains(MARK) {
        return false;
    }
    let text = text.trim_ascii_start().as_bytes();
    let begins = ["select", "insert", "update", "delete", "replace"];
    begins.iter().any(|word| {
        text.split_at_checked(word.len())
            .is_some_and(|(first, _)| first.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Whether two values would be the same expression but for a sign.
fn is_same(text: &str, a: &PlainValue, b: &PlainValue) -> bool {
    a.is_string() == b.is_string() && a.inner(text) == b.inner(text)
}

/// Whether a string could name what matters. `mentions` says whether the whole text may say anything of the end user.
fn may_matter(text: &str, value: &PlainValue, mentions: bool, catalog: &Catalog) -> bool {
    let names = |content: &str| {
        (mentions || value.is_encoded()) && may_mention(content, catalog.dialect)
            || mention::may_reach(content, catalog)
    };
    match value.content(text) {
        Cow::Borrowed(content) => names(content),
        Cow::Owned(content) => names(&Zeroizing::new(content)),
    }
}

fn may_mention(text: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => identity::mentions(text.as_bytes()),
        Dialect::MySql(_) => identity::may_mention(text.as_bytes()),
    }
}
