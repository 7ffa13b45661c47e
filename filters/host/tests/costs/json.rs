//! An exchange of JSON.

use std::cell::Cell;

use serde_json::json;

use super::envoy::{Answers, Worker};
use super::{VALUES, agent, config};

/// A worker whose service has a field in requests and responses.
pub struct Service {
    worker: Worker,
    exchanges: Cell<u32>,
}

/// The service.
pub fn start() -> Service {
    fieldveil_host::start_json();
    let field = |place: &str| {
        json!({"in": place, "at": "$.ssn", "label": "customer.ssn", "keyset": "pii", "tenant": "",
            "protection": "deterministic", "type": "text", "read": {"treatment": "reveal"}, "write": "seal"})
    };
    let route = json!({"path": "/customers", "methods": [], "except": [], "graphql": false,
        "fields": [field("request"), field("response")]});
    let plan = json!({"revision": "r", "subject": "app", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": [],
        "service": {"unmatched": "pass", "routes": [route]}});
    let plan = json!({ "result": plan }).to_string().into_bytes();
    let worker =
        Worker::start(5, &config(&json!({"service": "shop"})), Answers { plan, keys: agent::keys() });
    Service { worker, exchanges: Cell::new(0) }
}

impl Service {
    /// A request whose body's field is sealed, and a response with it, which is opened.
    pub fn exchange(&self, path: &str, ends_alone: bool) {
        self.exchanges.set(self.exchanges.get() + 1);
        let value = VALUES[0];
        let body = json!({"id": 7, "name": "Ada", "ssn": value}).to_string();
        let shown = self.worker.exchange(self.exchanges.get(), path, (&body, ends_alone), <[u8]>::to_vec);
        assert!(shown.windows(value.len()).any(|window| window == value.as_bytes()), "not opened");
    }
}
