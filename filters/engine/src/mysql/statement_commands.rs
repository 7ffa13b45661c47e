//! The client's commands on prepared statements.

use std::rc::Rc;

use fieldveil_mysql_wire::WireError;
use fieldveil_mysql_wire::command::{ExecuteContext, StmtClose, StmtExecute, StmtPrepare, StmtReset};
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Sequence};

use super::check::{Rechecked, note_execution};
use super::client::{CommandError, Outcome};
use super::end_user::identify_values;
use super::file_transfer;
use super::pending::{Awaited, PendingResponse, PendingResults, Preparing, Single};
use super::statements::{Statement, Statements};
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::database::{CheckedText, Waiting};

/// Where a statement's number stands in a packet.
const NUMBER_AT: usize = HEADER_LEN + 1;

/// The packet of a command on a statement, with the number that the server has for it.
fn name_statement(bytes: &[u8], number: u32, out: &mut Vec<u8>) {
    let (before, behind) = bytes.split_at_checked(NUMBER_AT).unwrap_or_default();
    out.extend_from_slice(before);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(behind.get(4..).unwrap_or_default());
}

impl Session {
    /// COM_STMT_PREPARE.
    pub(super) fn prepare(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let prepared = self.prepare_text(message, out);
        if let Err(CommandError::Refused(_)) = prepared {
            self.statements.failed();
        }
        prepared
    }

    fn prepare_text(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let prepare = StmtPrepare::parse(&message.payload)?;
        // The stages are those of a COM_QUERY.
        let Some(ready) = self.ready_text(prepare.text, out)? else {
            return Ok(Outcome::Again);
        };
        self.statements.has_room(&ready.text)?;
        let checked = self.sql.check_text(&self.core, &ready.text, &ready.plan)?;
        file_transfer::refuse_prepared(&checked)?;
        self.core.memory.may_keep()?;
        let text = ready.seal(&self.sql, &mut self.core, &checked)?;
        let counter = self.statements.counter();
        let charset = self.sql.settings.client;
        let statement = Rc::new(Statement::new(ready, charset, Rc::clone(&checked), counter));
        let mut entry = PendingResponse::client(Awaited::Prepare(Preparing::new(statement, checked)));
        let outcome = match text {
            Some(text) => {
                let mut sequence = Sequence::default();
                StmtPrepare { text: &text }.encode(&mut sequence, &mut out.to_server)?;
                entry = entry.shifted(message.last_sequence, sequence.next().wrapping_sub(1));
                Outcome::Done
            }
            None => Outcome::Passes,
        };
        self.pending.push(entry);
        Ok(outcome)
    }

    /// COM_STMT_EXECUTE.
    pub(super) fn execute(
        &mut self,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let id = StmtExecute::peek_statement(&message.payload)?;
        let Some(statement) = self.statements.get(id).cloned() else {
            return Err(ClientError::unknown_statement().into());
        };
        // Identity, plan, keys and catalog are known and fresh, or are asked for. The statement was checked when it was prepared,
        // and is checked again if they are others since.
        let ready = match self.before_statement(&statement.text, &statement.mentions.comment, out) {
            Ok(None) => return Ok(Outcome::Again),
            Err(error) => Err(error),
            Ok(Some(plan)) => self.sql.recheck(&self.core, &statement, &plan),
        };
        let checked = match ready {
            Ok(Rechecked::Same(checked)) => checked,
            Ok(Rechecked::Anew(checked)) => return self.prepare_anew(&statement, checked, out),
            Err(error) => return self.refuse_execution(&statement, error, out),
        };
        statement.checked.replace(Rc::clone(&checked));
        // The values are read, in the types that the client sends once.
        let long_data = statement.long_data.borrow();
        let types = statement.types.borrow();
        let context = ExecuteContext {
            capabilities: self.capabilities,
            parameters: statement.parameters.get(),
            types: &types,
            has_long_data: &|index| u16::try_from(index).is_ok_and(|index| long_data.get(index).is_some()),
        };
        let execution = StmtExecute::parse(&message.payload, &context);
        drop((long_data, types));
        if let Ok(execution) = &execution
            && execution.sends_types
        {
            let sent = || execution.types(statement.parameters.get());
            let are_others = !sent().eq(statement.types.borrow().iter().copied());
            if are_others {
                statement.takes_types(sent().collect());
            }
        }
        let answer = PendingResults::execution(Rc::clone(&checked), Rc::clone(&statement));
        let mut entry = PendingResponse::client(Awaited::Results(answer));
        // What was prepared anew has not had the types that the client sends once.
        let lacks_types = statement.server_id != statement.id
            && execution
                .as_ref()
                .is_ok_and(|execution| !execution.sends_types && !execution.parameters.is_empty());
        // Tokens are replaced by words, and values in protected places are sealed. The server gets the client's packet, or
        // another one in its place.
        let mut outcome = Outcome::Done;
        if checked.analysis.parameters.is_empty() && !lacks_types && !statement.mentions.has_parameters() {
            // What the server may make of the values is its own matter.
            if id == statement.server_id.get() {
                outcome = Outcome::Passes;
            } else {
                name_statement(bytes, statement.server_id.get(), &mut out.to_server);
            }
        } else {
            let mut execution = execution?;
            let sealed = identify_values(&mut self.core, &mut execution, &statement);
            let sealed = sealed.and_then(|()| {
                self.sql.seal_parameters(&mut self.core, &mut execution, &statement, &checked)
            });
            if let Err(error) = sealed {
                return self.refuse_execution(&statement, error, out);
            }
            execution.statement = statement.server_id.get();
            let mut sequence = Sequence::default();
            execution.encode(self.capabilities, &mut sequence, &mut out.to_server)?;
            entry = entry.shifted(message.last_sequence, sequence.next().wrapping_sub(1));
        }
        // The response is awaited, and what the statement changes is known to be old.
        statement.reset();
        self.core.identity.words.give_all(&statement.mentions.given);
        note_execution(&mut self.core, &checked);
        let is_dml = |s: &fieldveil_sql::Statement| !s.changes_catalog && !s.changes_identity;
        if checked.analysis.statements.iter().all(is_dml) {
            entry = entry.pipelined();
        }
        self.pending.push(entry);
        Ok(outcome)
    }

    /// Refuses an execution. What was sent ahead of its values goes with it, at the server too.
    fn refuse_execution(
        &mut self,
        statement: &Statement,
        error: ClientError,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let server_has_some = statement.long_data.borrow().has_passed();
        statement.reset();
        if !server_has_some {
            return Err(error.into());
        }
        self.core.audit.note_refusal(&error);
        let reset = StmtReset { statement: statement.server_id.get() };
        reset.encode(&mut Sequence::default(), &mut out.to_server)?;
        let entry = PendingResponse::refused(Awaited::Single(Single::Nothing), error);
        self.pending.push(entry.shifted(self.client.last_sequence, 0));
        Ok(Outcome::Done)
    }

    /// Puts the statement that the server has in the form that it takes under the keys and tables of now. The client's
    /// execution waits for that.
    fn prepare_anew(
        &mut self,
        statement: &Rc<Statement>,
        checked: Rc<CheckedText>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        if !self.pending.is_empty() {
            self.core.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        if statement.long_data.borrow().has_passed() {
            // It belongs to the statement that would be closed.
            let error = ClientError::unsupported(
                "keys or tables changed while parts of a statement's values were sent",
                "Send them again.",
            );
            return self.refuse_execution(statement, error, out);
        }
        let sealed = file_transfer::refuse_prepared(&checked)
            .and_then(|()| self.sql.settings.same_bytes(statement))
            .and_then(|()| self.sql.seal_text(&mut self.core, &statement.text, &checked))
            .and_then(|text| self.sql.settings.encode(text));
        let text = match sealed {
            Ok(text) => text,
            Err(error) => return self.refuse_execution(statement, error, out),
        };
        StmtPrepare { text: &text }.encode(&mut Sequence::default(), &mut out.to_server)?;
        let preparing = Preparing::new(Rc::clone(statement), checked);
        self.pending.push(PendingResponse::injected(Awaited::Prepare(preparing)));
        self.core.waiting = Waiting::Server;
        Ok(Outcome::Again)
    }
}

impl Statements {
    /// Reads COM_STMT_CLOSE, and sends it to the server.
    pub fn read_close(&mut self, payload: &[u8], out: &mut CallbackOutput) -> Result<(), WireError> {
        let close = StmtClose::parse(payload)?;
        let statement = self.get(close.statement).map(|statement| statement.server_id.get());
        let server = StmtClose { statement: statement.unwrap_or(close.statement) };
        server.encode(&mut Sequence::default(), &mut out.to_server)?;
        self.close(close.statement);
        Ok(())
    }

    /// Reads COM_STMT_RESET, and sends it to the server.
    pub fn read_reset(&self, payload: &[u8], out: &mut CallbackOutput) -> Result<(), WireError> {
        let reset = StmtReset::parse(payload)?;
        let statement = self.get(reset.statement);
        let id = statement.map_or(reset.statement, |statement| statement.server_id.get());
        StmtReset { statement: id }.encode(&mut Sequence::default(), &mut out.to_server)?;
        if let Some(statement) = statement {
            statement.reset();
        }
        Ok(())
    }
}
