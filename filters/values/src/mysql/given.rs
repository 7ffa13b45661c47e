//! Values of COM_STMT_EXECUTE, by the type that the client named.

use super::moment::{self, Clock, Moment};
use super::type_code as code;
use crate::ValueError;
use crate::types::exactly;

/// What a client has given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given<'v> {
    Integer(i128),
    Double(f64),
    /// As text.
    Decimal(&'v str),
    /// Characters or bytes: what of the two, the column says.
    String(&'v [u8]),
    Date(Moment),
    Datetime(Moment),
    Time(Clock),
}

impl<'v> Given<'v> {
    pub fn decode(type_code: u8, unsigned: bool, bytes: &'v [u8]) -> Result<Self, ValueError> {
        Ok(match type_code {
            code::TINY => {
                Self::Integer(integer(u8::from_le_bytes(exactly(bytes, "TINYINT")?), unsigned, |n| {
                    i128::from(n.cast_signed())
                }))
            }
            code::SHORT => {
                Self::Integer(integer(u16::from_le_bytes(exactly(bytes, "SMALLINT")?), unsigned, |n| {
                    i128::from(n.cast_signed())
                }))
            }
            code::YEAR => Self::Integer(i128::from(u16::from_le_bytes(exactly(bytes, "YEAR")?))),
            code::LONG | code::INT24 => {
                Self::Integer(integer(u32::from_le_bytes(exactly(bytes, "INT")?), unsigned, |n| {
                    i128::from(n.cast_signed())
                }))
            }
            code::LONGLONG => {
                Self::Integer(integer(u64::from_le_bytes(exactly(bytes, "BIGINT")?), unsigned, |n| {
                    i128::from(n.cast_signed())
                }))
            }
            code::FLOAT => Self::double(f64::from(f32::from_le_bytes(exactly(bytes, "FLOAT")?)))?,
            code::DOUBLE => Self::double(f64::from_le_bytes(exactly(bytes, "DOUBLE")?))?,
            code::DECIMAL | code::NEWDECIMAL => {
                let text = std::str::from_utf8(bytes);
                Self::Decimal(text.map_err(|_| ValueError::Invalid("DECIMAL"))?)
            }
            code::DATE => Self::Date(Moment { clock: Clock::MIDNIGHT, ..Moment::decode(bytes)? }),
            code::DATETIME | code::TIMESTAMP => Self::Datetime(Moment::decode(bytes)?),
            code::TIME => Self::Time(moment::decode_time(bytes)?),
            code::VARCHAR
            | code::JSON
            | code::ENUM
            | code::SET
            | code::TINY_BLOB
            | code::MEDIUM_BLOB
            | code::LONG_BLOB
            | code::BLOB
            | code::VAR_STRING
            | code::STRING => Self::String(bytes),
            _ => return Err(ValueError::Unsupported("parameters of this type; send text")),
        })
    }

    fn double(value: f64) -> Result<Self, ValueError> {
        if value.is_finite() { Ok(Self::Double(value)) } else { Err(ValueError::OutOfRange("DOUBLE")) }
    }

    /// What it is called when it is not taken.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Integer(_) => "an integer",
            Self::Double(_) => "DOUBLE",
            Self::Decimal(_) => "DECIMAL",
            Self::String(_) => "a string",
            Self::Date(_) => "DATE",
            Self::Datetime(_) => "DATETIME",
            Self::Time(_) => "TIME",
        }
    }
}

fn integer<N: Copy + Into<i128>>(number: N, unsigned: bool, signed: fn(N) -> i128) -> i128 {
    if unsigned { number.into() } else { signed(number) }
}
