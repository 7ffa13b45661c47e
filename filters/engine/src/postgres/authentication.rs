//! Logging in: between client and server, but for what the sidecar's ending of TLS changes in it.

use fieldveil_postgres_wire::backend::{Authentication, AuthenticationSasl, Tag};
use fieldveil_postgres_wire::frontend;

use super::server::{Fate, MALFORMED};
use super::{CallbackOutput, Phase, Session, Step, Waiting};
use crate::client_error::ClientError;

impl Session {
    /// Reads a message of the client that is logging in. What it sends ahead of its session waits until the session is up.
    pub(super) fn read_login_message(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        match self.client_header(rest, out) {
            Ok((frontend::Tag::Password | frontend::Tag::Terminate, header)) => {
                Step::Pass(header.total_len())
            }
            Ok(_) => {
                self.core.waiting = Waiting::Answers;
                Step::More
            }
            Err(step) => step,
        }
    }

    /// A message between the StartupMessage and the first ReadyForQuery.
    pub(super) fn authentication_message(
        &mut self,
        tag: Tag,
        body: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        match tag {
            Tag::ReadyForQuery => self.phase = Phase::Ready,
            Tag::Authentication => match Authentication::peek(body).map_err(|_| MALFORMED)? {
                Authentication::Ok => {
                    self.core.authenticated();
                }
                Authentication::Sasl => return self.sasl_offer(body, out),
                Authentication::Other(_) => {}
            },
            _ => {}
        }
        Ok(Fate::Pass)
    }

    /// A server that speaks TLS with Envoy offers to bind the login to that TLS session. The client is not in it:
    /// it would take the offer for an attack and give up.
    fn sasl_offer(&mut self, body: &[u8], out: &mut CallbackOutput) -> Result<Fate, &'static str> {
        let mut offer = AuthenticationSasl::parse(body).map_err(|_| MALFORMED)?;
        if !offer.without_channel_binding() {
            return Ok(Fate::Pass);
        }
        if offer.mechanisms.is_empty() {
            let error = ClientError::unsupported(
                "the server offers no login but one bound to its TLS session, which the sidecar ends",
                "Let the server offer SCRAM-SHA-256 without channel binding too.",
            );
            self.end_startup(&error, out);
        } else {
            offer.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
        }
        Ok(Fate::Taken)
    }
}
