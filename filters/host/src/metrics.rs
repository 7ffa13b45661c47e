//! Counts and ages as Envoy statistics: `wasmcustom.fieldveil.<outcome>.<label>` and the like.

use std::collections::HashMap;

use fieldveil_engine::ages::{self, Ages, Report};
use fieldveil_engine::worker::Counts;
use proxy_wasm::hostcalls;
use proxy_wasm::types::MetricType;

/// Where the workers share their ages.
const SHARED_AGES: &str = "fieldveil.ages";
/// Tries to write there at once: each fails only where another worker has just written.
const SHARING_TRIES: usize = 3;

/// The metrics defined so far, by name. Names are made of outcomes, labels and keys, so the plan and the engine bound
/// them.
#[derive(Default)]
pub struct Metrics {
    ids: HashMap<String, u32>,
}

impl Metrics {
    /// Adds counts to their counters.
    pub fn add(&mut self, counts: Counts) {
        for (name, count) in counts {
            self.count(name, count);
        }
    }

    /// Adds to a counter, and gives its number.
    pub fn count(&mut self, name: String, count: u64) -> Option<u32> {
        let id = self.id(MetricType::Counter, name)?;
        // A counter that can't be raised is no reason to end a connection.
        let _ = hostcalls::increment_metric(id, i64::try_from(count).unwrap_or(i64::MAX));
        Some(id)
    }

    /// Adds to a gauge that all workers share, or takes from it.
    pub fn adjust(&mut self, name: String, by: i64) {
        if let Some(id) = self.id(MetricType::Gauge, name) {
            let _ = hostcalls::increment_metric(id, by);
        }
    }

    /// Where a counter stands, of all workers.
    pub fn total(counter: u32) -> Option<u64> {
        hostcalls::get_metric(counter).ok()
    }

    /// Tells the other workers this one's ages, and shows the greatest of all.
    pub fn show_ages(&mut self, own: Report) {
        for _ in 0..SHARING_TRIES {
            let Ok((shared, version)) = hostcalls::get_shared_data(SHARED_AGES) else { return };
            let (shared, Ages { keysets, plans }) = ages::merge(&shared.unwrap_or_default(), own);
            if hostcalls::set_shared_data(SHARED_AGES, Some(&shared), version).is_ok() {
                self.gauge("keysets.age_seconds", keysets / 1000);
                self.gauge("plans.age_seconds", plans / 1000);
                return;
            }
        }
    }

    fn gauge(&mut self, name: &str, value: u64) {
        if let Some(id) = self.id(MetricType::Gauge, name.to_owned()) {
            let _ = hostcalls::record_metric(id, value);
        }
    }

    fn id(&mut self, kind: MetricType, name: String) -> Option<u32> {
        if let Some(id) = self.ids.get(&name) {
            return Some(*id);
        }
        let id = hostcalls::define_metric(kind, &format!("fieldveil.{name}")).ok()?;
        self.ids.insert(name, id);
        Some(id)
    }
}
