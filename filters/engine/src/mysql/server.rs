//! A packet from the server, read in the light of what it answers.

use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};

use super::authentication::kind;
use super::responses::ServerPacket;
use super::{CallbackOutput, Phase, Session};
use crate::database::{Step, Waiting};

/// Said where the server does not keep to the protocol.
pub(super) const OUT_OF_PLACE: &str = "an answer to another command than the one in flight";
pub(super) const MALFORMED: &str = "a malformed packet";

impl Session {
    /// Reads the next message of the server.
    pub(super) fn read_server_message(
        &mut self,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if rest.is_empty() {
            return Ok(Step::More);
        }
        // Before the session is up, and in a binary log, packets answer no commands.
        match self.phase {
            Phase::Passing => {
                return Ok(Step::Pass(rest.len()));
            }
            Phase::Greeting => {
                let step = self.greeting(rest, out)?;
                // A client that did not wait for it waited here.
                if !matches!(self.phase, Phase::Greeting) && self.core.waiting == Waiting::Answers {
                    self.core.waiting = Waiting::No;
                }
                return Ok(step);
            }
            _ => {}
        }
        let Some(header) = Header::peek(rest) else { return Ok(Step::More) };
        // What continues a message is treated as its first packet was.
        if let Some(step) = self.server.take_continuation(header, || self.pending.shift(), out) {
            return Ok(step);
        }
        let first = match (header.payload_len, rest.get(HEADER_LEN)) {
            (0, _) => 0,
            (_, Some(first)) => *first,
            (_, None) => return Ok(Step::More),
        };
        // Any other packet belongs to the login, or to the command that is answered.
        let packet = ServerPacket { header, first, rest };
        match self.phase {
            Phase::Authenticating(_) => self.authentication_packet(packet, out),
            // It gives up on a client that says nothing.
            Phase::Handshake { .. } | Phase::AwaitingPolicy { .. } if first == kind::ERROR => {
                Ok(self.server.pass(header, 0, out))
            }
            Phase::Handshake { .. } | Phase::AwaitingPolicy { .. } => Err(OUT_OF_PLACE),
            _ => self.read_response(packet, out),
        }
    }
}
