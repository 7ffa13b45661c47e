//! What a value that is read spends of its label's budget, whatever the protocol.

use std::cell::RefCell;

use crate::budgets::Spending;
use crate::compiled_plan::CompiledPlan;
use crate::field::Budget;
use crate::ports::{Level, Ports};
use crate::worker::Worker;

/// The budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// Seconds until something may be revealed again.
    pub again_seconds: u64,
}

/// Spends `rows` of the plan's subject, or nothing: then it is counted, and logged once in the budget's time.
pub fn spend(
    worker: &RefCell<Worker>,
    ports: &RefCell<dyn Ports>,
    plan: &CompiledPlan,
    budget: &Budget,
    rows: u32,
    now_ms: u64,
) -> Result<(), Spent> {
    let mut worker = worker.borrow_mut();
    let spending = worker.budgets().spend(&plan.subject, &budget.label, budget.allowance, rows, now_ms);
    let again_seconds = match spending {
        Spending::Revealed => return Ok(()),
        Spending::Spent { again_seconds, .. } => again_seconds,
        Spending::NoPlace => {
            worker.count("budgets.over_limit", 1);
            u64::from(budget.allowance.per_seconds)
        }
    };
    worker.count(&format!("budget_spent.{}", budget.label), 1);
    tell(&*ports.borrow(), plan, budget, spending);
    Err(Spent { again_seconds })
}

/// Whether one more would be revealed; nothing is spent.
pub fn check(
    worker: &RefCell<Worker>,
    ports: &RefCell<dyn Ports>,
    plan: &CompiledPlan,
    budget: &Budget,
    now_ms: u64,
) -> Result<(), Spent> {
    let spending =
        worker.borrow_mut().budgets().would_spend(&plan.subject, &budget.label, budget.allowance, now_ms);
    let Spending::Spent { again_seconds, .. } = spending else { return Ok(()) };
    tell(&*ports.borrow(), plan, budget, spending);
    Err(Spent { again_seconds })
}

/// A line for the log, once in the budget's time.
fn tell(ports: &dyn Ports, plan: &CompiledPlan, budget: &Budget, spending: Spending) {
    if let Spending::Spent { again_seconds, first: true } = spending {
        let Budget { label, allowance, then } = budget;
        let line = format!(
            "{} has spent its budget of {label}, {} rows within {} seconds: more of them are {}; there is room again in {again_seconds} seconds",
            plan.subject,
            allowance.rows,
            allowance.per_seconds,
            then.name(),
        );
        ports.log(Level::Warn, &line);
    }
}
