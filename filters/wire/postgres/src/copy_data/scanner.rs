//! Where a field of text or CSV ends.

use memchr::{memchr, memchr2, memchr3};

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
        let mut at = 0_usize;
        loop {
            if !(self.escaped || self.carriage) {
                let rest = bytes.get(at..).unwrap_or_default();
                at = at.saturating_add(plain(rest, memchr3(delimiter, b'\n', b'\\', rest)));
            }
            let Some(byte) = bytes.get(at).copied() else { return Ok(Found::More) };
            if std::mem::take(&mut self.escaped) {
                if byte == b'.' {
                    return Ok(Found::Marker(at));
                }
            } else {
                if let Some(found) = self.line_end(byte, at)? {
                    return Ok(found);
                }
                if byte == delimiter {
                    return Ok(Found::Delimiter(at));
                }
                self.escaped = byte == b'\\';
            }
            at = at.saturating_add(1);
        }
    }

    fn find_in_csv(&mut self, delimiter: u8, quotes: Quotes, bytes: &[u8]) -> Result<Found, CopyDataError> {
        let Quotes { quote, escape } = quotes;
        let mut at = 0_usize;
        loop {
            if !(self.carriage || self.escape) {
                let rest = bytes.get(at..).unwrap_or_default();
                at = at.saturating_add(match self.quoted {
                    true => memchr2(quote, escape, rest).unwrap_or(rest.len()),
                    false => plain(rest, memchr3(delimiter, b'\n', quote, rest)),
                });
            }
            let Some(byte) = bytes.get(at).copied() else { return Ok(Found::More) };
            if let Some(found) = self.step_in_csv(delimiter, quotes, byte, at)? {
                return Ok(found);
            }
            at = at.saturating_add(1);
        }
    }

    fn step_in_csv(
        &mut self,
        delimiter: u8,
        Quotes { quote, escape }: Quotes,
        byte: u8,
        at: usize,
    ) -> Result<Option<Found>, CopyDataError> {
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
            return Ok(None);
        }
        if let Some(found) = self.line_end(byte, at)? {
            return Ok(Some(found));
        }
        Ok((byte == delimiter).then_some(Found::Delimiter(at)))
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

/// How many bytes mean nothing before the first that does: the one that was found, or a carriage return before it.
fn plain(rest: &[u8], found: Option<usize>) -> usize {
    let plain = rest.get(..found.unwrap_or(rest.len())).unwrap_or_default();
    memchr(b'\r', plain).unwrap_or(plain.len())
}
