//! Types of columns and parameters, and how far their values reach in the binary protocol.

use crate::lenenc::Lenenc;

/// How a type's values are laid out in the binary protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Nothing: the value is always NULL.
    Nothing,
    /// This many bytes, little-endian.
    Fixed(usize),
    /// A byte of length, then 0, 4, 7 or 11 bytes: year, month, day; hour, minute, second; microseconds.
    DateTime,
    /// A byte of length, then 0, 8 or 12 bytes: sign, days, hour, minute, second; microseconds.
    Time,
    /// A length-encoded string.
    Lenenc,
}

macro_rules! column_types {
    ($($(#[$doc:meta])* $variant:ident = $code:literal: $name:literal, $layout:expr;)+) => {
        /// The type of a column or parameter: MYSQL_TYPE_… of the servers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ColumnType {
            $($(#[$doc])* $variant,)+
        }

        impl ColumnType {
            /// Every type with its code and name.
            pub const ALL: &[(Self, u8, &str)] = &[$((Self::$variant, $code, $name)),+];

            /// The type with this code.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The type's code.
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// How values are laid out in the binary protocol.
            pub const fn layout(self) -> Layout {
                match self {
                    $(Self::$variant => $layout,)+
                }
            }
        }
    };
}

column_types! {
    /// DECIMAL of before 5.0.
    Decimal = 0: "MYSQL_TYPE_DECIMAL", Layout::Lenenc;
    /// TINYINT, BOOL.
    Tiny = 1: "MYSQL_TYPE_TINY", Layout::Fixed(1);
    /// SMALLINT.
    Short = 2: "MYSQL_TYPE_SHORT", Layout::Fixed(2);
    /// INT.
    Long = 3: "MYSQL_TYPE_LONG", Layout::Fixed(4);
    /// FLOAT.
    Float = 4: "MYSQL_TYPE_FLOAT", Layout::Fixed(4);
    /// DOUBLE.
    Double = 5: "MYSQL_TYPE_DOUBLE", Layout::Fixed(8);
    /// NULL.
    Null = 6: "MYSQL_TYPE_NULL", Layout::Nothing;
    /// TIMESTAMP.
    Timestamp = 7: "MYSQL_TYPE_TIMESTAMP", Layout::DateTime;
    /// BIGINT.
    LongLong = 8: "MYSQL_TYPE_LONGLONG", Layout::Fixed(8);
    /// MEDIUMINT, in four bytes.
    Int24 = 9: "MYSQL_TYPE_INT24", Layout::Fixed(4);
    /// DATE.
    Date = 10: "MYSQL_TYPE_DATE", Layout::DateTime;
    /// TIME.
    Time = 11: "MYSQL_TYPE_TIME", Layout::Time;
    /// DATETIME.
    DateTime = 12: "MYSQL_TYPE_DATETIME", Layout::DateTime;
    /// YEAR.
    Year = 13: "MYSQL_TYPE_YEAR", Layout::Fixed(2);
    /// VARCHAR; servers send [`ColumnType::VarString`].
    VarChar = 15: "MYSQL_TYPE_VARCHAR", Layout::Lenenc;
    /// BIT.
    Bit = 16: "MYSQL_TYPE_BIT", Layout::Lenenc;
    /// VECTOR (MySQL 9).
    Vector = 242: "MYSQL_TYPE_VECTOR", Layout::Lenenc;
    /// JSON (MySQL).
    Json = 245: "MYSQL_TYPE_JSON", Layout::Lenenc;
    /// DECIMAL.
    NewDecimal = 246: "MYSQL_TYPE_NEWDECIMAL", Layout::Lenenc;
    /// ENUM; servers send [`ColumnType::String`] with a flag.
    Enum = 247: "MYSQL_TYPE_ENUM", Layout::Lenenc;
    /// SET; servers send [`ColumnType::String`] with a flag.
    Set = 248: "MYSQL_TYPE_SET", Layout::Lenenc;
    /// TINYBLOB, TINYTEXT; servers send [`ColumnType::Blob`].
    TinyBlob = 249: "MYSQL_TYPE_TINY_BLOB", Layout::Lenenc;
    /// MEDIUMBLOB, MEDIUMTEXT; servers send [`ColumnType::Blob`].
    MediumBlob = 250: "MYSQL_TYPE_MEDIUM_BLOB", Layout::Lenenc;
    /// LONGBLOB, LONGTEXT; servers send [`ColumnType::Blob`].
    LongBlob = 251: "MYSQL_TYPE_LONG_BLOB", Layout::Lenenc;
    /// BLOB and TEXT of every size.
    Blob = 252: "MYSQL_TYPE_BLOB", Layout::Lenenc;
    /// VARCHAR, VARBINARY.
    VarString = 253: "MYSQL_TYPE_VAR_STRING", Layout::Lenenc;
    /// CHAR, BINARY.
    String = 254: "MYSQL_TYPE_STRING", Layout::Lenenc;
    /// GEOMETRY.
    Geometry = 255: "MYSQL_TYPE_GEOMETRY", Layout::Lenenc;
}

/// Where a value lies in the bytes that it begins: after its prefix of length, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes of the prefix.
    pub(crate) prefix: usize,
    /// Bytes of the value.
    pub(crate) value: usize,
}

/// Why a value has no extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoExtent {
    /// The bytes end too early.
    Truncated,
    /// The length is none that the type has.
    Invalid,
}

impl Layout {
    /// How far the value at the beginning of `bytes` reaches.
    #[inline]
    pub(crate) fn extent(self, bytes: &[u8]) -> Result<Extent, NoExtent> {
        let extent = match self {
            Self::Nothing => return Err(NoExtent::Invalid),
            Self::Fixed(value) => Extent { prefix: 0, value },
            Self::DateTime | Self::Time => {
                let value = usize::from(*bytes.first().ok_or(NoExtent::Truncated)?);
                if !self.permits(value) {
                    return Err(NoExtent::Invalid);
                }
                Extent { prefix: 1, value }
            }
            Self::Lenenc => match Lenenc::peek(bytes).ok_or(NoExtent::Truncated)? {
                Lenenc::Integer { value, len } => {
                    Extent { prefix: len, value: usize::try_from(value).map_err(|_| NoExtent::Truncated)? }
                }
                Lenenc::Null | Lenenc::Invalid => return Err(NoExtent::Invalid),
            },
        };
        if extent.prefix.saturating_add(extent.value) > bytes.len() {
            return Err(NoExtent::Truncated);
        }
        Ok(extent)
    }

    /// Whether a value can have this many bytes.
    pub fn permits(self, length: usize) -> bool {
        match self {
            Self::Nothing => false,
            Self::Fixed(bytes) => length == bytes,
            Self::DateTime => matches!(length, 0 | 4 | 7 | 11),
            Self::Time => matches!(length, 0 | 8 | 12),
            Self::Lenenc => true,
        }
    }

    /// Appends a value with its prefix; `false`, and nothing appended, when it can't have its length.
    #[inline]
    pub(crate) fn push(self, out: &mut Vec<u8>, value: &[u8]) -> bool {
        if !self.permits(value.len()) {
            return false;
        }
        match self {
            Self::Lenenc => crate::lenenc::push_integer(out, value.len() as u64),
            // Lossless: permitted lengths are at most 12.
            Self::DateTime | Self::Time => out.push(value.len() as u8),
            Self::Nothing | Self::Fixed(_) => {}
        }
        out.extend_from_slice(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_comes_back_by_its_code() {
        for (kind, code, name) in ColumnType::ALL {
            assert_eq!((ColumnType::from_code(*code), kind.code()), (Some(*kind), *code), "{name}");
        }
        assert_eq!((0..=255).filter_map(ColumnType::from_code).count(), ColumnType::ALL.len());
    }

    #[test]
    fn values_reach_as_far_as_their_type_says() {
        for (kind, bytes, prefix, value) in [
            (ColumnType::Tiny, &b"\x01rest"[..], 0, 1),
            (ColumnType::Date, b"\x04\xe8\x07\x01\x02rest", 1, 4),
            (ColumnType::Time, b"\0rest", 1, 0),
            (ColumnType::Blob, b"\x02abrest", 1, 2),
            (ColumnType::VarString, b"\xfc\x02\0abrest", 3, 2),
        ] {
            assert_eq!(kind.layout().extent(bytes), Ok(Extent { prefix, value }));
            let needed = prefix + value;
            assert_eq!(kind.layout().extent(&bytes[..needed - 1]), Err(NoExtent::Truncated));
        }
        assert_eq!(ColumnType::Date.layout().extent(b"\x05abcdef"), Err(NoExtent::Invalid));
        assert_eq!(ColumnType::Blob.layout().extent(b"\xfb"), Err(NoExtent::Invalid));
        assert_eq!(ColumnType::Null.layout().extent(b"a"), Err(NoExtent::Invalid));
    }
}
