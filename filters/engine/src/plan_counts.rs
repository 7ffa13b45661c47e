//! How many plans a worker holds, by the bundle that they were made of: for gauges of all workers. So it shows
//! whether a new policy has arrived everywhere.

use std::collections::BTreeSet;

use crate::compiled_plan::CompiledPlan;
use crate::reports::{Held, MAX_NAME_LEN, MAX_NAMES};

/// The gauge of the bundles past [`MAX_NAMES`].
const OTHERS: &str = "others";
/// Plans of policies that come in no bundle with a revision.
const NONE: &str = "none";

/// The plans that are held, by the last part of their gauges' names.
#[derive(Default)]
pub struct PlanCounts {
    /// All that were ever used, so that what was added under one is taken away under it.
    names: BTreeSet<String>,
    held: Held,
}

impl PlanCounts {
    /// A plan is held from now on.
    pub fn add(&mut self, plan: &CompiledPlan) {
        let name = self.name(plan);
        let count = self.held.entry(name).or_default();
        *count = count.saturating_add(1);
    }

    /// A plan is not held any more.
    pub fn remove(&mut self, plan: &CompiledPlan) {
        let name = self.name(plan);
        if let Some(count) = self.held.get_mut(&name) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.held.remove(&name);
            }
        }
    }

    /// The counts that are not zero.
    pub fn all(&self) -> &Held {
        &self.held
    }

    fn name(&mut self, plan: &CompiledPlan) -> String {
        let name = name(&plan.bundle);
        if !self.names.contains(&name) && self.names.len() >= MAX_NAMES {
            return OTHERS.to_owned();
        }
        self.names.insert(name.clone());
        name
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
        let mut held = PlanCounts::default();
        held.add(&plan("2026-11.1"));
        held.add(&plan("2026-11.1"));
        assert_eq!(*held.all(), Held::from([("2026-11_1".to_owned(), 2)]));
        held.add(&plan(""));
        held.remove(&plan("2026-11.1"));
        assert_eq!(*held.all(), Held::from([("2026-11_1".to_owned(), 1), ("none".to_owned(), 1)]));
        held.remove(&plan("2026-11.1"));
        assert_eq!(*held.all(), Held::from([("none".to_owned(), 1)]));
    }

    #[test]
    fn names_are_bounded_and_every_plan_is_taken_from_where_it_was_added() {
        let mut held = PlanCounts::default();
        for number in 0..1000 {
            held.add(&plan(&format!("bundle {number} {}", "x".repeat(1000))));
        }
        let added = held.all();
        assert_eq!((added.len(), added.values().sum::<u32>()), (MAX_NAMES + 1, 1000));
        assert!(added.keys().all(|name| name.len() <= MAX_NAME_LEN));
        for number in 0..1000 {
            held.remove(&plan(&format!("bundle {number} {}", "x".repeat(1000))));
        }
        assert!(held.all().is_empty());
    }
}
