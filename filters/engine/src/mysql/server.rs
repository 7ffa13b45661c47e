//! A packet from the server, read in the light of what it answers.

use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};

use super::{CallbackOutput, Continues, Session, State};
use crate::database::{Step, Unread, Waiting};

/// Said where the server does not keep to the protocol.
pub(super) const OUT_OF_PLACE: &str = "an answer to another command than the one in flight";
pub(super) const MALFORMED: &str = "a malformed packet";

impl Session {
    /// One step over the server's bytes.
    pub(super) fn read_server_message(
        &mut self,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if rest.is_empty() {
            return Ok(Step::More);
        }
        match self.state {
            State::Passing => {
                return Ok(Step::Pass(rest.len()));
            }
            State::Greeting => {
                let step = self.greeting(rest, out)?;
                // A client that did not wait for it waited here.
                if !matches!(self.state, State::Greeting) && self.core.waiting == Waiting::Answers {
                    self.core.waiting = Waiting::No;
                }
                return Ok(step);
            }
            _ => {}
        }
        let Some(header) = Header::peek(rest) else { return Ok(Step::More) };
        match self.server_continues {
            Continues::No => {}
            Continues::Passing => {
                let shift = self.pending.head().map_or(0, |entry| entry.shift);
                return Ok(self.pass_from_server(header, shift, out));
            }
            Continues::Dropped => return Ok(self.drop_from_server(header)),
        }
        let first = match (header.payload_len, rest.get(HEADER_LEN)) {
            (0, _) => 0,
            (_, Some(first)) => *first,
            (_, None) => return Ok(Step::More),
        };
        match self.state {
            State::Authenticating => self.authentication_packet(header, first, rest, out),
            // It gives up on a client that says nothing.
            State::Handshake | State::AwaitingPolicy(_) if first == 0xff => {
                Ok(self.pass_from_server(header, 0, out))
            }
            State::Handshake | State::AwaitingPolicy(_) => Err(OUT_OF_PLACE),
            _ => self.answer_step(header, first, rest, out),
        }
    }

    /// The packet, numbered anew, and those that its message goes on in, as they come.
    pub(super) fn pass_from_server(&mut self, header: Header, shift: u8, out: &mut CallbackOutput) -> Step {
        self.server_continues = if header.is_continued() { Continues::Passing } else { Continues::No };
        if shift == 0 {
            return Step::Pass(header.total_len());
        }
        let [a, b, c, ..] = header.payload_len.to_le_bytes();
        out.to_client.extend_from_slice(&[a, b, c, header.sequence.wrapping_add(shift)]);
        Step::TookHead(HEADER_LEN, Unread::Pass(header.payload_len))
    }

    /// As [`Self::pass_from_server`], to nowhere.
    pub(super) fn drop_from_server(&mut self, header: Header) -> Step {
        self.server_continues = if header.is_continued() { Continues::Dropped } else { Continues::No };
        Step::Drop(header.total_len())
    }
}
