//! Logging in: between client and server, but for what the sidecar's ending of TLS changes in it.

use fieldveil_postgres_wire::backend::{
    Authentication, AuthenticationSasl, ErrorResponse, ParameterStatus, Tag,
};
use fieldveil_postgres_wire::frontend;

use super::encryption::EncryptionRequests;
use super::login_message::LoginMessage;
use super::refused_login::RefusedLogin;
use super::{Phase, ReadySession};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{CallbackOutput, Core, Step, Waiting};
use crate::postgres::client::read_header;
use crate::postgres::refuse::end_login;
use crate::postgres::server::{Fate, MALFORMED};
use crate::postgres::settings::Settings;

/// A login that goes on between client and server.
pub struct Authenticating {
    encryption: EncryptionRequests,
    settings: Settings,
}

impl Authenticating {
    /// Begins when the server gets the StartupMessage.
    pub fn new(encryption: EncryptionRequests, settings: Settings) -> Self {
        Self { encryption, settings }
    }

    /// Reads a message of the client. What it sends ahead of its session waits until the session is up.
    pub fn read_client(
        self: Box<Self>,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> (Phase, Step) {
        let step = match read_header(rest) {
            Ok(None) => Step::More,
            Ok(Some((frontend::Tag::Password | frontend::Tag::Terminate, header))) => {
                Step::Pass(header.total_len())
            }
            Ok(Some(_)) => {
                core.waiting = Waiting::Answers;
                Step::More
            }
            Err(error) => {
                let Self { encryption, settings } = *self;
                let refused = RefusedLogin::within(encryption, settings, *error, core, out);
                return (refused, Step::Took(rest.len()));
            }
        };
        (Phase::Authenticating(self), step)
    }

    /// Reads a message of the server. Returns the session if the message lets the client in.
    pub fn read_server(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<(Option<Box<ReadySession>>, Step), &'static str> {
        if let Some(step) = self.encryption.read_answer(rest, core, out) {
            return Ok((None, step));
        }
        let (tag, body) = match LoginMessage::read(rest)? {
            LoginMessage::Unread(step) => return Ok((None, step)),
            LoginMessage::Whole(tag, body) => (tag, body),
        };
        let mut session = None;
        let mut fate = Fate::Pass;
        match tag {
            Tag::ReadyForQuery => {
                session = Some(Box::new(ReadySession::new(std::mem::take(&mut self.settings), core)));
            }
            Tag::Authentication => match Authentication::peek(body).map_err(|_| MALFORMED)? {
                Authentication::Ok => core.authenticated(),
                Authentication::Sasl => fate = self.sasl_offer(body, core, out)?,
                Authentication::Other(_) => {}
            },
            Tag::ParameterStatus => {
                let status = ParameterStatus::parse(body).map_err(|_| MALFORMED)?;
                self.settings.report(&status, core);
            }
            Tag::ErrorResponse => {
                let response = ErrorResponse::parse(body).map_err(|_| MALFORMED)?;
                if response.field(ErrorResponse::SEVERITY_NONLOCALIZED).unwrap_or_default() != b"ERROR" {
                    // It says so before it goes, and the end itself is not always seen.
                    core.audit.note_end(Ended::Server);
                }
            }
            _ => {}
        }
        Ok((session, fate.step(body)))
    }

    /// A server that speaks TLS with Envoy offers to bind the login to that TLS session. The client is not in it:
    /// it would take the offer for an attack and give up.
    fn sasl_offer(
        &self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let mut offer = AuthenticationSasl::parse(body).map_err(|_| MALFORMED)?;
        if !offer.without_channel_binding() {
            return Ok(Fate::Pass);
        }
        if offer.mechanisms.is_empty() {
            let error = ClientError::unsupported(
                "the server offers no login but one bound to its TLS session, which the sidecar ends",
                "Let the server offer SCRAM-SHA-256 without channel binding too.",
            );
            end_login(core, self.settings.encoding.now(), &error, out);
        } else {
            offer.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
        }
        Ok(Fate::Taken)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A statement that the client sends before its login is over.
    const QUERY: &[u8] = b"Q\0\0\0\x05\0";

    #[test]
    fn statement_waits_until_the_server_is_ready() {
        let (mut core, mut out) = (Core::settled(), CallbackOutput::default());
        let login = Authenticating::new(EncryptionRequests::default(), Settings::default());
        let (mut phase, step) = Box::new(login).read_client(QUERY, &mut core, &mut out);
        assert!(matches!(step, Step::More) && core.waiting == Waiting::Answers);
        assert!(phase.session().is_none());
        phase.read_server(b"Z\0\0\0\x05I", &mut core, &mut out).unwrap();
        assert!(phase.session().is_some());
    }

    #[test]
    fn message_of_an_unknown_type_refuses_the_login() {
        let (mut core, mut out) = (Core::settled(), CallbackOutput::default());
        let login = Authenticating::new(EncryptionRequests::default(), Settings::default());
        let (phase, _) = Box::new(login).read_client(b"\xf0\0\0\0\x04", &mut core, &mut out);
        assert!(matches!(phase, Phase::Refused(_)));
        assert!(!out.to_server.is_empty() && !out.close);
    }
}
