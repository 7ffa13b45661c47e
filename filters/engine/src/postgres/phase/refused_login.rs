//! A login that was refused: the client gets the reason in the place of the server's error.

use fieldveil_postgres_wire::backend::{ErrorResponse, ParameterStatus, Tag};
use fieldveil_postgres_wire::startup::{ProtocolVersion, StartupMessage};

use super::Phase;
use super::encryption::EncryptionRequests;
use super::login_message::LoginMessage;
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{CallbackOutput, Core, Step};
use crate::postgres::pending::OUT_OF_PLACE;
use crate::postgres::refuse::{NO_MESSAGE, is_provoked, write_error};
use crate::postgres::server::{Fate, MALFORMED};
use crate::postgres::settings::Settings;

/// A login that waits for the server's error.
pub struct RefusedLogin {
    encryption: EncryptionRequests,
    settings: Settings,
    /// What the client is told.
    error: ClientError,
}

impl RefusedLogin {
    /// Refuses a login of which the server has no StartupMessage. It gets one without a user, which it refuses before it does
    /// anything.
    pub fn before_startup(
        encryption: EncryptionRequests,
        error: ClientError,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Phase {
        let nobody = StartupMessage { version: ProtocolVersion::V3_0, parameters: Vec::new() };
        out.close |= nobody.encode(&mut out.to_server).is_err();
        Self::begin(encryption, Settings::default(), error, core)
    }

    /// Refuses a login that the server has begun, because the client broke the protocol.
    pub fn within(
        encryption: EncryptionRequests,
        settings: Settings,
        error: ClientError,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Phase {
        out.to_server.extend_from_slice(&NO_MESSAGE);
        Self::begin(encryption, settings, error, core)
    }

    fn begin(
        encryption: EncryptionRequests,
        settings: Settings,
        error: ClientError,
        core: &mut Core,
    ) -> Phase {
        core.audit.note_refusal(&error);
        core.audit.note_end(Ended::Filter);
        Phase::Refused(Box::new(Self { encryption, settings, error }))
    }

    /// Reads a message of the server, until it ends the connection.
    pub fn read_server(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if let Some(step) = self.encryption.read_answer(rest, core, out) {
            return Ok(step);
        }
        let (tag, body) = match LoginMessage::read(rest)? {
            LoginMessage::Unread(step) => return Ok(step),
            LoginMessage::Whole(tag, body) => (tag, body),
        };
        let fate = match tag {
            Tag::ErrorResponse => {
                let response = ErrorResponse::parse(body).map_err(|_| MALFORMED)?;
                if is_provoked(response.field(ErrorResponse::CODE).unwrap_or_default()) {
                    let encoding = self.settings.encoding.now();
                    write_error(core, encoding, ("FATAL", &self.error, ""), &mut out.to_client);
                    Fate::Taken
                } else {
                    Fate::Pass
                }
            }
            Tag::ParameterStatus => {
                let status = ParameterStatus::parse(body).map_err(|_| MALFORMED)?;
                self.settings.report(&status, core);
                Fate::Pass
            }
            Tag::Authentication | Tag::BackendKeyData | Tag::NegotiateProtocolVersion => Fate::Pass,
            _ => return Err(OUT_OF_PLACE),
        };
        Ok(fate.step(body))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Gives a refused login the server's error with this SQLSTATE. Returns what the client gets in its place.
    fn told(code: &str) -> Vec<u8> {
        let (mut core, mut out) = (Core::settled(), CallbackOutput::default());
        let error = ClientError::unsupported("not here", "Go elsewhere.");
        let mut phase =
            RefusedLogin::before_startup(EncryptionRequests::default(), error, &mut core, &mut out);
        let error = [b"SFATAL\0VFATAL\0C", code.as_bytes(), b"\0Mno user\0\0"].concat();
        let length = i32::try_from(error.len() + 4).unwrap().to_be_bytes();
        let message = [b"E".as_slice(), &length, &error].concat();
        match phase.read_server(&message, &mut core, &mut out).unwrap() {
            Step::Took(length) => assert_eq!(length, message.len()),
            Step::Pass(length) => out.to_client.extend_from_slice(&message[..length]),
            _ => panic!("the message is whole"),
        }
        out.to_client
    }

    #[test]
    fn client_is_told_the_reason_in_the_place_of_the_error_that_the_filter_provoked() {
        assert!(String::from_utf8(told("28000")).unwrap().contains("not here"));
        assert!(String::from_utf8(told("53300")).unwrap().contains("no user"));
    }

    #[test]
    fn refused_login_never_becomes_a_session() {
        let (mut core, mut out) = (Core::settled(), CallbackOutput::default());
        let error = ClientError::unsupported("not here", "Go elsewhere.");
        let (requests, settings) = (EncryptionRequests::default(), Settings::default());
        let mut phase = RefusedLogin::within(requests, settings, error, &mut core, &mut out);
        assert!(phase.read_server(b"Z\0\0\0\x05I", &mut core, &mut out).is_err());
        assert!(phase.session().is_none());
        let step = phase.read_client(b"Q\0\0\0\x05\0", &mut core, &mut out);
        assert!(matches!((phase, step), (Phase::Refused(_), Step::Took(6))));
    }
}
