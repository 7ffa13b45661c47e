//! HandshakeResponse41: the client's answer to the greeting.

use std::fmt;

use super::{ConnectAttributes, SslRequest, ssl_request};
use crate::lenenc::push_string;
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{Capabilities, WireError, write};

const MESSAGE: &str = "HandshakeResponse41";

/// The client's first packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientGreeting<'a> {
    /// It wants TLS first.
    SslRequest(SslRequest),
    /// It answers the greeting.
    HandshakeResponse(HandshakeResponse41<'a>),
}

impl<'a> ClientGreeting<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        match SslRequest::parse(payload) {
            Ok(request) if request.capabilities.has(Capabilities::SSL) => Ok(Self::SslRequest(request)),
            _ => HandshakeResponse41::parse(payload).map(Self::HandshakeResponse),
        }
    }

    /// What the client can do and wants.
    pub fn capabilities(&self) -> Capabilities {
        match self {
            Self::SslRequest(request) => request.capabilities,
            Self::HandshakeResponse(response) => response.capabilities,
        }
    }
}

/// How a client's authentication data is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthForm {
    /// A length-encoded string.
    Lenenc,
    /// A byte of length, then the data.
    Short,
    /// A zero-terminated string.
    Terminated,
}

impl AuthForm {
    /// The form in a handshake response.
    pub const fn of(capabilities: Capabilities) -> Self {
        if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            Self::Lenenc
        } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
            Self::Short
        } else {
            Self::Terminated
        }
    }

    pub(crate) fn read<'a>(self, reader: &mut Reader<'a>) -> Result<&'a [u8], WireError> {
        const WHAT: &str = "authentication data";
        match self {
            Self::Lenenc => reader.lenenc_string(WHAT),
            Self::Short => {
                let length = reader.u8(WHAT)?;
                reader.bytes(WHAT, length.into())
            }
            Self::Terminated => reader.string(WHAT),
        }
    }

    pub(crate) fn write(
        self,
        out: &mut Vec<u8>,
        message: &'static str,
        data: &[u8],
    ) -> Result<(), WireError> {
        const WHAT: &str = "authentication data";
        match self {
            Self::Lenenc => {
                push_string(out, data);
                Ok(())
            }
            Self::Short => write::short_string(out, message, WHAT, data),
            Self::Terminated => write::string(out, message, WHAT, data),
        }
    }
}

/// HandshakeResponse41: the client's answer to the greeting.
///
/// Large: it has the fields of the packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HandshakeResponse41<'a> {
    /// What the client can do and wants.
    pub capabilities: Capabilities,
    /// Longest packet that the client takes.
    pub max_packet_size: u32,
    /// The session's collation.
    pub charset: u8,
    /// The user's name, in that collation's character set.
    pub user: &'a [u8],
    /// What the authentication plugin answers.
    pub auth_response: &'a [u8],
    /// The database, with CLIENT_CONNECT_WITH_DB.
    pub database: Option<&'a [u8]>,
    /// The authentication plugin, with CLIENT_PLUGIN_AUTH.
    pub auth_plugin: Option<&'a [u8]>,
    /// Connection attributes, with CLIENT_CONNECT_ATTRS. A message that ends before them has none.
    pub attributes: Option<ConnectAttributes<'a>>,
    /// The level of compression, with CLIENT_ZSTD_COMPRESSION_ALGORITHM.
    pub zstd_level: Option<u8>,
}

impl<'a> HandshakeResponse41<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let SslRequest { capabilities, max_packet_size, charset } = SslRequest::read(MESSAGE, &mut reader)?;
        let user = reader.string("user")?;
        let auth_response = AuthForm::of(capabilities).read(&mut reader)?;
        let database = match capabilities.has(Capabilities::CONNECT_WITH_DB) {
            true => Some(reader.string("database")?),
            false => None,
        };
        let auth_plugin = match capabilities.has(Capabilities::PLUGIN_AUTH) {
            true => Some(reader.string("plugin name")?),
            false => None,
        };
        let attributes = match capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            true => Some(ConnectAttributes::read(MESSAGE, &mut reader)?),
            false => None,
        };
        let zstd_level = match capabilities.has(Capabilities::ZSTD_COMPRESSION_ALGORITHM) {
            true => Some(reader.u8("level of compression")?),
            false => None,
        };
        reader.end()?;
        Ok(Self {
            capabilities,
            max_packet_size,
            charset,
            user,
            auth_response,
            database,
            auth_plugin,
            attributes,
            zstd_level,
        })
    }

    /// Takes capabilities out of an answer (or an SSLRequest) in place; gives those that are left. Only those that
    /// no field of the answer hangs on can be taken out.
    pub fn clear_capabilities(payload: &mut [u8], cleared: Capabilities) -> Result<Capabilities, WireError> {
        const LAYOUT: Capabilities = Capabilities::LONG_PASSWORD
            .with(Capabilities::CONNECT_WITH_DB)
            .with(Capabilities::PROTOCOL_41)
            .with(Capabilities::SSL)
            .with(Capabilities::SECURE_CONNECTION)
            .with(Capabilities::PLUGIN_AUTH)
            .with(Capabilities::CONNECT_ATTRS)
            .with(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA)
            .with(Capabilities::ZSTD_COMPRESSION_ALGORITHM);
        if cleared.has_any(LAYOUT) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "capabilities" });
        }
        let before = SslRequest::read(MESSAGE, &mut Reader::new(MESSAGE, payload))?;
        let left = before.capabilities.without(cleared);
        write::patch(payload, 0, left.low().to_le_bytes());
        if left.has_extended_field() {
            write::patch(payload, ssl_request::LEN.saturating_sub(4), left.extended().to_le_bytes());
        }
        Ok(left)
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, sequence, |out| {
            let Self { capabilities, max_packet_size, charset, .. } = *self;
            self.check_form()?;
            SslRequest { capabilities, max_packet_size, charset }.write(out);
            write::string(out, MESSAGE, "user", self.user)?;
            AuthForm::of(capabilities).write(out, MESSAGE, self.auth_response)?;
            if let Some(database) = self.database {
                write::string(out, MESSAGE, "database", database)?;
            }
            if let Some(plugin) = self.auth_plugin {
                write::string(out, MESSAGE, "plugin name", plugin)?;
            }
            if let Some(attributes) = self.attributes {
                attributes.write(out);
            }
            out.extend(self.zstd_level);
            Ok(())
        })
    }

    /// Each part that has a flag of its own is there if the flag is.
    fn check_form(&self) -> Result<(), WireError> {
        let has = |flag| self.capabilities.has(flag);
        let fits = self.database.is_some() == has(Capabilities::CONNECT_WITH_DB)
            && self.auth_plugin.is_some() == has(Capabilities::PLUGIN_AUTH)
            && self.zstd_level.is_some() == has(Capabilities::ZSTD_COMPRESSION_ALGORITHM)
            && (self.attributes.is_none() || has(Capabilities::CONNECT_ATTRS))
            && (self.attributes.is_some() || self.zstd_level.is_none() || !has(Capabilities::CONNECT_ATTRS));
        if fits { Ok(()) } else { Err(WireError::WrongForm { message: MESSAGE, what: "capabilities" }) }
    }
}

impl fmt::Debug for HandshakeResponse41<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("capabilities", &self.capabilities)
            .field("max_packet_size", &self.max_packet_size)
            .field("charset", &self.charset)
            .field("user", &Sized(self.user))
            .field("auth_response", &Sized(self.auth_response))
            .field("database", &self.database.map(Sized))
            .field("auth_plugin", &self.auth_plugin.map(Sized))
            .field("attributes", &self.attributes)
            .field("zstd_level", &self.zstd_level)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    fn sample() -> HandshakeResponse41<'static> {
        let capabilities = Capabilities::PROTOCOL_41
            .with(Capabilities::SECURE_CONNECTION)
            .with(Capabilities::PLUGIN_AUTH)
            .with(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA)
            .with(Capabilities::CONNECT_WITH_DB)
            .with(Capabilities::CONNECT_ATTRS)
            .with(Capabilities::ZSTD_COMPRESSION_ALGORITHM)
            .with(Capabilities::MARIADB_PROGRESS);
        HandshakeResponse41 {
            capabilities,
            max_packet_size: 0x100_0000,
            charset: 45,
            user: b"canary_user",
            auth_response: b"canary_secret",
            database: Some(b"shop"),
            auth_plugin: Some(b"mysql_native_password"),
            attributes: Some(ConnectAttributes::parse(MESSAGE, b"\x04_pid\x0242").unwrap()),
            zstd_level: Some(3),
        }
    }

    #[test]
    fn response_comes_back_as_written() {
        let payload = payload_of(|sequence, out| sample().encode(sequence, out));
        assert_eq!(HandshakeResponse41::parse(&payload), Ok(sample()));
        assert_eq!(ClientGreeting::parse(&payload), Ok(ClientGreeting::HandshakeResponse(sample())));
        check_truncations(&payload, |payload| HandshakeResponse41::parse(payload).map(drop));
    }

    #[test]
    fn authentication_data_takes_the_form_of_the_capabilities() {
        for without in [
            Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA,
            Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA.with(Capabilities::SECURE_CONNECTION),
        ] {
            let response =
                HandshakeResponse41 { capabilities: sample().capabilities.without(without), ..sample() };
            let payload = payload_of(|sequence, out| response.encode(sequence, out));
            assert_eq!(HandshakeResponse41::parse(&payload), Ok(response));
        }
    }

    #[test]
    fn response_may_end_before_its_attributes() {
        let capabilities = sample().capabilities.without(Capabilities::ZSTD_COMPRESSION_ALGORITHM);
        let response = HandshakeResponse41 { capabilities, attributes: None, zstd_level: None, ..sample() };
        let payload = payload_of(|sequence, out| response.encode(sequence, out));
        assert_eq!(HandshakeResponse41::parse(&payload), Ok(response));
    }

    #[test]
    fn extended_capabilities_are_read_only_where_they_have_a_place() {
        let mut payload = payload_of(|sequence, out| sample().encode(sequence, out));
        payload[0] |= 1;
        let read = HandshakeResponse41::parse(&payload).unwrap();
        assert!(!read.capabilities.has(Capabilities::MARIADB_PROGRESS));
    }

    #[test]
    fn capabilities_are_cleared_in_place() {
        let mut payload = payload_of(|sequence, out| sample().encode(sequence, out));
        let cleared = Capabilities::MARIADB_PROGRESS;
        let left = HandshakeResponse41::clear_capabilities(&mut payload, cleared).unwrap();
        assert_eq!(left, sample().capabilities.without(cleared));
        let expected = HandshakeResponse41 { capabilities: left, ..sample() };
        assert_eq!(HandshakeResponse41::parse(&payload), Ok(expected));
        assert!(HandshakeResponse41::clear_capabilities(&mut payload, Capabilities::SSL).is_err());
    }

    #[test]
    fn part_without_its_capability_is_not_written() {
        let response = HandshakeResponse41 { database: None, ..sample() };
        assert!(response.encode(&mut Sequence::default(), &mut Vec::new()).is_err());
    }

    #[test]
    fn debug_tells_no_user_and_no_secret() {
        assert!(!format!("{:?}", sample()).contains("canary"));
    }
}
