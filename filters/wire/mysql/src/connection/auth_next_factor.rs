//! AuthNextFactor: the server wants another factor, by another plugin.

use std::fmt;

use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{WireError, write};

const MESSAGE: &str = "AuthNextFactor";

/// AuthNextFactor: the server wants another factor, by another plugin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthNextFactor<'a> {
    /// The plugin's name.
    pub plugin: &'a [u8],
    /// What the plugin gets.
    pub data: &'a [u8],
}

impl<'a> AuthNextFactor<'a> {
    /// First byte of the payload.
    pub const HEADER: u8 = 0x02;

    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, Self::HEADER)?;
        Ok(Self { plugin: reader.string("plugin name")?, data: reader.remainder() })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, sequence, |out| {
            out.push(Self::HEADER);
            write::string(out, MESSAGE, "plugin name", self.plugin)?;
            out.extend_from_slice(self.data);
            Ok(())
        })
    }
}

impl fmt::Debug for AuthNextFactor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("plugin", &Sized(self.plugin)).field("data", &Sized(self.data)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn request_comes_back_as_written() {
        let request = AuthNextFactor { plugin: b"webauthn", data: b"canary" };
        let payload = payload_of(|sequence, out| request.encode(sequence, out));
        assert_eq!(payload, b"\x02webauthn\0canary");
        assert_eq!(AuthNextFactor::parse(&payload), Ok(request));
        assert!(AuthNextFactor::parse(b"\x02no zero").is_err());
        assert!(!format!("{request:?}").contains("canary"));
    }
}
