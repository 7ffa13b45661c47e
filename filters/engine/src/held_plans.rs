//! How many plans a worker holds, by the bundle that they were made of: for gauges that all workers add to. So it shows
//! whether a new policy has arrived everywhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::field::CompiledPlan;

/// Bundles that have a gauge of their own; the further ones share [`OTHERS`]. Envoy keeps a statistic for ever.
const MAX_NAMES: usize = 256;
const MAX_NAME_LEN: usize = 64;
const OTHERS: &str = "others";
/// Plans of policies that come in no bundle with a revision.
const NONE: &str = "none";

/// Changes of the gauges, by the last part of their names.
#[derive(Default)]
pub struct HeldPlans {
    /// All that were ever used, so that what was added under one is taken away under it.
    names: BTreeSet<String>,
    changes: BTreeMap<String, i64>,
}

impl HeldPlans {
    /// A plan is held from now on.
    pub fn add(&mut self, plan: &CompiledPlan) {
        self.change(plan, 1);
    }

    /// A plan is not held any more.
    pub fn remove(&mut self, plan: &CompiledPlan) {
        self.change(plan, -1);
    }

    /// Hands over what has changed since the last time.
    pub fn take(&mut self) -> Vec<(String, i64)> {
        let changed = std::mem::take(&mut self.changes).into_iter().filter(|(_, change)| *change != 0);
        changed.map(|(name, change)| (format!("plans.held.{name}"), change)).collect()
    }

    fn change(&mut self, plan: &CompiledPlan, by: i64) {
        let mut name = name(&plan.bundle);
        if !self.names.contains(&name) && self.names.len() >= MAX_NAMES {
            OTHERS.clone_into(&mut name);
        } else {
            self.names.insert(name.clone());
        }
        let change = self.changes.entry(name).or_default();
        *change = change.saturating_add(by);
    }
}

/// A bundle's revision as part of a statistic's name, in which a dot parts words.
fn name(bundle: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    match bundle {
        "" => NONE.to_owned(),
        _ => bundle.chars().take(MAX_NAME_LEN).map(allowed).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldveil_plan::Plan;

    use super::*;

    fn plan(bundle: &str) -> CompiledPlan {
        let body = serde_json::json!({"result": {
            "revision": "r", "bundle": bundle, "ttl_seconds": 1, "max_stale_seconds": 1, "fields": [],
        }});
        CompiledPlan::new(Plan::from_json(body.to_string().as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn gauge_goes_from_the_old_bundle_to_the_new_one() {
        let mut held = HeldPlans::default();
        held.add(&plan("2026-11.1"));
        held.add(&plan("2026-11.1"));
        assert_eq!(held.take(), [("plans.held.2026-11_1".to_owned(), 2)]);
        held.add(&plan(""));
        held.remove(&plan("2026-11.1"));
        assert_eq!(held.take(), [("plans.held.2026-11_1".to_owned(), -1), ("plans.held.none".to_owned(), 1)]);
        assert!(held.take().is_empty());
    }

    #[test]
    fn names_are_bounded_and_every_plan_is_taken_from_where_it_was_added() {
        let mut held = HeldPlans::default();
        for number in 0..1000 {
            held.add(&plan(&format!("bundle {number} {}", "x".repeat(1000))));
        }
        let added = held.take();
        assert_eq!((added.len(), added.iter().map(|(_, by)| by).sum::<i64>()), (MAX_NAMES + 1, 1000));
        assert!(added.iter().all(|(name, _)| name.len() <= MAX_NAME_LEN + "plans.held.".len()));
        for number in 0..1000 {
            held.remove(&plan(&format!("bundle {number} {}", "x".repeat(1000))));
        }
        let removed: Vec<_> = held.take().into_iter().map(|(name, by)| (name, -by)).collect();
        assert_eq!(removed, added);
    }
}
