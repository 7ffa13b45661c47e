//! Values that were read in one callback, until they are counted: a row is too little to look names up for.

use std::rc::Rc;

use crate::audit::Outcome;
use crate::field::CompiledPlan;

/// How many values of each field of one plan came to which outcome.
#[derive(Default)]
pub struct Reads {
    plan: Option<Rc<CompiledPlan>>,
    counts: Vec<[u64; Outcome::COUNT]>,
}

impl Reads {
    /// Whether there are none, or they are under this plan.
    pub fn takes(&self, plan: &Rc<CompiledPlan>) -> bool {
        self.plan.as_ref().is_none_or(|known| Rc::ptr_eq(known, plan))
    }

    /// One more, under a plan that it takes.
    pub fn add(&mut self, plan: &Rc<CompiledPlan>, field: usize, outcome: Outcome) {
        if self.plan.is_none() {
            self.plan = Some(Rc::clone(plan));
            self.counts.resize(plan.fields.len(), [0; Outcome::COUNT]);
        }
        let count = self.counts.get_mut(field).and_then(|counts| counts.get_mut(outcome.index()));
        if let Some(count) = count {
            *count = count.saturating_add(1);
        }
    }

    /// Hands each count over and forgets it.
    pub fn take(&mut self, mut counted: impl FnMut(&Rc<CompiledPlan>, &str, Outcome, u64)) {
        let Some(plan) = self.plan.take() else { return };
        for (field, counts) in plan.fields.iter().zip(&self.counts) {
            for (outcome, count) in Outcome::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0) {
                counted(&plan, &field.spec.label, outcome, *count);
            }
        }
        self.counts.clear();
    }
}
