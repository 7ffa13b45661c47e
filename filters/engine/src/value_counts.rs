//! Values by label and outcome, counted for Envoy's statistics without a text for each.

use std::collections::BTreeMap;

use crate::audit::ValueOutcome;

/// Values since the last time.
#[derive(Default)]
pub struct ValueCounts(BTreeMap<String, [u64; ValueOutcome::COUNT]>);

impl ValueCounts {
    /// Counts so many values of the label.
    pub fn add(&mut self, label: &str, outcome: ValueOutcome, by: u64) {
        if !self.0.contains_key(label) {
            self.0.insert(label.to_owned(), [0; ValueOutcome::COUNT]);
        }
        let counts = self.0.get_mut(label);
        if let Some(count) = counts.and_then(|counts| counts.get_mut(outcome.index())) {
            *count = count.saturating_add(by);
        }
    }

    /// Hands over each statistic's name with what was counted since the last time. A label of which nothing was counted is
    /// forgotten.
    pub fn take(&mut self, mut added: impl FnMut(String, u64)) {
        self.0.retain(|label, counts| {
            let mut any = false;
            for (outcome, count) in ValueOutcome::ALL.into_iter().zip(counts) {
                let count = std::mem::take(count);
                if count > 0 {
                    any = true;
                    added([outcome.statistic(), ".", label].concat(), count);
                }
            }
            any
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(counts: &mut ValueCounts) -> Vec<(String, u64)> {
        let mut taken = Vec::new();
        counts.take(|name, count| taken.push((name, count)));
        taken
    }

    #[test]
    fn values_are_counted_by_label_and_outcome() {
        let mut counts = ValueCounts::default();
        counts.add("b", ValueOutcome::Revealed, 2);
        counts.add("a", ValueOutcome::Sealed, 1);
        counts.add("b", ValueOutcome::Revealed, 3);
        assert_eq!(taken(&mut counts), [("sealed.a".to_owned(), 1), ("revealed.b".to_owned(), 5)]);
        assert_eq!(taken(&mut counts), []);
        assert!(counts.0.is_empty(), "a label that is used no more is held");
    }
}
