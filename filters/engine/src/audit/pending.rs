//! Values that were counted since names were last looked up: one value is too little for that.

use std::rc::Rc;

use crate::compiled_plan::CompiledPlan;
use crate::value_counts::ValueOutcome;

/// Labels that are told apart; with a further one all are looked up.
const MAX_LABELS: usize = 16;

/// How many values of each label came to which outcome, under one plan.
#[derive(Default)]
pub(super) struct Pending {
    plan: Option<Rc<CompiledPlan>>,
    /// When the last was counted.
    at_ms: u64,
    counts: Vec<(Rc<str>, [u64; ValueOutcome::COUNT])>,
}

impl Pending {
    /// Counts so many values, unless there are values under another plan, of too many labels, or none at all.
    pub fn add(
        &mut self,
        plan: &Rc<CompiledPlan>,
        label: &Rc<str>,
        (outcome, values): (ValueOutcome, u64),
        now_ms: u64,
    ) -> bool {
        if !self.plan.as_ref().is_some_and(|known| Rc::ptr_eq(known, plan)) {
            return false;
        }
        let known = self.counts.iter().position(|(known, _)| Rc::ptr_eq(known, label));
        let place = known.unwrap_or(self.counts.len());
        if place >= MAX_LABELS {
            return false;
        }
        if known.is_none() {
            self.counts.push((Rc::clone(label), [0; ValueOutcome::COUNT]));
        }
        if let Some(count) =
            self.counts.get_mut(place).and_then(|(_, counts)| counts.get_mut(outcome.index()))
        {
            *count = count.saturating_add(values);
        }
        self.at_ms = now_ms;
        true
    }

    /// There are none; values under this plan can be added.
    pub fn begin(&mut self, plan: &Rc<CompiledPlan>) {
        self.plan = Some(Rc::clone(plan));
    }

    /// Hands them over, with their plan and when the last was counted. None if there are none.
    pub fn take(&mut self) -> Option<(Rc<CompiledPlan>, u64, Counts)> {
        let plan = self.plan.take()?;
        Some((plan, self.at_ms, Counts(std::mem::take(&mut self.counts))))
    }

    /// Takes the memory of what was handed over back.
    pub fn reuse(&mut self, Counts(mut counts): Counts) {
        counts.clear();
        self.counts = counts;
    }
}

/// What was handed over.
pub(super) struct Counts(Vec<(Rc<str>, [u64; ValueOutcome::COUNT])>);

impl Counts {
    /// Label, outcome and number of values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, ValueOutcome, u64)> {
        self.0.iter().flat_map(|(label, counts)| {
            let counted = ValueOutcome::ALL.into_iter().zip(*counts).filter(|(_, count)| *count > 0);
            counted.map(|(outcome, count)| (&**label, outcome, count))
        })
    }
}
