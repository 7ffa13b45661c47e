//! A row of the text protocol. Written and read without allocation, since most packets are rows.

use std::fmt;

use crate::WireError;
use crate::lenenc::{Lenenc, push_nullable, push_string};
use crate::message::Open;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "text row";

/// A row of the text protocol, every length in it already checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TextRow<'a> {
    columns: usize,
    values: &'a [u8],
}

impl<'a> TextRow<'a> {
    /// Checks a payload to its end, so that nothing of a broken row is ever opened or forwarded.
    pub fn parse(payload: &'a [u8], columns: usize) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        for _ in 0..columns {
            reader.nullable_string("value")?;
        }
        reader.end()?;
        Ok(Self { columns, values: payload })
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values in order, `None` for NULL.
    pub fn values(&self) -> TextValues<'a> {
        TextValues { left: self.columns, rest: self.values }
    }
}

impl<'a> IntoIterator for TextRow<'a> {
    type Item = Option<&'a [u8]>;
    type IntoIter = TextValues<'a>;

    fn into_iter(self) -> TextValues<'a> {
        self.values()
    }
}

impl fmt::Debug for TextRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextRow")
            .field("columns", &self.columns)
            .field("values", &Sized(self.values))
            .finish()
    }
}

/// The values of a [`TextRow`].
#[derive(Clone)]
pub struct TextValues<'a> {
    left: usize,
    rest: &'a [u8],
}

impl<'a> Iterator for TextValues<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // `parse` has checked every length: the early returns below are never taken.
        match Lenenc::peek(self.rest)? {
            Lenenc::Null => {
                self.rest = self.rest.get(1..)?;
                Some(None)
            }
            Lenenc::Integer { value, len } => {
                let rest = self.rest.get(len..)?;
                let (value, rest) = rest.split_at_checked(usize::try_from(value).ok()?)?;
                self.rest = rest;
                Some(Some(value))
            }
            Lenenc::Invalid => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for TextValues<'_> {}

impl fmt::Debug for TextValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextValues").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Writes one row at the end of a buffer, value by value. A row not finished is taken back when the writer is
/// dropped, so that half a row never leaves.
#[derive(Debug)]
#[must_use = "a row that is not finished is taken back"]
pub struct TextRowWriter<'a> {
    row: Open<'a>,
    left: usize,
}

impl<'a> TextRowWriter<'a> {
    /// Begins a row of `columns` values.
    pub fn new(out: &'a mut Vec<u8>, sequence: &'a mut Sequence, columns: usize) -> Self {
        Self { row: Open::begin(out, sequence), left: columns }
    }

    /// Appends the next value, `None` for NULL.
    #[inline]
    pub fn push(&mut self, value: Option<&[u8]>) -> Result<(), WireError> {
        self.take_column()?;
        push_nullable(self.row.out, value);
        Ok(())
    }

    /// Appends the next value as `write` appends it to the buffer, which it may only append to. On its error the row
    /// can't be finished.
    pub fn push_with<E: From<WireError>>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take_column()?;
        // Counts as a column not written until it is: finish() then fails.
        let left = std::mem::replace(&mut self.left, usize::MAX);
        let mut value = Vec::new();
        write(&mut value)?;
        push_string(self.row.out, &value);
        self.left = left;
        Ok(())
    }

    /// Ends the row: checks the number of values and writes the headers.
    pub fn finish(mut self) -> Result<(), WireError> {
        if self.left != 0 {
            return Err(WireError::WrongCountWritten { message: MESSAGE, what: "values" });
        }
        self.row.finish()
    }

    fn take_column(&mut self) -> Result<(), WireError> {
        let error = WireError::WrongCountWritten { message: MESSAGE, what: "values" };
        self.left = self.left.checked_sub(1).ok_or(error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    fn write(sequence: &mut Sequence, out: &mut Vec<u8>, values: &[Option<&[u8]>]) -> Result<(), WireError> {
        let mut row = TextRowWriter::new(out, sequence, values.len());
        values.iter().try_for_each(|value| row.push(*value))?;
        row.finish()
    }

    #[test]
    fn row_comes_back_as_written() {
        let long = b"x".repeat(300);
        let values = [Some(&b"canary"[..]), None, Some(b""), Some(&long)];
        let payload = payload_of(|sequence, out| write(sequence, out, &values));
        assert_eq!(payload[..12], *b"\x06canary\xfb\0\xfc\x2c\x01");
        let row = TextRow::parse(&payload, 4).unwrap();
        assert_eq!((row.columns(), row.values().len()), (4, 4));
        assert_eq!(row.values().collect::<Vec<_>>(), values);
        check_truncations(&payload, |payload| TextRow::parse(payload, 4).map(drop));
        assert!(!format!("{row:?} {:?}", row.values()).contains("canary"));
    }

    #[test]
    fn values_are_copied_or_replaced() {
        let payload = payload_of(|sequence, out| write(sequence, out, &[Some(b"1"), Some(b"sealed"), None]));
        let row = TextRow::parse(&payload, 3).unwrap();
        let written = payload_of(|sequence, out| {
            let mut writer = TextRowWriter::new(out, sequence, row.columns());
            for (index, value) in row.values().enumerate() {
                match index {
                    1 => writer.push_with(|out| {
                        out.extend_from_slice(b"open");
                        Ok::<_, WireError>(())
                    }),
                    _ => writer.push(value),
                }?;
            }
            writer.finish()
        });
        assert_eq!(written, b"\x011\x04open\xfb");
    }

    #[test]
    fn row_with_too_few_or_too_many_values_is_taken_back() {
        let (mut out, mut sequence) = (b"kept".to_vec(), Sequence::default());
        assert!(TextRowWriter::new(&mut out, &mut sequence, 1).finish().is_err());
        let mut row = TextRowWriter::new(&mut out, &mut sequence, 1);
        row.push(None).unwrap();
        assert!(row.push(None).is_err());
        drop(row);
        assert_eq!((&out[..], sequence.next()), (&b"kept"[..], 0));
    }

    #[test]
    fn row_whose_value_failed_can_not_be_finished() {
        let (mut out, mut sequence) = (b"kept".to_vec(), Sequence::default());
        let mut row = TextRowWriter::new(&mut out, &mut sequence, 1);
        let failure = WireError::TooLong { message: "x", what: "y" };
        assert_eq!(row.push_with(|_| Err(failure)), Err(failure));
        assert!(row.finish().is_err());
        assert_eq!(out, b"kept");
    }

    #[test]
    fn broken_rows_are_malformed() {
        for payload in [
            &b"\x03ab"[..], // length past the end
            b"\x01ab",      // left over
            b"",            // one value short
            b"\xff\x01",    // no length
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffab",
        ] {
            assert!(TextRow::parse(payload, 1).is_err());
        }
    }
}
