//! AuthSwitchRequest: the server wants another authentication plugin.

use std::fmt;

use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{WireError, write};

const MESSAGE: &str = "AuthSwitchRequest";

/// AuthSwitchRequest: the server wants another authentication plugin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthSwitchRequest<'a> {
    /// The plugin's name.
    pub plugin: &'a [u8],
    /// What the plugin gets, often with a zero at its end.
    pub data: &'a [u8],
}

impl<'a> AuthSwitchRequest<'a> {
    /// First byte of the payload.
    pub const HEADER: u8 = 0xfe;

    /// Reads a payload. One of a single byte asks for the authentication of before 4.1, which is unsupported.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, Self::HEADER)?;
        if reader.is_empty() {
            return Err(WireError::UnsupportedProtocol { message: MESSAGE });
        }
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

impl fmt::Debug for AuthSwitchRequest<'_> {
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
        let request = AuthSwitchRequest { plugin: b"client_ed25519", data: b"canary" };
        let payload = payload_of(|sequence, out| request.encode(sequence, out));
        assert_eq!(payload, b"\xfeclient_ed25519\0canary");
        assert_eq!(AuthSwitchRequest::parse(&payload), Ok(request));
        assert!(!format!("{request:?}").contains("canary"));
    }

    #[test]
    fn request_for_the_old_authentication_is_unsupported() {
        let error = AuthSwitchRequest::parse(b"\xfe").unwrap_err();
        assert_eq!(error, WireError::UnsupportedProtocol { message: MESSAGE });
    }
}
