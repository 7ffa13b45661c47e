//! A plain value as it is written, and what it says.

use std::{borrow::Cow, ops::Range};

use zeroize::Zeroizing;

use crate::{
    dialect::Dialect,
    walk::{
        search::operand::is_within,
        value::cast::{TextShape, is_plain_number},
    },
};

/// Bytes of a plain number, without its sign. All of them without a point are integers to either server.
const MAX_DIGITS: usize = 18;

/// How a plain value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `42`
    Integer,
    /// `4.2`
    Decimal,
    /// `-42`
    NegativeInteger,
    /// `-4.2`
    NegativeDecimal,
    /// `'…'`
    Quoted,
    /// PostgreSQL's `E'…'`
    Escape,
    /// PostgreSQL's `$$…$$`
    Dollar,
}

impl Notation {
    /// Returns the character that stands for it in a key.
    pub fn mark(self) -> char {
        match self {
            Self::Integer => '0',
            Self::Decimal => '.',
            Self::NegativeInteger => '-',
            Self::NegativeDecimal => '~',
            Self::Quoted => '\'',
            Self::Escape => 'e',
            Self::Dollar => '$',
        }
    }
}

/// How what is between the quotes stands for what the value says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// It is the same.
    Same,
    /// A quote is doubled.
    DoubledQuotes,
    /// A backslash stands before another character, and a quote may be doubled.
    Escapes,
}

/// A plain value in a text. It holds no part of the text.
#[derive(Clone)]
pub(super) struct PlainValue {
    /// Its bytes, with its quotes or its sign.
    pub range: Range<usize>,
    pub notation: Notation,
    /// The bytes between its quotes, or its digits.
    inner: Range<usize>,
    encoding: Encoding,
}

impl PlainValue {
    /// Reads the value that begins at a byte of a text. Returns None if none begins there, or if it is not plain.
    pub fn at(text: &str, start: usize, dialect: Dialect) -> Option<Self> {
        let bytes = text.as_bytes();
        let second = bytes.get(start.saturating_add(1)).copied();
        match bytes.get(start)? {
            b'0'..=b'9' => number(text, start, start),
            b'-' if second?.is_ascii_digit() => number(text, start, start.saturating_add(1)),
            b'\'' => {
                let has_escapes = matches!(dialect, Dialect::MySql(mysql) if !mysql.no_backslash_escapes);
                quoted(bytes, start..start.saturating_add(1), Notation::Quoted, has_escapes)
            }
            b'e' | b'E' if dialect == Dialect::Postgres && second? == b'\'' => {
                quoted(bytes, start..start.saturating_add(2), Notation::Escape, true)
            }
            b'$' if dialect == Dialect::Postgres && second? == b'$' => dollar(bytes, start),
            _ => None,
        }
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self.notation, Notation::Quoted | Notation::Escape | Notation::Dollar)
    }

    /// Whether it says something else than what is between its quotes.
    pub fn is_encoded(&self) -> bool {
        self.encoding != Encoding::Same
    }

    /// Returns what is written, without quotes and sign.
    pub fn inner<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.inner.clone()).unwrap_or_default()
    }

    /// Counts the bytes of that.
    pub fn inner_len(&self) -> usize {
        self.inner.len()
    }

    /// Returns what it says to analysis.
    pub fn content<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match (self.notation, self.encoding) {
            (Notation::NegativeInteger | Notation::NegativeDecimal, _) => {
                Cow::Borrowed(text.get(self.range.clone()).unwrap_or_default())
            }
            (_, Encoding::Same) => Cow::Borrowed(self.inner(text)),
            (_, encoding) => Cow::Owned(decoded(self.inner(text), encoding)),
        }
    }

    /// Whether this is what it says.
    pub fn says(&self, text: &str, other: &str) -> bool {
        match self.content(text) {
            Cow::Borrowed(content) => content == other,
            Cow::Owned(content) => Zeroizing::new(content).as_str() == other,
        }
    }

    /// Whether it touches neither a word nor another value.
    pub fn stands_alone(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let apart = |byte: Option<&u8>| {
            byte.is_none_or(|b| {
                matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b',' | b';' | b'=' | b'<' | b'>')
            })
        };
        let behind = bytes.get(self.range.end);
        let is_cast = || self.is_string() && behind == Some(&b':');
        apart(self.range.start.checked_sub(1).and_then(|at| bytes.get(at))) && (apart(behind) || is_cast())
    }

    /// Says what analysis may ask of it where it is cast, a bit for each answer.
    pub fn asked_when_cast(&self, text: &str) -> u32 {
        const SHAPES: [TextShape; 9] = [
            TextShape::Integer,
            TextShape::Decimal,
            TextShape::Float,
            TextShape::Boolean,
            TextShape::Uuid,
            TextShape::Date,
            TextShape::Timestamp,
            TextShape::TimestampTz,
            TextShape::Bytea,
        ];
        let content = Zeroizing::new(self.content(text).into_owned());
        let content = content.as_str();
        let keeps = SHAPES.map(|shape| shape.keeps(content));
        let fits = [16, 32, 64].map(|bits| is_within(content, bits));
        let ends = [" ", " 00:00:00"].map(|end| content.ends_with(end));
        let answers = keeps.into_iter().chain(fits).chain(ends);
        answers.fold(0, |bits, answer| (bits << 1) | u32::from(answer))
    }
}

/// Reads a number whose digits begin at a byte.
fn number(text: &str, start: usize, digits: usize) -> Option<PlainValue> {
    let rest = text.as_bytes().get(digits..)?;
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let inner = digits..digits.saturating_add(length);
    let source = text.get(inner.clone())?;
    let is_negative = digits > start;
    let notation = match (is_negative, source.contains('.')) {
        (false, false) => Notation::Integer,
        (false, true) => Notation::Decimal,
        (true, false) => Notation::NegativeInteger,
        (true, true) => Notation::NegativeDecimal,
    };
    // Minus zero is zero to analysis.
    let is_zero = || source.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if length > MAX_DIGITS || !is_plain_number(source) || (is_negative && is_zero()) {
        return None;
    }
    Some(PlainValue { range: start..inner.end, notation, inner, encoding: Encoding::Same })
}

/// Reads a string. `open` is what it begins with, up to its quote.
fn quoted(bytes: &[u8], open: Range<usize>, notation: Notation, has_escapes: bool) -> Option<PlainValue> {
    let mut encoding = Encoding::Same;
    let mut at = open.end;
    loop {
        let length = match bytes.get(at)? {
            b'\'' if bytes.get(at.saturating_add(1)) == Some(&b'\'') => {
                if encoding == Encoding::Same {
                    encoding = Encoding::DoubledQuotes;
                }
                2
            }
            b'\'' => break,
            b'\\' if has_escapes => {
                is_plain_escape(*bytes.get(at.saturating_add(1))?).then_some(())?;
                encoding = Encoding::Escapes;
                2
            }
            byte => {
                is_plain(*byte).then_some(())?;
                1
            }
        };
        at = at.saturating_add(length);
    }
    Some(PlainValue { range: open.start..at.saturating_add(1), notation, inner: open.end..at, encoding })
}

/// Reads `$$…$$`.
fn dollar(bytes: &[u8], start: usize) -> Option<PlainValue> {
    let open = start.saturating_add(2);
    let length = bytes.get(open..)?.iter().take_while(|byte| is_plain(**byte) && **byte != b'$').count();
    let close = open.saturating_add(length);
    let end = close.saturating_add(2);
    let is_closed = bytes.get(close..end) == Some(b"$$");
    is_closed.then_some(PlainValue {
        range: start..end,
        notation: Notation::Dollar,
        inner: open..close,
        encoding: Encoding::Same,
    })
}

/// Whether a byte may stand in a plain string. Control characters may not, but for those that a text has between its lines.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r' | 0x80..)
}

/// Whether a character behind a backslash means the same to both readings of a text, and to every server that knows escapes.
fn is_plain_escape(byte: u8) -> bool {
    matches!(byte, b'\\' | b'\'' | b'"' | b'n' | b'r' | b't')
}

fn decoded(inner: &str, encoding: Encoding) -> String {
    // It never grows, so that no part of it is left behind in other memory.
    let mut said = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        said.push(match letter {
            '\'' => letters.next().unwrap_or('\''),
            '\\' if encoding == Encoding::Escapes => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            letter => letter,
        });
    }
    said
}
