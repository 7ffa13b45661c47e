//! One whole connection to a database: whatever both sides send, however it is cut.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use fieldveil_engine::Random;
use fieldveil_engine::audit::Ended;
use fieldveil_engine::config::{self, Config};
use fieldveil_engine::database::{self, CallbackOutput, Connection as _};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_engine::worker::Worker;
use serde_json::{Value, json};

const FROZEN: &str = include_str!("../../crypto/envelope/testdata/v1.json");
const CONFIG: &[u8] = br#"{"listener": "l", "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
    "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10,
    "max_stale_seconds": 600}}"#;

/// Messages that fuzzing would be long in finding; what others stand for is the protocol's own.
pub(crate) const FETCHES_ANSWERED: u8 = 1;
const FETCHES_FAILED: u8 = 2;

pub(crate) static KEYS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let frozen: Value = serde_json::from_str(FROZEN).expect("the frozen keysets are JSON");
    let keysets = &frozen["keysets"];
    let pii = json!({"aead": keysets["aes256-gcm"], "deterministic": keysets["aes-siv"]});
    json!({"revision": "1", "keysets": {"pii": pii}}).to_string().into_bytes()
});

/// A session of one database's protocol.
pub(crate) trait Protocol: Sized {
    const PROTOCOL: config::Protocol;
    type Session: database::Connection;

    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<FixedPorts>>) -> Self;
    fn session(&mut self) -> &mut Self::Session;

    fn plan() -> &'static [u8];
    /// Brings the connection up, with the catalog read.
    fn start(connection: &mut Connection<Self>);
    /// What the server says in one of its messages, a part for each of the session's questions.
    fn message(which: u8) -> Vec<Vec<u8>>;

    /// Whether anything may leave for the server after these bytes of the client's.
    fn may_leave(&mut self, _client: &[u8]) -> bool {
        true
    }

    /// Whether these bytes go to the server in the place of what was refused.
    fn stands_for_refused(_to_server: &[u8]) -> bool {
        false
    }

    /// What the server sends, before the session is given it.
    fn server_says(&mut self, _server: &[u8]) {}
}

/// The plan for two columns of a table.
pub(crate) fn plan_of(relation: &str) -> Vec<u8> {
    let field = |column: &str, protection: &str, read: Value| {
        json!({"relation": relation, "column": column, "label": format!("customer.{column}"),
            "keyset": "pii", "tenant": "", "protection": protection, "type": "text", "read": read, "write": "seal"})
    };
    let budget = json!({"rows": 1, "per_seconds": 60, "then": {"treatment": "null"}});
    let fields = [
        field("ssn", "deterministic", json!({"treatment": "reveal", "budget": budget})),
        field("notes", "randomized", json!({"treatment": "mask", "format": "last4"})),
    ];
    let result = json!({"revision": "1", "subject": "user:app", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": fields});
    json!({ "result": result }).to_string().into_bytes()
}

/// The first byte says whether the connection is up already. Then come steps: one byte whose high bit is the side
/// (client, server), the others the length of what it sends; a length of 0 to the server's side is followed by one
/// more byte, a message that stands for more.
pub(crate) fn run<P: Protocol>(bytes: &[u8]) {
    let whole = left::<P>(bytes, usize::MAX);
    assert_eq!(whole, left::<P>(bytes, 1), "one result wherever the client's bytes are cut");
}

/// What left for the server and for the client, and whether the connection was ended.
fn left<P: Protocol>(bytes: &[u8], chunk: usize) -> (Vec<u8>, Vec<u8>, bool) {
    let mut connection = Connection::<P>::new(chunk);
    connection.run(bytes);
    connection.session.session().end(Ended::Proxy);
    (connection.to_server, connection.to_client, connection.closed)
}

pub(crate) struct Connection<P> {
    pub(crate) session: P,
    pub(crate) closed: bool,
    pub(crate) to_server: Vec<u8>,
    to_client: Vec<u8>,
    worker: Rc<RefCell<Worker>>,
    fetches: Vec<Fetch>,
    /// What the client sent while the session waited: the host holds it back.
    unread: Vec<u8>,
    /// How much of the client's the session is given at once.
    chunk: usize,
}

impl<P: Protocol> Connection<P> {
    pub(crate) fn new(chunk: usize) -> Self {
        let config = Config::from_json(CONFIG, P::PROTOCOL, &|_| None).expect("the configuration is one");
        let worker = Rc::new(RefCell::new(Worker::of_databases(config)));
        let ports = Rc::new(RefCell::new(FixedPorts::default()));
        Self {
            session: P::new(Rc::clone(&worker), ports),
            closed: false,
            to_server: Vec::new(),
            to_client: Vec::new(),
            worker,
            fetches: Vec::new(),
            unread: Vec::new(),
            chunk,
        }
    }

    fn run(&mut self, bytes: &[u8]) {
        let Some((start, mut script)) = bytes.split_first() else { return };
        if start % 2 == 1 {
            P::start(self);
            assert!(!self.closed && !self.session.session().is_waiting(), "the connection is up");
        }
        while let Some((step, rest)) = script.split_first() {
            let length = usize::from(step & 0x7f).min(rest.len());
            let (part, after) = rest.split_at(length);
            script = after;
            match (step & 0x80 != 0, length) {
                (false, _) => self.client(part),
                (true, 0) => {
                    let Some((message, after)) = script.split_first() else { return };
                    script = after;
                    self.message(*message);
                }
                (true, _) => self.server(part),
            }
            if self.closed {
                return;
            }
        }
    }

    pub(crate) fn message(&mut self, which: u8) {
        match which {
            FETCHES_ANSWERED => self.answer(true),
            FETCHES_FAILED => self.answer(false),
            other => P::message(other).iter().for_each(|part| self.server(part)),
        }
    }

    fn answer(&mut self, well: bool) {
        for fetch in std::mem::take(&mut self.fetches) {
            let body = if matches!(fetch, Fetch::Plan(_)) { P::plan() } else { &KEYS };
            let answer = match well {
                true => FetchResponse::Body { body, etag: None },
                false => FetchResponse::Failed("timed out".to_owned()),
            };
            let result = self.worker.borrow_mut().answered(&fetch, answer, 1_000_000);
            self.session.session().answered(&fetch, result);
        }
        self.resume();
    }

    pub(crate) fn client(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        while !self.unread.is_empty() && !self.session.session().is_waiting() && !self.closed {
            let rest = self.unread.split_off(self.unread.len().min(self.chunk));
            let chunk = std::mem::replace(&mut self.unread, rest);
            self.give(&chunk);
        }
    }

    fn give(&mut self, bytes: &[u8]) {
        let may_leave = self.session.may_leave(bytes);
        let output = self.session.session().client_data(bytes);
        let left = &output.to_server;
        assert!(
            may_leave || left.is_empty() || P::stands_for_refused(left),
            "nothing leaves of what is not whole"
        );
        self.take(output);
    }

    /// What the session has of the client's goes on, and then what the client sent meanwhile.
    fn resume(&mut self) {
        if !self.session.session().is_waiting() && !self.closed {
            let output = self.session.session().client_data(b"");
            self.take(output);
        }
        self.client(b"");
    }

    pub(crate) fn server(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        self.session.server_says(bytes);
        let output = self.session.session().server_data(bytes);
        let resume = output.resume;
        self.take(output);
        if resume {
            self.resume();
        }
    }

    fn take(&mut self, output: CallbackOutput) {
        self.to_server.extend(output.to_server);
        self.to_client.extend(output.to_client);
        self.fetches.extend(output.fetch);
        self.closed |= output.close;
    }
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
