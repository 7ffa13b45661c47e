//! What the filter counts, as Envoy's statistics. Envoy wants each name before it begins to serve, so what stands behind the first
//! part of a name is a label.

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldveil_engine::reports::Ages;

use crate::envoy::Main;
use crate::faults;
use crate::memory;
use crate::sidecar::Sidecar;

/// The counters, each with its labels. What is counted under another name is not shown.
pub const COUNTERS: &[(&str, &[&str])] = &[
    ("connections.authenticated", &[]),
    ("sealed", &["label"]),
    ("revealed", &["label"]),
    ("masked", &["label"]),
    ("concealed", &["label"]),
    ("nulled", &["label"]),
    ("plaintext", &["label"]),
    ("budget_spent", &["label"]),
    ("budgets.over_limit", &[]),
    ("refused", &["sqlstate"]),
    ("http.refused", &["problem"]),
    ("unreadable", &["sqlstate"]),
    ("statement_cache.hit", &[]),
    ("statement_cache.miss", &[]),
    ("catalog.reads", &[]),
    ("catalog.known", &[]),
    ("identity.reads", &[]),
    ("renewals.failed", &[]),
    ("tenant_keysets.over_limit", &[]),
    ("key_uses", &["keyset", "purpose", "key"]),
    ("key_uses_of_others", &["purpose"]),
    ("key_used_up", &["keyset", "purpose", "key"]),
    ("plans.denied", &[]),
    ("plans.break_glass", &[]),
    ("faults", &[]),
];

/// The gauges.
pub const GAUGES: &[(&str, &[&str])] = &[
    ("keysets.age_seconds", &[]),
    ("plans.age_seconds", &[]),
    ("memory.in_use_bytes", &[]),
    ("plans.held", &["bundle"]),
];
const KEYSETS_AGE: usize = 0;
const PLANS_AGE: usize = 1;
const MEMORY: usize = 2;
const PLANS_HELD: usize = 3;

/// Bytes to which memory in use is told.
const MEMORY_STEP: u64 = 1 << 20;

/// What was last shown.
#[derive(Default)]
pub struct Statistics {
    held: BTreeMap<String, u64>,
}

impl Statistics {
    /// Moves what was counted into Envoy's statistics.
    pub fn publish(&mut self, envoy: &dyn Main, sidecars: &[Arc<Sidecar>], now_ms: u64) {
        memory::look();
        let mut all = Ages::default();
        let mut held: BTreeMap<String, u64> = self.held.keys().map(|name| (name.clone(), 0)).collect();
        for sidecar in sidecars {
            for (name, by) in sidecar.state.take_counts() {
                add(envoy, &name, by);
            }
            let ages = sidecar.state.ages(now_ms, memory::in_use());
            all.keysets = ages.keysets.max(all.keysets);
            all.plans = ages.plans.max(all.plans);
            all.memory = ages.memory.max(all.memory);
            sidecar.state.show_held_plans(|plans| {
                for (bundle, count) in plans {
                    let sum = held.entry(bundle.clone()).or_default();
                    *sum = sum.saturating_add(u64::from(*count));
                }
            });
        }
        add(envoy, "faults", faults::take());
        envoy.set(KEYSETS_AGE, &[], all.keysets / 1000);
        envoy.set(PLANS_AGE, &[], all.plans / 1000);
        envoy.set(MEMORY, &[], all.memory.next_multiple_of(MEMORY_STEP));
        for (bundle, count) in &held {
            envoy.set(PLANS_HELD, &[bundle], *count);
        }
        self.held = held;
    }
}

/// Adds to the counter of a name.
fn add(envoy: &dyn Main, name: &str, by: u64) {
    for (family, (first, labels)) in COUNTERS.iter().enumerate() {
        let Some(rest) = name.strip_prefix(first) else { continue };
        if let Some(values) = label_values(rest, labels.len()) {
            envoy.add(family, &values, by);
            return;
        }
    }
}

/// The values of so many labels, behind the first part of a name. A label's own name may have dots where it is alone; of several
/// the last ones have none.
fn label_values(rest: &str, labels: usize) -> Option<Vec<&str>> {
    if labels == 0 {
        return rest.is_empty().then(Vec::new);
    }
    let mut values: Vec<_> = rest.strip_prefix('.')?.rsplitn(labels, '.').collect();
    values.reverse();
    (values.len() == labels).then_some(values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[derive(Default)]
    struct Shown(RefCell<Vec<(usize, Vec<String>, u64)>>);

    impl Main for Shown {
        fn call(&self, _: &str, _: &[(&str, &str)], _: &[u8], _: u64) -> Result<u64, String> {
            Err("not here".into())
        }

        fn add(&self, family: usize, labels: &[&str], by: u64) {
            self.0.borrow_mut().push((family, labels.iter().map(ToString::to_string).collect(), by));
        }

        fn set(&self, _: usize, _: &[&str], _: u64) {}
    }

    fn shown(name: &str) -> Option<(&'static str, Vec<String>)> {
        let envoy = Shown::default();
        add(&envoy, name, 3);
        let (family, labels, _) = envoy.0.into_inner().pop()?;
        Some((COUNTERS[family].0, labels))
    }

    #[test]
    fn every_counter_of_the_documents_has_a_place() {
        let documents = include_str!("../../../../docs/reference/statistics.md");
        let rows = documents.lines().filter(|line| line.starts_with("| `") && line.contains("| counter |"));
        let names =
            rows.flat_map(|row| row.split("| counter |").next().unwrap().split('`').skip(1).step_by(2));
        let names: Vec<_> = names.collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(shown(name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_stands_behind_the_first_part_is_labels() {
        let of = |family, labels: &[&str]| Some((family, labels.iter().map(ToString::to_string).collect()));
        assert_eq!(shown("sealed.customer.ssn"), of("sealed", &["customer.ssn"]));
        assert_eq!(shown("refused.0A000"), of("refused", &["0A000"]));
        assert_eq!(shown("plans.denied"), of("plans.denied", &[]));
        assert_eq!(shown("key_uses.pii/acme.aead.7"), of("key_uses", &["pii/acme", "aead", "7"]));
        assert_eq!(shown("key_uses_of_others.aead"), of("key_uses_of_others", &["aead"]));
        assert_eq!(shown("never.heard"), None);
    }
}
