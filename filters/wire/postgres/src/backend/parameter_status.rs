//! ParameterStatus: a setting's value now.

use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::read::Reader;
use crate::redact::Sized;
use crate::write;

const MESSAGE: &str = "ParameterStatus";

/// ParameterStatus: a setting that the server reports, at start and when it changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ParameterStatus<'a> {
    /// The setting's name, for example `client_encoding`.
    pub name: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
}

impl<'a> ParameterStatus<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let name = reader.string("name")?;
        let value = reader.string("value")?;
        reader.end()?;
        Ok(Self { name, value })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::ParameterStatus, |out| {
            write::string(out, MESSAGE, "name", self.name)?;
            write::string(out, MESSAGE, "value", self.value)
        })
    }
}

impl fmt::Debug for ParameterStatus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("name", &Sized(self.name)).field("value", &Sized(self.value)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn parameter_status_comes_back_as_written() {
        let message = ParameterStatus { name: b"TimeZone", value: b"UTC" };
        let body = body_of(Tag::ParameterStatus, |out| message.encode(out));
        assert_eq!(body, b"TimeZone\0UTC\0");
        assert_eq!(ParameterStatus::parse(&body), Ok(message));
        check_truncations(&body, |body| ParameterStatus::parse(body).map(drop));
    }
}
