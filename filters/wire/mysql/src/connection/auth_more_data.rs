//! AuthMoreData: the authentication plugin goes on.

use std::fmt;

use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "AuthMoreData";

/// AuthMoreData: the authentication plugin goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthMoreData<'a> {
    /// What the plugin gets.
    pub data: &'a [u8],
}

impl<'a> AuthMoreData<'a> {
    /// First byte of the payload.
    pub const HEADER: u8 = 0x01;

    /// `caching_sha2_password`: the cache knew the password; OK follows.
    pub const FAST_AUTH_SUCCESS: &'static [u8] = b"\x03";

    /// `caching_sha2_password`: the cache did not know the password; the client sends it, in plain over a socket or
    /// TLS, else by the server's public key.
    pub const PERFORM_FULL_AUTHENTICATION: &'static [u8] = b"\x04";

    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self { data: Reader::of_kind(MESSAGE, payload, Self::HEADER)?.remainder() })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(Self::HEADER);
            out.extend_from_slice(self.data);
        })
    }
}

impl fmt::Debug for AuthMoreData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("data", &Sized(self.data)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn data_comes_back_as_written() {
        let more = AuthMoreData { data: AuthMoreData::PERFORM_FULL_AUTHENTICATION };
        let payload = payload_of(|sequence, out| more.encode(sequence, out));
        assert_eq!((&payload[..], AuthMoreData::parse(&payload)), (&b"\x01\x04"[..], Ok(more)));
        assert!(AuthMoreData::parse(b"").is_err() && AuthMoreData::parse(b"\x02").is_err());
    }
}
