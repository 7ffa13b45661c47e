//! Budgets of what is revealed: what a row spends, and what is refused while one is spent.

use std::rc::Rc;

use super::{Buffers, Checked, Core, Tally};
use crate::audit::ValueOutcome;
use crate::client_error::ClientError;
use crate::field::{Budget, CompiledPlan, FieldPlan, Read};
use crate::spending::{self, Spent};

impl Tally for Core {
    fn count(&mut self, plan: &Rc<CompiledPlan>, field: &FieldPlan, outcome: ValueOutcome) {
        self.count_value(plan, field, outcome);
    }

    fn print(&mut self, bytes: usize) -> Result<(), ClientError> {
        Core::print(self, bytes)
    }

    fn buffers(&mut self) -> &mut Buffers {
        let worker = &self.worker;
        self.buffers.get_or_insert_with(|| worker.borrow_mut().buffers.take().unwrap_or_default())
    }

    fn spend(&mut self, plan: &Rc<CompiledPlan>, budget: &Budget, rows: u32) -> Result<bool, ClientError> {
        let spent = spending::spend(&self.worker, &self.ports, plan, budget, rows, self.now_ms);
        let Err(Spent { again_seconds }) = spent else { return Ok(true) };
        self.count_spent(plan, budget);
        match budget.then {
            Read::Refuse => Err(ClientError::budget_spent(&budget.label, budget.allowance, again_seconds)),
            _ => Ok(false),
        }
    }
}

impl Core {
    /// While a budget is spent its label is what rows past it are: where they are refused, statements that read it are
    /// refused before the server has them; where one may not look for what one gets, neither may one now.
    pub fn within_budgets(&self, checked: &Checked) -> Result<(), ClientError> {
        let budget = |index: &usize| checked.plan.fields.get(*index).and_then(|field| field.budget.as_ref());
        let read =
            checked.analysis.statements.iter().flat_map(|statement| &statement.reads).filter_map(budget);
        let refused = read.filter(|budget| matches!(budget.then, Read::Refuse));
        let searched: Vec<_> = checked.sealed_searches().chain(checked.searches_by_writing()).collect();
        let unsearchable = searched.iter().filter_map(budget).filter(|budget| !budget.then.searchable());
        for budget in refused.chain(unsearchable) {
            spending::check(&self.worker, &self.ports, &checked.plan, budget, self.now_ms).map_err(
                |spent| ClientError::budget_spent(&budget.label, budget.allowance, spent.again_seconds),
            )?;
        }
        Ok(())
    }
}
