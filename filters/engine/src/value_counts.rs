//! Values by label and outcome, counted for Envoy's statistics without a text for each.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::field::ReadTreatment;

/// What became of a value of a protected column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueOutcome {
    /// Read as it is.
    Revealed,
    /// Read under a mask.
    Masked,
    /// Read as it is stored.
    Concealed,
    /// Read as NULL.
    Nulled,
    /// Found unsealed.
    Plaintext,
    /// Sealed, to be stored.
    Sealed,
    /// Sealed, to be looked for.
    Searched,
}

impl ValueOutcome {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All of them, each where its index says.
    pub const ALL: [Self; 7] = [
        Self::Revealed,
        Self::Masked,
        Self::Concealed,
        Self::Nulled,
        Self::Plaintext,
        Self::Sealed,
        Self::Searched,
    ];

    /// Its place among all.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Of a value that got this treatment; a refusal is none of a value's.
    pub fn of(read: &ReadTreatment) -> Self {
        match read {
            ReadTreatment::Reveal => Self::Revealed,
            ReadTreatment::Mask(_) => Self::Masked,
            ReadTreatment::Conceal => Self::Concealed,
            // A value that is refused is not counted.
            ReadTreatment::Null | ReadTreatment::Refuse => Self::Nulled,
        }
    }

    /// Its name in statistics, which do not tell what was sealed to be stored from what is looked for.
    pub fn statistic(self) -> &'static str {
        match self {
            Self::Revealed => "revealed",
            Self::Masked => "masked",
            Self::Concealed => "concealed",
            Self::Nulled => "nulled",
            Self::Plaintext => "plaintext",
            Self::Sealed | Self::Searched => "sealed",
        }
    }
}

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
