//! Values that were counted since names were last looked up: one value is too little for that.

use std::sync::Arc;

use crate::compiled_plan::CompiledPlan;
use crate::value_counts::ValueOutcome;

/// Labels that are told apart; with a further one all are looked up. More than the protected columns of most tables: past it
/// they are looked up for each row.
const MAX_LABELS: usize = 64;

/// How many values of each label came to which outcome, under one plan.
#[derive(Default)]
pub(super) struct Pending {
    plan: Option<Arc<CompiledPlan>>,
    /// When the last was counted.
    at_ms: u64,
    counts: Vec<(Arc<str>, [u64; ValueOutcome::COUNT])>,
    /// Where the next label is looked for first, which is behind the last one: rows have their columns in the same order.
    next: usize,
}

impl Pending {
    /// Counts so many values, unless there are values under another plan, of too many labels, or none at all.
    pub fn add(
        &mut self,
        plan: &Arc<CompiledPlan>,
        label: &Arc<str>,
        (outcome, values): (ValueOutcome, u64),
        now_ms: u64,
    ) -> bool {
        if !self.plan.as_ref().is_some_and(|known| Arc::ptr_eq(known, plan)) {
            return false;
        }
        let is_it = |(known, _): &(Arc<str>, _)| Arc::ptr_eq(known, label);
        let place = match self.counts.get(self.next) {
            Some(next) if is_it(next) => self.next,
            _ => self.counts.iter().position(is_it).unwrap_or(self.counts.len()),
        };
        if place >= MAX_LABELS {
            return false;
        }
        if place == self.counts.len() {
            self.counts.push((Arc::clone(label), [0; ValueOutcome::COUNT]));
        }
        if let Some(count) =
            self.counts.get_mut(place).and_then(|(_, counts)| counts.get_mut(outcome.index()))
        {
            *count = count.saturating_add(values);
        }
        self.next = place.saturating_add(1);
        self.at_ms = now_ms;
        true
    }

    /// There are none; values under this plan can be added.
    pub fn begin(&mut self, plan: &Arc<CompiledPlan>) {
        self.plan = Some(Arc::clone(plan));
    }

    /// Hands them over, with their plan and when the last was counted. None if there are none.
    pub fn take(&mut self) -> Option<(Arc<CompiledPlan>, u64, Counts)> {
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
pub(super) struct Counts(Vec<(Arc<str>, [u64; ValueOutcome::COUNT])>);

impl Counts {
    /// Label, outcome and number of values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, ValueOutcome, u64)> {
        self.0.iter().flat_map(|(label, counts)| {
            let counted = ValueOutcome::ALL.into_iter().zip(*counts).filter(|(_, count)| *count > 0);
            counted.map(|(outcome, count)| (&**label, outcome, count))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use fieldveil_plan::Plan;

    use super::*;

    const ONE: (ValueOutcome, u64) = (ValueOutcome::Revealed, 1);

    #[test]
    fn values_are_counted_by_label_in_whatever_order_they_come_up_to_so_many_labels() {
        let plan = br#"{"result": {"revision": "1", "ttl_seconds": 30, "fields": []}}"#;
        let plan = Arc::new(CompiledPlan::new(Plan::from_json(plan).unwrap()).unwrap());
        let labels: Vec<Arc<str>> = (0..=MAX_LABELS).map(|number| Arc::from(number.to_string())).collect();
        let (further, labels) = labels.split_last().unwrap();
        let mut pending = Pending::default();
        assert!(!pending.add(&plan, further, ONE, 0), "nothing is counted under no plan");
        pending.begin(&plan);
        // As rows have them, then backwards, then some alone.
        let some = labels.iter().step_by(7);
        for label in labels.iter().chain(labels).chain(labels.iter().rev()).chain(some) {
            assert!(pending.add(&plan, label, ONE, 0));
        }
        assert!(!pending.add(&plan, further, ONE, 0));
        let (_, _, counts) = pending.take().unwrap();
        let counted: BTreeMap<&str, u64> = counts.iter().map(|(label, _, count)| (label, count)).collect();
        assert_eq!(counted.len(), labels.len());
        for (number, label) in labels.iter().enumerate() {
            assert_eq!(counted[&**label], if number % 7 == 0 { 4 } else { 3 }, "{label}");
        }
    }
}
