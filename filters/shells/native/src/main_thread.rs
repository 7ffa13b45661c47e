//! Envoy's main thread: asks OPA and the key agent for all workers, renews what is due, and brings Envoy's statistics up to date.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::ports::Level;
use fieldveil_shell::question::{MAX_BODY, Question, response};

use crate::envoy::{Answer, Main, Wake};
use crate::envoy_build;
use crate::key_memory;
use crate::log::{write_audit, write_log};
use crate::main_waker;
use crate::sidecar::{self, Sidecar};
use crate::statistics::Statistics;
use crate::worker::now_ms;

/// How often the main thread looks for what is due.
pub const TICK_MS: u64 = 1000;

/// The main thread's own state.
pub struct MainThread {
    /// The calls that are not answered yet.
    open: HashMap<u64, (Arc<Sidecar>, Fetch)>,
    statistics: Statistics,
}

impl MainThread {
    /// With what calls it.
    pub fn new(waker: Box<dyn Wake>) -> Self {
        main_waker::set(Some(waker));
        Self { open: HashMap::new(), statistics: Statistics::default() }
    }

    /// A second has passed.
    pub fn tick(&mut self, envoy: &dyn Main) {
        let sidecars = sidecar::all();
        for sidecar in &sidecars {
            let due = sidecar.state.due(now_ms());
            self.ask(envoy, sidecar, due);
            sidecar.tick();
            sidecar.state.principals.lines(now_ms()).iter().for_each(|line| write_audit(line));
        }
        key_memory::check();
        self.statistics.publish(envoy, &sidecars, now_ms());
    }

    /// Asks for what connections wait for.
    pub fn woken(&mut self, envoy: &dyn Main) {
        for sidecar in sidecar::all() {
            let wanted = sidecar.take_wanted();
            self.ask(envoy, &sidecar, wanted);
        }
    }

    fn ask(&mut self, envoy: &dyn Main, sidecar: &Arc<Sidecar>, wanted: Vec<Fetch>) {
        for fetch in wanted {
            let sent = {
                let question = Question::of(&sidecar.state.config, &fetch);
                let body = question.body.unwrap_or_default();
                envoy.call(question.cluster, &question.headers(), body, question.timeout_ms)
            };
            match sent {
                Ok(call) => drop(self.open.insert(call, (Arc::clone(sidecar), fetch))),
                Err(reason) => self.take(sidecar, fetch, FetchResponse::Failed(reason)),
            }
        }
    }

    /// A call was answered. Gives whether the answer is to be wiped where Envoy has it: it is the key agent's, and Envoy is the one
    /// whose buffers we know.
    pub fn answered(&mut self, envoy: &dyn Main, call: u64, answer: &Answer<'_>) -> bool {
        let Some((sidecar, fetch)) = self.open.remove(&call) else { return false };
        let is_to_be_wiped = matches!(fetch, Fetch::Keys(_)) && envoy_build::is_tested();
        let body = answer.body.get(..answer.body.len().min(MAX_BODY)).unwrap_or_default();
        self.take(&sidecar, fetch, response(answer.header(":status"), answer.header("etag"), body));
        let due = sidecar.state.due_plans(now_ms());
        self.ask(envoy, &sidecar, due);
        is_to_be_wiped
    }

    /// Takes in what came of a fetch.
    fn take(&mut self, sidecar: &Arc<Sidecar>, fetch: Fetch, response: FetchResponse<'_>) {
        let taken = AssertUnwindSafe(|| sidecar.state.answered(&fetch, response, now_ms()));
        // Whoever waits is told, also of a fault.
        let result = catch_unwind(taken).unwrap_or_else(|_| Err("a fault in the filter".to_owned()));
        let fetched = (fetch, result);
        if !sidecar.hand_out(&fetched)
            && let (fetch, Err(reason)) = fetched
        {
            let part = fetch.part();
            write_log(
                Level::Warn,
                &format!(
                    "{part} could not be renewed: {reason}; what is held stays in use until it is too old"
                ),
            );
            sidecar.state.count("renewals.failed", 1);
        }
    }
}

impl Drop for MainThread {
    fn drop(&mut self) {
        main_waker::set(None);
    }
}
