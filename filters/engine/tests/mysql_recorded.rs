//! Dialogues of real clients with a real MariaDB and a real MySQL, recorded through the sidecar, come out the same when
//! their bytes are cut anywhere.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Answer, Fetch};
use fieldveil_engine::mysql::{Output, Session};
use fieldveil_engine::worker::Worker;
use fieldveil_mysql_wire::packet::peek_packet;
use serde::Deserialize;
use support::{TestPorts, contains};

/// A value that the recorded clients write and search for.
const CANARY: &[u8] = b"078-05-1120";

const CONFIG: &str = r#"{"listener": "orders-mysql",
    "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
    "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600}}"#;

#[derive(Deserialize)]
struct Recorded {
    plan: serde_json::Value,
    keysets: serde_json::Value,
    /// Who sent what, in the order in which it passed.
    events: Vec<(String, String)>,
    to_client: String,
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn recorded() -> Vec<(PathBuf, Recorded)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/mysql-dialogues");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())).collect()
}

/// A session that gets its bytes in chunks, and what came out of it.
struct Replay {
    session: Session,
    worker: Rc<RefCell<Worker>>,
    chunk: usize,
    /// Bytes of the client, held back as the host does while the session waits.
    unread: Vec<u8>,
    fetches: Vec<Fetch>,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    closed: bool,
}

impl Replay {
    fn new(chunk: usize) -> Self {
        let config = Config::from_json(CONFIG.as_bytes(), Protocol::MySql, &|_| None).unwrap();
        let worker = Rc::new(RefCell::new(Worker::of_databases(config)));
        // The server was reached by its Unix socket.
        let ports = TestPorts { now_ms: 1_000_000, server_is_private: true, ..TestPorts::default() };
        let ports = Rc::new(RefCell::new(ports));
        let session = Session::new(Rc::clone(&worker), ports, String::new());
        let (unread, fetches, to_server, to_client) = Default::default();
        Self { session, worker, chunk, unread, fetches, to_server, to_client, closed: false }
    }

    fn take(&mut self, output: Output) {
        self.to_server.extend(output.to_server);
        self.to_client.extend(output.to_client);
        self.fetches.extend(output.fetch);
        self.closed |= output.close;
    }

    fn client(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        while !self.session.is_waiting() {
            let rest = self.unread.split_off(self.unread.len().min(self.chunk));
            let chunk = std::mem::replace(&mut self.unread, rest);
            let output = self.session.client_data(&chunk);
            self.take(output);
            if self.unread.is_empty() {
                return;
            }
        }
    }

    fn server(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(self.chunk.min(bytes.len()).max(1)) {
            let output = self.session.server_data(chunk);
            let resume = output.resume;
            self.take(output);
            if resume {
                self.client(b"");
            }
        }
    }

    fn fetched(&mut self, plan: &str, keysets: &str) {
        while !self.fetches.is_empty() {
            for fetch in std::mem::take(&mut self.fetches) {
                let body = if matches!(fetch, Fetch::Plan(_)) { plan } else { keysets };
                let answer = Answer::Body { body: body.as_bytes(), etag: None };
                let result = self.worker.borrow_mut().answered(&fetch, answer, 1_000_000);
                self.session.answered(&fetch, result);
            }
            self.client(b"");
        }
    }
}

/// Replays the events in chunks of `size` bytes.
fn replay(recorded: &Recorded, size: usize) -> Replay {
    let mut replay = Replay::new(size);
    let (plan, keysets) = (recorded.plan.to_string(), recorded.keysets.to_string());
    for (side, bytes) in &recorded.events {
        match side.as_str() {
            "client" => replay.client(&unhex(bytes)),
            _ => replay.server(&unhex(bytes)),
        }
        replay.fetched(&plan, &keysets);
    }
    replay
}

/// What the client gets, packet by packet; of a refusal only that it is one, for its words have tests of their own.
fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some((header, payload)) = peek_packet(bytes) {
        let refused = payload.first() == Some(&0xff) && contains(payload, b"fieldveil: ");
        packets.push(if refused {
            vec![header.sequence, 0xff]
        } else {
            bytes[..header.total_len()].to_vec()
        });
        bytes = &bytes[header.total_len()..];
    }
    assert!(bytes.is_empty(), "half a packet");
    packets
}

#[test]
fn recorded_dialogues_come_out_the_same_at_every_split() {
    let recorded = recorded();
    assert!(recorded.len() >= 8);
    for (path, dialogue) in recorded {
        let expected = packets(&unhex(&dialogue.to_client));
        let whole = replay(&dialogue, usize::MAX).to_client;
        assert!(packets(&whole) == expected, "{path:?}: the client gets something else");
        for size in (1..64).chain([usize::MAX]) {
            let replay = replay(&dialogue, size);
            assert!(!replay.closed, "{path:?} in chunks of {size}: the connection is ended");
            assert!(
                replay.to_client == whole,
                "{path:?} in chunks of {size}: the client gets something else"
            );
            assert!(
                !contains(&replay.to_server, CANARY),
                "{path:?} in chunks of {size}: a value goes to the server"
            );
        }
    }
}
