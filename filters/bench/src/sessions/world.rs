//! A worker that has plan and keys, with a clock that stands still.

use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_engine::Random;
use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_engine::worker::Worker;
use serde_json::{Value, json};

use crate::keys::{DEFAULT_AEAD, agents_answer};

/// No plan and no catalog grows old.
const NOW_MS: u64 = 1_000_000;
/// The keyset of all fields.
pub(super) const KEYSET: &str = DEFAULT_AEAD;

/// Ports of a process: a clock that stands still, and nobody who reads a log.
struct Quiet(Box<dyn Random>);

impl Random for Quiet {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

impl Ports for Quiet {
    fn now_ms(&self) -> u64 {
        NOW_MS
    }

    fn log(&self, _level: Level, _line: &str) {}

    fn audit(&self, _line: &str) {}

    fn server_is_private(&self) -> bool {
        true
    }
}

/// A worker and what it is told.
pub(super) struct World {
    pub(super) worker: Rc<RefCell<Worker>>,
    pub(super) ports: Rc<RefCell<dyn Ports>>,
    plan: Vec<u8>,
    keys: Vec<u8>,
}

impl World {
    /// A worker of this protocol, under the plan with these parts.
    pub(super) fn new(protocol: Protocol, plan: Value, random: Box<dyn Random>) -> Result<Self, String> {
        let is_http = matches!(protocol, Protocol::Http);
        let mut config = json!({
            "listener": "bench",
            "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
            "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600},
        });
        if let (true, Some(config)) = (is_http, config.as_object_mut()) {
            config.insert("http".to_owned(), json!({"service": "shop"}));
        }
        let config = Config::from_json(config.to_string().as_bytes(), protocol, &|_| None)
            .map_err(|error| error.to_string())?;
        let worker = if is_http { Worker::new(config) } else { Worker::of_databases(config) };
        Ok(Self {
            worker: Rc::new(RefCell::new(worker)),
            ports: Rc::new(RefCell::new(Quiet(random))),
            plan: json!({ "result": plan }).to_string().into_bytes(),
            keys: agents_answer()?,
        })
    }

    /// The worker gets the answer to this question.
    pub(super) fn answer(&self, fetch: &Fetch) -> Result<(), String> {
        let body = if matches!(fetch, Fetch::Plan(_)) { &self.plan } else { &self.keys };
        self.worker.borrow_mut().answered(fetch, FetchResponse::Body { body, etag: None }, NOW_MS)
    }
}

/// A plan with these fields and what else it has.
pub(super) fn plan(fields: &[Value], service: Option<Value>) -> Value {
    let mut plan = json!({
        "revision": "bench", "subject": "app", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": fields,
    });
    if let (Some(service), Some(plan)) = (service, plan.as_object_mut()) {
        plan.insert("service".to_owned(), service);
    }
    plan
}
