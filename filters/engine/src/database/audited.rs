//! Counts what happens in a session, for the worker's statistics and for the audit.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_plan::PlanInput;

use crate::audit::{Audit, AuditedBudget, Ended};
use crate::client_error::{ClientError, sqlstate};
use crate::compiled_plan::CompiledPlan;
use crate::field::{Budget, CompiledField};
use crate::ports::{Level, Ports, random_name};
use crate::value_counts::ValueOutcome;
use crate::worker::Worker;

/// The counts of one session.
pub(crate) struct SessionAudit {
    worker: Rc<RefCell<Worker>>,
    ports: Rc<RefCell<dyn Ports>>,
    /// What the worker writes out from time to time.
    audit: Rc<RefCell<Audit>>,
    /// The time of this callback.
    now_ms: u64,
    ended: Option<Ended>,
}

impl SessionAudit {
    /// Makes that of a new connection.
    pub fn new(worker: &Rc<RefCell<Worker>>, ports: &Rc<RefCell<dyn Ports>>) -> Self {
        let audit = worker.borrow().audit(random_name(&**ports));
        Self {
            worker: Rc::clone(worker),
            ports: Rc::clone(ports),
            audit: Rc::new(RefCell::new(audit)),
            now_ms: 0,
            ended: None,
        }
    }

    /// Begins a callback.
    pub fn begin_callback(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// Ends the connection.
    pub fn end(&mut self, how: Ended) {
        let how = self.ended.unwrap_or(how);
        self.record(|audit, now_ms| audit.end(how, now_ms));
    }

    /// Notes who ends the connection; only the first note counts.
    pub fn note_end(&mut self, how: Ended) {
        self.ended.get_or_insert(how);
    }

    /// Enters the following statements for this principal: the session's, or the end user that a comment names. Without a plan
    /// they are refused.
    pub fn principal(&mut self, input: &PlanInput, plan: Option<&Arc<CompiledPlan>>) {
        self.record(|audit, now_ms| audit.principal(input, plan, now_ms));
    }

    /// Counts a client that the server has let in.
    pub fn note_authenticated(&mut self) {
        self.worker.borrow_mut().count("connections.authenticated", 1);
        self.audit.borrow_mut().authenticated();
    }

    /// Counts so many values of the field with their outcome under `plan`.
    pub fn count_values(
        &mut self,
        plan: &Arc<CompiledPlan>,
        field: &CompiledField,
        outcome: ValueOutcome,
        values: u64,
    ) {
        self.record(|audit, now_ms| audit.count_values(plan, (outcome, values), &field.label, now_ms));
    }

    /// Counts a row that was not revealed under `plan` because the budget is spent.
    pub fn count_spent(&mut self, plan: &Arc<CompiledPlan>, budget: &Budget) {
        self.record(|audit, now_ms| audit.budget(plan, &budget.label, AuditedBudget::from(budget), now_ms));
    }

    /// Counts a statement or a session that was refused before the server had it.
    pub fn note_refusal(&mut self, error: &ClientError) {
        self.count_refusal(error);
        if matches!(error.code, sqlstate::CANNOT_CONNECT_NOW | sqlstate::PROTOCOL_VIOLATION) {
            self.ports.borrow().log(Level::Warn, &format!("{} ({})", error.message, error.code));
        }
    }

    /// Counts a refusal of a statement or of the session.
    pub fn count_refusal(&mut self, error: &ClientError) {
        self.worker.borrow_mut().count(&format!("refused.{}", error.code), 1);
        self.record(|audit, now_ms| audit.refusal(error, now_ms));
    }

    /// Counts a response that ended because a value in it could not be given.
    pub fn count_ended(&mut self, plan: Option<&Arc<CompiledPlan>>, error: &ClientError) {
        let why = if error.code == sqlstate::CONFIGURATION_LIMIT_EXCEEDED { "refused" } else { "unreadable" };
        self.worker.borrow_mut().count(&format!("{why}.{}", error.code), 1);
        self.record(|audit, now_ms| match plan {
            Some(plan) => audit.unreadable(plan, error, now_ms),
            None => audit.refusal(error, now_ms),
        });
    }

    /// Writes the lines that are ready.
    pub fn write(&mut self) {
        for line in self.audit.borrow_mut().take_lines() {
            self.ports.borrow().audit(&line);
        }
    }

    fn record(&mut self, what: impl FnOnce(&mut Audit, u64)) {
        let mut audit = self.audit.borrow_mut();
        let was_idle = audit.is_idle();
        what(&mut audit, self.now_ms);
        let has_begun = was_idle && !audit.is_idle();
        drop(audit);
        if has_begun {
            self.worker.borrow_mut().audits.add(&self.audit);
        }
    }
}
