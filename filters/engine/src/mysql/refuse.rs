//! Refusals. A filter cannot write to the client out of turn, so a refused command is replaced, on its way to
//! the server, by one that must fail there; the server's error comes back in its place among the answers,
//! and ours takes its place.

use fieldveil_mysql_wire::Capabilities;
use fieldveil_mysql_wire::connection::HandshakeResponse41;
use fieldveil_mysql_wire::message::write_message;
use fieldveil_mysql_wire::packet::Sequence;

use super::pending::{Awaited, PendingResponse, Single};
use super::{CallbackOutput, Phase, Session};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::Step;
use crate::ports::random_name;

/// COM_QUERY.
const QUERY: u8 = 0x03;
/// `utf8mb4_general_ci`, which every server knows.
const CHARSET: u8 = 45;

impl Session {
    /// Refuses the session: the server is asked to let in a user that it does not have, and whatever it says to that, the
    /// client gets our error and the connection ends. A HandshakeResponse that the server cannot read would not do: it
    /// counts those against the host, and shuts it out.
    pub(super) fn refuse_startup(&mut self, error: ClientError, out: &mut CallbackOutput) {
        self.core.audit.note_refusal(&error);
        self.core.audit.note_end(Ended::Filter);
        let name = format!("fieldveil_{}", random_name(&*self.core.ports));
        let nobody = HandshakeResponse41 {
            capabilities: Capabilities::PROTOCOL_41
                .with(Capabilities::LONG_PASSWORD)
                .with(Capabilities::SECURE_CONNECTION),
            max_packet_size: 1 << 24,
            charset: CHARSET,
            user: name.as_bytes(),
            auth_response: b"",
            database: None,
            auth_plugin: None,
            attributes: None,
            zstd_level: None,
        };
        let mut sequence = Sequence::starting_at(1);
        out.close |= nobody.encode(&mut sequence, &mut out.to_server).is_err();
        self.pending.push(PendingResponse::refused(Awaited::End, error));
        self.phase = Phase::Ending;
    }

    /// Refuses a command.
    pub(super) fn refuse(&mut self, error: ClientError, out: &mut CallbackOutput) {
        self.core.audit.note_refusal(&error);
        self.send_refused(Awaited::Single(Single::Nothing), error, out);
    }

    /// Ends the session behind the responses that are pending, because the client broke the protocol.
    pub(super) fn end_session(&mut self, error: ClientError, rest: &[u8], out: &mut CallbackOutput) -> Step {
        self.core.audit.note_refusal(&error);
        self.core.audit.note_end(Ended::Filter);
        self.send_refused(Awaited::End, error, out);
        self.phase = Phase::Ending;
        Step::Took(rest.len())
    }

    fn send_refused(&mut self, awaited: Awaited, error: ClientError, out: &mut CallbackOutput) {
        let attributes = self.capabilities.has(Capabilities::QUERY_ATTRIBUTES);
        let mut sequence = Sequence::default();
        let written = write_message(&mut out.to_server, &mut sequence, |out| {
            out.push(QUERY);
            if attributes {
                // No attributes, in one set.
                out.extend_from_slice(&[0, 1]);
            }
        });
        out.close |= written.is_err();
        let entry = PendingResponse::refused(awaited, error);
        self.pending.push(entry.shifted(self.client.last_sequence, 0));
    }
}
