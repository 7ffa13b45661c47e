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
mod both;
pub mod end_users;
pub mod http;
pub mod keys;
mod ports;
mod wire;

pub use agent::*;
pub use both::*;
pub use ports::*;
pub use wire::*;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{Deref, DerefMut};

use fieldveil_engine::config::Protocol;
pub use fieldveil_engine::database::Connection;
use fieldveil_engine::postgres::PostgresConnection;
use serde_json::json;

/// A session of PostgreSQL and all that came out of it.
pub struct Dialogue {
    both: Both<PostgresConnection>,
    /// The transaction status that the server has.
    pub status: u8,
    /// What the server says to who the session is for: role, word, purpose, application_name.
    pub identity: [String; 4],
}

impl Deref for Dialogue {
    type Target = Both<PostgresConnection>;

    fn deref(&self) -> &Both<PostgresConnection> {
        &self.both
    }
}

impl DerefMut for Dialogue {
    fn deref_mut(&mut self) -> &mut Both<PostgresConnection> {
        &mut self.both
    }
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

/// What the server calls each function.
pub const FUNCTION: &[u8] = b"query_to_xml(text,boolean,boolean,text)";

/// The answer to the question for the catalog, which also says who the session is for.
fn with_identity(
    identity: &[Option<Vec<u8>>],
    catalog: &[Vec<Option<Vec<u8>>>],
    in_digits: bool,
) -> Vec<Vec<Option<Vec<u8>>>> {
    let text = |text: Vec<u8>| if in_digits { digits(&text) } else { text };
    let numbers: BTreeSet<String> = catalog
        .iter()
        .filter_map(|row| Some(String::from_utf8_lossy(row[0].as_ref()?).into_owned()))
        .collect();
    let relations = format!("{{{}}}", Vec::from_iter(numbers).join(","));
    let mut digest = vec![None, Some(text(relations.into_bytes())), Some(text(sum(catalog)))];
    digest.resize(16, None);
    std::iter::once(&digest).chain(catalog).map(|row| [identity, row].concat()).collect()
}

/// A text in hexadecimal digits.
pub fn digits(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// What stands for the server's digest of these rows.
fn sum(catalog: &[Vec<Option<Vec<u8>>>]) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    catalog.hash(&mut hasher);
    format!("{:064x}", hasher.finish()).into_bytes()
}

impl Dialogue {
    /// A connection of which nothing was heard yet.
    pub fn new() -> Self {
        Self::of_workload("{}")
    }

    /// The same where the configuration says this of the workload.
    pub fn of_workload(workload: &str) -> Self {
        Self::of(Both::new(Protocol::Postgres, workload, usize::MAX))
    }

    fn of(both: Both<PostgresConnection>) -> Self {
        Self { both, status: b'I', identity: ["app", "", "", ""].map(str::to_owned) }
    }

    /// Another connection of the same worker.
    pub fn beside(&self) -> Self {
        Self::of(self.both.beside())
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
        &self.both.asked
    }

    /// The answers of a server with these rows: where they are not those of the digest, the filter asks again.
    pub fn answer_catalog_with(&mut self, rows: Vec<Vec<Option<Vec<u8>>>>) {
        assert!(self.session.is_waiting(), "no catalog is asked for");
        let mut asks = true;
        while asks {
            let answer = [self.answer_with(rows.clone()), ready(self.status)].concat();
            self.server(&answer);
            asks = !self.asked().is_empty();
        }
    }

    /// The answer without its ReadyForQuery.
    pub fn answer_with(&mut self, catalog: Vec<Vec<Option<Vec<u8>>>>) -> Vec<u8> {
        let mut answer = Vec::new();
        for asked in std::mem::take(&mut self.both.asked) {
            let identity = Vec::from_iter(self.identity.iter().map(|v| Some(v.as_bytes().to_vec())));
            let rows = match asked {
                Asked::Identity => vec![identity],
                Asked::Catalog => with_identity(&identity, &catalog, self.in_digits),
                Asked::Digest => vec![[identity, vec![Some(sum(&catalog))]].concat()],
                Asked::Function => vec![vec![Some(FUNCTION.to_vec())]],
            };
            answer.extend([message(b'1', b""), message(b'2', b"")].concat());
            rows.iter().for_each(|row| answer.extend(data_row(row)));
            answer.extend([complete("SELECT 4"), message(b'3', b""), message(b'3', b"")].concat());
        }
        answer
    }
}
