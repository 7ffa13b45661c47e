//! AuthenticationSASL: the mechanisms that the server lets the client choose from.

use std::fmt;

use crate::WireError;
use crate::backend::{Authentication, Tag};
use crate::frame;
use crate::limits::MAX_SASL_MECHANISMS;
use crate::read::Reader;
use crate::redact::Counted;
use crate::write;

const MESSAGE: &str = "AuthenticationSASL";
const PART: &str = "mechanism's name";

/// The end of the name of a mechanism that binds the login to the TLS session it runs in (RFC 5801, section 4).
const CHANNEL_BINDING: &[u8] = b"-PLUS";

/// AuthenticationSASL: log in by one of these.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthenticationSasl<'a> {
    /// Names as registered with IANA, in the server's order of preference.
    pub mechanisms: Vec<&'a [u8]>,
}

impl<'a> AuthenticationSasl<'a> {
    /// Reads a whole body, its kind included.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        if reader.u32("kind")? != Authentication::SASL {
            return Err(WireError::UnknownCode { message: MESSAGE, what: "kind" });
        }
        let mut mechanisms = Vec::new();
        loop {
            let name = reader.string(PART)?;
            if name.is_empty() {
                break;
            }
            if mechanisms.len() >= MAX_SASL_MECHANISMS {
                return Err(WireError::TooMany {
                    message: MESSAGE,
                    what: "mechanisms",
                    limit: MAX_SASL_MECHANISMS,
                });
            }
            mechanisms.push(name);
        }
        reader.end()?;
        Ok(Self { mechanisms })
    }

    /// Leaves out the mechanisms with channel binding; tells whether there were any.
    pub fn without_channel_binding(&mut self) -> bool {
        let before = self.mechanisms.len();
        self.mechanisms.retain(|name| !name.ends_with(CHANNEL_BINDING));
        self.mechanisms.len() != before
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        frame::try_write_message(out, Tag::Authentication, |out| {
            out.extend_from_slice(&Authentication::SASL.to_be_bytes());
            for name in &self.mechanisms {
                // An empty name would end the list.
                if name.is_empty() {
                    return Err(WireError::NotAString { message: MESSAGE, what: PART });
                }
                write::string(out, MESSAGE, PART, name)?;
            }
            out.push(0);
            Ok(())
        })
    }
}

impl fmt::Debug for AuthenticationSasl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("mechanisms", &Counted(self.mechanisms.len())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    const OFFER: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";

    #[test]
    fn offer_comes_back_as_read() {
        let offer = AuthenticationSasl::parse(OFFER).unwrap();
        assert_eq!(offer.mechanisms, [&b"SCRAM-SHA-256-PLUS"[..], b"SCRAM-SHA-256"]);
        assert_eq!(body_of(b'R', |out| offer.encode(out)), OFFER);
        check_truncations(OFFER, |body| AuthenticationSasl::parse(body).map(drop));
    }

    #[test]
    fn offer_without_channel_binding_keeps_the_rest_in_order() {
        let mut offer =
            AuthenticationSasl { mechanisms: vec![b"SCRAM-SHA-256-PLUS", b"OAUTHBEARER", b"SCRAM-SHA-256"] };
        assert!(offer.without_channel_binding());
        assert_eq!(body_of(b'R', |out| offer.encode(out)), b"\0\0\0\x0aOAUTHBEARER\0SCRAM-SHA-256\0\0");
        assert!(!offer.without_channel_binding());
    }

    #[test]
    fn offer_of_channel_binding_alone_is_empty_without_it() {
        let mut offer = AuthenticationSasl { mechanisms: vec![b"SCRAM-SHA-256-PLUS", b"SCRAM-SHA-1-PLUS"] };
        assert!(offer.without_channel_binding());
        assert_eq!(offer.mechanisms, [&b""[..]; 0]);
    }

    #[test]
    fn other_kinds_bytes_left_over_and_too_many_names_are_malformed() {
        let many = [b"\0\0\0\x0a".to_vec(), b"A\0".repeat(MAX_SASL_MECHANISMS + 1), vec![0]].concat();
        for body in [&b"\0\0\0\x0bA\0\0"[..], b"\0\0\0\x0aA\0\0\0", &many] {
            assert!(AuthenticationSasl::parse(body).is_err());
        }
    }

    #[test]
    fn unwritable_names_leave_nothing_behind() {
        for name in [&b""[..], b"A\0B"] {
            let mut out = b"kept".to_vec();
            assert!(AuthenticationSasl { mechanisms: vec![name] }.encode(&mut out).is_err());
            assert_eq!(out, b"kept");
        }
    }
}
