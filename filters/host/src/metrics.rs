//! Counts and ages as Envoy statistics: `wasmcustom.fieldveil.<outcome>.<label>` and the like.

use std::collections::HashMap;

use fieldveil_engine::reports::{self, Ages, Merged, Report};
use fieldveil_engine::worker::Counts;
use proxy_wasm::hostcalls;
use proxy_wasm::types::MetricType;

/// Where the workers share their reports.
const SHARED_REPORTS: &str = "fieldveil.reports";
/// Tries to write there at once: each fails only where another worker has just written.
const SHARING_TRIES: usize = 3;
/// Bytes to which memory in use is told.
const MEMORY_STEP: u64 = 1 << 20;

/// The metrics defined so far, by name. Names are made of outcomes, labels and keys, so the plan and the engine bound
/// them.
#[derive(Default)]
pub struct Metrics {
    ids: HashMap<String, u32>,
    /// What the gauge of memory was last set to: it is set anew when it is another.
    memory: u64,
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

    /// Tells the other workers of this one, and shows the greatest ages and the plans of all.
    pub fn report(&mut self, own: Report<'_>) {
        for _ in 0..SHARING_TRIES {
            let Ok((shared, version)) = hostcalls::get_shared_data(SHARED_REPORTS) else { return };
            let Merged { text, ages: Ages { keysets, plans, memory }, changes } =
                reports::merge(&shared.unwrap_or_default(), own);
            if hostcalls::set_shared_data(SHARED_REPORTS, Some(&text), version).is_err() {
                continue;
            }
            self.gauge("keysets.age_seconds", keysets / 1000);
            self.gauge("plans.age_seconds", plans / 1000);
            let memory = memory.next_multiple_of(MEMORY_STEP);
            if std::mem::replace(&mut self.memory, memory) != memory {
                self.gauge("memory.in_use_bytes", memory);
            }
            // Changed by no other worker: whose text is taken changes the gauges.
            for (name, by) in changes {
                if let Some(id) = self.id(MetricType::Gauge, format!("plans.held.{name}")) {
                    let _ = hostcalls::increment_metric(id, by);
                }
            }
            return;
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
