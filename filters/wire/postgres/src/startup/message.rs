//! StartupMessage: protocol version and parameters of a new session.

use std::fmt;

use crate::WireError;
use crate::limits::MAX_STARTUP_PACKET;
use crate::read::Reader;
use crate::write;

const MESSAGE: &str = "StartupMessage";

/// The version a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtocolVersion {
    /// Always 3 in a parsed message.
    pub major: u16,
    /// 0 or 2; a server answers a higher one with NegotiateProtocolVersion.
    pub minor: u16,
}

impl ProtocolVersion {
    /// Protocol 3.0.
    pub const V3_0: Self = Self { major: 3, minor: 0 };
    /// Protocol 3.2, of PostgreSQL 18: longer cancel keys.
    pub const V3_2: Self = Self { major: 3, minor: 2 };

    pub(crate) fn from_code(code: u32) -> Self {
        let [a, b, c, d] = code.to_be_bytes();
        Self { major: u16::from_be_bytes([a, b]), minor: u16::from_be_bytes([c, d]) }
    }
}

/// StartupMessage: a session begins.
#[derive(Clone, PartialEq, Eq)]
pub struct StartupMessage {
    /// The version asked for.
    pub version: ProtocolVersion,
    /// Names and values, in the order sent.
    pub parameters: Vec<(String, String)>,
}

impl StartupMessage {
    /// Reads what follows the version: pairs of strings, then one zero byte.
    pub(crate) fn parse_parameters(version: ProtocolVersion, rest: &[u8]) -> Result<Self, WireError> {
        if version.major != 3 {
            return Err(WireError::UnsupportedProtocol { major: version.major, minor: version.minor });
        }
        let mut reader = Reader::new(MESSAGE, rest);
        let mut parameters = Vec::new();
        loop {
            let name = text(&mut reader, "parameter name")?;
            if name.is_empty() {
                break;
            }
            parameters.push((name, text(&mut reader, "parameter value")?));
        }
        reader.end()?;
        Ok(Self { version, parameters })
    }

    /// A parameter's value. Of a name sent twice the last counts, as it does for the server: the principal
    /// that policy sees must be the one that logs in.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Appends the whole packet. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let start = out.len();
        let written = self.append(out, start);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn append(&self, out: &mut Vec<u8>, start: usize) -> Result<(), WireError> {
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.version.major.to_be_bytes());
        out.extend_from_slice(&self.version.minor.to_be_bytes());
        for (name, value) in &self.parameters {
            // An empty name would end the list.
            if name.is_empty() {
                return Err(WireError::NotAString { message: MESSAGE, what: "parameter name" });
            }
            write::string(out, MESSAGE, "parameter name", name.as_bytes())?;
            write::string(out, MESSAGE, "parameter value", value.as_bytes())?;
        }
        out.push(0);
        let length = out
            .len()
            .checked_sub(start)
            .and_then(|length| u32::try_from(length).ok())
            .filter(|length| length.saturating_sub(4) <= MAX_STARTUP_PACKET)
            .ok_or(WireError::TooLong { message: MESSAGE, what: "parameters" })?;
        write::patch(out, start, length.to_be_bytes());
        Ok(())
    }
}

fn text(reader: &mut Reader<'_>, what: &'static str) -> Result<String, WireError> {
    let bytes = reader.string(what)?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| WireError::NotUtf8 { message: MESSAGE, what })
}

/// Tells the names only: `options` may carry any setting, a token among them.
impl fmt::Debug for StartupMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct(MESSAGE).field("version", &self.version).field("parameters", &names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::startup::FirstPacket;

    fn message(parameters: &[(&str, &str)]) -> StartupMessage {
        StartupMessage {
            version: ProtocolVersion::V3_2,
            parameters: parameters.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
        }
    }

    fn encoded(message: &StartupMessage) -> Vec<u8> {
        let mut out = Vec::new();
        message.encode(&mut out).unwrap();
        out
    }

    #[test]
    fn startup_comes_back_as_written_and_waits_at_every_split() {
        let message = message(&[("user", "app"), ("database", "shop"), ("options", "")]);
        let bytes = encoded(&message);
        for have in 0..bytes.len() {
            assert_eq!(FirstPacket::parse(&bytes[..have]), Ok(None));
        }
        assert_eq!(FirstPacket::parse(&bytes), Ok(Some((FirstPacket::Startup(message), bytes.len()))));
    }

    #[test]
    fn bytes_are_those_of_the_protocol() {
        let bytes = encoded(&message(&[("user", "a")]));
        assert_eq!(bytes, b"\0\0\0\x10\0\x03\0\x02user\0a\0\0");
    }

    #[test]
    fn of_a_name_sent_twice_the_last_counts() {
        let message = message(&[("user", "app"), ("user", "admin")]);
        assert_eq!(message.parameter("user"), Some("admin"));
        assert_eq!(message.parameter("database"), None);
    }

    #[test]
    fn protocol_2_is_unsupported() {
        assert_eq!(
            FirstPacket::parse(b"\0\0\0\x09\0\x02\0\0\0"),
            Err(WireError::UnsupportedProtocol { major: 2, minor: 0 })
        );
    }

    #[test]
    fn name_without_value_missing_end_and_bytes_after_it_are_malformed() {
        for rest in [&b""[..], b"user\0", b"user\0a\0", b"user\0a", b"\0x", b"user\0a\0\0\0"] {
            let parsed = StartupMessage::parse_parameters(ProtocolVersion::V3_0, rest);
            assert!(parsed.is_err(), "{} bytes", rest.len());
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_malformed() {
        let parsed = StartupMessage::parse_parameters(ProtocolVersion::V3_0, b"user\0\xff\0\0");
        assert_eq!(parsed, Err(WireError::NotUtf8 { message: MESSAGE, what: "parameter value" }));
    }

    #[test]
    fn unwritable_parameters_leave_nothing_behind() {
        let long = "x".repeat(10_000);
        for bad in [("", "x"), ("a\0b", "x"), ("a", "\0"), ("a", long.as_str())] {
            let mut out = b"kept".to_vec();
            assert!(message(&[bad]).encode(&mut out).is_err());
            assert_eq!(out, b"kept");
        }
    }

    #[test]
    fn debug_tells_no_values() {
        assert!(!format!("{:?}", message(&[("options", "canary")])).contains("canary"));
    }
}
