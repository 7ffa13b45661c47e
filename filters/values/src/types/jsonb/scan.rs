//! The tokens of JSON (RFC 8259), read as the server reads them for `jsonb`.

use super::INVALID;
use crate::ValueError;

/// What is left to read, and how many bytes there are in all.
pub(super) struct Scanner<'a>(&'a str, usize);

impl<'a> Scanner<'a> {
    /// Behind so many bytes of the text.
    pub(super) fn at(text: &'a str, offset: usize) -> Self {
        Self(text.get(offset..).unwrap_or_default(), text.len())
    }

    /// How many bytes were read.
    pub(super) fn offset(&self) -> usize {
        self.1.saturating_sub(self.0.len())
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.0.as_bytes().first().copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        match self.0.strip_prefix(char::from(byte)) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), ValueError> {
        if self.take(byte) { Ok(()) } else { Err(INVALID) }
    }

    pub(super) fn skip_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// What comes first, of so many bytes.
    fn advance(&mut self, length: usize) -> Result<&'a str, ValueError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(INVALID)?;
        self.0 = rest;
        Ok(taken)
    }

    /// `true`, `false` or `null`. What may not follow is no other token either.
    pub(super) fn word(&mut self) -> Result<&'static str, ValueError> {
        let word = ["true", "false", "null"].into_iter().find(|word| self.0.starts_with(word));
        let word = word.ok_or(INVALID)?;
        self.advance(word.len())?;
        Ok(word)
    }

    pub(super) fn number(&mut self) -> Result<&'a str, ValueError> {
        let all = self.0;
        self.take(b'-');
        match self.digits()? {
            "" => return Err(INVALID),
            whole if whole.len() > 1 && whole.starts_with('0') => return Err(INVALID),
            _ => {}
        }
        if self.take(b'.') && self.digits()?.is_empty() {
            return Err(INVALID);
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits()?.is_empty() {
                return Err(INVALID);
            }
        }
        all.get(..all.len().saturating_sub(self.0.len())).ok_or(INVALID)
    }

    fn digits(&mut self) -> Result<&'a str, ValueError> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        self.advance(end)
    }

    /// A string with its escapes resolved.
    pub(super) fn string(&mut self) -> Result<String, ValueError> {
        self.expect(b'"')?;
        let mut string = String::new();
        loop {
            let plain = self.0.find(|c: char| matches!(c, '"' | '\\' | '\0'..' ')).ok_or(INVALID)?;
            string.push_str(self.advance(plain)?);
            match self.advance(1)? {
                "\"" => return Ok(string),
                "\\" => string.push(self.escaped()?),
                // A control character must be escaped.
                _ => return Err(INVALID),
            }
        }
    }

    /// What stands behind a backslash.
    fn escaped(&mut self) -> Result<char, ValueError> {
        Ok(match self.advance(1)? {
            "\"" => '"',
            "\\" => '\\',
            "/" => '/',
            "b" => '\x08',
            "f" => '\x0c',
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "u" => return self.code_point(),
            _ => return Err(INVALID),
        })
    }

    /// `\uXXXX`, or two of them that are a surrogate pair. The server has no place for NUL.
    fn code_point(&mut self) -> Result<char, ValueError> {
        let first = self.code_unit()?;
        let second = if (0xd800..0xdc00).contains(&first) {
            self.expect(b'\\')?;
            self.expect(b'u')?;
            Some(self.code_unit()?)
        } else {
            None
        };
        let mut decoded = char::decode_utf16([first].into_iter().chain(second));
        match (decoded.next(), decoded.next()) {
            (Some(Ok('\0')), _) => Err(ValueError::Invalid("jsonb: it holds a NUL")),
            (Some(Ok(c)), None) => Ok(c),
            _ => Err(INVALID),
        }
    }

    fn code_unit(&mut self) -> Result<u16, ValueError> {
        let digits = self.advance(4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(INVALID);
        }
        u16::from_str_radix(digits, 16).map_err(|_| INVALID)
    }
}
