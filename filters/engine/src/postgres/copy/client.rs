//! The client's CopyData, CopyDone and CopyFail.

use std::rc::Rc;

use fieldveil_postgres_wire::frontend::{CopyFail, Tag};

use super::{Copies, Copying};
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core};
use crate::postgres::client::Outcome;
use crate::postgres::pending::{Awaited, PendingResponse, PendingResponses};
use crate::postgres::settings::Settings;
use crate::postgres::{CallbackOutput, ReadySession, Waiting};

/// Why the session ends where the client does not send the data of a COPY to its end.
pub const OUT_OF_PLACE: &str = "a statement within the data of a COPY";
/// What the server is told when a row could not be sealed; the client is told why.
const GIVEN_UP: &[u8] = b"fieldveil refused a row";

impl Copies {
    /// Notes that a statement goes to the server. If it is a COPY from the client into a protected table, the data that follows is
    /// sealed, and the number of the COPY is returned.
    pub fn execute(&mut self, checked: &Rc<CheckedText>, settings: &Settings, core: &Core) -> Option<u64> {
        self.from_client = Copying::No;
        let copy = checked.copy().filter(|copy| copy.from_client)?;
        let limit = core.worker.borrow().config().limits.protected_value_bytes;
        Some(self.begin(checked, copy, settings, limit))
    }

    /// Seals a piece of a CopyData message's body.
    pub fn push(
        &mut self,
        piece: &[u8],
        core: &mut Core,
        pending: &mut PendingResponses,
        out: &mut CallbackOutput,
    ) {
        self.seal_rows(Some(piece), core, pending, out);
    }

    /// Seals the last row, which the client's CopyDone completes.
    pub fn finish(&mut self, core: &mut Core, pending: &mut PendingResponses, out: &mut CallbackOutput) {
        self.seal_rows(None, core, pending, out);
    }

    fn seal_rows(
        &mut self,
        piece: Option<&[u8]>,
        core: &mut Core,
        pending: &mut PendingResponses,
        out: &mut CallbackOutput,
    ) {
        let Copying::Sealing(copy) = &mut self.from_client else { return };
        let (mut rows, sealed) = copy.seal(piece, core);
        // What is whole before the row at fault may go: the COPY takes all or nothing.
        if !rows.is_empty() {
            out.to_server.push(Tag::CopyData.code());
            match i32::try_from(rows.len().saturating_add(4)) {
                Ok(length) => out.to_server.extend_from_slice(&length.to_be_bytes()),
                Err(_) => out.close = true,
            }
            out.to_server.append(&mut rows);
        }
        if let Err(error) = sealed {
            self.abandon(error, core, pending, out);
        }
    }

    /// Abandons the COPY because a row could not be sealed. The server undoes what came of it, and the client is told why.
    fn abandon(
        &mut self,
        error: ClientError,
        core: &mut Core,
        pending: &mut PendingResponses,
        out: &mut CallbackOutput,
    ) {
        core.audit.note_refusal(&error);
        out.close |= CopyFail { reason: GIVEN_UP }.encode(&mut out.to_server).is_err();
        pending.refuse_copy(self.number(), error);
        pending.push(PendingResponse::client(Awaited::CopyEnd));
        self.fail();
    }
}

impl ReadySession {
    /// A statement comes though a COPY from the client is not at its end: it waits until it is known whether the server
    /// takes the COPY, and then it is out of place.
    pub(in crate::postgres) fn in_copy(&mut self, core: &mut Core) -> Option<Outcome> {
        if !self.copies.is_sealing() || self.pending.is_empty() {
            return None;
        }
        if self.copies.server_reads {
            return Some(Outcome::Ends(Box::new(ClientError::protocol(OUT_OF_PLACE))));
        }
        core.waiting = Waiting::Answers;
        Some(Outcome::Again)
    }
}
