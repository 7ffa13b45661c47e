//! Counts as Envoy statistics: `wasmcustom.fieldveil.<outcome>.<label>` and the like.

use std::collections::HashMap;

use fieldveil_engine::worker::Counts;
use proxy_wasm::hostcalls;
use proxy_wasm::types::MetricType;

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

    /// Where a counter stands, of all workers.
    pub fn total(counter: u32) -> Option<u64> {
        hostcalls::get_metric(counter).ok()
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
