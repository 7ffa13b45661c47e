//! The client's CopyData, CopyDone and CopyFail.

use fieldveil_pg_wire::frontend::{CopyFail, Tag};
use fieldveil_sql::ParameterUse;
use fieldveil_values::Purpose;

use super::{CopyIn, Copying};
use crate::client_error::ClientError;
use crate::database::Checked;
use crate::field::Stored;
use crate::postgres::client::Outcome;
use crate::postgres::pending::{Awaited, PendingResponse};
use crate::postgres::{CallbackOutput, Session, Waiting};

/// What the server is told when a row could not be sealed; the client is told why.
const GIVEN_UP: &[u8] = b"fieldveil refused a row";

impl Session {
    /// A statement goes to the server: if it is a COPY from the client, what follows is sealed.
    /// Gives its number among the session's.
    pub(in crate::postgres) fn begin_copy_in(&mut self, checked: &std::rc::Rc<Checked>) -> Option<u64> {
        self.copies.from_client = Copying::No;
        let copy = checked.copy().filter(|copy| copy.from_client)?;
        let limit = self.core.worker.borrow().config.limits.protected_value_bytes;
        Some(self.copies.begin(checked, copy, limit))
    }

    /// A statement comes though a COPY from the client is not at its end: it waits until it is known whether the server
    /// takes the COPY, and then it is out of place.
    pub(in crate::postgres) fn in_copy(&mut self, out: &mut CallbackOutput) -> Option<Outcome> {
        if !self.copies.is_sealing() || self.pending.is_empty() {
            return None;
        }
        if self.copies.server_reads {
            self.end_session(ClientError::protocol("a statement within the data of a COPY"), out);
            return Some(Outcome::Done);
        }
        self.core.waiting = Waiting::Answers;
        Some(Outcome::Again)
    }

    /// A piece of a CopyData message's body.
    pub(in crate::postgres) fn copy_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        self.seal_rows(out, |copy, seal, rows| copy.push(piece, seal, rows));
    }

    /// Seals the last row, which the client's CopyDone completes.
    pub(in crate::postgres) fn copy_done(&mut self, out: &mut CallbackOutput) {
        self.seal_rows(out, |copy, seal, rows| copy.finish(seal, rows));
    }

    fn seal_rows(
        &mut self,
        out: &mut CallbackOutput,
        run: impl FnOnce(&mut CopyIn, &mut super::Seal<'_>, &mut Vec<u8>) -> Result<(), ClientError>,
    ) {
        let mut copy = match std::mem::take(&mut self.copies.from_client) {
            Copying::Sealing(copy) => copy,
            other => return self.copies.from_client = other,
        };
        let mut rows = Vec::new();
        let checked = std::rc::Rc::clone(&copy.checked);
        let mut seal = |column, binary, value: &[u8]| self.seal_copied(&checked, column, binary, value);
        let sealed = run(&mut copy, &mut seal, &mut rows);
        self.copies.from_client = Copying::Sealing(copy);
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
            self.fail_copy(error, out);
        }
    }

    fn seal_copied(
        &mut self,
        checked: &Checked,
        (field, stored): (usize, Stored),
        binary: bool,
        value: &[u8],
    ) -> Result<Vec<u8>, ClientError> {
        let field = checked.plan.fields.get(field);
        let field = field.ok_or_else(|| ClientError::protocol("a copied column without a plan"))?;
        let text = field.read_parameter(Purpose::Store, 0, binary, value)?;
        self.core.seal(field, &text, stored, ParameterUse::Store)
    }

    /// Gives the COPY up: the server takes back what came of it, and the client is told why.
    fn fail_copy(&mut self, error: ClientError, out: &mut CallbackOutput) {
        self.core.note_refusal(&error);
        out.close |= CopyFail { reason: GIVEN_UP }.encode(&mut out.to_server).is_err();
        self.pending.refuse_copy(self.copies.number(), error);
        self.pending.push(PendingResponse::client(Awaited::CopyEnd));
        self.copies.fail();
    }
}
