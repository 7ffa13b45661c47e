//! Finds plain values in one pass over a text, without its tokens.
//!
//! It is quick, and need not be right about everything: where it finds other values than the tokens have, no template is made.

use super::{
    context::{Context, PlacedValue, TokenClass},
    value::PlainValue,
};
use crate::dialect::Dialect;

/// A text that is read byte by byte.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
    is_plain: &'t dyn Fn(&PlainValue) -> bool,
    context: Context,
}

/// Why a text was not read to its end.
pub(super) enum Stop {
    /// It takes tokens to read: it has a comment, or a string of another style.
    NeedsTokens,
    /// It has no plain values, or too many, or they can't be told.
    HasNone,
}

/// Finds the plain values of a text, of which `is_plain` says whether one is plain but for its place.
pub(super) fn plain_values(
    text: &str,
    dialect: Dialect,
    is_plain: &dyn Fn(&PlainValue) -> bool,
) -> Result<Vec<PlacedValue>, Stop> {
    let mut scanner = Scanner { text, at: 0, dialect, is_plain, context: Context::new() };
    while let Some(byte) = scanner.peek(0) {
        scanner.step(byte)?;
    }
    scanner.context.finish().ok_or(Stop::HasNone)
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at.checked_add(ahead)?).copied()
    }

    /// Reads what begins with this byte.
    fn step(&mut self, byte: u8) -> Result<(), Stop> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => self.at = self.at.saturating_add(1),
            b'(' | b')' | b'[' | b']' | b',' | b';' | b'.' => self.symbol(1)?,
            b'\'' => self.string()?,
            b'0'..=b'9' => self.number()?,
            b'-' if self.takes_number() => self.number()?,
            b'$' if self.is_postgres() => self.dollar()?,
            b'"' if self.is_postgres() => self.quoted_name(byte)?,
            b'`' if !self.is_postgres() => self.quoted_name(byte)?,
            _ if is_part_of_word(byte) => self.word()?,
            b'?' if !self.is_postgres() => self.symbol(1)?,
            _ if is_operator(byte) => self.operator()?,
            _ => return Err(Stop::NeedsTokens),
        }
        Ok(())
    }

    fn is_postgres(&self) -> bool {
        self.dialect == Dialect::Postgres
    }

    fn takes_number(&self) -> bool {
        self.context.takes_value() && self.peek(1).is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Returns the next bytes.
    fn next(&self, length: usize) -> &[u8] {
        self.text.as_bytes().get(self.at..self.at.saturating_add(length)).unwrap_or_default()
    }

    /// Counts the bytes from here on that satisfy a test.
    fn run(&self, test: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        rest.iter().take_while(|byte| test(**byte)).count()
    }

    /// Takes in the next bytes as a token.
    fn token(&mut self, length: usize, class: TokenClass) -> Result<(), Stop> {
        self.at = self.at.saturating_add(length);
        self.context.token(class).ok_or(Stop::HasNone)
    }

    fn symbol(&mut self, length: usize) -> Result<(), Stop> {
        let symbol = self.next(length);
        self.token(length, TokenClass::of_symbol(symbol))
    }

    fn string(&mut self) -> Result<(), Stop> {
        let value = PlainValue::at(self.text, self.at, self.dialect);
        self.value(value.ok_or(Stop::NeedsTokens)?)
    }

    /// Takes in a value, as one that is plain if it may be.
    fn value(&mut self, value: PlainValue) -> Result<(), Stop> {
        let is_plain = self.context.takes_value() && (self.is_plain)(&value);
        self.at = value.range.end;
        let taken = if is_plain { self.context.value(value) } else { self.context.token(TokenClass::Other) };
        taken.ok_or(Stop::HasNone)
    }

    fn number(&mut self) -> Result<(), Stop> {
        if self.context.takes_value()
            && let Some(value) = PlainValue::at(self.text, self.at, self.dialect)
        {
            return self.value(value);
        }
        let length = self.run(|byte| is_part_of_word(byte) || byte == b'.');
        self.token(length, TokenClass::Other)
    }

    /// Reads `$1`, or `$$…$$`.
    fn dollar(&mut self) -> Result<(), Stop> {
        if self.peek(1) == Some(b'$') {
            return self.string();
        }
        match self.peek(1) {
            Some(b'0'..=b'9') => self.token(self.run(is_part_of_word), TokenClass::Other),
            _ => Err(Stop::NeedsTokens),
        }
    }

    fn quoted_name(&mut self, quote: u8) -> Result<(), Stop> {
        let rest = self.text.as_bytes().get(self.at.saturating_add(1)..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == quote) {
            Some(length) => self.token(length.saturating_add(2), TokenClass::Name),
            None => Err(Stop::NeedsTokens),
        }
    }

    fn word(&mut self) -> Result<(), Stop> {
        let length = self.run(is_part_of_word);
        if self.peek(length) == Some(b'\'') {
            // A string of a style of its own.
            return if length == 1 { self.string() } else { Err(Stop::NeedsTokens) };
        }
        self.token(length, TokenClass::of_word(self.next(length)))
    }

    fn operator(&mut self) -> Result<(), Stop> {
        let length = self.run(is_operator);
        let run = self.next(length);
        let begins_comment = |pair: &[u8]| matches!(pair, b"--" | b"/*");
        if run.windows(2).any(begins_comment) || (run.contains(&b'#') && !self.is_postgres()) {
            return Err(Stop::NeedsTokens);
        }
        // A sign belongs to what follows it.
        let sign = usize::from(length > 1 && run.ends_with(b"-"));
        self.symbol(length.saturating_sub(sign))
    }
}

fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'~' | b'!'
            | b'@'
            | b'#'
            | b'^'
            | b'&'
            | b'|'
            | b'?'
            | b'+'
            | b'-'
            | b'*'
            | b'/'
            | b'%'
            | b'<'
            | b'>'
            | b'='
            | b':'
    )
}
