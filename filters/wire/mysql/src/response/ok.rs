//! OK packet: the command has succeeded, or, with CLIENT_DEPRECATE_EOF, the result set ends.

use std::fmt;

use super::SessionState;
use crate::lenenc::{push_integer, push_string};
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::status::Status;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "OK_Packet";

/// OK packet: the command has succeeded, or the result set ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OkPacket<'a> {
    /// Whether it stands where an EOF packet stood: its first byte is 0xFE then.
    pub ends_result_set: bool,
    /// Number of rows that were changed.
    pub affected_rows: u64,
    /// The last value of an AUTO_INCREMENT column.
    pub last_insert_id: u64,
    /// The session's status.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// A text for people. With CLIENT_SESSION_TRACK a server leaves out an empty one where nothing follows.
    pub info: Option<&'a [u8]>,
    /// What changed in the session, with CLIENT_SESSION_TRACK and SERVER_SESSION_STATE_CHANGED.
    pub session_state: Option<SessionState<'a>>,
}

impl<'a> OkPacket<'a> {
    /// First byte of the payload.
    pub const HEADER: u8 = 0x00;

    /// First byte of the payload where it ends a result set.
    pub const END_HEADER: u8 = 0xfe;

    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let ends_result_set = match reader.u8("kind")? {
            Self::HEADER => false,
            Self::END_HEADER => true,
            _ => return Err(WireError::UnknownCode { message: MESSAGE, what: "kind" }),
        };
        let affected_rows = reader.lenenc("affected rows")?;
        let last_insert_id = reader.lenenc("last insert id")?;
        let status = Status::from_bits(reader.u16("status")?);
        let warnings = reader.u16("warnings")?;
        let (mut info, mut session_state) = (None, None);
        if capabilities.has(Capabilities::SESSION_TRACK) {
            if !reader.is_empty() {
                info = Some(reader.lenenc_string("information")?);
            }
            if status.has(Status::SESSION_STATE_CHANGED) && !reader.is_empty() {
                session_state = Some(SessionState::parse(reader.lenenc_string("session state")?)?);
            }
        } else if !reader.is_empty() {
            info = Some(reader.remainder());
        }
        reader.end()?;
        Ok(Self { ends_result_set, affected_rows, last_insert_id, status, warnings, info, session_state })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(
        &self,
        capabilities: Capabilities,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        try_write_message(out, sequence, |out| {
            out.push(if self.ends_result_set { Self::END_HEADER } else { Self::HEADER });
            push_integer(out, self.affected_rows);
            push_integer(out, self.last_insert_id);
            out.extend_from_slice(&self.status.bits().to_le_bytes());
            out.extend_from_slice(&self.warnings.to_le_bytes());
            self.write_rest(capabilities, out)
        })
    }

    fn write_rest(&self, capabilities: Capabilities, out: &mut Vec<u8>) -> Result<(), WireError> {
        let tracks = capabilities.has(Capabilities::SESSION_TRACK);
        if self.session_state.is_some() && !(tracks && self.status.has(Status::SESSION_STATE_CHANGED)) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "session state" });
        }
        match (self.info, self.session_state) {
            (info, Some(state)) => {
                push_string(out, info.unwrap_or_default());
                push_string(out, state.bytes());
            }
            (Some(info), None) if tracks => push_string(out, info),
            (Some(info), None) => out.extend_from_slice(info),
            (None, None) => {}
        }
        Ok(())
    }
}

impl fmt::Debug for OkPacket<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("ends_result_set", &self.ends_result_set)
            .field("affected_rows", &self.affected_rows)
            .field("status", &self.status)
            .field("warnings", &self.warnings)
            .field("info", &self.info.map(Sized))
            .field("session_state", &self.session_state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    fn sample() -> OkPacket<'static> {
        OkPacket {
            ends_result_set: false,
            affected_rows: 300,
            last_insert_id: 7,
            status: Status::AUTOCOMMIT,
            warnings: 1,
            info: Some(b"canary"),
            session_state: None,
        }
    }

    #[test]
    fn ok_comes_back_as_written_in_both_forms() {
        for capabilities in [Capabilities::NONE, Capabilities::SESSION_TRACK] {
            for ends_result_set in [false, true] {
                let ok = OkPacket { ends_result_set, ..sample() };
                let payload = payload_of(|sequence, out| ok.encode(capabilities, sequence, out));
                assert_eq!(OkPacket::parse(&payload, capabilities), Ok(ok));
                assert!(!format!("{ok:?}").contains("canary"));
            }
        }
        assert_eq!(
            payload_of(|sequence, out| sample().encode(Capabilities::NONE, sequence, out)),
            b"\0\xfc\x2c\x01\x07\x02\0\x01\0canary"
        );
    }

    #[test]
    fn session_changes_follow_the_information() {
        let track = Capabilities::SESSION_TRACK;
        let ok = OkPacket {
            status: Status::SESSION_STATE_CHANGED,
            info: Some(b""),
            session_state: Some(SessionState::parse(b"\x01\x05\x04shop").unwrap()),
            ..sample()
        };
        let payload = payload_of(|sequence, out| ok.encode(track, sequence, out));
        assert_eq!(payload, b"\0\xfc\x2c\x01\x07\0\x40\x01\0\0\x07\x01\x05\x04shop");
        assert_eq!(OkPacket::parse(&payload, track), Ok(ok));
        assert!(ok.encode(Capabilities::NONE, &mut Sequence::default(), &mut Vec::new()).is_err());
    }

    #[test]
    fn ok_without_information_is_read_and_its_beginnings_are_not() {
        let ok = OkPacket { info: None, ..sample() };
        for capabilities in [Capabilities::NONE, Capabilities::SESSION_TRACK] {
            let payload = payload_of(|sequence, out| ok.encode(capabilities, sequence, out));
            assert_eq!(OkPacket::parse(&payload, capabilities), Ok(ok));
            check_truncations(&payload, |payload| OkPacket::parse(payload, capabilities).map(drop));
        }
    }
}
