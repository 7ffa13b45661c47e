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
        Self::new(encryption, Settings::default(), error, core)
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
        Self::new(encryption, settings, error, core)
    }

    fn new(encryption: EncryptionRequests, settings: Settings, error: ClientError, core: &mut Core) -> Phase {
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
