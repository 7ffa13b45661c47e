//! ERR packet: the command, or the connection, has failed.

use std::borrow::Cow;
use std::fmt;

use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "ERR_Packet";

/// What stands before an SQLSTATE.
const MARKER: u8 = b'#';

/// ERR packet: the command, or the connection, has failed.
#[derive(Clone, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// The error's number (ER_…).
    pub code: u16,
    /// The SQLSTATE; an error before the greeting has none.
    pub sql_state: Option<[u8; 5]>,
    /// The text, in the session's character set.
    pub text: Cow<'a, [u8]>,
}

impl<'a> ErrPacket<'a> {
    /// First byte of the payload.
    pub const HEADER: u8 = 0xff;

    /// The code by which MariaDB sends a report of progress, after which the answer is still to come.
    pub const PROGRESS: u16 = 0xffff;

    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, Self::HEADER)?;
        let code = reader.u16("code")?;
        let sql_state = if code != Self::PROGRESS && reader.rest().first() == Some(&MARKER) {
            reader.u8("SQLSTATE")?;
            Some(reader.array("SQLSTATE")?)
        } else {
            None
        };
        Ok(Self { code, sql_state, text: Cow::Borrowed(reader.remainder()) })
    }

    /// Whether this is a report of progress and no error. It comes only with MARIADB_CLIENT_PROGRESS.
    pub fn is_progress(&self) -> bool {
        self.code == Self::PROGRESS
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(Self::HEADER);
            out.extend_from_slice(&self.code.to_le_bytes());
            if let Some(sql_state) = self.sql_state {
                out.push(MARKER);
                out.extend_from_slice(&sql_state);
            }
            out.extend_from_slice(&self.text);
        })
    }
}

impl fmt::Debug for ErrPacket<'_> {
    // The text may quote values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("code", &self.code)
            .field("sql_state", &self.sql_state.as_ref().map(|state| String::from_utf8_lossy(state)))
            .field("text", &Sized(&self.text))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn error_comes_back_as_written() {
        let error = ErrPacket { code: 1142, sql_state: Some(*b"42000"), text: b"canary".into() };
        let payload = payload_of(|sequence, out| error.encode(sequence, out));
        assert_eq!(
            (&payload[..], ErrPacket::parse(&payload)),
            (&b"\xff\x76\x04#42000canary"[..], Ok(error.clone()))
        );
        assert!(!format!("{error:?}").contains("canary"));
    }

    #[test]
    fn error_before_the_greeting_has_no_sqlstate() {
        let error = ErrPacket::parse(b"\xff\x10\x04Too many connections").unwrap();
        assert_eq!(
            (error.code, error.sql_state, &error.text[..]),
            (1040, None, &b"Too many connections"[..])
        );
    }

    #[test]
    fn report_of_progress_is_told_from_an_error() {
        let report = ErrPacket::parse(b"\xff\xff\xff\x01\x01\x03\0\0\0\x07copying").unwrap();
        assert!(report.is_progress());
    }

    #[test]
    fn error_without_its_code_is_malformed() {
        assert!(ErrPacket::parse(b"\xff\x01").is_err() && ErrPacket::parse(b"\xff\x01\x04#4200").is_err());
    }
}
