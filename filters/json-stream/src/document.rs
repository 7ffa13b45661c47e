//! One JSON text, checked and followed byte by byte however it is cut (RFC 8259).
//!
//! [`Document::scan`] stops where a field's value begins and where it ends, and reads over all else. It keeps a
//! state and the open arrays and objects; of the text itself only a key that is cut.

mod fault;
mod key;
mod kind;
mod literal;
mod number;
mod text;

use std::sync::Arc;

use crate::Matcher;
use crate::limits::Limits;
use crate::matcher::{DEAD, StateId};
use crate::plain::behind_plain;
pub(crate) use fault::Fault;
pub use kind::Kind;
use literal::Literal;
use number::Number;
use text::Text;

/// One JSON text and the next, read in pieces.
pub(crate) struct Document {
    matcher: Arc<Matcher>,
    limits: Limits,
    state: Expected,
    /// The automaton's state for the value that is next.
    next: StateId,
    open: Vec<Level>,
    /// What came of a key in earlier pieces.
    key: Vec<u8>,
    /// The field whose value is being read.
    field: Option<Field>,
}

/// What must or may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Nothing came yet.
    Begin,
    /// A value, or the end of an array that has none yet.
    ValueOrEnd,
    /// A value.
    Value,
    /// A key, or the end of an object that has none yet.
    KeyOrEnd,
    /// A key.
    Key,
    /// The rest of a key.
    InKey(Text),
    /// A colon.
    Colon,
    /// The rest of a string.
    InString(Text),
    /// The rest of a number.
    InNumber(Number),
    /// The rest of `true`, `false` or `null`.
    InLiteral(Literal),
    /// A comma or an end; after the outermost value nothing.
    AfterValue,
}

/// An open array or object.
struct Level {
    /// The automaton's state for it.
    state: StateId,
    /// The state for what of it no path names.
    other: StateId,
    /// The index of the element being read; none in an object.
    index: Option<u32>,
}

#[derive(Clone, Copy)]
struct Field {
    number: usize,
    kind: Kind,
    /// How many arrays and objects are around it.
    depth: usize,
}

/// Where reading stopped.
pub(crate) enum Scan {
    /// At the end of the piece.
    More,
    /// Before a field's value.
    Begins,
    /// After the value of this field.
    Ended(usize, Kind),
}

/// What reading one token came to. It and [`Fault`] are of one byte, so that both are handed on in a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadStep {
    /// Nothing that stops reading.
    On,
    /// A field's value is next.
    Begins,
    /// A field's value ended.
    Ended,
}

/// What may be at the end of a JSON text, as its framing has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    /// Nothing but space came.
    pub(crate) blank: bool,
    /// A number is the text's last byte, so that nobody knows whether it was cut.
    pub(crate) number: bool,
}

impl Document {
    pub(crate) fn new(matcher: Arc<Matcher>, limits: Limits) -> Self {
        let next = matcher.root();
        let state = Expected::Begin;
        Self { matcher, limits, state, next, open: Vec::new(), key: Vec::new(), field: None }
    }

    /// Reads on from `at`, which is left where reading stopped, or at the byte at fault.
    pub(crate) fn scan(&mut self, bytes: &[u8], at: &mut usize) -> Result<Scan, Fault> {
        let mut rest = bytes.get(*at..).unwrap_or_default();
        let step = self.read(&mut rest);
        *at = bytes.len().saturating_sub(rest.len());
        Ok(match (step?, self.field) {
            (ReadStep::Begins, _) => Scan::Begins,
            (ReadStep::Ended, Some(field)) => {
                self.field = None;
                Scan::Ended(field.number, field.kind)
            }
            _ => Scan::More,
        })
    }

    #[inline(always)]
    fn read(&mut self, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        // What an earlier piece began.
        let mut step = match self.state {
            _ if rest.is_empty() => ReadStep::On,
            Expected::InKey(text) => self.any_key(text, rest)?,
            Expected::InString(text) => self.string(text, rest)?,
            Expected::InNumber(number) => self.number(number, rest)?,
            Expected::InLiteral(literal) => self.literal(literal, rest)?,
            _ => ReadStep::On,
        };
        while step == ReadStep::On
            && let Some(byte) = rest.first()
        {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => pass(rest),
                _ => step = self.token(*byte, rest)?,
            }
        }
        Ok(step)
    }

    /// Takes the end of the text; another may begin.
    pub(crate) fn end(&mut self, may: Ending) -> Result<(), Fault> {
        let is_whole = match self.state {
            Expected::Begin => may.blank,
            Expected::AfterValue => self.open.is_empty(),
            Expected::InNumber(number) => may.number && number.is_whole() && self.open.is_empty(),
            _ => false,
        };
        if !is_whole {
            return Err(match self.state {
                Expected::Begin => Fault::NoText,
                Expected::InNumber(_) if self.open.is_empty() => Fault::NumberMayBeCut,
                _ => Fault::EndsEarly,
            });
        }
        self.state = Expected::Begin;
        self.next = self.matcher.root();
        Ok(())
    }

    /// Is a field's value being read?
    pub(crate) fn is_holding(&self) -> bool {
        self.field.is_some()
    }

    /// How many bytes are kept.
    pub(crate) fn kept(&self) -> usize {
        self.key.len()
    }

    /// The token that begins with this byte, which is the first of those at hand.
    #[inline(always)]
    fn token(&mut self, byte: u8, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        match (self.state, byte) {
            (Expected::AfterValue, _) => self.after_value(byte, rest),
            (Expected::ValueOrEnd, b']') | (Expected::KeyOrEnd, b'}') => self.close(rest),
            (Expected::Begin | Expected::Value | Expected::ValueOrEnd, _) => self.value(byte, rest),
            (Expected::KeyOrEnd | Expected::Key, b'"') => self.key(rest),
            (Expected::KeyOrEnd, _) => Err(Fault::NoKeyOrEnd),
            (Expected::Colon, b':') => {
                pass(rest);
                self.state = Expected::Value;
                Ok(ReadStep::On)
            }
            (Expected::Colon, _) => Err(Fault::NoColon),
            _ => Err(Fault::NoKey),
        }
    }

    #[inline(always)]
    fn value(&mut self, byte: u8, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        if self.next != DEAD
            && let Some(number) = self.matcher.field(self.next)
            && let Some(kind) = Kind::of(byte)
        {
            self.field = Some(Field { number, kind, depth: self.open.len() });
            self.next = DEAD;
            return Ok(ReadStep::Begins);
        }
        match byte {
            b'"' => {
                pass(rest);
                let Some(behind) = behind_plain_string(rest) else {
                    // A copy, so that the rest can stay in registers.
                    let mut left = *rest;
                    let step = self.string(Text::Plain, &mut left);
                    *rest = left;
                    return step;
                };
                *rest = behind;
                Ok(self.value_ended())
            }
            b'{' | b'[' => self.open(byte == b'[', rest),
            _ => self.scalar(byte, rest),
        }
    }

    /// A number, `true`, `false` or `null`.
    #[inline(always)]
    fn scalar(&mut self, byte: u8, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        if let Some(number) = Number::begin(byte) {
            pass(rest);
            return self.number(number, rest);
        }
        if let Some(literal) = Literal::begin(byte) {
            pass(rest);
            return self.literal(literal, rest);
        }
        Err(match self.state {
            Expected::Begin if byte == 0xef => Fault::ByteOrderMark,
            Expected::ValueOrEnd => Fault::NoValueOrEnd,
            _ => Fault::NoValue,
        })
    }

    #[inline(always)]
    fn open(&mut self, is_array: bool, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        if self.open.len() >= self.limits.depth {
            return Err(Fault::Depth);
        }
        pass(rest);
        let state = self.next;
        self.open.push(Level { state, other: self.matcher.other(state), index: is_array.then_some(0) });
        self.state = Expected::KeyOrEnd;
        if is_array {
            self.next = self.matcher.element(state, 0);
            self.state = Expected::ValueOrEnd;
        }
        Ok(ReadStep::On)
    }

    #[inline(always)]
    fn after_value(&mut self, byte: u8, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        let Some(level) = self.open.last_mut() else { return Err(Fault::TextGoesOn) };
        match (&mut level.index, byte) {
            (None, b',') => {
                pass(rest);
                self.state = Expected::Key;
                if rest.first() == Some(&b'"') { self.key(rest) } else { Ok(ReadStep::On) }
            }
            (Some(index), b',') => {
                pass(rest);
                *index = index.saturating_add(1);
                self.next = self.matcher.element(level.state, *index);
                self.state = Expected::Value;
                Ok(ReadStep::On)
            }
            (Some(_), b']') | (None, b'}') => self.close(rest),
            (Some(_), _) => Err(Fault::ArrayGoesOn),
            (None, _) => Err(Fault::ObjectGoesOn),
        }
    }

    #[inline(always)]
    fn close(&mut self, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        pass(rest);
        self.open.pop();
        Ok(self.value_ended())
    }

    /// Any string, or what is left of one.
    #[inline(never)]
    fn string(&mut self, mut text: Text, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        if text.read(rest)? {
            return Ok(self.value_ended());
        }
        self.state = Expected::InString(text);
        Ok(ReadStep::On)
    }

    #[inline(always)]
    fn number(&mut self, mut number: Number, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        number.read(rest);
        self.state = Expected::InNumber(number);
        match rest.first() {
            None => Ok(ReadStep::On),
            Some(_) if number.is_whole() => Ok(self.value_ended()),
            Some(_) => Err(Fault::NoDigit),
        }
    }

    #[inline(always)]
    fn literal(&mut self, mut literal: Literal, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        if literal.read(rest) {
            return Ok(self.value_ended());
        }
        self.state = Expected::InLiteral(literal);
        if rest.is_empty() { Ok(ReadStep::On) } else { Err(Fault::NoWord) }
    }

    /// A value ended: does the field's with it?
    fn value_ended(&mut self) -> ReadStep {
        self.state = Expected::AfterValue;
        match &self.field {
            Some(field) if field.depth == self.open.len() => ReadStep::Ended,
            _ => ReadStep::On,
        }
    }
}

/// Passes over the first byte.
#[inline(always)]
fn pass(rest: &mut &[u8]) {
    *rest = rest.get(1..).unwrap_or_default();
}

/// What is behind the closing quote of a string, if all of it is at hand and plain ASCII.
#[inline(always)]
fn behind_plain_string(bytes: &[u8]) -> Option<&[u8]> {
    match behind_plain(bytes) {
        [b'"', behind @ ..] => Some(behind),
        _ => None,
    }
}
