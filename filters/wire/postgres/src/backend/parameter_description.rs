//! ParameterDescription: the types of a statement's parameters.

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::limits::MAX_PARAMETERS;
use crate::read::Reader;
use crate::write;

const MESSAGE: &str = "ParameterDescription";

/// ParameterDescription: the types of a statement's parameters, the first answer to Describe of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterDescription {
    /// Type OIDs, `$1` first.
    pub types: Vec<u32>,
}

impl ParameterDescription {
    /// Reads a body.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let count = reader.count("parameter types", MAX_PARAMETERS, 4)?;
        let mut types = Vec::with_capacity(count);
        for _ in 0..count {
            types.push(reader.u32("parameter types")?);
        }
        reader.end()?;
        Ok(Self { types })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::ParameterDescription, |out| {
            write::count(out, MESSAGE, "parameter types", self.types.len(), MAX_PARAMETERS)?;
            for oid in &self.types {
                out.extend_from_slice(&oid.to_be_bytes());
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn parameter_description_comes_back_as_written() {
        let message = ParameterDescription { types: vec![25, 1700] };
        let body = body_of(Tag::ParameterDescription, |out| message.encode(out));
        assert_eq!(body, b"\0\x02\0\0\0\x19\0\0\x06\xa4");
        assert_eq!(ParameterDescription::parse(&body), Ok(message));
        check_truncations(&body, |body| ParameterDescription::parse(body).map(drop));
    }

    #[test]
    fn more_parameters_than_a_count_can_hold_are_not_written() {
        let message = ParameterDescription { types: vec![0; 65_536] };
        let mut out = Vec::new();
        assert!(matches!(message.encode(&mut out), Err(WireError::TooMany { .. })));
        assert!(out.is_empty());
    }
}
