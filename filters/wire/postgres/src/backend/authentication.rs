//! Authentication: the server's side of logging in.

use crate::WireError;
use crate::read::Reader;

const MESSAGE: &str = "Authentication";

/// The kind of an Authentication message. Authentication is between client and server: what is read of it is
/// its end, and the offer of mechanisms (`AuthenticationSasl`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// The client is in.
    Ok,
    /// AuthenticationSASL: mechanisms to choose from.
    Sasl,
    /// Another question or a step, by its code (5 MD5, 11 SASLContinue, ...).
    Other(u32),
}

impl Authentication {
    /// The code of AuthenticationSASL.
    pub(crate) const SASL: u32 = 10;

    /// Reads the kind at the start of a body; what follows a step's code is for the client alone.
    pub fn peek(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        match reader.u32("kind")? {
            0 => reader.end().map(|()| Self::Ok),
            Self::SASL => Ok(Self::Sasl),
            code => Ok(Self::Other(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_authentication_is_told_from_its_steps() {
        assert_eq!(Authentication::peek(b"\0\0\0\0"), Ok(Authentication::Ok));
        assert_eq!(Authentication::peek(b"\0\0\0\x0aSCRAM-SHA-256\0\0"), Ok(Authentication::Sasl));
        assert_eq!(Authentication::peek(b"\0\0\0\x0br=nonce"), Ok(Authentication::Other(11)));
    }

    #[test]
    fn cut_kind_and_bytes_after_ok_are_malformed() {
        for body in [&b""[..], b"\0\0\0", b"\0\0\0\0x"] {
            assert!(Authentication::peek(body).is_err());
        }
    }
}
