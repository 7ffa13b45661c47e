//! Executing a portal: under the plan that is in force then, whatever it was bound under.

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_postgres_wire::WireError;
use fieldveil_postgres_wire::frontend::{Describe, Execute, Target};
use fieldveil_postgres_wire::name::significant;

use super::check::Readiness;
use super::client::Outcome;
use super::extended::Rechecked;
use super::pending::{Awaited, PendingResponse};
use super::statements::Portal;
use super::{CallbackOutput, ReadySession};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::Core;

impl ReadySession {
    pub(super) fn execute(
        &mut self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let execute = Execute::parse(body)?;
        let portal = self.statements.portal(significant(execute.portal)).cloned();
        if let Some(outcome) = self.in_copy(core) {
            return Ok(outcome);
        }
        let Some(open) = &portal else {
            return self.execute_cursor(execute.portal, core, out);
        };
        let mut portal = Rc::clone(open);
        if open.checked.resolves_late() || open.checked.touched {
            let statement = &open.statement;
            let ready = match self.before_statement(&statement.text, &statement.said.comment, core, out) {
                Readiness::Wait => return Ok(Outcome::Again),
                Readiness::Refuse(error) => Err(error),
                Readiness::Ready(plan) => self.reopen(execute.portal, open, &plan, core, out)?,
            };
            match ready {
                Ok(reopened) => portal = reopened,
                Err(error) => {
                    self.refuse_extended_message(error, core, out);
                    return Ok(Outcome::Done);
                }
            }
        }
        let open = &portal;
        core.identity.words.give_all(open.statement.said.given());
        let (text, checked) = (Rc::clone(&open.statement.text), Rc::clone(&open.checked));
        let entry = self.note_execution(&text, &checked, Awaited::Execute(Some(portal)), core);
        Ok(self.forward(entry))
    }

    /// What a portal is when it is executed. Under another plan than when it was bound it is another portal: its rows get
    /// what the plan in force says.
    fn reopen(
        &mut self,
        name: &[u8],
        open: &Rc<Portal>,
        plan: &Arc<CompiledPlan>,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Result<Rc<Portal>, ClientError>, WireError> {
        let same_plan = Arc::ptr_eq(plan, &open.checked.plan);
        if same_plan && !open.checked.resolves_late() {
            return Ok(Ok(Rc::clone(open)));
        }
        let checked = match self.recheck(&open.statement, plan, core) {
            Err(error) => return Ok(Err(error)),
            Ok(Rechecked::Same(checked)) => {
                open.statement.checked.replace(Rc::clone(&checked));
                checked
            }
            // The portal was bound under the keys that were in use then.
            Ok(Rechecked::Anew(checked)) => checked,
        };
        if same_plan {
            return Ok(Ok(Rc::clone(open)));
        }
        if !checked.shows_types_as(&open.checked) {
            return Ok(Err(ClientError::other_result_types()));
        }
        let statement = Rc::clone(&open.statement);
        let result_formats = open.result_formats.clone();
        let is_fetch = checked.is_fetch();
        let name_of = significant(name).to_vec();
        let portal = Portal::open(name_of, &statement, checked, result_formats);
        drop(self.statements.set_portal(significant(name), Some(Rc::clone(&portal))));
        if is_fetch {
            Describe { target: Target::Portal, name }.encode(&mut out.to_server)?;
            self.pending.push(PendingResponse::injected(Awaited::DescribePortal(Some(Rc::clone(&portal)))));
        }
        Ok(Ok(portal))
    }
}
