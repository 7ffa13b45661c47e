//! A row of the binary protocol, in answer to COM_STMT_EXECUTE and COM_STMT_FETCH.

use std::fmt;

use crate::WireError;
use crate::bitmap;
use crate::column_type::{ColumnType, NoExtent};
use crate::message::Open;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "binary row";

/// First byte of the payload.
const HEADER: u8 = 0x00;

/// The first column's bit in the bitmap of NULLs.
const FIRST_BIT: usize = 2;

/// A row of the binary protocol, every length in it already checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BinaryRow<'a> {
    types: &'a [ColumnType],
    nulls: &'a [u8],
    values: &'a [u8],
}

impl<'a> BinaryRow<'a> {
    /// Checks a payload to its end, so that nothing of a broken row is ever opened or forwarded. `types` are those of
    /// the column definitions that the server sent.
    pub fn parse(payload: &'a [u8], types: &'a [ColumnType]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, HEADER)?;
        let nulls = reader.bytes("bitmap of NULLs", bitmap::len(types.len().saturating_add(FIRST_BIT)))?;
        let values = reader.rest();
        for (index, column_type) in types.iter().enumerate() {
            if !is_null(nulls, index) {
                value(&mut reader, *column_type)?;
            }
        }
        reader.end()?;
        Ok(Self { types, nulls, values })
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.types.len()
    }

    /// The values in order, `None` for NULL.
    pub fn values(&self) -> BinaryValues<'a> {
        BinaryValues { row: *self, index: 0 }
    }
}

fn is_null(nulls: &[u8], index: usize) -> bool {
    bitmap::is_set(nulls, index.saturating_add(FIRST_BIT))
}

#[inline]
fn value<'a>(reader: &mut Reader<'a>, column_type: ColumnType) -> Result<BinaryValue<'a>, WireError> {
    let extent = column_type.layout().extent(reader.rest()).map_err(|reason| match reason {
        NoExtent::Truncated => WireError::Truncated { message: MESSAGE, what: "value" },
        NoExtent::Invalid => WireError::InvalidLength { message: MESSAGE, what: "value" },
    })?;
    let encoded = reader.bytes("value", extent.prefix.saturating_add(extent.value))?;
    Ok(BinaryValue { encoded, prefix: extent.prefix })
}

/// A value of a [`BinaryRow`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BinaryValue<'a> {
    encoded: &'a [u8],
    prefix: usize,
}

impl<'a> BinaryValue<'a> {
    /// The value without its prefix of length.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        self.encoded.get(self.prefix..).unwrap_or_default()
    }

    /// The value with its prefix of length, where its type has one.
    #[inline]
    pub fn as_it_stands(self) -> &'a [u8] {
        self.encoded
    }
}

impl fmt::Debug for BinaryValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sized(self.encoded).fmt(f)
    }
}

impl<'a> IntoIterator for BinaryRow<'a> {
    type Item = Option<BinaryValue<'a>>;
    type IntoIter = BinaryValues<'a>;

    fn into_iter(self) -> BinaryValues<'a> {
        self.values()
    }
}

impl fmt::Debug for BinaryRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryRow")
            .field("columns", &self.types.len())
            .field("values", &Sized(self.values))
            .finish()
    }
}

/// The values of a [`BinaryRow`].
#[derive(Clone)]
pub struct BinaryValues<'a> {
    row: BinaryRow<'a>,
    index: usize,
}

impl<'a> Iterator for BinaryValues<'a> {
    type Item = Option<BinaryValue<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let column_type = *self.row.types.get(self.index)?;
        let index = self.index;
        self.index = index.saturating_add(1);
        if is_null(self.row.nulls, index) {
            return Some(None);
        }
        // `parse` has checked every length: the early returns below are never taken.
        let mut reader = Reader::new(MESSAGE, self.row.values);
        let value = value(&mut reader, column_type).ok()?;
        self.row.values = reader.rest();
        Some(Some(value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.row.types.len().saturating_sub(self.index);
        (left, Some(left))
    }
}

impl ExactSizeIterator for BinaryValues<'_> {}

impl fmt::Debug for BinaryValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryValues").field("left", &self.len()).finish_non_exhaustive()
    }
}

/// Writes one row at the end of a buffer, value by value. A row not finished is taken back when the writer is
/// dropped, so that half a row never leaves.
#[must_use = "a row that is not finished is taken back"]
pub struct BinaryRowWriter<'a> {
    row: Open<'a>,
    nulls_at: usize,
    columns: usize,
    written: usize,
}

impl<'a> BinaryRowWriter<'a> {
    /// Begins a row of `columns` values.
    pub fn new(out: &'a mut Vec<u8>, sequence: &'a mut Sequence, columns: usize) -> Self {
        let row = Open::begin(out, sequence);
        row.out.push(HEADER);
        let nulls_at = row.out.len();
        let nulls = bitmap::len(columns.saturating_add(FIRST_BIT));
        row.out.resize(nulls_at.saturating_add(nulls), 0);
        Self { row, nulls_at, columns, written: 0 }
    }

    /// Appends the next value, `None` for NULL, without its prefix of length, which its type tells. The type is the
    /// one that the client was told.
    #[inline]
    pub fn push(&mut self, column_type: ColumnType, value: Option<&[u8]>) -> Result<(), WireError> {
        let Some(value) = value else { return self.push_null() };
        self.take_column()?;
        if column_type.layout().push(self.row.out, value) {
            return Ok(());
        }
        self.fail();
        Err(WireError::WrongForm { message: MESSAGE, what: "value" })
    }

    /// Appends the next value as it stands in a row: with its prefix of length, where its type has one.
    pub fn push_encoded(&mut self, column_type: ColumnType, encoded: &[u8]) -> Result<(), WireError> {
        self.take_column()?;
        match column_type.layout().extent(encoded) {
            Ok(extent) if extent.prefix.saturating_add(extent.value) == encoded.len() => {
                self.row.out.extend_from_slice(encoded);
                Ok(())
            }
            _ => {
                self.fail();
                Err(WireError::WrongForm { message: MESSAGE, what: "value" })
            }
        }
    }

    /// Appends the next value as it stands in a row, `None` for NULL. Nothing is checked: for values of a row that was
    /// read as of the same type.
    #[inline]
    pub fn push_raw(&mut self, encoded: Option<&[u8]>) -> Result<(), WireError> {
        let Some(encoded) = encoded else { return self.push_null() };
        self.take_column()?;
        self.row.out.extend_from_slice(encoded);
        Ok(())
    }

    fn push_null(&mut self) -> Result<(), WireError> {
        let index = self.take_column()?;
        if let Some(nulls) = self.row.out.get_mut(self.nulls_at..) {
            bitmap::set(nulls, index.saturating_add(FIRST_BIT));
        }
        Ok(())
    }

    /// Ends the row: checks the number of values and writes the headers.
    pub fn finish(mut self) -> Result<(), WireError> {
        if self.written != self.columns {
            return Err(WireError::WrongCountWritten { message: MESSAGE, what: "values" });
        }
        self.row.finish()
    }

    fn take_column(&mut self) -> Result<usize, WireError> {
        let index = self.written;
        if index >= self.columns {
            self.fail();
            return Err(WireError::WrongCountWritten { message: MESSAGE, what: "values" });
        }
        self.written = index.saturating_add(1);
        Ok(index)
    }

    /// No row any more: finish() then fails.
    fn fail(&mut self) {
        self.written = usize::MAX;
    }
}

impl fmt::Debug for BinaryRowWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryRowWriter")
            .field("columns", &self.columns)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    const TYPES: [ColumnType; 7] = [
        ColumnType::LongLong,
        ColumnType::VarString,
        ColumnType::Null,
        ColumnType::DateTime,
        ColumnType::Time,
        ColumnType::Tiny,
        ColumnType::NewDecimal,
    ];

    const VALUES: [Option<&[u8]>; 7] = [
        Some(b"\x01\0\0\0\0\0\0\0"),
        Some(b"canary"),
        None,
        Some(b"\xe8\x07\x01\x02"),
        Some(b""),
        None,
        Some(b"12.50"),
    ];

    fn write(sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut row = BinaryRowWriter::new(out, sequence, TYPES.len());
        TYPES.iter().zip(VALUES).try_for_each(|(column_type, value)| row.push(*column_type, value))?;
        row.finish()
    }

    #[test]
    fn row_comes_back_as_written() {
        let payload = payload_of(write);
        let expected = b"\0\x90\0\x01\0\0\0\0\0\0\0\x06canary\x04\xe8\x07\x01\x02\0\x0512.50";
        assert_eq!(payload, expected);
        let row = BinaryRow::parse(&payload, &TYPES).unwrap();
        assert_eq!((row.columns(), row.values().len()), (7, 7));
        let read: Vec<_> = row.values().map(|value| value.map(BinaryValue::bytes)).collect();
        assert_eq!(read, VALUES);
        check_truncations(&payload, |payload| BinaryRow::parse(payload, &TYPES).map(drop));
        assert!(!format!("{row:?} {:?}", row.values()).contains("canary"));
    }

    #[test]
    fn values_of_a_row_are_copied_as_they_stand() {
        let payload = payload_of(write);
        let row = BinaryRow::parse(&payload, &TYPES).unwrap();
        let copied = payload_of(|sequence, out| {
            let mut writer = BinaryRowWriter::new(out, sequence, row.columns());
            row.values().try_for_each(|value| writer.push_raw(value.map(BinaryValue::as_it_stands)))?;
            writer.finish()
        });
        assert_eq!(copied, payload);
        assert!(!format!("{:?}", row.values().collect::<Vec<_>>()).contains("canary"));
    }

    #[test]
    fn encoded_values_stand_as_they_came() {
        let payload = payload_of(|sequence, out| {
            let mut row = BinaryRowWriter::new(out, sequence, 2);
            row.push_encoded(ColumnType::VarString, b"\x02ab")?;
            row.push_encoded(ColumnType::Short, b"\x01\0")?;
            row.finish()
        });
        assert_eq!(payload, b"\0\0\x02ab\x01\0");
    }

    #[test]
    fn value_that_its_type_can_not_have_spoils_the_row() {
        let (mut out, mut sequence) = (b"kept".to_vec(), Sequence::default());
        let mut row = BinaryRowWriter::new(&mut out, &mut sequence, 1);
        assert!(row.push(ColumnType::Long, Some(b"abc")).is_err());
        assert!(row.finish().is_err());
        let mut row = BinaryRowWriter::new(&mut out, &mut sequence, 1);
        assert!(row.push_encoded(ColumnType::VarString, b"\x02abc").is_err());
        assert!(row.finish().is_err());
        assert_eq!(out, b"kept");
    }

    #[test]
    fn row_with_too_few_or_too_many_values_is_taken_back() {
        let (mut out, mut sequence) = (b"kept".to_vec(), Sequence::default());
        assert!(BinaryRowWriter::new(&mut out, &mut sequence, 1).finish().is_err());
        let mut row = BinaryRowWriter::new(&mut out, &mut sequence, 1);
        row.push(ColumnType::Tiny, None).unwrap();
        assert!(row.push(ColumnType::Tiny, None).is_err());
        assert!(row.finish().is_err());
        assert_eq!(out, b"kept");
    }

    #[test]
    fn broken_rows_are_malformed() {
        for payload in [
            &b"\x01\0\x01"[..], // another kind
            b"\0\0\x03ab",      // length past the end
            b"\0\0\x01ab",      // left over
            b"\0\x04a",         // NULL and a value
            b"\0\0\xfb",        // NULL where the bitmap says none
        ] {
            assert!(BinaryRow::parse(payload, &[ColumnType::Blob]).is_err());
        }
        assert!(BinaryRow::parse(b"\0\0\x05abcde", &[ColumnType::Date]).is_err());
        assert!(BinaryRow::parse(b"\0\0", &[ColumnType::Null]).is_err());
    }
}
