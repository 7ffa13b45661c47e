//! DataRow: one row. The message of which most pass, so it is read and written without allocation.

use std::fmt;

use super::Tag;
use crate::limits::MAX_COLUMNS;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{WireError, frame, write};

const MESSAGE: &str = "DataRow";

/// DataRow: one row, every length in it already checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DataRow<'a> {
    columns: u16,
    values: &'a [u8],
}

impl<'a> DataRow<'a> {
    /// Checks a body to its end, so that nothing of a broken row is ever opened or forwarded.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let columns = reader.u16("columns")?;
        if usize::from(columns) > MAX_COLUMNS {
            return Err(WireError::TooMany { message: MESSAGE, what: "columns", limit: MAX_COLUMNS });
        }
        let values = reader.rest();
        for _ in 0..columns {
            reader.value("value")?;
        }
        reader.end()?;
        Ok(Self { columns, values })
    }

    /// Number of columns.
    pub fn columns(&self) -> u16 {
        self.columns
    }

    /// The values in order, `None` for NULL.
    pub fn values(&self) -> Values<'a> {
        Values { left: self.columns, rest: self.values }
    }
}

impl<'a> IntoIterator for DataRow<'a> {
    type Item = Option<&'a [u8]>;
    type IntoIter = Values<'a>;

    fn into_iter(self) -> Values<'a> {
        self.values()
    }
}

impl fmt::Debug for DataRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("columns", &self.columns).field("values", &Sized(self.values)).finish()
    }
}

/// The values of a [`DataRow`].
#[derive(Clone)]
pub struct Values<'a> {
    left: u16,
    rest: &'a [u8],
}

impl<'a> Iterator for Values<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // `parse` has checked every length: the early returns below are never taken.
        let (length, rest) = self.rest.split_first_chunk::<4>()?;
        let length = i32::from_be_bytes(*length);
        if length == -1 {
            self.rest = rest;
            return Some(None);
        }
        let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(Some(value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.into(), Some(self.left.into()))
    }
}

impl ExactSizeIterator for Values<'_> {}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Writes one DataRow at the end of a buffer, value by value. A row not finished is taken back when the
/// writer is dropped, so that half a row never leaves.
#[derive(Debug)]
#[must_use = "a row that is not finished is taken back"]
pub struct DataRowWriter<'a> {
    out: Open<'a>,
    left: u16,
}

impl<'a> DataRowWriter<'a> {
    /// Begins a row of `columns` values.
    pub fn new(out: &'a mut Vec<u8>, columns: u16) -> Self {
        let start = frame::begin(out, Tag::DataRow);
        out.extend_from_slice(&columns.to_be_bytes());
        Self { out: Open { out, start, finished: false }, left: columns }
    }

    /// Appends the next value, `None` for NULL.
    #[inline]
    pub fn push(&mut self, value: Option<&[u8]>) -> Result<(), WireError> {
        self.take_column()?;
        write::value(self.out.out, MESSAGE, "value", value)
    }

    /// Appends the next value as `write` appends it to the buffer, which it may only append to; NULL if it says that
    /// there is none. On its error the row can't be finished.
    #[inline]
    pub fn push_with<E: From<WireError>>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.take_column()?;
        // Counts as a column not written until it is: finish() then fails.
        let left = std::mem::replace(&mut self.left, u16::MAX);
        write::value_with(self.out.out, MESSAGE, "value", write)?;
        self.left = left;
        Ok(())
    }

    /// Ends the row: checks the number of values and patches the message's length.
    pub fn finish(mut self) -> Result<(), WireError> {
        if self.left != 0 {
            return Err(WireError::WrongCountWritten { message: MESSAGE, what: "values" });
        }
        frame::finish(self.out.out, self.out.start)?;
        self.out.finished = true;
        Ok(())
    }

    fn take_column(&mut self) -> Result<(), WireError> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(WireError::WrongCountWritten { message: MESSAGE, what: "values" })?;
        Ok(())
    }
}

/// A message begun in a buffer; taken back on drop unless finished.
struct Open<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    finished: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.out.truncate(self.start);
        }
    }
}

impl fmt::Debug for Open<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").field("start", &self.start).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    fn write(out: &mut Vec<u8>, values: &[Option<&[u8]>]) -> Result<(), WireError> {
        let mut row = DataRowWriter::new(out, u16::try_from(values.len()).unwrap());
        values.iter().try_for_each(|value| row.push(*value))?;
        row.finish()
    }

    #[test]
    fn row_comes_back_as_written() {
        let values = [Some(&b"canary"[..]), None, Some(b"")];
        let body = body_of(Tag::DataRow, |out| write(out, &values));
        assert_eq!(body, b"\0\x03\0\0\0\x06canary\xff\xff\xff\xff\0\0\0\0");
        let row = DataRow::parse(&body).unwrap();
        assert_eq!((row.columns(), row.values().len()), (3, 3));
        assert_eq!(row.values().collect::<Vec<_>>(), values);
        check_truncations(&body, |body| DataRow::parse(body).map(drop));
        assert!(!format!("{row:?} {:?}", row.values()).contains("canary"));
    }

    #[test]
    fn values_are_copied_or_replaced() {
        let body = body_of(Tag::DataRow, |out| write(out, &[Some(b"1"), Some(b"sealed"), None, Some(b"2")]));
        let row = DataRow::parse(&body).unwrap();
        let mut out = Vec::new();
        let mut writer = DataRowWriter::new(&mut out, row.columns());
        for (index, value) in row.values().enumerate() {
            match index {
                1 => writer.push_with(|out| {
                    out.extend_from_slice(b"open");
                    Ok::<_, WireError>(true)
                }),
                3 => writer.push_with(|out| {
                    out.extend_from_slice(b"begun");
                    Ok::<_, WireError>(false)
                }),
                _ => writer.push(value),
            }
            .unwrap();
        }
        writer.finish().unwrap();
        let expected = body_of(Tag::DataRow, |out| write(out, &[Some(b"1"), Some(b"open"), None, None]));
        assert_eq!(&out[5..], expected);
    }

    #[test]
    fn row_with_too_few_or_too_many_values_is_taken_back() {
        let mut out = b"kept".to_vec();
        assert!(DataRowWriter::new(&mut out, 1).finish().is_err());
        let mut row = DataRowWriter::new(&mut out, 1);
        row.push(None).unwrap();
        assert!(row.push(None).is_err());
        drop(row);
        assert_eq!(out, b"kept");
    }

    #[test]
    fn row_whose_value_failed_can_not_be_finished() {
        let mut out = b"kept".to_vec();
        let mut row = DataRowWriter::new(&mut out, 1);
        let failure = WireError::TooLong { message: "x", what: "y" };
        assert_eq!(row.push_with(|_| Err(failure)), Err(failure));
        assert!(row.finish().is_err());
        assert_eq!(out, b"kept");
    }

    #[test]
    fn broken_rows_are_malformed() {
        for body in [
            &b"\0\x01\xff\xff\xff\xfe"[..], // length -2
            b"\0\x01\x7f\xff\xff\xffabc",   // length past the end
            b"\0\x01\0\0\0\x01ab",          // left over
            b"\0\x02\0\0\0\x01a",           // one value short
            b"\x06\x81\0",                  // 1665 columns
            b"\xff\xff",                    // -1 columns
        ] {
            assert!(DataRow::parse(body).is_err());
        }
    }
}
