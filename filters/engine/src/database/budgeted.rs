//! Budgets of revealed rows: spends them, and refuses statements while a budget is spent.

use super::{CheckedText, Core, Tally};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::field::{Budget, CompiledField, ReadTreatment};
use crate::spending::{self, Spent};
use crate::value_buffers::Buffers;
use crate::value_counts::ValueOutcome;
use std::sync::Arc;

impl Tally for Core {
    fn count(&mut self, plan: &Arc<CompiledPlan>, field: &CompiledField, outcome: ValueOutcome) {
        self.audit.count_values(plan, field, outcome, 1);
    }

    fn charge_output(&mut self, bytes: usize) -> Result<(), ClientError> {
        Core::charge_output(self, bytes)
    }

    fn buffers(&mut self) -> &mut Buffers {
        let worker = &self.worker;
        self.buffers.get_or_insert_with(|| worker.borrow_mut().buffers.take().unwrap_or_default())
    }

    fn spend(&mut self, plan: &Arc<CompiledPlan>, budget: &Budget, rows: u32) -> Result<bool, ClientError> {
        let spent = spending::spend(&self.worker, &self.ports, plan, budget, rows, self.now_ms);
        let Err(Spent { again_seconds }) = spent else { return Ok(true) };
        self.audit.count_spent(plan, budget);
        match budget.then {
            ReadTreatment::Refuse => {
                Err(ClientError::budget_spent(&budget.label, budget.allowance, again_seconds))
            }
            _ => Ok(false),
        }
    }
}

impl Core {
    /// Refuses a statement while the budget of a label is spent, if the treatment that then applies to the label would refuse it:
    /// because rows past the budget are refused, or because the principal may not search for what it gets.
    pub fn within_budgets(&self, checked: &CheckedText) -> Result<(), ClientError> {
        let budget = |index: &usize| checked.plan.fields.get(*index).and_then(|field| field.budget.as_ref());
        let read = checked
            .analysis
            .statements
            .iter()
            .flat_map(|statement| &statement.fields.reads)
            .filter_map(budget);
        let refused = read.filter(|budget| matches!(budget.then, ReadTreatment::Refuse));
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
