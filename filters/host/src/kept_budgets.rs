//! Spent budgets among Envoy's shared data, which outlives a worker that traps.

use fieldveil_engine::budgets::kept::{TEXTS, text_of};
use fieldveil_engine::worker::Worker;
use proxy_wasm::hostcalls::{get_shared_data, set_shared_data};

use crate::ports::now_ms;

/// Tries to write there at once: each fails only where another worker has just written.
const SHARING_TRIES: usize = 8;

/// Shares what was spent in a callback, before that puts back what it was spent on. What can not be shared now is the next
/// time.
pub fn keep(worker: &mut Worker) {
    // The guard is dropped before the loop, which locks the budgets again.
    let unshared = worker.budgets().take_unshared();
    for key in unshared {
        let name = name(worker, text_of(&key));
        let is_kept = (0..SHARING_TRIES).any(|_| {
            let Ok((shared, version)) = get_shared_data(&name) else { return false };
            let written = worker.budgets().written(&key, &shared.unwrap_or_default(), now_ms());
            written.is_some_and(|text| set_shared_data(&name, Some(&text), version).is_ok())
        });
        if !is_kept {
            worker.budgets().put_off(key);
        }
    }
}

/// Takes in what was spent before this worker was there: all of it, if the last one has trapped.
pub fn restore(worker: &mut Worker) {
    let now_ms = now_ms();
    for number in 0..TEXTS {
        if let Ok((Some(text), _)) = get_shared_data(&name(worker, number)) {
            worker.budgets().restore(&text, now_ms);
        }
    }
}

/// Where a text is: of one listener's name, for each counts for itself.
fn name(worker: &Worker, number: u64) -> String {
    format!("fieldveil.budgets.{}.{number}", worker.config().listener)
}
