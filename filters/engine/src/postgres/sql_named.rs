//! Messages of the protocol that name what SQL made: a Bind of what PREPARE made, and an Execute of a cursor that DECLARE made.
//! To the server both have one name space each.

use std::rc::Rc;

use fieldveil_postgres_wire::WireError;
use fieldveil_postgres_wire::frontend::{BindOutline, Describe, Target};
use fieldveil_postgres_wire::name::significant;
use fieldveil_sql::identity::{self, Comment};
use fieldveil_sql::{Dialect, OwnName};

use super::check::Readiness;
use super::client::Outcome;
use super::end_user::EndUserMentions;
use super::pending::{Awaited, PendingResponse};
use super::statements::{Portal, Statement};
use super::{CallbackOutput, ReadySession, Waiting};
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core};

impl ReadySession {
    /// Carries a Bind of what no Parse prepared. What PREPARE made goes to the server as it came if it concerns nothing protected.
    pub(super) fn bind_prepared_in_sql(
        &mut self,
        (bind, body): (BindOutline<'_>, &[u8]),
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        if !self.pending.names_are_settled() {
            core.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        let texts = match self.statements.under_own_name(significant(bind.statement)) {
            OwnName::Texts(texts) => texts,
            OwnName::Unknown | OwnName::Protected | OwnName::Free => Vec::new(),
        };
        // Where a PREPARE and a Parse may both have made it, it is not certain which.
        let text = if let [text] = texts.as_slice() { text.as_bytes() } else { b"" };
        let ready = match self.ready_text(text, core, out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            // Where no column is protected, PREPARE is not noted: it may have made what sets the token.
            Readiness::Ready(ready)
                if ready.plan.fields.is_empty() && !identity::names_token(body, Dialect::Postgres) =>
            {
                return Ok(self.forward(PendingResponse::client(Awaited::Bind(None))));
            }
            Readiness::Ready(ready) => Ok(ready),
        };
        let statement = ready.and_then(|ready| {
            if self.statements.portals_full(significant(bind.portal)) {
                return Err(ClientError::too_many_portals());
            }
            core.memory.may_open()?;
            let checked = self.check_text(&ready.text, &ready.plan, core)?;
            let passes =
                checked.concerns_nothing() && ready.said.len() == 0 && !ready.said.reads_parameters();
            passes.then(|| self.unnamed(text, &checked, core)).ok_or_else(ClientError::unknown_statement)
        });
        match statement {
            Ok(statement) => {
                let entry = self.enter_portal(bind.portal, &statement, bind.result_formats);
                Ok(self.forward(entry))
            }
            Err(error) => {
                self.refuse_extended_message(error, core, out);
                Ok(Outcome::Done)
            }
        }
    }

    /// Carries an Execute of what no Bind opened. Of a cursor that DECLARE made it is a FETCH of all rows: which columns come is
    /// asked of the server first, as before each FETCH. What else the server may have under the name was not seen.
    pub(super) fn execute_cursor(
        &mut self,
        name: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        if !core.policy.protects() {
            return Ok(self.forward(PendingResponse::client(Awaited::Execute(None))));
        }
        let cursor = std::str::from_utf8(significant(name)).ok();
        let cursor = cursor.filter(|cursor| self.statements.by_sql.cursors.get(cursor.as_bytes()).is_some());
        let Some(cursor) = cursor else {
            self.refuse_extended_message(ClientError::unknown_portal(), core, out);
            return Ok(Outcome::Done);
        };
        let text = format!("FETCH ALL FROM \"{}\"", cursor.replace('"', "\"\""));
        let ready = match self.before_statement(text.as_bytes(), &Comment::default(), core, out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(plan) => self.check_text(text.as_bytes(), &plan, core),
        };
        let checked = match ready {
            Ok(checked) => checked,
            Err(error) => {
                self.refuse_extended_message(error, core, out);
                return Ok(Outcome::Done);
            }
        };
        let statement = self.unnamed(text.as_bytes(), &checked, core);
        let portal = Portal::open(cursor.as_bytes().to_vec(), &statement, Rc::clone(&checked), Vec::new());
        Describe { target: Target::Portal, name }.encode(&mut out.to_server)?;
        self.pending.push(PendingResponse::injected(Awaited::DescribePortal(Some(Rc::clone(&portal)))));
        let entry = self.note_execution(text.as_bytes(), &checked, Awaited::Execute(Some(portal)), core);
        Ok(self.forward(entry))
    }

    /// A statement as the filter read it, under no name of the protocol.
    fn unnamed(&self, text: &[u8], checked: &Rc<CheckedText>, core: &Core) -> Rc<Statement> {
        let place = (0, self.pipeline.number(), core.memory.weight(0));
        Statement::new((Rc::from(text), EndUserMentions::default()), Rc::clone(checked), Vec::new(), place)
    }
}
