//! ColumnDefinition41: what a column of a result set, or a parameter, is.

use std::fmt;

use crate::column_type::ColumnType;
use crate::flags::flags;
use crate::lenenc::{push_integer, push_nullable, push_string};
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "ColumnDefinition41";

/// Bytes of the fields of fixed length, which say their own number.
const FIXED_LEN: u64 = 12;

flags! {
    /// Flags of a column.
    ColumnFlags: u16;
    /// Never NULL.
    NOT_NULL = 0: "NOT_NULL_FLAG";
    /// Part of the primary key.
    PRI_KEY = 1: "PRI_KEY_FLAG";
    /// Part of a unique key.
    UNIQUE_KEY = 2: "UNIQUE_KEY_FLAG";
    /// Part of another key.
    MULTIPLE_KEY = 3: "MULTIPLE_KEY_FLAG";
    /// BLOB or TEXT.
    BLOB = 4: "BLOB_FLAG";
    /// Unsigned.
    UNSIGNED = 5: "UNSIGNED_FLAG";
    /// Filled up with zeros.
    ZEROFILL = 6: "ZEROFILL_FLAG";
    /// Compared as bytes: numbers, times, bytes and strings of a `_bin` collation.
    BINARY = 7: "BINARY_FLAG";
    /// ENUM.
    ENUM = 8: "ENUM_FLAG";
    /// AUTO_INCREMENT.
    AUTO_INCREMENT = 9: "AUTO_INCREMENT_FLAG";
    /// TIMESTAMP that sets itself.
    TIMESTAMP = 10: "TIMESTAMP_FLAG";
    /// SET.
    SET = 11: "SET_FLAG";
    /// Without a default value.
    NO_DEFAULT_VALUE = 12: "NO_DEFAULT_VALUE_FLAG";
    /// Set to the time of every update.
    ON_UPDATE_NOW = 13: "ON_UPDATE_NOW_FLAG";
    /// Part of some key.
    PART_KEY = 14: "PART_KEY_FLAG";
    /// A number.
    NUM = 15: "NUM_FLAG";
}

/// ColumnDefinition41: what a column of a result set, or a parameter, is.
///
/// Large: it has the fields of the packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ColumnDefinition41<'a> {
    /// Always `def`.
    pub catalog: &'a [u8],
    /// The database.
    pub schema: &'a [u8],
    /// The table by its alias.
    pub table: &'a [u8],
    /// The table; empty where the column is none of a table's.
    pub org_table: &'a [u8],
    /// The column by its alias.
    pub name: &'a [u8],
    /// The column; empty where the column is none of a table's.
    pub org_name: &'a [u8],
    /// MariaDB's extended metadata, with MARIADB_CLIENT_EXTENDED_METADATA.
    pub extended: Option<ExtendedMetadata<'a>>,
    /// Collation of the values: see [`crate::charset`].
    pub charset: u16,
    /// Most bytes that a value takes as text.
    pub length: u32,
    /// The type.
    pub column_type: ColumnType,
    /// The flags.
    pub flags: ColumnFlags,
    /// Digits after the point; 0 for integers and strings, 0x1F where they are not fixed.
    pub decimals: u8,
    /// The default value, for COM_FIELD_LIST: `Some(None)` is NULL.
    pub default: Option<Option<&'a [u8]>>,
}

impl<'a> ColumnDefinition41<'a> {
    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let definition = Self::read(&mut reader, capabilities)?;
        reader.end()?;
        Ok(definition)
    }

    /// Reads a payload in answer to COM_FIELD_LIST.
    pub fn parse_field_list(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let mut definition = Self::read(&mut reader, capabilities)?;
        definition.default = Some(reader.nullable_string("default value")?);
        reader.end()?;
        Ok(definition)
    }

    fn read(reader: &mut Reader<'a>, capabilities: Capabilities) -> Result<Self, WireError> {
        let catalog = reader.lenenc_string("catalog")?;
        let schema = reader.lenenc_string("database")?;
        let table = reader.lenenc_string("table")?;
        let org_table = reader.lenenc_string("original table")?;
        let name = reader.lenenc_string("name")?;
        let org_name = reader.lenenc_string("original name")?;
        let extended = match capabilities.has(Capabilities::MARIADB_EXTENDED_METADATA) {
            true => Some(ExtendedMetadata::parse(reader.lenenc_string("extended metadata")?)?),
            false => None,
        };
        if reader.lenenc("length of the fixed fields")? != FIXED_LEN {
            return Err(WireError::InvalidLength { message: MESSAGE, what: "fixed part" });
        }
        let charset = reader.u16("character set")?;
        let length = reader.u32("length")?;
        let column_type = ColumnType::from_code(reader.u8("type")?)
            .ok_or(WireError::UnknownCode { message: MESSAGE, what: "type" })?;
        let flags = ColumnFlags::from_bits(reader.u16("flags")?);
        let decimals = reader.u8("decimals")?;
        reader.u16("filler")?;
        Ok(Self {
            catalog,
            schema,
            table,
            org_table,
            name,
            org_name,
            extended,
            charset,
            length,
            column_type,
            flags,
            decimals,
            default: None,
        })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(
        &self,
        capabilities: Capabilities,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        if self.extended.is_some() != capabilities.has(Capabilities::MARIADB_EXTENDED_METADATA) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "extended metadata" });
        }
        try_write_message(out, sequence, |out| {
            for name in [self.catalog, self.schema, self.table, self.org_table, self.name, self.org_name] {
                push_string(out, name);
            }
            if let Some(extended) = self.extended {
                push_string(out, extended.fields);
            }
            push_integer(out, FIXED_LEN);
            out.extend_from_slice(&self.charset.to_le_bytes());
            out.extend_from_slice(&self.length.to_le_bytes());
            out.push(self.column_type.code());
            out.extend_from_slice(&self.flags.bits().to_le_bytes());
            out.extend_from_slice(&[self.decimals, 0, 0]);
            if let Some(default) = self.default {
                push_nullable(out, default);
            }
            Ok(())
        })
    }
}

impl fmt::Debug for ColumnDefinition41<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("schema", &Sized(self.schema))
            .field("org_table", &Sized(self.org_table))
            .field("org_name", &Sized(self.org_name))
            .field("name", &Sized(self.name))
            .field("extended", &self.extended)
            .field("charset", &self.charset)
            .field("length", &self.length)
            .field("column_type", &self.column_type)
            .field("flags", &self.flags)
            .field("decimals", &self.decimals)
            .field("default", &self.default.map(|value| value.map(Sized)))
            .finish_non_exhaustive()
    }
}

/// What MariaDB tells of a column beyond its type: every length in it already checked.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtendedMetadata<'a> {
    fields: &'a [u8],
}

impl<'a> ExtendedMetadata<'a> {
    /// Nothing told.
    pub const NONE: Self = Self { fields: &[] };

    /// The field of the type's name, such as `uuid` or `inet6`.
    pub const TYPE: u8 = 0;

    /// The field of the format's name, such as `json`.
    pub const FORMAT: u8 = 1;

    fn parse(fields: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, fields);
        while !reader.is_empty() {
            reader.u8("extended metadata")?;
            reader.lenenc_string("extended metadata")?;
        }
        Ok(Self { fields })
    }

    /// The (first) field of this kind.
    pub fn field(&self, kind: u8) -> Option<&'a [u8]> {
        let mut reader = Reader::new(MESSAGE, self.fields);
        // `parse` has checked every length.
        std::iter::from_fn(|| Some((reader.u8("").ok()?, reader.lenenc_string("").ok()?)))
            .find(|(known, _)| *known == kind)
            .map(|(_, value)| value)
    }
}

impl fmt::Debug for ExtendedMetadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sized(self.fields).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    fn sample() -> ColumnDefinition41<'static> {
        ColumnDefinition41 {
            catalog: b"def",
            schema: b"shop",
            table: b"c",
            org_table: b"customer",
            name: b"canary",
            org_name: b"ssn",
            extended: None,
            charset: crate::charset::UTF8MB4_GENERAL_CI,
            length: 1020,
            column_type: ColumnType::VarString,
            flags: ColumnFlags::NOT_NULL,
            decimals: 0,
            default: None,
        }
    }

    #[test]
    fn definition_comes_back_as_written() {
        let payload = payload_of(|sequence, out| sample().encode(Capabilities::NONE, sequence, out));
        let expected =
            b"\x03def\x04shop\x01c\x08customer\x06canary\x03ssn\x0c\x2d\0\xfc\x03\0\0\xfd\x01\0\0\0\0";
        assert_eq!(payload, expected);
        assert_eq!(ColumnDefinition41::parse(&payload, Capabilities::NONE), Ok(sample()));
        check_truncations(&payload, |payload| {
            ColumnDefinition41::parse(payload, Capabilities::NONE).map(drop)
        });
        assert!(!format!("{:?}", sample()).contains("canary"));
    }

    #[test]
    fn extended_metadata_is_read_by_its_kind() {
        let capabilities = Capabilities::MARIADB_EXTENDED_METADATA;
        let extended = ExtendedMetadata::parse(b"\0\x04uuid\x01\x04json").unwrap();
        let definition = ColumnDefinition41 { extended: Some(extended), ..sample() };
        let payload = payload_of(|sequence, out| definition.encode(capabilities, sequence, out));
        assert_eq!(ColumnDefinition41::parse(&payload, capabilities), Ok(definition));
        assert_eq!(extended.field(ExtendedMetadata::FORMAT), Some(&b"json"[..]));
        assert_eq!((extended.field(9), ExtendedMetadata::NONE.field(0)), (None, None));
        assert!(sample().encode(capabilities, &mut Sequence::default(), &mut Vec::new()).is_err());
        assert!(ExtendedMetadata::parse(b"\0\x04uui").is_err());
    }

    #[test]
    fn definition_of_a_field_list_has_a_default_value() {
        for default in [Some(None), Some(Some(&b"x"[..]))] {
            let definition = ColumnDefinition41 { default, ..sample() };
            let payload = payload_of(|sequence, out| definition.encode(Capabilities::NONE, sequence, out));
            assert_eq!(ColumnDefinition41::parse_field_list(&payload, Capabilities::NONE), Ok(definition));
            assert!(ColumnDefinition41::parse(&payload, Capabilities::NONE).is_err());
        }
    }

    #[test]
    fn unknown_type_is_malformed() {
        let mut payload = payload_of(|sequence, out| sample().encode(Capabilities::NONE, sequence, out));
        let at = payload.len() - 6;
        payload[at] = 99;
        let error = ColumnDefinition41::parse(&payload, Capabilities::NONE).unwrap_err();
        assert_eq!(error, WireError::UnknownCode { message: MESSAGE, what: "type" });
    }
}
