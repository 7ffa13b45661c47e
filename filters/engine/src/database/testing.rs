//! The core of a session for unit tests of the session's parts, without a host.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_config::{Config, Protocol};
use fieldveil_plan::Plan;
use fieldveil_sql::identity;
use fieldveil_tink::Random;
use serde_json::json;

use super::{CheckedText, Client, Core};
use crate::compiled_plan::CompiledPlan;
use crate::ports::{Level, Ports};
use crate::server_catalog::CatalogReading;
use crate::worker::Worker;

/// A clock that stands still, and a counter in the place of randomness.
#[derive(Default)]
struct FixedPorts(u8);

impl Random for FixedPorts {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 = self.0.wrapping_add(1);
        bytes.fill(self.0);
    }
}

impl Ports for FixedPorts {
    fn now_ms(&self) -> u64 {
        0
    }

    fn log(&self, _: Level, _: &str) {}

    fn audit(&self, _: &str) {}

    fn server_is_private(&self) -> bool {
        false
    }
}

impl Core {
    /// Makes the core of a session of which everything is known, under a plan that protects one column.
    pub fn settled() -> Self {
        let source = json!({"cluster": "c", "path": "/p", "timeout_ms": 1});
        let keys = json!({"cluster": "c", "path": "/p", "timeout_ms": 1, "max_stale_seconds": 1});
        let config = json!({"listener": "l", "policy": source, "keys": keys}).to_string();
        let config = Config::from_json(config.as_bytes(), Protocol::Postgres, &|_| None).unwrap();
        let field = json!({"relation": "public.customer", "column": "ssn", "label": "customer.ssn", "keyset": "pii",
            "tenant": "", "protection": "deterministic", "type": "text", "read": {"treatment": "reveal"}, "write": "seal"});
        let plan = json!({"revision": "r", "subject": "app", "ttl_seconds": 30, "fields": [field]});
        let plan = Plan::from_json(json!({ "result": plan }).to_string().as_bytes()).unwrap();
        let worker = Rc::new(RefCell::new(Worker::new(config)));
        let mut core = Self::new(worker, Rc::new(RefCell::new(FixedPorts::default())), Client::default());
        core.policy.plan = Some(Arc::new(CompiledPlan::new(plan).unwrap()));
        core.settle();
        core
    }

    /// Takes it that the server has told the catalog and the identity.
    pub fn settle(&mut self) {
        self.catalog.reading = Some(CatalogReading::new(fieldveil_sql::Dialect::Postgres));
        self.catalog_read().unwrap();
        let session = self.policy.input.session.clone();
        self.identity_read("", session, "fieldveil.purpose").unwrap();
    }

    /// Whether the catalog and the identity need not be asked for.
    pub fn knows(&self) -> (bool, bool) {
        (self.catalog.current.is_some(), self.identity.is_settled())
    }

    /// Checks a text of PostgreSQL that concerns nothing protected.
    pub fn checked(&self, text: &str) -> Rc<CheckedText> {
        let analysis = fieldveil_sql::analyze(text, &fieldveil_sql::Catalog::default()).unwrap();
        let plan = self.policy.plan.as_ref().unwrap();
        Rc::new(CheckedText::untouched(plan, Rc::new(analysis), identity::mentions(text.as_bytes())))
    }
}
