//! The way of a packet of the server through the response that it belongs to, which is that of the command at the head of the
//! queue. Each kind of response reads its own packets; the session is told how far the response is.

use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::response::{ColumnDefinition41, OkPacket, SessionChange};
use fieldveil_mysql_wire::{Capabilities, Status};

use super::authentication::{kind, send_no_password};
use super::errors::write_error;
use super::file_transfer::FileTransfer;
use super::packets::ServerPackets;
use super::pending::{Awaited, Forwarding, PendingResponse, Single, UserChange};
use super::rows;
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::sql_context::SqlContext;
use super::statements::Statements;
use super::{CallbackOutput, Phase, Session};
use crate::audit::Ended;
use crate::database::{CheckedText, Core, Step};
use crate::token_words::TokenWords;

/// A packet of the server that begins a message.
#[derive(Clone, Copy)]
pub struct ServerPacket<'b> {
    pub header: Header,
    /// The first byte of its payload, which says what it is. It is 0 in an empty packet.
    pub first: u8,
    /// The bytes from the packet on.
    pub rest: &'b [u8],
}

impl<'b> ServerPacket<'b> {
    /// Returns the packet with its header, or None if more of it is needed.
    pub fn whole(self) -> Option<&'b [u8]> {
        self.rest.get(..self.header.total_len())
    }
}

/// What the reading of a response needs of the session.
pub struct ResponseContext<'s> {
    pub core: &'s mut Core,
    pub sql: &'s mut SqlContext,
    pub statements: &'s mut Statements,
    pub server: &'s mut ServerPackets,
    pub capabilities: Capabilities,
    /// Whether commands are pending behind the one that is being answered.
    pub has_more: bool,
}

impl ResponseContext<'_> {
    /// The session is as it was when the client had logged in.
    fn reset_session(&mut self) {
        names_may_change(self.core);
        self.statements.forget();
        self.sql.names.forget();
        self.core.identity.words = TokenWords::default();
    }
}

/// How far a response is behind a packet.
pub enum Progress {
    /// More of it follows.
    More(Step),
    /// It is complete.
    Complete(Step),
    /// The server reads this file before it completes the response.
    File(Step, FileTransfer),
}

impl Session {
    /// Reads a packet of a session that is up, or that is refused.
    pub(super) fn read_response(
        &mut self,
        packet: ServerPacket<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        // The command that is answered is the first of those that were sent.
        let Some(entry) = self.pending.head() else {
            // The server says why it goes: it is shut down, or the session was killed or idle for too long.
            if packet.first == kind::ERROR {
                self.core.audit.note_end(Ended::Server);
                return Ok(self.server.pass(packet.header, 0, out));
            }
            return Err("an answer to nothing that was asked");
        };
        // Most packets are rows, and most rows have nothing that is protected.
        if entry.passes_row(packet) {
            return Ok(self.server.pass(packet.header, entry.forwarding.shift, out));
        }
        let has_more = self.pending.has_more();
        let Some(entry) = self.pending.head() else { return Err(OUT_OF_PLACE) };
        let mut cx = ResponseContext {
            core: &mut self.core,
            sql: &mut self.sql,
            statements: &mut self.statements,
            server: &mut self.server,
            capabilities: self.capabilities,
            has_more,
        };
        // Its response treats the packet, and forwards it to the client or not.
        match entry.read(packet, self.client.last_sequence, &mut cx, out)? {
            Progress::More(step) => Ok(step),
            // The next packet belongs to the next command.
            Progress::Complete(step) => {
                drop(self.pending.pop());
                Ok(step)
            }
            // The client's next packets are no commands, but the file.
            Progress::File(step, file) => {
                if matches!(self.phase, Phase::Ready | Phase::SendingFile(_)) {
                    self.phase = Phase::SendingFile(file);
                }
                Ok(step)
            }
        }
    }
}

impl PendingResponse {
    /// Whether the packet is a row that passes unread.
    #[inline]
    fn passes_row(&self, packet: ServerPacket<'_>) -> bool {
        let Awaited::Results(results) = &self.awaited else { return false };
        results.progress.is_row(packet.header.payload_len, packet.first)
            && !self.forwarding.swallowing
            && results.treated_columns.as_ref().is_none_or(|columns| columns.is_empty())
    }

    /// Reads a packet of the response. `client_sequence` is the number of the client's last packet.
    fn read(
        &mut self,
        packet: ServerPacket<'_>,
        client_sequence: u8,
        cx: &mut ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Progress, &'static str> {
        let Self { awaited, forwarding, .. } = self;
        match awaited {
            Awaited::Results(results) => results.read(packet, forwarding, cx, out),
            Awaited::Prepare(preparing) => preparing.read(packet, forwarding, cx, out),
            Awaited::FieldList(checked) => read_field_list(checked, packet, forwarding, cx, out),
            Awaited::OwnQuery(query) => query.read(packet, cx),
            Awaited::Single(single) => Ok(read_single(*single, packet, forwarding, cx, out)),
            Awaited::ChangeUser(change) => Ok(change.read(packet, cx, out)),
            Awaited::End => Ok(read_last(packet, client_sequence, forwarding, cx, out)),
        }
    }
}

/// Reads a packet that answers a command which ends the session. The client is told why it is refused.
fn read_last(
    packet: ServerPacket<'_>,
    client_sequence: u8,
    forwarding: &mut Forwarding,
    cx: &mut ResponseContext<'_>,
    out: &mut CallbackOutput,
) -> Progress {
    let Some(bytes) = packet.whole() else { return Progress::More(Step::More) };
    if !matches!(packet.first, kind::OK | kind::ERROR) {
        send_no_password(packet.header, out);
        return Progress::More(Step::Took(bytes.len()));
    }
    if let Some(error) = forwarding.refused.take() {
        write_error(cx.core, &error, client_sequence.wrapping_add(1), &mut out.to_client);
    }
    out.close = true;
    Progress::Complete(Step::Took(bytes.len()))
}

/// Reads the one packet that answers a command.
fn read_single(
    single: Single,
    packet: ServerPacket<'_>,
    forwarding: &mut Forwarding,
    cx: &mut ResponseContext<'_>,
    out: &mut CallbackOutput,
) -> Progress {
    let ServerPacket { header, first, .. } = packet;
    let Some(bytes) = packet.whole() else { return Progress::More(Step::More) };
    if let Some(error) = forwarding.refused.take() {
        let number = header.sequence.wrapping_add(forwarding.shift);
        write_error(cx.core, &error, number, &mut out.to_client);
        return Progress::Complete(Step::Took(bytes.len()));
    }
    if first != kind::ERROR {
        match single {
            Single::Nothing => {}
            Single::MayChangeNames => names_may_change(cx.core),
            Single::Resets => cx.reset_session(),
        }
    }
    Progress::Complete(cx.server.pass(header, forwarding.shift, out))
}

impl UserChange {
    /// Reads a packet of the server while it lets in another user.
    fn read(
        &mut self,
        packet: ServerPacket<'_>,
        cx: &mut ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Progress {
        let ServerPacket { header, first, rest } = packet;
        if !matches!(first, kind::OK | kind::ERROR) {
            return Progress::More(match self.method.take_request(first, rest) {
                Some(()) => cx.server.pass(header, 0, out),
                None => Step::More,
            });
        }
        cx.reset_session();
        if first == kind::OK {
            let session = std::mem::take(&mut self.session);
            cx.core.policy.introduce("mysql", session, &mut cx.core.audit);
            cx.core.authenticated();
        }
        Progress::Complete(cx.server.pass(header, 0, out))
    }
}

/// Reads a packet of the response to COM_FIELD_LIST, which has definitions only.
fn read_field_list(
    checked: &CheckedText,
    packet: ServerPacket<'_>,
    forwarding: &Forwarding,
    cx: &mut ResponseContext<'_>,
    out: &mut CallbackOutput,
) -> Result<Progress, &'static str> {
    let (header, shift) = (packet.header, forwarding.shift);
    let Some(bytes) = packet.whole() else { return Ok(Progress::More(Step::More)) };
    // Each definition begins with the length of its catalog's name.
    if matches!(packet.first, kind::ERROR | kind::END) {
        return Ok(Progress::Complete(cx.server.pass(header, shift, out)));
    }
    let Some(catalog) = &checked.catalog else {
        return Ok(Progress::More(cx.server.pass(header, shift, out)));
    };
    let body = bytes.get(HEADER_LEN..).unwrap_or_default();
    let mut definition =
        ColumnDefinition41::parse_field_list(body, cx.capabilities).map_err(|_| MALFORMED)?;
    let field = rows::field_of(&definition, catalog, &cx.sql.settings.values);
    let Some(field) = field.and_then(|(field, _)| checked.plan.fields.get(field)) else {
        return Ok(Progress::More(cx.server.pass(header, shift, out)));
    };
    rows::declare(&mut definition, field, &cx.sql.settings.values)?;
    let mut sequence = Sequence::starting_at(header.sequence.wrapping_add(shift));
    definition.encode(cx.capabilities, &mut sequence, &mut out.to_client).map_err(|_| MALFORMED)?;
    Ok(Progress::More(Step::Took(bytes.len())))
}

/// Another database, or other settings: names or texts may mean something else.
fn names_may_change(core: &mut Core) {
    core.catalog.current = None;
    core.identity.may_change();
}

/// Takes from an OK packet what has changed in the session, where both sides have that capability.
pub(super) fn take_changes(core: &mut Core, capabilities: Capabilities, body: &[u8]) {
    let Ok(ok) = OkPacket::parse(body, capabilities) else { return };
    let Some(state) = ok.session_state.filter(|_| ok.status.has(Status::SESSION_STATE_CHANGED)) else {
        return;
    };
    let bears_on_reading = |change: SessionChange<'_>| match change {
        SessionChange::Schema(_) => true,
        SessionChange::SystemVariable { name, .. } => {
            name.starts_with(b"character_set_") || name == b"sql_mode"
        }
        _ => false,
    };
    if state.changes().any(bears_on_reading) {
        names_may_change(core);
    }
}
