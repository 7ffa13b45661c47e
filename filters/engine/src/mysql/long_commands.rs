//! Commands that are too long to be held: they pass as they come where nothing in them is protected, under the plan that
//! is in force then.

use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use fieldveil_sql::identity::Comment;

use super::Session;
use super::check::{Rechecked, note_execution, unchecked};
use super::pending::{Awaited, PendingResponse, PendingResults};
use crate::client_error::ClientError;
use crate::database::{CallbackOutput, Step};

impl Session {
    /// A text. None if it is to be held, or to be refused for its length.
    pub(super) fn stream_text(&mut self, header: Header, out: &mut CallbackOutput) -> Option<Step> {
        match self.before_statement(b"", &Comment::Nothing, out) {
            Ok(None) => return Some(Step::More),
            Err(error) => return Some(self.client.refuse(header, error)),
            Ok(Some(plan)) if plan.fields.is_empty() && !plan.reads_comments => {}
            Ok(Some(_)) => return None,
        }
        let checked = unchecked(&self.core)?;
        note_execution(&mut self.core, &checked);
        self.pending.push(PendingResponse::client(Awaited::Results(PendingResults::text(checked))));
        Some(self.client.pass(header))
    }

    /// The execution of a prepared statement. None as for a text.
    pub(super) fn stream_execution(
        &mut self,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        let id = rest.get(HEADER_LEN.saturating_add(1)..)?.first_chunk().map(|id| u32::from_le_bytes(*id))?;
        let statement = self.statements.get(id).cloned()?;
        let plan = match self.before_statement(&statement.text, &statement.mentions.comment, out) {
            Ok(None) => return Some(Step::More),
            Err(error) => return Some(self.client.refuse(header, error)),
            Ok(Some(plan)) => plan,
        };
        let Ok(Rechecked::Same(checked)) = self.sql.recheck(&self.core, &statement, &plan) else {
            return None;
        };
        let passes = !checked.touched && !checked.goes_by_name() && !statement.mentions.has_parameters();
        if !passes || id != statement.server_id.get() {
            return None;
        }
        statement.checked.replace(std::rc::Rc::clone(&checked));
        // The types that it brings are not read; the server takes them.
        statement.reset();
        self.core.identity.words.give_all(&statement.mentions.given);
        note_execution(&mut self.core, &checked);
        let answer = PendingResults::execution(checked, statement);
        self.pending.push(PendingResponse::client(Awaited::Results(answer)));
        Some(self.client.pass(header))
    }
}

/// The error of a command that is longer than what is held of one.
pub(super) fn too_long() -> ClientError {
    ClientError::limit(
        "the command is longer than the 16 MiB that are read of one",
        "Send the statement's values as parameters of a statement that names no protected table, or in parts.",
    )
}
