//! Budgets of what is revealed: what a row spends, and what is refused while one is spent.

use std::rc::Rc;

use super::Session;
use super::statements::Checked;
use super::treat::Tally;
use crate::budgets::Spending;
use crate::client_error::ClientError;
use crate::field::{Budget, CompiledPlan, Read};
use crate::ports::Level;

impl Tally for Session {
    fn count(&mut self, plan: &Rc<CompiledPlan>, label: &str, treatment: &'static str) {
        self.count_read(plan, label, treatment);
    }

    fn spend(&mut self, plan: &Rc<CompiledPlan>, budget: &Budget, rows: u32) -> Result<bool, ClientError> {
        let spending = self.worker.borrow_mut().budgets.spend(
            &plan.subject,
            &budget.label,
            budget.allowance,
            rows,
            self.now_ms,
        );
        let again_seconds = match spending {
            Spending::Revealed => return Ok(true),
            Spending::Spent { again_seconds, .. } => again_seconds,
            Spending::NoPlace => {
                self.worker.borrow_mut().count("budgets.over_limit", 1);
                u64::from(budget.allowance.per_seconds)
            }
        };
        self.tell_spent(plan, budget, spending);
        self.count_spent(plan, budget);
        match budget.then {
            Read::Refuse => Err(ClientError::budget_spent(&budget.label, budget.allowance, again_seconds)),
            _ => Ok(false),
        }
    }
}

impl Session {
    /// While a budget is spent its label is what rows past it are: where they are refused, statements that read it are
    /// refused before the server has them; where one may not look for what one gets, neither may one now.
    pub(super) fn within_budgets(&self, checked: &Checked) -> Result<(), ClientError> {
        let budget = |index: &usize| checked.plan.fields.get(*index).and_then(|field| field.budget.as_ref());
        let read =
            checked.analysis.statements.iter().flat_map(|statement| &statement.reads).filter_map(budget);
        let refused = read.filter(|budget| matches!(budget.then, Read::Refuse));
        let searched: Vec<_> = checked.sealed_searches().collect();
        let unsearchable = searched.iter().filter_map(budget).filter(|budget| !budget.then.searchable());
        for budget in refused.chain(unsearchable) {
            let spending = self.worker.borrow_mut().budgets.would_spend(
                &checked.plan.subject,
                &budget.label,
                budget.allowance,
                self.now_ms,
            );
            if let Spending::Spent { again_seconds, .. } = spending {
                self.tell_spent(&checked.plan, budget, spending);
                return Err(ClientError::budget_spent(&budget.label, budget.allowance, again_seconds));
            }
        }
        Ok(())
    }

    /// A line for the log, once in the budget's time.
    fn tell_spent(&self, plan: &CompiledPlan, budget: &Budget, spending: Spending) {
        if let Spending::Spent { again_seconds, first: true } = spending {
            let Budget { label, allowance, then } = budget;
            let line = format!(
                "{} has spent its budget of {label}, {} rows within {} seconds: more of them are {}; there is room again in {again_seconds} seconds",
                plan.subject,
                allowance.rows,
                allowance.per_seconds,
                then.name(),
            );
            self.log(Level::Warn, &line);
        }
    }
}
