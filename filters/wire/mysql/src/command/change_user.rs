//! COM_CHANGE_USER: another user on the same connection, which authenticates anew.

use std::fmt;

use super::CommandCode;
use crate::connection::{AuthForm, ConnectAttributes};
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{Capabilities, WireError, write};

const MESSAGE: &str = "COM_CHANGE_USER";

/// COM_CHANGE_USER: another user on the same connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// The user's name.
    pub user: &'a [u8],
    /// What the authentication plugin answers to the greeting's data.
    pub auth_response: &'a [u8],
    /// The database; empty for none.
    pub database: &'a [u8],
    /// The session's collation. A message may end before it, and before each part that follows.
    pub charset: Option<u16>,
    /// The authentication plugin, with CLIENT_PLUGIN_AUTH.
    pub auth_plugin: Option<&'a [u8]>,
    /// Connection attributes, with CLIENT_CONNECT_ATTRS.
    pub attributes: Option<ConnectAttributes<'a>>,
}

impl<'a> ChangeUser<'a> {
    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::ChangeUser.byte())?;
        let user = reader.string("user")?;
        let auth_response = form(capabilities).read(&mut reader)?;
        let database = reader.string("database")?;
        let mut command =
            Self { user, auth_response, database, charset: None, auth_plugin: None, attributes: None };
        if !reader.is_empty() {
            command.charset = Some(reader.u16("character set")?);
        }
        if capabilities.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty() {
            command.auth_plugin = Some(reader.string("plugin name")?);
        }
        if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            command.attributes = Some(ConnectAttributes::read(MESSAGE, &mut reader)?);
        }
        reader.end()?;
        Ok(command)
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(
        &self,
        capabilities: Capabilities,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        self.check_form(capabilities)?;
        try_write_message(out, sequence, |out| {
            out.push(CommandCode::ChangeUser.byte());
            write::string(out, MESSAGE, "user", self.user)?;
            form(capabilities).write(out, MESSAGE, self.auth_response)?;
            write::string(out, MESSAGE, "database", self.database)?;
            if let Some(charset) = self.charset {
                out.extend_from_slice(&charset.to_le_bytes());
            }
            if let Some(plugin) = self.auth_plugin {
                write::string(out, MESSAGE, "plugin name", plugin)?;
            }
            if let Some(attributes) = self.attributes {
                attributes.write(out);
            }
            Ok(())
        })
    }

    /// No part without its capability, nor without the parts before it.
    fn check_form(&self, capabilities: Capabilities) -> Result<(), WireError> {
        let plugins = capabilities.has(Capabilities::PLUGIN_AUTH);
        let fits = (self.auth_plugin.is_none() || (plugins && self.charset.is_some()))
            && (self.attributes.is_none()
                || (capabilities.has(Capabilities::CONNECT_ATTRS)
                    && self.charset.is_some()
                    && self.auth_plugin.is_some() == plugins));
        if fits { Ok(()) } else { Err(WireError::WrongForm { message: MESSAGE, what: "capabilities" }) }
    }
}

/// Never a length-encoded string, unlike in a handshake response.
fn form(capabilities: Capabilities) -> AuthForm {
    AuthForm::of(capabilities.without(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA))
}

impl fmt::Debug for ChangeUser<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("user", &Sized(self.user))
            .field("auth_response", &Sized(self.auth_response))
            .field("database", &Sized(self.database))
            .field("charset", &self.charset)
            .field("auth_plugin", &self.auth_plugin.map(Sized))
            .field("attributes", &self.attributes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    const ALL: Capabilities = Capabilities::SECURE_CONNECTION
        .with(Capabilities::PLUGIN_AUTH)
        .with(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA)
        .with(Capabilities::CONNECT_ATTRS);

    fn sample() -> ChangeUser<'static> {
        ChangeUser {
            user: b"canary",
            auth_response: b"canary_secret",
            database: b"shop",
            charset: Some(45),
            auth_plugin: Some(b"client_ed25519"),
            attributes: Some(ConnectAttributes::default()),
        }
    }

    #[test]
    fn command_comes_back_as_written() {
        let payload = payload_of(|sequence, out| sample().encode(ALL, sequence, out));
        assert_eq!(payload, b"\x11canary\0\x0dcanary_secretshop\0\x2d\0client_ed25519\0\0");
        assert_eq!(ChangeUser::parse(&payload, ALL), Ok(sample()));
        assert!(!format!("{:?}", sample()).contains("canary"));
    }

    #[test]
    fn command_may_end_after_the_database_or_any_later_part() {
        let short = ChangeUser { charset: None, auth_plugin: None, attributes: None, ..sample() };
        let longer = ChangeUser { charset: Some(8), ..short };
        for command in [short, longer] {
            let payload = payload_of(|sequence, out| command.encode(ALL, sequence, out));
            assert_eq!(ChangeUser::parse(&payload, ALL), Ok(command));
        }
        assert!(ChangeUser::parse(b"\x11u\0\0db", ALL).is_err());
    }

    #[test]
    fn part_without_its_capability_is_not_written() {
        let (mut sequence, mut out) = (Sequence::default(), Vec::new());
        assert!(sample().encode(Capabilities::SECURE_CONNECTION, &mut sequence, &mut out).is_err());
        let gap = ChangeUser { auth_plugin: None, ..sample() };
        assert!(gap.encode(ALL, &mut sequence, &mut out).is_err());
    }
}
