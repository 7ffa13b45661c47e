//! What happens in exchanges, counted for the worker's statistics and for the audit: by principal, for a request is too
//! little to be told of on its own, and a connection may carry those of many.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_plan::PlanInput;

use super::problem::Problem;
use crate::audit::{Audit, AuditedBudget, Code, Refusal, SharedAudit};
use crate::compiled_plan::CompiledPlan;
use crate::fetch::PrincipalKey;
use crate::field;
use crate::ports::{Ports, random_name};
use crate::value_counts::ValueOutcome;
use crate::worker::Worker;

/// The audit of one exchange's principal, with the plan that the exchange is under.
#[derive(Clone)]
pub struct Handle {
    worker: Rc<RefCell<Worker>>,
    audit: SharedAudit,
    plan: Option<Arc<CompiledPlan>>,
}

impl Handle {
    /// Of this principal under this plan, which is not there yet if `None`.
    pub fn of(
        worker: &Rc<RefCell<Worker>>,
        ports: &Rc<RefCell<dyn Ports>>,
        key: &PrincipalKey,
        input: &PlanInput,
        plan: Option<&Arc<CompiledPlan>>,
    ) -> Self {
        let state = Arc::clone(&worker.borrow().state);
        let (audit, lines) = state.principals.of(key, || state.audit(random_name(&**ports)));
        lines.iter().for_each(|line| ports.borrow().audit(line));
        state.principals.record(&audit, |audit| {
            audit.asks(input, plan);
            if !input.claims.is_empty() {
                audit.authenticated();
            }
        });
        Self { worker: Rc::clone(worker), audit, plan: plan.cloned() }
    }

    /// The exchange, or a part of it, was refused.
    pub fn refused(&self, problem: &Problem, now_ms: u64) {
        self.worker.borrow().state.count(&format!("http.refused.{}", problem.name()), 1);
        let label = problem.label().unwrap_or_default().to_owned();
        let refusal = Refusal { code: Code::Problem(problem.name()), label };
        self.record(|audit| match &self.plan {
            Some(plan) => audit.unreadable(plan, refusal, now_ms),
            None => audit.refusal(refusal, now_ms),
        });
    }

    /// A value of the label came to this outcome.
    pub(super) fn count(
        &self,
        plan: &Arc<CompiledPlan>,
        label: &Arc<str>,
        outcome: ValueOutcome,
        now_ms: u64,
    ) {
        self.record(|audit| audit.count(plan, outcome, label, now_ms));
    }

    /// A value was not revealed: the budget is spent.
    pub(super) fn spent(&self, plan: &Arc<CompiledPlan>, budget: &field::Budget, now_ms: u64) {
        self.record(|audit| audit.budget(plan, &budget.label, AuditedBudget::from(budget), now_ms));
    }

    fn record(&self, what: impl FnOnce(&mut Audit)) {
        self.worker.borrow().state.principals.record(&self.audit, what);
    }
}
