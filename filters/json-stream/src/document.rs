//! One JSON text, checked and followed byte by byte however it is cut (RFC 8259).
//!
//! [`Document::scan`] stops where a field's value begins and where it ends, and reads over all else. It keeps a
//! state and the open arrays and objects; of the text itself only a key that is cut.

mod literal;
mod number;
mod text;

use std::rc::Rc;

use crate::limits::Limits;
use crate::matcher::{DEAD, StateId};
use crate::string::unescape;
use crate::{Exceeded, Matcher};
use literal::Literal;
use number::Number;
use text::Text;

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    String,
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
    /// An object.
    Object,
    /// An array.
    Array,
}

/// One JSON text and the next, read in pieces.
pub(crate) struct Document {
    matcher: Rc<Matcher>,
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
    /// The index of the element being read; none in an object.
    index: Option<u64>,
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

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Malformed(&'static str),
    Limit(Exceeded),
}

/// What may be at the end of a JSON text, as its framing has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    /// Nothing but space came.
    pub(crate) blank: bool,
    /// A number is the text's last byte, so that nobody knows whether it was cut.
    pub(crate) number: bool,
}

const OK: Result<Option<Scan>, Fault> = Ok(None);

impl Document {
    pub(crate) fn new(matcher: Rc<Matcher>, limits: Limits) -> Self {
        let next = matcher.root();
        let state = Expected::Begin;
        Self { matcher, limits, state, next, open: Vec::new(), key: Vec::new(), field: None }
    }

    /// Reads on from `at`, which is left where reading stopped, or at the byte at fault.
    pub(crate) fn scan(&mut self, bytes: &[u8], at: &mut usize) -> Result<Scan, Fault> {
        // A place of its own, which can stay in a register.
        let mut reached = *at;
        let scan = self.read(bytes, &mut reached);
        *at = reached;
        scan
    }

    #[inline(always)]
    fn read(&mut self, bytes: &[u8], at: &mut usize) -> Result<Scan, Fault> {
        // What an earlier piece began.
        let mut stop = match self.state {
            _ if *at >= bytes.len() => None,
            Expected::InKey(text) => self.key(text, bytes, at)?,
            Expected::InString(text) => self.string(text, bytes, at)?,
            Expected::InNumber(number) => self.number(number, bytes, at)?,
            Expected::InLiteral(literal) => self.literal(literal, bytes, at)?,
            _ => None,
        };
        while stop.is_none() && *at < bytes.len() {
            stop = self.structure(bytes, at)?;
        }
        Ok(stop.unwrap_or(Scan::More))
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
            return Err(Fault::Malformed(match self.state {
                Expected::Begin => "there is no JSON text",
                Expected::InNumber(_) if self.open.is_empty() => "the number may be cut",
                _ => "the JSON text ends too early",
            }));
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

    /// Space, one of the six structural characters, and what that begins.
    #[inline(always)]
    fn structure(&mut self, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(*at) {
            *at = at.saturating_add(1);
        }
        let Some(byte) = bytes.get(*at) else { return OK };
        match (self.state, byte) {
            (Expected::ValueOrEnd, b']') | (Expected::KeyOrEnd, b'}') => self.close(at),
            (Expected::Begin | Expected::Value | Expected::ValueOrEnd, _) => self.value(*byte, bytes, at),
            (Expected::KeyOrEnd | Expected::Key, b'"') => {
                *at = at.saturating_add(1);
                self.key(Text::Plain, bytes, at)
            }
            (Expected::KeyOrEnd, _) => malformed("a key or the end of the object must come here"),
            (Expected::Key, _) => malformed("a key must come here"),
            (Expected::Colon, b':') => self.go(Expected::Value, at),
            (Expected::Colon, _) => malformed("a colon must come here"),
            _ => self.after_value(*byte, at),
        }
    }

    fn value(&mut self, byte: u8, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        if let Some(number) = self.matcher.field(self.next)
            && let Some(kind) = kind(byte)
        {
            self.field = Some(Field { number, kind, depth: self.open.len() });
            self.next = DEAD;
            return Ok(Some(Scan::Begins));
        }
        match byte {
            b'"' => {
                *at = at.saturating_add(1);
                self.string(Text::Plain, bytes, at)
            }
            b'{' => self.open(None, Expected::KeyOrEnd, at),
            b'[' => self.open(Some(0), Expected::ValueOrEnd, at),
            _ => self.scalar(byte, bytes, at),
        }
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self, byte: u8, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        if let Some(number) = Number::begin(byte) {
            *at = at.saturating_add(1);
            return self.number(number, bytes, at);
        }
        if let Some(literal) = Literal::begin(byte) {
            *at = at.saturating_add(1);
            return self.literal(literal, bytes, at);
        }
        malformed(match self.state {
            Expected::Begin if byte == 0xef => "a byte order mark, or no JSON at all",
            Expected::ValueOrEnd => "a value or the end of the array must come here",
            _ => "a value must come here",
        })
    }

    fn open(&mut self, index: Option<u64>, then: Expected, at: &mut usize) -> Result<Option<Scan>, Fault> {
        if self.open.len() >= self.limits.depth {
            return Err(Fault::Limit(Exceeded::Depth));
        }
        let state = self.next;
        self.open.push(Level { state, index });
        if let Some(index) = index {
            self.next = self.matcher.element(state, index);
        }
        self.go(then, at)
    }

    fn after_value(&mut self, byte: u8, at: &mut usize) -> Result<Option<Scan>, Fault> {
        let Some(level) = self.open.last_mut() else {
            return malformed("nothing may follow the JSON text");
        };
        match (&mut level.index, byte) {
            (Some(_), b']') | (None, b'}') => self.close(at),
            (Some(index), b',') => {
                *index = index.saturating_add(1);
                self.next = self.matcher.element(level.state, *index);
                self.go(Expected::Value, at)
            }
            (None, b',') => self.go(Expected::Key, at),
            (Some(_), _) => malformed("a comma or the end of the array must come here"),
            (None, _) => malformed("a comma or the end of the object must come here"),
        }
    }

    fn close(&mut self, at: &mut usize) -> Result<Option<Scan>, Fault> {
        self.open.pop();
        *at = at.saturating_add(1);
        Ok(self.value_ended())
    }

    fn key(&mut self, mut text: Text, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        let begin = *at;
        let is_plain = text == Text::Plain && Text::read_plain(bytes, at);
        let read = if is_plain { Ok(true) } else { text.read(bytes, at) };
        let end = if read == Ok(true) { at.saturating_sub(1) } else { *at };
        let piece = bytes.get(begin..end).unwrap_or_default();
        // The limit comes first, so that a body fails alike wherever it is cut.
        let left = self.limits.key_bytes.saturating_sub(self.key.len());
        if piece.len() > left {
            *at = begin.saturating_add(left);
            return Err(Fault::Limit(Exceeded::KeyBytes));
        }
        if !read.map_err(Fault::Malformed)? {
            self.key.extend_from_slice(piece);
            self.state = Expected::InKey(text);
            return OK;
        }
        let next = if self.key.is_empty() {
            if is_plain { Some(self.plain_member(piece)) } else { self.member(piece) }
        } else {
            self.key.extend_from_slice(piece);
            let key = std::mem::take(&mut self.key);
            let next = self.member(&key);
            self.key = key;
            self.key.clear();
            next
        };
        let Some(next) = next else {
            *at = end;
            return malformed("a key must be Unicode text, without half a surrogate pair");
        };
        self.next = next;
        self.state = Expected::Colon;
        if bytes.get(*at) == Some(&b':') { self.go(Expected::Value, at) } else { OK }
    }

    /// The automaton's state for the member of this key. A key that stands for no text is refused wherever it is:
    /// readers differ in what they make of one, and some could make a field's name.
    fn member(&self, key: &[u8]) -> Option<StateId> {
        if !key.contains(&b'\\') {
            return Some(self.plain_member(key));
        }
        let mut decoded = Vec::with_capacity(key.len());
        unescape(key, &mut decoded).ok()?;
        Some(self.plain_member(&decoded))
    }

    /// The same for a key without escapes.
    fn plain_member(&self, key: &[u8]) -> StateId {
        let state = self.open.last().map_or(DEAD, |level| level.state);
        self.matcher.member(state, key)
    }

    fn string(&mut self, mut text: Text, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        if text.read(bytes, at).map_err(Fault::Malformed)? {
            return Ok(self.value_ended());
        }
        self.state = Expected::InString(text);
        OK
    }

    fn number(&mut self, mut number: Number, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        number.read(bytes, at);
        self.state = Expected::InNumber(number);
        match bytes.get(*at) {
            None => OK,
            Some(_) if number.is_whole() => Ok(self.value_ended()),
            Some(_) => malformed("a digit must come here"),
        }
    }

    fn literal(&mut self, mut literal: Literal, bytes: &[u8], at: &mut usize) -> Result<Option<Scan>, Fault> {
        if literal.read(bytes, at) {
            return Ok(self.value_ended());
        }
        self.state = Expected::InLiteral(literal);
        if *at < bytes.len() { malformed("only true, false and null are words of JSON") } else { OK }
    }

    fn go(&mut self, state: Expected, at: &mut usize) -> Result<Option<Scan>, Fault> {
        self.state = state;
        *at = at.saturating_add(1);
        OK
    }

    /// A value ended: does the field's with it?
    fn value_ended(&mut self) -> Option<Scan> {
        self.state = Expected::AfterValue;
        let field = self.field.filter(|field| field.depth == self.open.len())?;
        self.field = None;
        Some(Scan::Ended(field.number, field.kind))
    }
}

fn malformed(reason: &'static str) -> Result<Option<Scan>, Fault> {
    Err(Fault::Malformed(reason))
}

/// What a value is whose first byte this is.
fn kind(byte: u8) -> Option<Kind> {
    match byte {
        b'"' => Some(Kind::String),
        b'-' | b'0'..=b'9' => Some(Kind::Number),
        b't' => Some(Kind::True),
        b'f' => Some(Kind::False),
        b'n' => Some(Kind::Null),
        b'{' => Some(Kind::Object),
        b'[' => Some(Kind::Array),
        _ => None,
    }
}
