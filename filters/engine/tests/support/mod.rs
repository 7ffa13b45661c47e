//! A session between a scripted client and a scripted server, with a fixed clock and a counter for randomness.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

mod agent;
pub mod end_users;
pub mod http;
pub mod keys;
mod ports;
mod wire;

pub use agent::*;
pub use ports::*;
pub use wire::*;

use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Answer, Fetch};
use fieldveil_engine::postgres::{Output, Session};
use fieldveil_engine::worker::Worker;
use serde_json::json;

/// A question of the filter's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Identity,
    Catalog,
}

/// A session and all that came out of it.
pub struct Dialogue {
    pub session: Session,
    pub worker: Rc<RefCell<Worker>>,
    pub ports: Rc<RefCell<TestPorts>>,
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    pub fetches: Vec<Fetch>,
    pub closed: bool,
    /// How many bytes a callback brings at most.
    pub chunk: usize,
    /// The transaction status that the server has.
    pub status: u8,
    /// What the server says to who the session is for: role, word, purpose, application_name.
    pub identity: [String; 4],
    /// What the filter asked the server and got no answer to.
    asked: Vec<Asked>,
    unread: Vec<u8>,
}

pub fn field(
    column: &str,
    protection: &str,
    type_name: &str,
    read: serde_json::Value,
    write: &str,
) -> serde_json::Value {
    json!({"relation": "public.customer", "column": column, "label": format!("customer.{column}"), "keyset": "pii",
        "tenant": "", "protection": protection, "type": type_name, "read": read, "write": write})
}

/// `ssn` deterministic and `notes` randomized, both revealed and written.
pub fn revealing() -> Vec<serde_json::Value> {
    vec![
        field("ssn", "deterministic", "text", json!({"treatment": "reveal"}), "seal"),
        field("notes", "randomized", "text", json!({"treatment": "reveal"}), "seal"),
    ]
}

pub fn plan(fields: &[serde_json::Value]) -> Vec<u8> {
    let result = json!({"revision": format!("{fields:?}"), "subject": "app", "ttl_seconds": 30, "max_stale_seconds": 300,
        "fields": fields});
    json!({ "result": result }).to_string().into_bytes()
}

/// The catalog's rows for `public.customer (id, name, ssn, notes)`.
pub fn catalog_rows() -> Vec<Vec<Option<Vec<u8>>>> {
    ["id:20", "name:25", "ssn:25", "notes:25"]
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let (name, oid) = column.split_once(':').unwrap();
            let number = (index + 1).to_string();
            let column = ["16400", "public", "customer", "r", "t", &number, name, oid, "f", ""];
            let origin = ["public", "customer", "t", "-1", "", "f"];
            column.iter().chain(&origin).map(|v| Some(v.as_bytes().to_vec())).collect()
        })
        .collect()
}

impl Dialogue {
    /// A connection of which nothing was heard yet.
    pub fn new() -> Self {
        Self::of_workload("{}")
    }

    /// The same where the configuration says this of the workload.
    pub fn of_workload(workload: &str) -> Self {
        let config = r#""policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
            "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600}"#;
        let config = format!(r#"{{"listener": "l", "workload": {workload}, {config}}}"#);
        let worker = Rc::new(RefCell::new(Worker::of_databases(
            Config::from_json(config.as_bytes(), Protocol::Postgres, &|_| None).unwrap(),
        )));
        let ports = Rc::new(RefCell::new(TestPorts { now_ms: 1_000_000, ..TestPorts::default() }));
        let session = Session::new(Rc::clone(&worker), ports.clone(), "127.0.0.1".into());
        Self {
            session,
            worker,
            ports,
            to_server: vec![],
            to_client: vec![],
            fetches: vec![],
            closed: false,
            chunk: usize::MAX,
            status: b'I',
            identity: ["app", "", "", ""].map(str::to_owned),
            asked: vec![],
            unread: vec![],
        }
    }

    /// Another connection of the same worker.
    pub fn beside(&self) -> Self {
        let mut other = Self::new();
        other.worker = Rc::clone(&self.worker);
        other.session = Session::new(Rc::clone(&self.worker), self.ports.clone(), "127.0.0.1".into());
        other.ports = Rc::clone(&self.ports);
        other
    }

    /// A session that is up under a plan with these fields.
    pub fn ready(fields: &[serde_json::Value]) -> Self {
        Self::ready_in_chunks(fields, usize::MAX)
    }

    pub fn ready_in_chunks(fields: &[serde_json::Value], chunk: usize) -> Self {
        let mut dialogue = Self::new();
        dialogue.chunk = chunk;
        dialogue.client(&startup("app"));
        dialogue.answer_fetches(Ok(&plan(fields)), Ok(&keys()));
        assert!(!dialogue.session.is_waiting());
        dialogue.server(&message(b'R', &[0, 0, 0, 0]));
        dialogue.server(&message(b'S', b"client_encoding\0UTF8\0"));
        dialogue.server(&ready(b'I'));
        dialogue.to_server.clear();
        dialogue.to_client.clear();
        dialogue
    }

    /// As [`Self::ready`], with the catalog read.
    pub fn with_catalog(fields: &[serde_json::Value]) -> Self {
        Self::with_catalog_in_chunks(fields, usize::MAX)
    }

    pub fn with_catalog_in_chunks(fields: &[serde_json::Value], chunk: usize) -> Self {
        let mut dialogue = Self::ready_in_chunks(fields, chunk);
        dialogue.client(&query("SELECT 1"));
        dialogue.answer_catalog();
        dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
        dialogue.to_server.clear();
        dialogue.to_client.clear();
        dialogue
    }

    /// The server's answer to what the filter asks, the catalog or who the session is for.
    pub fn answer_catalog(&mut self) {
        self.answer_catalog_with(catalog_rows());
    }

    /// What the filter asks that is not answered yet.
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    pub fn answer_catalog_with(&mut self, rows: Vec<Vec<Option<Vec<u8>>>>) {
        assert!(self.session.is_waiting(), "no catalog is asked for");
        let answer = [self.answer_with(rows), ready(self.status)].concat();
        self.server(&answer);
    }

    /// The answer without its ReadyForQuery.
    pub fn answer_with(&mut self, catalog: Vec<Vec<Option<Vec<u8>>>>) -> Vec<u8> {
        let mut answer = Vec::new();
        for asked in std::mem::take(&mut self.asked) {
            let identity = || vec![self.identity.iter().map(|v| Some(v.as_bytes().to_vec())).collect()];
            let rows = if asked == Asked::Identity { identity() } else { catalog.clone() };
            answer.extend([message(b'1', b""), message(b'2', b"")].concat());
            rows.iter().for_each(|row| answer.extend(data_row(row)));
            answer.extend([complete("SELECT 4"), message(b'3', b""), message(b'3', b"")].concat());
        }
        answer
    }

    pub fn answer_fetches(&mut self, plan: Result<&[u8], &str>, keys: Result<&[u8], &str>) {
        for fetch in std::mem::take(&mut self.fetches) {
            let answer = match if matches!(fetch, Fetch::Plan(_)) { plan } else { keys } {
                Ok(body) => Answer::Body { body, etag: None },
                Err(reason) => Answer::Failed(reason.to_owned()),
            };
            let now_ms = self.ports.borrow().now_ms;
            let result = self.worker.borrow_mut().answered(&fetch, answer, now_ms);
            self.session.answered(&fetch, result);
        }
        self.client(b"");
    }

    /// The worker's own renewal brought these keysets.
    pub fn give_keys(&mut self, keys: &[u8]) {
        let now_ms = self.ports.borrow().now_ms;
        let answer = Answer::Body { body: keys, etag: None };
        let fetch = self.worker.borrow_mut().fetch_keys(now_ms);
        self.worker.borrow_mut().answered(&fetch, answer, now_ms).unwrap();
    }

    fn take(&mut self, output: Output) {
        for (part, asked) in
            [("SELECT current_user::", Asked::Identity), ("WITH RECURSIVE named", Asked::Catalog)]
        {
            if contains(&output.to_server, part.as_bytes()) {
                self.asked.push(asked);
            }
        }
        self.to_server.extend(output.to_server);
        self.to_client.extend(output.to_client);
        self.fetches.extend(output.fetch);
        self.closed |= output.close;
    }

    /// Bytes from the client, held back as the host does while the session waits.
    pub fn client(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        loop {
            if self.session.is_waiting() {
                return;
            }
            let rest = self.unread.split_off(self.unread.len().min(self.chunk));
            let chunk = std::mem::replace(&mut self.unread, rest);
            let output = self.session.client_data(&chunk);
            self.take(output);
            if self.unread.is_empty() {
                return;
            }
        }
    }

    /// Bytes from the server.
    pub fn server(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(self.chunk.min(bytes.len()).max(1)) {
            let output = self.session.server_data(chunk);
            let resume = output.resume;
            self.take(output);
            if resume {
                self.client(b"");
            }
        }
    }

    pub fn take_to_server(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.to_server)
    }

    pub fn take_to_client(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.to_client)
    }
}
