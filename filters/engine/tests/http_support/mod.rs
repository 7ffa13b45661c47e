//! An exchange between a scripted client and a scripted service, with a fixed clock and a counter for randomness, and a
//! host that keeps to the contract of `ExchangeOutput` strictly.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

#[path = "../support/agent.rs"]
mod agent;
#[path = "../support/ports.rs"]
mod ports;
mod way;

use std::cell::RefCell;
use std::rc::Rc;

pub use agent::*;
use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::http::{Exchange, ExchangeOutput, Flow, Head, Peer, Reply};
use fieldveil_engine::worker::Worker;
pub use ports::*;
use serde_json::{Value, json};
pub use way::Way;

pub const CANARY: &str = "078-05-1120";
pub const JSON: (&str, &str) = ("content-type", "application/json");

/// A field of a route: a deterministic text under this label, revealed and written.
pub fn field(place: &str, at: &str, label: &str) -> Value {
    json!({"in": place, "at": at, "label": label, "keyset": "pii", "tenant": "", "protection": "deterministic",
        "type": "text", "read": {"treatment": "reveal"}, "write": "seal"})
}

/// The field with another value for one of its attributes.
pub fn with(mut field: Value, name: &str, value: Value) -> Value {
    field[name] = value;
    field
}

/// A route of all methods.
pub fn route(path: &str, fields: &[Value]) -> Value {
    json!({"path": path, "methods": [], "except": [], "graphql": false, "fields": fields})
}

/// OPA's answer for a service of these routes.
pub fn plan(routes: &[Value]) -> Value {
    json!({"revision": json!(routes).to_string(), "subject": "app", "ttl_seconds": 30, "max_stale_seconds": 300,
        "fields": [], "service": {"unmatched": "pass", "routes": routes}})
}

/// `$.ssn` of requests and responses of `/customers`.
pub fn customers() -> Value {
    plan(&[route(
        "/customers",
        &[field("request", "$.ssn", "customer.ssn"), field("response", "$.ssn", "customer.ssn")],
    )])
}

/// A worker, and what OPA and the key agent answer it.
pub struct Sidecar {
    pub worker: Rc<RefCell<Worker>>,
    pub ports: Rc<RefCell<TestPorts>>,
    pub plan: Result<Value, String>,
    pub keys: Result<Vec<u8>, String>,
}

pub fn config(http: Value) -> Value {
    json!({"listener": "l", "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
        "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600},
        "http": http})
}

impl Sidecar {
    pub fn under(plan: Value) -> Self {
        Self::configured(plan, json!({"service": "shop"}))
    }

    pub fn configured(plan: Value, http: Value) -> Self {
        Self::with_config(plan, &config(http))
    }

    pub fn with_config(plan: Value, config: &Value) -> Self {
        let config = Config::from_json(config.to_string().as_bytes(), Protocol::Http, &|_| None).unwrap();
        let ports = Rc::new(RefCell::new(TestPorts { now_ms: 1_000_000, ..TestPorts::default() }));
        Self { worker: Rc::new(RefCell::new(Worker::new(config))), ports, plan: Ok(plan), keys: Ok(keys()) }
    }

    pub fn exchange(&self) -> Dialogue<'_> {
        Dialogue {
            exchange: Exchange::new(Rc::clone(&self.worker), self.ports.clone()),
            sidecar: self,
            peer: Peer { source: "10.0.0.7".into(), claims: serde_json::Map::new() },
            chunk: usize::MAX,
            upstream: Way::default(),
            client: Way::default(),
            fetches: Vec::new(),
            asked: Vec::new(),
            answers: true,
            ended_in_wait: false,
            reply: None,
            reset: false,
        }
    }

    /// What the service gets of this request's body, which must be let through.
    pub fn stored(&self, method: &str, path: &str, body: &str) -> String {
        let mut exchange = self.exchange();
        exchange.request(method, path, &[JSON], body.as_bytes());
        exchange.upstream.text()
    }

    /// What the client gets of this response to a GET, which must be let through.
    pub fn shown(&self, path: &str, body: &str) -> String {
        let mut exchange = self.exchange();
        exchange.request("GET", path, &[], b"");
        exchange.respond(200, &[JSON], body.as_bytes());
        assert_eq!(exchange.reply(), None);
        exchange.client.text()
    }

    /// The question for the plan of the principal of all these exchanges.
    pub fn exchange_asking(&self) -> Fetch {
        let mut other = Self::under(customers());
        other.plan = Err(String::new());
        let mut exchange = other.exchange();
        exchange.request("GET", "/", &[], b"");
        exchange.asked[0].clone()
    }

    pub fn log(&self) -> String {
        self.ports.borrow().lines.borrow().join("\n")
    }

    pub fn now(&self) -> u64 {
        self.ports.borrow().now_ms
    }

    pub fn pass(&self, ms: u64) {
        self.ports.borrow_mut().now_ms += ms;
    }

    pub fn count(&self, name: &str) -> u64 {
        self.worker.borrow_mut().take_counts().get(name).copied().unwrap_or_default()
    }
}

pub struct Dialogue<'a> {
    pub exchange: Exchange,
    pub sidecar: &'a Sidecar,
    pub peer: Peer,
    /// How many bytes a callback brings at most.
    pub chunk: usize,
    pub upstream: Way,
    pub client: Way,
    /// Not answered yet.
    pub fetches: Vec<Fetch>,
    /// All that were asked.
    pub asked: Vec<Fetch>,
    /// Whether OPA and the key agent answer at once.
    pub answers: bool,
    ended_in_wait: bool,
    pub reply: Option<Reply>,
    pub reset: bool,
}

pub fn head(pseudo: &[(&str, &str)], headers: &[(&str, &str)]) -> Head {
    Head(pseudo.iter().chain(headers).map(|(n, v)| ((*n).to_owned(), v.as_bytes().to_vec())).collect())
}

impl Dialogue<'_> {
    /// A whole request; with a body it has a Content-Length.
    pub fn request(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let length = body.len().to_string();
        let length = [("content-length", length.as_str())];
        let mut headers = headers.to_vec();
        headers.extend(length.iter().filter(|_| !body.is_empty()));
        self.request_head(method, path, &headers, body.is_empty());
        if !body.is_empty() {
            self.request_body(body, true);
        }
    }

    pub fn request_head(&mut self, method: &str, path: &str, headers: &[(&str, &str)], ends: bool) {
        let pseudo = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "shop")];
        self.request_with(head(&pseudo, headers), ends);
    }

    pub fn request_with(&mut self, head: Head, ends: bool) {
        self.upstream.pending = Some(head.clone());
        let output = self.exchange.request_head(head, self.peer.clone(), ends);
        self.upstream.has_ended = false;
        self.of_request(output, b"", ends);
    }

    /// In chunks, as HTTP/1.1 brings them: the end of the stream comes alone.
    pub fn request_body(&mut self, body: &[u8], ends: bool) {
        for chunk in body.chunks(self.chunk.min(body.len()).max(1)) {
            if self.is_over() {
                return;
            }
            let output = self.exchange.request_body(chunk, false);
            self.of_request(output, chunk, false);
        }
        if ends && !self.is_over() {
            let output = self.exchange.request_body(b"", true);
            self.of_request(output, b"", true);
        }
    }

    pub fn request_trailers(&mut self) {
        self.request_trailers_with("x-checked");
    }

    pub fn request_trailers_with(&mut self, name: &str) {
        let output = self.exchange.request_trailers(head(&[], &[(name, "yes")]));
        self.upstream.has_trailers = true;
        self.of_request(output, b"", true);
    }

    fn of_request(&mut self, output: ExchangeOutput, given: &[u8], ends: bool) {
        self.ended_in_wait = output.flow == Flow::Wait && (ends || self.ended_in_wait);
        let Some(output) = self.take(output) else { return };
        self.upstream.take(output, given, ends);
        if self.answers {
            self.answer();
        }
    }

    /// A whole response; with a body it has a Content-Length.
    pub fn respond(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        let length = body.len().to_string();
        let length = [("content-length", length.as_str())];
        let mut headers = headers.to_vec();
        headers.extend(length.iter().filter(|_| !body.is_empty()));
        self.response_head(status, &headers, body.is_empty());
        if !body.is_empty() {
            self.response_body(body, true);
        }
    }

    pub fn response_head(&mut self, status: u16, headers: &[(&str, &str)], ends: bool) {
        let status = status.to_string();
        let head = head(&[(":status", &status)], headers);
        self.client.pending = Some(head.clone());
        let output = self.exchange.response_head(head, true, ends);
        self.of_response(output, b"", ends);
    }

    pub fn response_body(&mut self, body: &[u8], ends: bool) {
        for chunk in body.chunks(self.chunk.min(body.len()).max(1)) {
            if self.is_over() {
                return;
            }
            let output = self.exchange.response_body(chunk, false);
            self.of_response(output, chunk, false);
        }
        if ends && !self.is_over() {
            let output = self.exchange.response_body(b"", true);
            self.of_response(output, b"", true);
        }
    }

    pub fn response_trailers(&mut self) {
        let output = self.exchange.response_trailers();
        self.client.has_trailers = true;
        self.of_response(output, b"", true);
    }

    fn of_response(&mut self, output: ExchangeOutput, given: &[u8], ends: bool) {
        assert!(output.fetch.is_empty(), "towards the client nothing can be waited for");
        let Some(output) = self.take(output) else { return };
        self.client.take(output, given, ends);
    }

    fn take(&mut self, mut output: ExchangeOutput) -> Option<ExchangeOutput> {
        assert!(!self.is_over(), "nothing is called after the end");
        self.asked.extend(output.fetch.iter().cloned());
        self.fetches.append(&mut output.fetch);
        self.reset = output.reset;
        self.reply = output.reply.take();
        if self.reply.is_some() {
            assert!(self.client.head.is_none(), "the client has a head already");
        }
        (!self.is_over()).then_some(output)
    }

    pub fn is_over(&self) -> bool {
        self.reply.is_some() || self.reset
    }

    /// Has answered what this output of a request's head asks for.
    pub fn take_fetches(&mut self, output: ExchangeOutput) {
        self.upstream.pending = Some(Head::default());
        self.of_request(output, b"", true);
    }

    /// OPA and the key agent answer what was asked.
    pub fn answer(&mut self) {
        for fetch in std::mem::take(&mut self.fetches) {
            let answered = match fetch {
                Fetch::Plan(_) => {
                    let plan = self.sidecar.plan.as_ref().map_err(Clone::clone);
                    plan.map(|plan| json!({ "result": plan }).to_string().into_bytes())
                }
                Fetch::Keys(_) => self.sidecar.keys.clone(),
            };
            let answer = match &answered {
                Ok(body) => FetchResponse::Body { body, etag: None },
                Err(reason) => FetchResponse::Failed(reason.clone()),
            };
            let now_ms = self.sidecar.now();
            let result = self.sidecar.worker.borrow_mut().answered(&fetch, answer, now_ms);
            if self.is_over() {
                continue;
            }
            let output = self.exchange.answered(&fetch, result);
            let ends = self.ended_in_wait;
            self.of_request(output, b"", ends);
        }
    }

    /// The problem that was answered: status and document.
    pub fn reply(&self) -> Option<(u16, Value)> {
        let reply = self.reply.as_ref()?;
        let header =
            |name| reply.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(header("content-type"), Some("application/problem+json"));
        assert_eq!(header("cache-control"), Some("no-store"));
        let problem: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(problem["status"], reply.status);
        for member in ["type", "title", "detail", "reason", "remedy"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {problem}");
        }
        Some((reply.status, problem))
    }

    /// The status that was answered, with nothing of the request at the service.
    pub fn refused(&self) -> u16 {
        assert!(self.upstream.head.is_none() && self.upstream.body.is_empty(), "something was forwarded");
        self.reply().expect("it was not refused").0
    }
}
