//! The text form: `{a,"b c",NULL}`, `{{1,2},{3,4}}`, `[0:1]={a,b}`, read as the server's `array_in` (17 and later).

use super::{Array, Dimension, Element, KIND, MAX_DIMENSIONS, MAX_ELEMENTS};
use crate::ValueError;

pub(super) const NULL: &[u8] = b"NULL";
const INVALID: ValueError = ValueError::Invalid(KIND);

/// The white space of the server's scanner.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// What an array's text is made of.
enum Token {
    Open,
    Close,
    Delimiter,
    Element(Element),
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Result<u8, ValueError> {
        let (first, rest) = self.0.split_first().ok_or(INVALID)?;
        self.0 = rest;
        Ok(*first)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.0 = self.0.get(1..).unwrap_or_default();
        }
        found
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.0 = self.0.get(1..).unwrap_or_default();
        }
    }

    fn token(&mut self) -> Result<Token, ValueError> {
        self.skip_space();
        match self.peek().ok_or(INVALID)? {
            b'{' => self.next().map(|_| Token::Open),
            b'}' => self.next().map(|_| Token::Close),
            b',' => self.next().map(|_| Token::Delimiter),
            b'"' => self.quoted().map(|element| Token::Element(Some(element))),
            _ => self.unquoted().map(Token::Element),
        }
    }

    fn quoted(&mut self) -> Result<Vec<u8>, ValueError> {
        self.next()?;
        let mut element = Vec::new();
        loop {
            match self.next()? {
                b'\\' => element.push(self.next()?),
                b'"' => break,
                byte => element.push(byte),
            }
        }
        self.skip_space();
        if matches!(self.peek(), Some(b',' | b'}' | b'{')) { Ok(element) } else { Err(INVALID) }
    }

    /// Without the white space behind it; NULL if it is that word and nothing in it is escaped.
    fn unquoted(&mut self) -> Result<Element, ValueError> {
        let (mut element, mut length, mut escapes) = (Vec::new(), 0, false);
        loop {
            match self.peek().ok_or(INVALID)? {
                b',' | b'}' => break,
                b'{' | b'"' => return Err(INVALID),
                b'\\' => {
                    self.next()?;
                    element.push(self.next()?);
                    length = element.len();
                    escapes = true;
                }
                byte => {
                    self.next()?;
                    element.push(byte);
                    if !is_space(byte) {
                        length = element.len();
                    }
                }
            }
        }
        element.truncate(length);
        Ok(if !escapes && element.eq_ignore_ascii_case(NULL) { None } else { Some(element) })
    }

    /// `[2:3][4]=` before the braces, if it is there.
    fn dimensions(&mut self) -> Result<Vec<Dimension>, ValueError> {
        let mut dimensions = Vec::new();
        loop {
            self.skip_space();
            if !self.take(b'[') {
                break;
            }
            if dimensions.len() == MAX_DIMENSIONS {
                return Err(ValueError::OutOfRange(KIND));
            }
            let first = self.bound()?;
            let (lower, upper) = if self.take(b':') { (first, self.bound()?) } else { (1, first) };
            // An upper bound of i32::MAX leaves no room for the one behind it.
            if !self.take(b']') || upper < lower || upper == i32::MAX {
                return Err(INVALID);
            }
            let length = upper.checked_sub(lower).and_then(|l| l.checked_add(1)).ok_or(INVALID)?;
            dimensions.push(Dimension { lower, length });
        }
        if !dimensions.is_empty() {
            if !self.take(b'=') {
                return Err(INVALID);
            }
            self.skip_space();
        }
        Ok(dimensions)
    }

    fn bound(&mut self) -> Result<i32, ValueError> {
        let end = self.0.iter().position(|b| !(b.is_ascii_digit() || matches!(b, b'+' | b'-')));
        let (digits, rest) = self.0.split_at_checked(end.ok_or(INVALID)?).ok_or(INVALID)?;
        self.0 = rest;
        std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok()).ok_or(INVALID)
    }
}

/// The lengths of the levels of braces, which must agree with each other and with bounds that were given.
struct Shape {
    /// Length of each dimension, once it is known.
    lengths: Vec<Option<usize>>,
    /// No deeper level may open: an element was seen, or bounds were given.
    frozen: bool,
    /// How many elements each open level has so far.
    open: Vec<usize>,
}

impl Shape {
    fn new(given: &[Dimension]) -> Self {
        let lengths = given.iter().map(|d| usize::try_from(d.length).ok()).collect();
        Self { lengths, frozen: !given.is_empty(), open: Vec::new() }
    }

    fn open(&mut self) -> Result<(), ValueError> {
        if self.open.len() == MAX_DIMENSIONS {
            return Err(ValueError::OutOfRange(KIND));
        }
        self.open.push(0);
        if self.open.len() > self.lengths.len() {
            if self.frozen {
                return Err(INVALID);
            }
            self.lengths.push(None);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), ValueError> {
        let count = self.open.pop().ok_or(INVALID)?;
        let length = self.lengths.get_mut(self.open.len()).ok_or(INVALID)?;
        if *length.get_or_insert(count) != count {
            return Err(INVALID);
        }
        self.count();
        Ok(())
    }

    fn element(&mut self) -> Result<(), ValueError> {
        self.frozen = true;
        if self.open.len() != self.lengths.len() {
            return Err(INVALID);
        }
        self.count();
        Ok(())
    }

    fn count(&mut self) {
        if let Some(count) = self.open.last_mut() {
            *count = count.saturating_add(1);
        }
    }

    fn is_empty_level(&self) -> bool {
        self.open.last() == Some(&0)
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Array, ValueError> {
    if bytes.contains(&0) {
        return Err(INVALID);
    }
    let mut reader = Reader(bytes);
    let given = reader.dimensions()?;
    if reader.peek() != Some(b'{') {
        return Err(INVALID);
    }
    let mut shape = Shape::new(&given);
    let mut elements = Vec::new();
    let mut expect_delimiter = false;
    loop {
        match (reader.token()?, expect_delimiter) {
            (Token::Open, false) => shape.open()?,
            (Token::Close, expected) if expected || shape.is_empty_level() => {
                shape.close()?;
                expect_delimiter = true;
            }
            (Token::Delimiter, true) => expect_delimiter = false,
            (Token::Element(element), false) => {
                if elements.len() == MAX_ELEMENTS {
                    return Err(ValueError::Unsupported("arrays of more than 65,536 elements"));
                }
                shape.element()?;
                elements.push(element);
                expect_delimiter = true;
            }
            _ => return Err(INVALID),
        }
        if shape.open.is_empty() {
            break;
        }
    }
    if !reader.0.iter().copied().all(is_space) {
        return Err(INVALID);
    }
    Array::new(dimensions(&given, &shape.lengths)?, elements)
}

/// The bounds that were given, or from 1 as long as the braces say.
fn dimensions(given: &[Dimension], lengths: &[Option<usize>]) -> Result<Vec<Dimension>, ValueError> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let dimension = |length: &Option<usize>| {
        let length = length.and_then(|length| i32::try_from(length).ok()).ok_or(INVALID)?;
        Ok(Dimension { lower: 1, length })
    };
    lengths.iter().map(dimension).collect()
}

/// Appends the element in quotes.
pub(super) fn quote(element: &[u8], array: &mut Vec<u8>) {
    array.push(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            array.push(b'\\');
        }
        array.push(*byte);
    }
    array.push(b'"');
}
