//! One whole connection: whatever both sides send, however it is cut.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use fieldveil_engine::Random;
use fieldveil_engine::audit::Ended;
use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Answer, Fetch};
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_engine::postgres::{Output, Session};
use fieldveil_engine::worker::Worker;
use serde_json::{Value, json};

const FROZEN: &str = include_str!("../../envelope/testdata/v1.json");
const CONFIG: &[u8] = br#"{"listener": "l", "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
    "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10,
    "max_stale_seconds": 600}}"#;
const STARTUP: &[u8] = b"\0\0\0\x20\0\x03\0\0user\0app\0database\0shop\0\0";
const AUTHENTICATED: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x19client_encoding\0UTF8\0Z\0\0\0\x05I";

/// Messages that fuzzing would be long in finding.
const CATALOG_ASKED: u8 = 0;
const FETCHES_ANSWERED: u8 = 1;
const FETCHES_FAILED: u8 = 2;
const READY: u8 = 3;

static PLAN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let field = |column: &str, protection: &str, read: Value| {
        json!({"relation": "public.customer", "column": column, "label": format!("customer.{column}"),
            "keyset": "pii", "tenant": "", "protection": protection, "type": "text", "read": read, "write": "seal"})
    };
    let budget = json!({"rows": 1, "per_seconds": 60, "then": {"treatment": "null"}});
    let fields = [
        field("ssn", "deterministic", json!({"treatment": "reveal", "budget": budget})),
        field("notes", "randomized", json!({"treatment": "mask", "format": "last4"})),
    ];
    let result = json!({"revision": "1", "subject": "user:app", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": fields});
    json!({ "result": result }).to_string().into_bytes()
});

pub(crate) static KEYS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let frozen: Value = serde_json::from_str(FROZEN).expect("the frozen keysets are JSON");
    let keysets = &frozen["keysets"];
    let pii = json!({"aead": keysets["aes256-gcm"], "deterministic": keysets["aes-siv"]});
    json!({"revision": "1", "keysets": {"pii": pii}}).to_string().into_bytes()
});

/// The first byte says whether the connection is up already. Then come steps: one byte whose high bit is the side
/// (client, server), the others the length of what it sends; a length of 0 to the server's side is followed by one
/// more byte, a message that stands for more.
pub(crate) fn session(bytes: &[u8]) {
    let Some((start, mut script)) = bytes.split_first() else { return };
    let mut connection = Connection::new();
    if start % 2 == 1 {
        connection.start();
    }
    while let Some((step, rest)) = script.split_first() {
        let length = usize::from(step & 0x7f).min(rest.len());
        let (part, after) = rest.split_at(length);
        script = after;
        match (step & 0x80 != 0, length) {
            (false, _) => connection.client(part),
            (true, 0) => {
                let Some((message, after)) = script.split_first() else { return };
                script = after;
                connection.whole_answer(*message);
            }
            (true, _) => connection.server(part),
        }
        if connection.closed {
            return;
        }
    }
    connection.session.end(Ended::Proxy);
}

#[derive(Default)]
pub(crate) struct FixedPorts(u8);

impl Random for FixedPorts {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0;
        }
    }
}

impl Ports for FixedPorts {
    fn now_ms(&self) -> u64 {
        1_000_000
    }

    fn log(&self, _level: Level, line: &str) {
        assert!(!line.is_empty());
    }

    fn audit(&self, line: &str) {
        assert!(!line.is_empty());
    }

    fn server_is_private(&self) -> bool {
        false
    }
}

struct Connection {
    session: Session,
    worker: Rc<RefCell<Worker>>,
    fetches: Vec<Fetch>,
    /// What the client sent while the session waited: the host holds it back.
    unread: Vec<u8>,
    closed: bool,
}

impl Connection {
    fn new() -> Self {
        let config =
            Config::from_json(CONFIG, Protocol::Postgres, &|_| None).expect("the configuration is one");
        let worker = Rc::new(RefCell::new(Worker::of_databases(config)));
        let ports = Rc::new(RefCell::new(FixedPorts::default()));
        let session = Session::new(Rc::clone(&worker), ports, "127.0.0.1".to_owned());
        Self { session, worker, fetches: Vec::new(), unread: Vec::new(), closed: false }
    }

    /// Up, with the catalog read.
    fn start(&mut self) {
        self.client(STARTUP);
        self.answer(true);
        self.server(AUTHENTICATED);
        self.client(b"Q\0\0\0\x0dSELECT 1\0");
        self.whole_answer(CATALOG_ASKED);
        self.server(b"C\0\0\0\x0dSELECT 0\0Z\0\0\0\x05I");
        assert!(!self.closed && !self.session.is_waiting(), "the connection is up");
    }

    fn whole_answer(&mut self, which: u8) {
        match which {
            CATALOG_ASKED => self.server(&catalog_answer()),
            FETCHES_ANSWERED => self.answer(true),
            FETCHES_FAILED => self.answer(false),
            READY => self.server(b"Z\0\0\0\x05I"),
            _ => {}
        }
    }

    fn answer(&mut self, well: bool) {
        for fetch in std::mem::take(&mut self.fetches) {
            let body = if matches!(fetch, Fetch::Plan(_)) { &*PLAN } else { &*KEYS };
            let answer = match well {
                true => Answer::Body { body, etag: None },
                false => Answer::Failed("timed out".to_owned()),
            };
            let result = self.worker.borrow_mut().answered(&fetch, answer, 1_000_000);
            self.session.answered(&fetch, result);
        }
        self.client(b"");
    }

    fn client(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        if !self.session.is_waiting() && !self.closed {
            let unread = std::mem::take(&mut self.unread);
            let output = self.session.client_data(&unread);
            self.take(output);
        }
    }

    fn server(&mut self, bytes: &[u8]) {
        let output = self.session.server_data(bytes);
        let resume = output.resume;
        self.take(output);
        if resume {
            self.client(b"");
        }
    }

    fn take(&mut self, output: Output) {
        self.fetches.extend(output.fetch);
        self.closed |= output.close;
    }
}

/// What the server answers to the questions of a session that has just begun: who it is for, and the catalog, which is
/// `public.customer (id, name, ssn, notes)`.
fn catalog_answer() -> Vec<u8> {
    let begun = b"1\0\0\0\x042\0\0\0\x04";
    let mut answer = begun.to_vec();
    answer.extend(data_row(&["app", "", "", ""]));
    answer.extend_from_slice(b"C\0\0\0\x0dSELECT 1\x003\0\0\0\x043\0\0\0\x04");
    answer.extend_from_slice(begun);
    for (number, column, oid) in
        [("1", "id", "20"), ("2", "name", "25"), ("3", "ssn", "25"), ("4", "notes", "25")]
    {
        let values = [
            "16400", "public", "customer", "r", "t", number, column, oid, "f", "", "public", "customer", "t",
            "-1", "", "f",
        ];
        answer.extend(data_row(&values));
    }
    answer.extend_from_slice(b"C\0\0\0\x0dSELECT 4\x003\0\0\0\x043\0\0\0\x04Z\0\0\0\x05I");
    answer
}

fn data_row(values: &[&str]) -> Vec<u8> {
    let mut body = u16::try_from(values.len()).expect("few").to_be_bytes().to_vec();
    for value in values {
        body.extend(u32::try_from(value.len()).expect("short").to_be_bytes());
        body.extend(value.as_bytes());
    }
    let mut row = b"D".to_vec();
    row.extend((u32::try_from(body.len()).expect("short") + 4).to_be_bytes());
    row.extend(body);
    row
}
