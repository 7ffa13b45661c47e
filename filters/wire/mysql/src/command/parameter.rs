//! Parameters of a prepared statement, and query attributes, which travel alike.

use std::borrow::Cow;
use std::fmt;

use crate::column_type::{ColumnType, Layout, NoExtent};
use crate::lenenc::push_string;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{WireError, bitmap};

/// The bit beside a type that says unsigned.
const UNSIGNED: u16 = 0x8000;

/// The type of a parameter's value, as the client gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterType {
    /// The type.
    pub column_type: ColumnType,
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

impl ParameterType {
    /// What stands for NULL.
    pub const NULL: Self = Self { column_type: ColumnType::Null, unsigned: false };

    /// A string, in the session's character set.
    pub const STRING: Self = Self { column_type: ColumnType::VarString, unsigned: false };

    /// Bytes.
    pub const BLOB: Self = Self { column_type: ColumnType::Blob, unsigned: false };

    pub(super) fn read(message: &'static str, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let word = reader.u16("type of a parameter")?;
        let column_type = u8::try_from(word & !UNSIGNED)
            .ok()
            .and_then(ColumnType::from_code)
            .ok_or(WireError::UnknownCode { message, what: "type of a parameter" })?;
        Ok(Self { column_type, unsigned: word & UNSIGNED != 0 })
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        let unsigned = if self.unsigned { UNSIGNED } else { 0 };
        out.extend_from_slice(&(u16::from(self.column_type.code()) | unsigned).to_le_bytes());
    }

    /// How a value is laid out. Of some types of columns MariaDB reads a parameter as a string where MySQL reads a
    /// number, or takes it for NULL and reads the next parameter from its bytes; no client sends them, and their values are
    /// not read here.
    pub(super) fn layout(self) -> Layout {
        match self.column_type {
            ColumnType::Int24 | ColumnType::Year | ColumnType::Bit | ColumnType::Geometry => Layout::Nothing,
            column_type => column_type.layout(),
        }
    }
}

/// The value of a parameter.
#[derive(Clone, PartialEq, Eq)]
pub enum ParameterValue<'a> {
    /// NULL.
    Null,
    /// It was sent ahead by COM_STMT_SEND_LONG_DATA.
    LongData,
    /// The value without its prefix of length; owned where it was replaced.
    Value(Cow<'a, [u8]>),
}

impl fmt::Debug for ParameterValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::LongData => f.write_str("LongData"),
            Self::Value(value) => Sized(value).fmt(f),
        }
    }
}

/// A parameter or query attribute.
#[derive(Clone, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// The value's type.
    pub parameter_type: ParameterType,
    /// A query attribute's name; empty for a parameter.
    pub name: &'a [u8],
    /// The value.
    pub value: ParameterValue<'a>,
}

impl fmt::Debug for Parameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter")
            .field("parameter_type", &self.parameter_type)
            .field("name", &Sized(self.name))
            .field("value", &self.value)
            .finish()
    }
}

/// What is known of parameters before they are read.
pub(super) struct Expected<'c> {
    pub(super) message: &'static str,
    /// How many there are.
    pub(super) count: usize,
    /// Whether each type is followed by a name.
    pub(super) named: bool,
    /// Types of an execution before, for when none are sent.
    pub(super) types: &'c [ParameterType],
    /// Whether a parameter's value was sent ahead.
    pub(super) has_long_data: &'c dyn Fn(usize) -> bool,
}

/// Parameters, and whether their types were sent.
pub(super) type Read<'a> = (Vec<Parameter<'a>>, bool);

impl Expected<'_> {
    /// Reads the bitmap of NULLs, the types and the values.
    pub(super) fn read<'a>(&self, reader: &mut Reader<'a>) -> Result<Read<'a>, WireError> {
        let message = self.message;
        let nulls = reader.bytes("bitmap of NULLs", bitmap::len(self.count))?;
        let sends_types = match reader.u8("flag of types")? {
            0 => false,
            1 => true,
            _ => return Err(WireError::UnknownCode { message, what: "flag of types" }),
        };
        let mut parameters = match sends_types {
            true => self.read_types(reader)?,
            false => self.remembered(nulls)?,
        };
        for (index, parameter) in parameters.iter_mut().enumerate() {
            parameter.value = if (self.has_long_data)(index) {
                // Whatever the bitmap says, the servers take what was sent ahead.
                ParameterValue::LongData
            } else if bitmap::is_set(nulls, index) {
                ParameterValue::Null
            } else {
                let layout = parameter.parameter_type.layout();
                let extent = layout.extent(reader.rest()).map_err(|reason| match reason {
                    NoExtent::Truncated => WireError::Truncated { message, what: "value" },
                    NoExtent::Invalid => WireError::InvalidLength { message, what: "value" },
                })?;
                reader.bytes("value", extent.prefix)?;
                ParameterValue::Value(Cow::Borrowed(reader.bytes("value", extent.value)?))
            };
        }
        Ok((parameters, sends_types))
    }

    fn read_types<'a>(&self, reader: &mut Reader<'a>) -> Result<Vec<Parameter<'a>>, WireError> {
        // The bitmap was there, so this is at most eight times the bytes present.
        let mut parameters = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let parameter_type = ParameterType::read(self.message, reader)?;
            let name = if self.named { reader.lenenc_string("name of a parameter")? } else { &[] };
            parameters.push(Parameter { parameter_type, name, value: ParameterValue::Null });
        }
        Ok(parameters)
    }

    fn remembered<'a>(&self, nulls: &[u8]) -> Result<Vec<Parameter<'a>>, WireError> {
        let mut parameters = Vec::with_capacity(self.count);
        for index in 0..self.count {
            let known = self.types.get(index).copied();
            let parameter_type = match known {
                Some(parameter_type) => parameter_type,
                None if bitmap::is_set(nulls, index) => ParameterType::NULL,
                None => return Err(WireError::CountMismatch { message: self.message, what: "types" }),
            };
            parameters.push(Parameter { parameter_type, name: &[], value: ParameterValue::Null });
        }
        Ok(parameters)
    }
}

/// Appends the bitmap of NULLs, the types where they are sent, and the values.
pub(super) fn write(
    out: &mut Vec<u8>,
    message: &'static str,
    parameters: &[Parameter<'_>],
    sends_types: bool,
    named: bool,
) -> Result<(), WireError> {
    let nulls_at = out.len();
    out.resize(nulls_at.saturating_add(bitmap::len(parameters.len())), 0);
    if let Some(nulls) = out.get_mut(nulls_at..) {
        for (index, _) in parameters.iter().enumerate().filter(|(_, one)| one.value == ParameterValue::Null) {
            bitmap::set(nulls, index);
        }
    }
    out.push(sends_types.into());
    for parameter in parameters.iter().filter(|_| sends_types) {
        parameter.parameter_type.write(out);
        if named {
            push_string(out, parameter.name);
        }
    }
    for parameter in parameters {
        if let ParameterValue::Value(value) = &parameter.value
            && !parameter.parameter_type.layout().push(out, value)
        {
            return Err(WireError::WrongForm { message, what: "value" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_back_with_their_sign() {
        for parameter_type in
            [ParameterType::STRING, ParameterType { column_type: ColumnType::LongLong, unsigned: true }]
        {
            let mut out = Vec::new();
            parameter_type.write(&mut out);
            assert_eq!(ParameterType::read("x", &mut Reader::new("x", &out)), Ok(parameter_type));
        }
        assert!(ParameterType::read("x", &mut Reader::new("x", b"\x08\x01")).is_err());
    }

    #[test]
    fn types_that_servers_read_differently_have_no_value() {
        for column_type in [ColumnType::Int24, ColumnType::Year, ColumnType::Bit, ColumnType::Geometry] {
            assert_eq!(ParameterType { column_type, unsigned: false }.layout(), Layout::Nothing);
        }
    }

    #[test]
    fn debug_tells_no_value() {
        let parameter = Parameter {
            parameter_type: ParameterType::STRING,
            name: b"canary",
            value: ParameterValue::Value(b"canary"[..].into()),
        };
        assert!(!format!("{parameter:?}").contains("canary"));
    }
}
