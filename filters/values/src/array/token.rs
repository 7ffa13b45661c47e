//! What the text form of an array is made of: bounds, braces, commas and elements.

use super::{Dimension, Element, INVALID, KIND, MAX_DIMENSIONS, NULL};
use crate::ValueError;

/// The white space of the server's scanner.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// What an array's text is made of.
pub(super) enum Token {
    Open,
    Close,
    Delimiter,
    Element(Element),
}

/// What is left to read.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
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

    pub(super) fn token(&mut self) -> Result<Token, ValueError> {
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
    pub(super) fn dimensions(&mut self) -> Result<Vec<Dimension>, ValueError> {
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
