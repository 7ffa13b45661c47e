//! Rows that are fetched from the cursor of a prepared statement: under the plan in force when they are fetched, and for
//! the end user of then, whoever opened the cursor.

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_mysql_wire::command::StmtFetch;
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::Sequence;

use super::check::Rechecked;
use super::client::{CommandError, Outcome};
use super::pending::{Awaited, PendingResponse, PendingResults};
use super::sql_context::SqlContext;
use super::statements::{Cursor, Statement};
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{Core, Waiting};

impl Session {
    pub(super) fn fetch(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let fetch = StmtFetch::parse(&message.payload)?;
        let Some(statement) = self.statements.get(fetch.statement).cloned() else {
            return Err(ClientError::unknown_statement().into());
        };
        if !self.pending.is_empty() {
            // The cursor may be opened by what is in flight.
            self.core.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        let comment = &statement.mentions.comment;
        let Some(plan) = self.before_statement(&statement.text, comment, out)? else {
            return Ok(Outcome::Again);
        };
        let cursor = self.sql.cursor(&self.core, &statement, &plan)?;
        let fetch = StmtFetch { statement: statement.server_id.get(), ..fetch };
        fetch.encode(&mut Sequence::default(), &mut out.to_server)?;
        self.pending
            .push(PendingResponse::client(Awaited::Results(PendingResults::fetch(cursor, statement))));
        Ok(Outcome::Done)
    }
}

impl SqlContext {
    /// The statement's cursor under this plan. What its columns are the client was told when it was opened: rows that
    /// would be of others now are refused.
    fn cursor(
        &self,
        core: &Core,
        statement: &Statement,
        plan: &Arc<CompiledPlan>,
    ) -> Result<Cursor, ClientError> {
        let Some(cursor) = statement.cursor.borrow().clone() else {
            return Err(ClientError::unsupported(
                "the statement has no open cursor",
                "Execute it with a cursor first.",
            ));
        };
        let Cursor { checked: opened, treated_columns } = &cursor;
        if Arc::ptr_eq(plan, &opened.plan) {
            core.policy.require_keys(opened)?;
            core.within_budgets(opened)?;
            return Ok(cursor);
        }
        let (Rechecked::Same(checked) | Rechecked::Anew(checked)) = self.recheck(core, statement, plan)?;
        if !plan.stores_as(&opened.plan) || !checked.shows_types_as(opened) {
            return Err(ClientError::unsupported(
                "policy protects or shows other columns now than when this cursor was opened",
                "Execute the statement again.",
            ));
        }
        let treated_columns =
            treated_columns.as_ref().map(|treated_columns| Rc::new(treated_columns.under(&checked)));
        Ok(Cursor { checked, treated_columns })
    }
}
