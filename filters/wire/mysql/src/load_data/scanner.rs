//! Where a field ends, and where a line.

use super::{Format, stands};

/// What ends a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// [`Format::field_end`].
    Field,
    /// [`Format::line_end`].
    Line,
    /// The content's end.
    Content,
}

/// A field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its bytes, without what ends it.
    pub len: usize,
    /// What ends it.
    pub end: End,
    /// Whether it ends with the quote that it begins with.
    pub enclosed: bool,
}

/// How far a field was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scanner {
    at: usize,
    quoted: bool,
}

impl Scanner {
    /// Looks for the end of the field that `bytes` begin with; None if more of them is needed. Give the same bytes again
    /// with what comes behind them, and `last` when nothing does. The bytes must not be empty: then there is no field.
    pub fn find(&mut self, format: &Format, bytes: &[u8], last: bool) -> Option<Found> {
        if self.at == 0 && format.enclosed.is_some() && bytes.first().copied() == format.enclosed {
            self.quoted = true;
            self.at = 1;
        }
        loop {
            let Some(byte) = bytes.get(self.at).copied() else {
                return last.then_some(Found { len: self.at, end: End::Content, enclosed: false });
            };
            let next = bytes.get(self.at.saturating_add(1)).copied();
            if Some(byte) == format.escaped {
                match next {
                    None if !last => return None,
                    // Nothing is escaped by the last byte.
                    None => {
                        let len = self.at.saturating_add(1);
                        return Some(Found { len, end: End::Content, enclosed: false });
                    }
                    // A quote that is its own escape escapes itself alone.
                    Some(next) if format.escaped != format.enclosed || next == byte => {
                        self.at = self.at.saturating_add(2);
                        continue;
                    }
                    Some(_) => {}
                }
            }
            if !self.quoted {
                for (end, text) in [(End::Line, &format.line_end), (End::Field, &format.field_end)] {
                    if stands(bytes, self.at, text, last)? {
                        return Some(Found { len: self.at, end, enclosed: false });
                    }
                }
            } else if Some(byte) == format.enclosed {
                let behind = self.at.saturating_add(1);
                match next {
                    None if !last => return None,
                    None => return Some(Found { len: behind, end: End::Content, enclosed: true }),
                    Some(next) if next == byte => {
                        self.at = behind.saturating_add(1);
                        continue;
                    }
                    Some(_) => {}
                }
                for (end, text) in [(End::Line, &format.line_end), (End::Field, &format.field_end)] {
                    if stands(bytes, behind, text, last)? {
                        return Some(Found { len: behind, end, enclosed: true });
                    }
                }
            }
            self.at = self.at.saturating_add(1);
        }
    }
}

/// How far a line was looked at whose fields nobody reads: quotes mean nothing in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineScanner {
    at: usize,
}

impl LineScanner {
    /// Where the line ends that `bytes` begin with, and whether by [`Format::line_end`]; None if more is needed, as of
    /// [`Scanner::find`].
    pub fn find(&mut self, format: &Format, bytes: &[u8], last: bool) -> Option<(usize, bool)> {
        loop {
            let Some(byte) = bytes.get(self.at).copied() else { return last.then_some((self.at, false)) };
            let mut taken = 1_usize;
            if Some(byte) == format.escaped {
                match bytes.get(self.at.saturating_add(1)) {
                    None if !last => return None,
                    None => {}
                    Some(_) => taken = 2,
                }
            } else if stands(bytes, self.at, &format.line_end, last)? {
                return Some((self.at, true));
            }
            self.at = self.at.saturating_add(taken);
        }
    }
}

/// How many bytes stand before [`Format::line_start`], or, if it isn't there, how many of them can't be a part of it.
pub fn line_start(format: &Format, bytes: &[u8]) -> Result<usize, usize> {
    let text = format.line_start.as_slice();
    if text.is_empty() {
        return Ok(0);
    }
    let may_begin = bytes.len().saturating_sub(text.len().saturating_sub(1));
    match bytes.windows(text.len()).position(|window| window == text) {
        Some(at) => Ok(at),
        None => Err(may_begin),
    }
}
