//! Where a field of text or CSV ends.

use super::{CopyDataError, Dialect, Quotes};

/// The state within one field, from one piece of data to the next.
#[derive(Debug, Clone, Default)]
pub struct Scanner {
    /// Text: the next byte follows a backslash.
    escaped: bool,
    /// CSV: within quotes.
    quoted: bool,
    /// CSV: the last byte was an escape that counts.
    escape: bool,
    /// The last byte was a carriage return that ends the line.
    carriage: bool,
}

/// What was found in a piece of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The field goes on behind the piece.
    More,
    /// The field ends before the delimiter at this place.
    Delimiter(usize),
    /// The field ends before the line's end, whose newline is at this place. A carriage return may stand before it.
    Newline(usize),
    /// Text: `\.`, its dot at this place.
    Marker(usize),
}

impl Scanner {
    /// Whether the newline just found has a carriage return before it. Tells once.
    pub fn take_carriage(&mut self) -> bool {
        std::mem::take(&mut self.carriage)
    }

    /// Looks for the field's end. Give the bytes behind what was looked at before, the found delimiter included.
    pub fn find(&mut self, dialect: &Dialect, bytes: &[u8]) -> Result<Found, CopyDataError> {
        match dialect.quotes {
            None => self.find_in_text(dialect.delimiter, bytes),
            Some(quotes) => self.find_in_csv(dialect.delimiter, quotes, bytes),
        }
    }

    fn find_in_text(&mut self, delimiter: u8, bytes: &[u8]) -> Result<Found, CopyDataError> {
        for (at, byte) in bytes.iter().copied().enumerate() {
            if self.escaped {
                self.escaped = false;
                if byte == b'.' {
                    return Ok(Found::Marker(at));
                }
                continue;
            }
            if let Some(found) = self.line_end(byte, at)? {
                return Ok(found);
            }
            if byte == delimiter {
                return Ok(Found::Delimiter(at));
            }
            self.escaped = byte == b'\\';
        }
        Ok(Found::More)
    }

    fn find_in_csv(&mut self, delimiter: u8, quotes: Quotes, bytes: &[u8]) -> Result<Found, CopyDataError> {
        let Quotes { quote, escape } = quotes;
        for (at, byte) in bytes.iter().copied().enumerate() {
            if self.carriage && byte != b'\n' {
                return Err(CopyDataError::CarriageReturn);
            }
            // As the server does: a quote that is its own escape is a toggle; another escape counts within quotes
            // alone, and not behind itself.
            if escape != quote && self.quoted && byte == escape {
                self.escape = !self.escape;
            }
            if byte == quote && !self.escape {
                self.quoted = !self.quoted;
            }
            if escape == quote || byte != escape {
                self.escape = false;
            }
            if self.quoted {
                continue;
            }
            if let Some(found) = self.line_end(byte, at)? {
                return Ok(found);
            }
            if byte == delimiter {
                return Ok(Found::Delimiter(at));
            }
        }
        Ok(Found::More)
    }

    fn line_end(&mut self, byte: u8, at: usize) -> Result<Option<Found>, CopyDataError> {
        match byte {
            b'\n' => Ok(Some(Found::Newline(at))),
            _ if self.carriage => Err(CopyDataError::CarriageReturn),
            b'\r' => {
                self.carriage = true;
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}
