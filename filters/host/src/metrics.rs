//! Counts as Envoy statistics: `wasmcustom.fieldveil.<outcome>.<label>`.

use std::collections::HashMap;

use fieldveil_engine::worker::Counts;
use proxy_wasm::hostcalls;
use proxy_wasm::types::MetricType;

/// The metrics defined so far, by name. Names are made of outcomes and labels, so the plan bounds them.
#[derive(Default)]
pub struct Metrics {
    ids: HashMap<String, u32>,
}

impl Metrics {
    /// Adds counts to their counters.
    pub fn add(&mut self, counts: Counts) {
        for (name, count) in counts {
            let id = match self.ids.get(&name) {
                Some(id) => *id,
                None => {
                    let Ok(id) = hostcalls::define_metric(MetricType::Counter, &format!("fieldveil.{name}"))
                    else {
                        continue;
                    };
                    self.ids.insert(name, id);
                    id
                }
            };
            // A counter that can't be raised is no reason to end a connection.
            let _ = hostcalls::increment_metric(id, i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
}
