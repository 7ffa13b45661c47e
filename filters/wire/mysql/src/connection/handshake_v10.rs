//! HandshakeV10: the server's greeting, the first packet of a connection (unless an ERR packet comes instead).

use std::fmt;

use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::status::Status;
use crate::{Capabilities, WireError, write};

const MESSAGE: &str = "HandshakeV10";

/// The only version of the handshake that servers of this century speak.
pub const PROTOCOL_VERSION: u8 = 10;

/// From the end of the server's version: thread id, first part of the authentication data, a zero.
const BEFORE_CAPABILITIES: usize = 4 + 8 + 1;

/// From the lower half of the capabilities on: charset, status.
const BEFORE_UPPER_CAPABILITIES: usize = 2 + 1 + 2;

/// From the upper half on: length of the authentication data, six bytes of filler.
const BEFORE_EXTENDED_CAPABILITIES: usize = 2 + 1 + 6;

/// What decides how the rest of the greeting and all of the answer are laid out; never cleared.
const LAYOUT: Capabilities = Capabilities::LONG_PASSWORD
    .with(Capabilities::PROTOCOL_41)
    .with(Capabilities::SECURE_CONNECTION)
    .with(Capabilities::PLUGIN_AUTH);

/// HandshakeV10: the server's greeting.
///
/// Large: it has the fields of the packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HandshakeV10<'a> {
    /// The server's version. MariaDB puts `5.5.5-` before its own.
    pub server_version: &'a [u8],
    /// The connection's number, as KILL takes it.
    pub thread_id: u32,
    /// First eight bytes of the authentication data.
    pub auth_data_1: [u8; 8],
    /// What the server can do.
    pub capabilities: Capabilities,
    /// Lower byte of the server's default collation.
    pub charset: u8,
    /// The session's status.
    pub status: Status,
    /// Bytes of both parts of the authentication data, as announced; 0 without CLIENT_PLUGIN_AUTH.
    pub auth_data_len: u8,
    /// The rest of the authentication data, with the zero that usually ends it.
    pub auth_data_2: &'a [u8],
    /// Name of the authentication plugin; empty without CLIENT_PLUGIN_AUTH.
    pub auth_plugin: &'a [u8],
}

impl<'a> HandshakeV10<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        if reader.u8("protocol version")? != PROTOCOL_VERSION {
            return Err(WireError::UnsupportedProtocol { message: MESSAGE });
        }
        let server_version = reader.string("server version")?;
        let thread_id = reader.u32("thread id")?;
        let auth_data_1 = reader.array("authentication data")?;
        reader.u8("filler")?;
        let lower = reader.u16("capabilities")?;
        let charset = reader.u8("character set")?;
        let status = Status::from_bits(reader.u16("status")?);
        let upper = reader.u16("capabilities")?;
        let auth_data_len = reader.u8("length of the authentication data")?;
        reader.bytes("filler", 6)?;
        let extended = reader.u32("extended capabilities")?;
        let low = u32::from(lower) | u32::from(upper) << 16;
        let mut capabilities = Capabilities::from_words(low, 0);
        if capabilities.has_extended_field() {
            capabilities = Capabilities::from_words(low, extended);
        }
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(WireError::UnsupportedProtocol { message: MESSAGE });
        }
        let auth_data_2 = if capabilities.has(Capabilities::SECURE_CONNECTION) {
            reader.bytes("authentication data", second_part_len(auth_data_len))?
        } else {
            &[]
        };
        let auth_plugin =
            if capabilities.has(Capabilities::PLUGIN_AUTH) { reader.string("plugin name")? } else { &[] };
        reader.end()?;
        Ok(Self {
            server_version,
            thread_id,
            auth_data_1,
            capabilities,
            charset,
            status,
            auth_data_len,
            auth_data_2,
            auth_plugin,
        })
    }

    /// Whether the server is MariaDB, by its version. A server may be told to give another.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.windows(7).any(|part| part.eq_ignore_ascii_case(b"mariadb"))
    }

    /// Takes capabilities out of a greeting in place; gives those that are left. What the greeting's own layout
    /// hangs on can't be taken out.
    pub fn clear_capabilities(payload: &mut [u8], cleared: Capabilities) -> Result<Capabilities, WireError> {
        let before = HandshakeV10::parse(payload)?;
        if cleared.has_any(LAYOUT) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "capabilities" });
        }
        let left = before.capabilities.without(cleared);
        // Version byte, version, its zero.
        let lower_at = before.server_version.len().saturating_add(2).saturating_add(BEFORE_CAPABILITIES);
        let upper_at = lower_at.saturating_add(BEFORE_UPPER_CAPABILITIES);
        let [a, b, c, d] = left.low().to_le_bytes();
        write::patch(payload, lower_at, [a, b]);
        write::patch(payload, upper_at, [c, d]);
        if left.has_extended_field() {
            let extended_at = upper_at.saturating_add(BEFORE_EXTENDED_CAPABILITIES);
            write::patch(payload, extended_at, left.extended().to_le_bytes());
        }
        Ok(left)
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, sequence, |out| {
            let [a, b, c, d] = self.capabilities.low().to_le_bytes();
            out.push(PROTOCOL_VERSION);
            write::string(out, MESSAGE, "server version", self.server_version)?;
            out.extend_from_slice(&self.thread_id.to_le_bytes());
            out.extend_from_slice(&self.auth_data_1);
            out.extend_from_slice(&[0, a, b, self.charset]);
            out.extend_from_slice(&self.status.bits().to_le_bytes());
            out.extend_from_slice(&[c, d, self.auth_data_len, 0, 0, 0, 0, 0, 0]);
            let extended =
                if self.capabilities.has_extended_field() { self.capabilities.extended() } else { 0 };
            out.extend_from_slice(&extended.to_le_bytes());
            self.write_second_part(out)
        })
    }

    fn write_second_part(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let secure = self.capabilities.has(Capabilities::SECURE_CONNECTION);
        let expected = if secure { second_part_len(self.auth_data_len) } else { 0 };
        if self.auth_data_2.len() != expected {
            return Err(WireError::WrongForm { message: MESSAGE, what: "authentication data" });
        }
        out.extend_from_slice(self.auth_data_2);
        if self.capabilities.has(Capabilities::PLUGIN_AUTH) {
            write::string(out, MESSAGE, "plugin name", self.auth_plugin)
        } else if self.auth_plugin.is_empty() {
            Ok(())
        } else {
            Err(WireError::WrongForm { message: MESSAGE, what: "plugin name" })
        }
    }
}

/// At least thirteen bytes are sent, however many are announced.
fn second_part_len(auth_data_len: u8) -> usize {
    usize::from(auth_data_len.saturating_sub(8)).max(13)
}

impl fmt::Debug for HandshakeV10<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("server_version", &Sized(self.server_version))
            .field("thread_id", &self.thread_id)
            .field("capabilities", &self.capabilities)
            .field("charset", &self.charset)
            .field("status", &self.status)
            .field("auth_plugin", &Sized(self.auth_plugin))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    fn sample(extended: u32) -> HandshakeV10<'static> {
        let low = 0xd3ff_f7fe | u32::from(extended == 0);
        HandshakeV10 {
            server_version: b"5.5.5-10.11.6-MariaDB-0+deb12u1",
            thread_id: 31,
            auth_data_1: *b"abcdefgh",
            capabilities: Capabilities::from_words(low, extended),
            charset: 45,
            status: Status::AUTOCOMMIT,
            auth_data_len: 21,
            auth_data_2: b"ijklmnopqrst\0",
            auth_plugin: b"mysql_native_password",
        }
    }

    #[test]
    fn greeting_comes_back_as_written() {
        for extended in [0, 0x1d] {
            let payload = payload_of(|sequence, out| sample(extended).encode(sequence, out));
            assert_eq!(HandshakeV10::parse(&payload), Ok(sample(extended)));
            assert!(sample(extended).is_mariadb());
            check_truncations(&payload, |payload| HandshakeV10::parse(payload).map(drop));
        }
    }

    #[test]
    fn capabilities_are_cleared_in_place_and_nothing_else_changes() {
        let cleared = Capabilities::SSL
            .with(Capabilities::COMPRESS)
            .with(Capabilities::ZSTD_COMPRESSION_ALGORITHM)
            .with(Capabilities::MARIADB_STMT_BULK_OPERATIONS);
        for extended in [0, 0x1d] {
            let mut payload = payload_of(|sequence, out| sample(extended).encode(sequence, out));
            let left = HandshakeV10::clear_capabilities(&mut payload, cleared).unwrap();
            assert_eq!(left, sample(extended).capabilities.without(cleared));
            let expected = HandshakeV10 { capabilities: left, ..sample(extended) };
            assert_eq!(HandshakeV10::parse(&payload), Ok(expected));
        }
    }

    #[test]
    fn capabilities_that_the_layout_hangs_on_stay() {
        let mut payload = payload_of(|sequence, out| sample(0).encode(sequence, out));
        let before = payload.clone();
        assert!(HandshakeV10::clear_capabilities(&mut payload, Capabilities::PLUGIN_AUTH).is_err());
        assert_eq!(payload, before);
    }

    #[test]
    fn greeting_of_another_version_is_unsupported() {
        let mut payload = payload_of(|sequence, out| sample(0).encode(sequence, out));
        payload[0] = 9;
        let error = HandshakeV10::parse(&payload).unwrap_err();
        assert_eq!(error, WireError::UnsupportedProtocol { message: MESSAGE });
    }
}
