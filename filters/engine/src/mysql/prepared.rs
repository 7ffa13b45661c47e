//! The client's commands on prepared statements.

use std::borrow::Cow;
use std::rc::Rc;

use fieldveil_mysql_wire::WireError;
use fieldveil_mysql_wire::command::{ExecuteContext, StmtClose, StmtExecute, StmtPrepare, StmtReset};
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Sequence};

use super::check::Readiness;
use super::client::Outcome;
use super::infile;
use super::pending::{Awaited, PendingResponse, PendingResults, Preparing, Single};
use super::preparing::Prepares;
use super::statements::{MAX_STATEMENTS, ParameterPlaces, Statement};
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::database::{Checked, Waiting};
use crate::field::CompiledPlan;

/// Where a statement's number stands in a packet.
const NUMBER_AT: usize = HEADER_LEN + 1;

fn preparing(statement: Rc<Statement>, checked: Rc<Checked>) -> Preparing {
    let (prepares, places) = (Prepares::default(), ParameterPlaces::of(&checked, 0));
    Preparing { prepares, statement, checked, places, columns: None }
}

/// The packet of a command on a statement, with the number that the server has for it.
fn name_statement(bytes: &[u8], number: u32, out: &mut Vec<u8>) {
    let (before, behind) = bytes.split_at_checked(NUMBER_AT).unwrap_or_default();
    out.extend_from_slice(before);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(behind.get(4..).unwrap_or_default());
}

/// A prepared statement that may be executed.
pub(super) enum Rechecked {
    /// As the server has it.
    Same(Rc<Checked>),
    /// In another form, for keys or tables have changed.
    Anew(Rc<Checked>),
}

impl Session {
    pub(super) fn prepare(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let prepare = StmtPrepare::parse(&message.payload)?;
        if self.must_know_to_identify(prepare.text) {
            return Ok(self.ask_or_refuse(out));
        }
        let checked = match self.identify(prepare.text) {
            Err(error) => Err(error),
            Ok((text, said)) => match self.before_statement(&text, &said.comment, out) {
                Readiness::Wait => return Ok(Outcome::Again),
                Readiness::Refuse(error) => Err(error),
                Readiness::Ready(_) if self.statements.is_full(&text) => Err(ClientError::limit(
                    &format!("the session holds {MAX_STATEMENTS} prepared statements, or 16 MiB of them"),
                    "Close statements that are no longer used.",
                )),
                Readiness::Ready(plan) => self.check(&text, &plan).map(|checked| (checked, text, said)),
            },
        };
        let sealed = checked.and_then(|(checked, own, said)| {
            infile::refuse_prepared(&checked)?;
            self.core.memory.may_keep()?;
            let text = match (checked.analysis.splices.is_empty(), &own) {
                (true, Cow::Borrowed(_)) => None,
                (true, Cow::Owned(rewritten)) => Some(rewritten.clone()),
                (false, own) => Some(self.seal_text(own, &checked)?),
            };
            Ok((checked, text, own, said))
        });
        let (checked, text, own, said) = match sealed {
            Ok(sealed) => sealed,
            Err(error) => {
                self.statements.failed();
                self.refuse(error, out);
                return Ok(Outcome::Done);
            }
        };
        let statement = Rc::new(Statement::new(&own, said, Rc::clone(&checked), self.statements.counter()));
        let preparing = preparing(statement, checked);
        let mut entry = PendingResponse::client(Awaited::Prepare(preparing));
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

    pub(super) fn execute(
        &mut self,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let id = StmtExecute::peek_statement(&message.payload)?;
        let Some(statement) = self.statements.get(id).cloned() else {
            self.refuse(ClientError::unknown_statement(), out);
            return Ok(Outcome::Done);
        };
        let ready = match self.before_statement(&statement.text, &statement.said.comment, out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(plan) => self.recheck(&statement, &plan),
        };
        let checked = match ready {
            Ok(Rechecked::Same(checked)) => checked,
            Ok(Rechecked::Anew(checked)) => return self.prepare_anew(&statement, checked, out),
            Err(error) => return self.refuse_execution(&statement, error, out),
        };
        statement.checked.replace(Rc::clone(&checked));
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
        let mut outcome = Outcome::Done;
        if checked.analysis.parameters.is_empty() && !lacks_types && !statement.said.has_parameters() {
            // What the server may make of the values is its own matter.
            if id == statement.server_id.get() {
                outcome = Outcome::Passes;
            } else {
                name_statement(bytes, statement.server_id.get(), &mut out.to_server);
            }
        } else {
            let mut execution = execution?;
            let sealed = self.identify_values(&mut execution, &statement);
            let sealed = sealed.and_then(|()| self.seal_parameters(&mut execution, &statement, &checked));
            if let Err(error) = sealed {
                return self.refuse_execution(&statement, error, out);
            }
            execution.statement = statement.server_id.get();
            let mut sequence = Sequence::default();
            execution.encode(self.capabilities, &mut sequence, &mut out.to_server)?;
            entry = entry.shifted(message.last_sequence, sequence.next().wrapping_sub(1));
        }
        statement.reset();
        self.gives(&statement.said);
        self.executes(&checked);
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
    ) -> Result<Outcome, WireError> {
        let server_has_some = statement.long_data.borrow().has_passed();
        statement.reset();
        if !server_has_some {
            self.refuse(error, out);
            return Ok(Outcome::Done);
        }
        self.core.audit.note_refusal(&error);
        let reset = StmtReset { statement: statement.server_id.get() };
        reset.encode(&mut Sequence::default(), &mut out.to_server)?;
        let entry = PendingResponse::refused(Awaited::Single(Single::Nothing), error);
        self.pending.push(entry.shifted(self.client_sequence, 0));
        Ok(Outcome::Done)
    }

    /// The text cannot be read before the server has said how.
    pub(super) fn ask_or_refuse(&mut self, out: &mut CallbackOutput) -> Outcome {
        let readiness = match self.core.catalog.failed.take() {
            Some(error) => Readiness::Refuse(error),
            None => self.ask_identity(out),
        };
        match readiness {
            Readiness::Refuse(error) => {
                self.refuse(error, out);
                Outcome::Done
            }
            _ => Outcome::Again,
        }
    }

    /// Puts the statement that the server has in the form that it takes under the keys and tables of now. The client's
    /// execution waits for that.
    fn prepare_anew(
        &mut self,
        statement: &Rc<Statement>,
        checked: Rc<Checked>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
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
        let sealed =
            infile::refuse_prepared(&checked).and_then(|()| self.seal_text(&statement.text, &checked));
        let text = match sealed {
            Ok(text) => text,
            Err(error) => return self.refuse_execution(statement, error, out),
        };
        StmtPrepare { text: &text }.encode(&mut Sequence::default(), &mut out.to_server)?;
        let preparing = preparing(Rc::clone(statement), checked);
        self.pending.push(PendingResponse::injected(Awaited::Prepare(preparing)));
        self.core.waiting = Waiting::Server;
        Ok(Outcome::Again)
    }

    /// Checks a prepared statement anew if plan, catalog or keys changed since. What the server has cannot be changed any
    /// more: if it would differ now, it must be prepared anew. Where what the client was told of its parameters stays true
    /// that is done here; else it must prepare again. What its columns are is told at each execution.
    pub(super) fn recheck(
        &self,
        statement: &Statement,
        plan: &Rc<CompiledPlan>,
    ) -> Result<Rechecked, ClientError> {
        if !plan.fields.is_empty() {
            self.settings.readable()?;
        }
        let before = statement.checked.borrow();
        if self.is_current(&before) && !before.goes_by_name() {
            self.core.served(&before)?;
            self.core.within_budgets(&before)?;
            return Ok(Rechecked::Same(Rc::clone(&before)));
        }
        let checked = self.check(&statement.text, plan)?;
        match checked.same_as(&before) {
            true => Ok(Rechecked::Same(checked)),
            false => Ok(Rechecked::Anew(checked)),
        }
    }

    /// Whether a statement was checked under the plan and catalog in force.
    fn is_current(&self, checked: &Checked) -> bool {
        let same_plan = self.core.policy.plan.as_ref().is_some_and(|plan| Rc::ptr_eq(plan, &checked.plan));
        let same_catalog = match (&checked.catalog, &self.core.catalog.current) {
            (Some(a), Some(b)) => a.fingerprint == b.fingerprint,
            (None, _) => checked.plan.fields.is_empty(),
            (Some(_), None) => false,
        };
        same_plan && same_catalog
    }

    pub(super) fn close(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let close = StmtClose::parse(&message.payload)?;
        let statement = self.statements.get(close.statement).map(|statement| statement.server_id.get());
        let server = StmtClose { statement: statement.unwrap_or(close.statement) };
        server.encode(&mut Sequence::default(), &mut out.to_server)?;
        self.statements.close(close.statement);
        Ok(Outcome::Done)
    }

    pub(super) fn reset(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let reset = StmtReset::parse(&message.payload)?;
        let statement = self.statements.get(reset.statement).cloned();
        let id = statement.as_ref().map_or(reset.statement, |statement| statement.server_id.get());
        StmtReset { statement: id }.encode(&mut Sequence::default(), &mut out.to_server)?;
        if let Some(statement) = statement {
            statement.reset();
        }
        self.pending.push(PendingResponse::client(Awaited::Single(Single::Nothing)));
        Ok(Outcome::Done)
    }
}
