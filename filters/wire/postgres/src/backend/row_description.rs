//! RowDescription: the columns of the rows to come.

use std::fmt;

use super::Tag;
use crate::frame::try_write_message;
use crate::limits::MAX_COLUMNS;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{Format, WireError, write};

const MESSAGE: &str = "RowDescription";

/// Least bytes of one field: an empty name's zero and 18 bytes of numbers.
const LEAST_FIELD: usize = 19;

/// RowDescription: the columns of the rows to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowDescription<'a> {
    /// The columns in order.
    pub fields: Vec<FieldDescription<'a>>,
}

/// One column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldDescription<'a> {
    /// The column's name in the result.
    pub name: &'a [u8],
    /// OID of the table of origin; 0 when the column is an expression.
    pub table_oid: u32,
    /// Column number in that table (`attnum`); 0 when the column is an expression.
    pub column: i16,
    /// OID of the type.
    pub type_oid: u32,
    /// Size of the type in bytes (`typlen`), negative when it varies.
    pub type_size: i16,
    /// Type modifier (`atttypmod`), -1 for none.
    pub type_modifier: i32,
    /// Format of the values; text where it isn't known yet (Describe of a statement).
    pub format: Format,
}

impl<'a> RowDescription<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let count = reader.count("columns", MAX_COLUMNS, LEAST_FIELD)?;
        let mut fields = Vec::with_capacity(count);
        for _ in 0..count {
            fields.push(FieldDescription::read(&mut reader)?);
        }
        reader.end()?;
        Ok(Self { fields })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::RowDescription, |out| {
            write::count(out, MESSAGE, "columns", self.fields.len(), MAX_COLUMNS)?;
            self.fields.iter().try_for_each(|field| field.write(out))
        })
    }
}

impl<'a> FieldDescription<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, WireError> {
        Ok(Self {
            name: reader.string("column name")?,
            table_oid: reader.u32("table OID")?,
            column: reader.i16("column number")?,
            type_oid: reader.u32("type OID")?,
            type_size: reader.i16("type size")?,
            type_modifier: reader.i32("type modifier")?,
            format: Format::read(reader)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write::string(out, MESSAGE, "column name", self.name)?;
        out.extend_from_slice(&self.table_oid.to_be_bytes());
        out.extend_from_slice(&self.column.to_be_bytes());
        out.extend_from_slice(&self.type_oid.to_be_bytes());
        out.extend_from_slice(&self.type_size.to_be_bytes());
        out.extend_from_slice(&self.type_modifier.to_be_bytes());
        out.extend_from_slice(&self.format.code().to_be_bytes());
        Ok(())
    }
}

/// The name is left out: `AS "…"` can put anything there.
impl fmt::Debug for FieldDescription<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldDescription")
            .field("name", &Sized(self.name))
            .field("table_oid", &self.table_oid)
            .field("column", &self.column)
            .field("type_oid", &self.type_oid)
            .field("type_size", &self.type_size)
            .field("type_modifier", &self.type_modifier)
            .field("format", &self.format)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    fn field(name: &[u8]) -> FieldDescription<'_> {
        FieldDescription {
            name,
            table_oid: 16_384,
            column: 4,
            type_oid: 25,
            type_size: -1,
            type_modifier: -1,
            format: Format::Binary,
        }
    }

    #[test]
    fn row_description_comes_back_as_written() {
        let message = RowDescription { fields: vec![field(b"ssn")] };
        let body = body_of(Tag::RowDescription, |out| message.encode(out));
        let expected = b"\0\x01ssn\0\0\0\x40\0\0\x04\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\x01";
        assert_eq!(body, expected);
        assert_eq!(RowDescription::parse(&body), Ok(message));
        check_truncations(&body, |body| RowDescription::parse(body).map(drop));
    }

    #[test]
    fn row_without_columns_is_valid() {
        assert_eq!(RowDescription::parse(b"\0\0"), Ok(RowDescription { fields: vec![] }));
    }

    #[test]
    fn more_columns_than_a_server_sends_are_malformed() {
        let body = [&1_665_u16.to_be_bytes()[..], &[0; 40_000]].concat();
        assert!(matches!(RowDescription::parse(&body), Err(WireError::TooMany { .. })));
        let message = RowDescription { fields: vec![field(b""); 1_665] };
        assert!(message.encode(&mut Vec::new()).is_err());
    }

    #[test]
    fn count_is_checked_against_the_bytes_present_before_memory_is_taken() {
        let error = RowDescription::parse(b"\x06\x80\0").unwrap_err();
        assert_eq!(error, WireError::Truncated { message: MESSAGE, what: "columns" });
    }
}
