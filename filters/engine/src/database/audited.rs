//! Counts what happens in the session, for the worker's statistics and for the audit.

use std::rc::Rc;

use fieldveil_plan::PlanInput;

use super::{CallbackOutput, Core};
use crate::audit::{Audit, AuditedBudget, Ended, ValueOutcome};
use crate::client_error::{ClientError, sqlstate};
use crate::field::{self, CompiledPlan, FieldPlan};
use crate::ports::Level;

impl Core {
    /// The connection has ended: the last lines of its audit are written. A second call does nothing.
    pub fn end(&mut self, how: Ended) {
        self.begin_callback();
        let how = self.ended.unwrap_or(how);
        self.record(|audit, now_ms| audit.end(how, now_ms));
        self.write_audit(&CallbackOutput::default());
    }

    /// Notes who ends the connection; only the first note counts.
    pub fn note_end(&mut self, how: Ended) {
        self.ended.get_or_insert(how);
    }

    /// Enters the following statements for the session's principal, or for the end user that a comment names, under this plan.
    /// Without a plan they are refused.
    pub fn audit_principal(&mut self, by_comment: Option<&PlanInput>, plan: Option<&Rc<CompiledPlan>>) {
        let mut audit = self.audit.borrow_mut();
        let was_idle = audit.is_idle();
        audit.principal(by_comment.unwrap_or(&self.input), plan, self.now_ms);
        drop(audit);
        self.audit_began(was_idle);
    }

    /// Counts a client that the server has let in.
    pub fn note_authenticated(&mut self) {
        self.worker.borrow_mut().count("connections.authenticated", 1);
        self.audit.borrow_mut().authenticated();
    }

    /// Counts a value of the field with its outcome under `plan`.
    pub fn count_value(&mut self, plan: &Rc<CompiledPlan>, field: &FieldPlan, outcome: ValueOutcome) {
        self.record(|audit, now_ms| audit.count(plan, outcome, &field.label, now_ms));
    }

    /// Counts a row that was not revealed under `plan` because the budget is spent.
    pub fn count_spent(&mut self, plan: &Rc<CompiledPlan>, budget: &field::Budget) {
        self.record(|audit, now_ms| audit.budget(plan, &budget.label, AuditedBudget::from(budget), now_ms));
    }

    /// Counts a statement or a session that was refused before the server had it.
    pub fn note_refusal(&mut self, error: &ClientError) {
        self.count_refusal(error);
        if matches!(error.code, sqlstate::CANNOT_CONNECT_NOW | sqlstate::PROTOCOL_VIOLATION) {
            self.log(Level::Warn, &format!("{} ({})", error.message, error.code));
        }
    }

    /// Counts a refusal of a statement or of the session.
    pub fn count_refusal(&mut self, error: &ClientError) {
        self.worker.borrow_mut().count(&format!("refused.{}", error.code), 1);
        self.record(|audit, now_ms| audit.refusal(error, now_ms));
    }

    /// Counts a response that ended because a value in it could not be given.
    pub fn count_ended(&mut self, plan: Option<&Rc<CompiledPlan>>, error: &ClientError) {
        let why = if error.code == sqlstate::CONFIGURATION_LIMIT_EXCEEDED { "refused" } else { "unreadable" };
        self.worker.borrow_mut().count(&format!("{why}.{}", error.code), 1);
        self.record(|audit, now_ms| match plan {
            Some(plan) => audit.unreadable(plan, error, now_ms),
            None => audit.refusal(error, now_ms),
        });
    }

    /// Writes the lines of the audit that are ready, at the end of a callback.
    pub fn write_audit(&mut self, out: &CallbackOutput) {
        if let Some(mut buffers) = self.buffers.take() {
            buffers.wipe();
            self.worker.borrow_mut().buffers = Some(buffers);
        }
        if out.close {
            self.note_end(Ended::Filter);
        }
        for line in self.audit.borrow_mut().take_lines() {
            self.ports.borrow().audit(&line);
        }
    }

    fn record(&mut self, what: impl FnOnce(&mut Audit, u64)) {
        let mut audit = self.audit.borrow_mut();
        let was_idle = audit.is_idle();
        what(&mut audit, self.now_ms);
        drop(audit);
        self.audit_began(was_idle);
    }

    fn audit_began(&self, was_idle: bool) {
        if was_idle && !self.audit.borrow().is_idle() {
            self.worker.borrow_mut().audits.add(&self.audit);
        }
    }
}
