//! Finds plain values among the tokens of a text.

use super::{
    KINDS,
    context::{Context, PlacedValue, TokenClass},
    value::{Notation, PlainValue},
};
use crate::{
    dialect::Dialect,
    lex::{self, Kind, Style, Token},
};

/// Finds the plain values of a text, of which `is_plain` says whether one is plain but for its place. Returns None if there is none,
/// or too many, or if they can't be told.
pub(super) fn plain_values(
    text: &str,
    dialect: Dialect,
    is_plain: &dyn Fn(&PlainValue) -> bool,
) -> Option<Vec<PlacedValue>> {
    // Most texts that hold a value have one of these, and what has none is not worth its tokens.
    if !text.bytes().any(|byte| matches!(byte, b'\'' | b'$' | b'0'..=b'9')) {
        return None;
    }
    let tokens = lex::lex(text, dialect).ok()?;
    let first = tokens.first()?;
    KINDS.iter().any(|word| first.is_word(word)).then_some(())?;
    let mut context = Context::new();
    let mut rest = tokens.as_slice();
    while let Some((token, behind)) = rest.split_first() {
        rest = behind;
        let value = if context.takes_value() { value(text, dialect, token, behind) } else { None };
        match value {
            Some((value, length)) if is_plain(&value) => {
                context.value(value)?;
                rest = behind.get(length..)?;
            }
            _ => context.token(class(text, token))?,
        }
    }
    context.finish()
}

/// Returns the plain value that begins with a token, and how many of the tokens behind that belong to it.
fn value(text: &str, dialect: Dialect, token: &Token, behind: &[Token]) -> Option<(PlainValue, usize)> {
    let value = PlainValue::at(text, token.range.start, dialect)?;
    let (last, length) = match value.notation {
        Notation::NegativeInteger | Notation::NegativeDecimal => (behind.first()?, 1),
        _ => (token, 0),
    };
    let is_whole = value.range.end == last.range.end && value.stands_alone(text);
    (is_whole && is_read_so(text, last, &value)).then_some((value, length))
}

/// Whether the lexer reads a value as the value itself does.
fn is_read_so(text: &str, token: &Token, value: &PlainValue) -> bool {
    match (&token.kind, value.notation) {
        (Kind::Number, _) => !value.is_string() && token.source(text) == value.inner(text),
        (Kind::Text { value: read, style: Style::Plain }, Notation::Quoted)
        | (Kind::Text { value: read, style: Style::Escape }, Notation::Escape)
        | (Kind::Text { value: read, style: Style::Dollar }, Notation::Dollar) => value.says(text, read),
        _ => false,
    }
}

fn class(text: &str, token: &Token) -> TokenClass {
    match &token.kind {
        Kind::Word { value, quoted: false } => TokenClass::of_word(value.as_bytes()),
        Kind::Word { quoted: true, .. } => TokenClass::Name,
        Kind::Symbol => TokenClass::of_symbol(token.source(text).as_bytes()),
        Kind::Text { .. } | Kind::Number | Kind::Parameter(_) | Kind::Variable { .. } => TokenClass::Other,
    }
}
