//! A session of either database between both sides, whose bytes come in chunks.

use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::database::{CallbackOutput, Client, Connection};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::worker::Worker;

use super::TestPorts;

/// A question of the filter's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Identity,
    /// The identity, and the catalog.
    Catalog,
    /// The identity, and the catalog's digest.
    Digest,
    Function,
}

/// What each question is known by. Those for the catalog and its digest ask for the identity, too.
const QUESTIONS: [(&[u8], Asked); 4] = [
    (b"WITH RECURSIVE named", Asked::Catalog),
    (b"WITH relation(oids)", Asked::Digest),
    (b"SELECT current_user::", Asked::Identity),
    (b"FROM pg_catalog.pg_proc", Asked::Function),
];

/// A session and all that came out of it.
pub struct Both<S> {
    pub session: S,
    pub worker: Rc<RefCell<Worker>>,
    pub ports: Rc<RefCell<TestPorts>>,
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    pub fetches: Vec<Fetch>,
    pub closed: bool,
    /// How many bytes a callback brings at most.
    pub chunk: usize,
    /// What the filter asked the server and got no answer to.
    pub asked: Vec<Asked>,
    /// Whether it asked for texts in hexadecimal digits.
    pub in_digits: bool,
    unread: Vec<u8>,
}

impl<S: Connection> Both<S> {
    /// How many values of the `ssn` and of the `notes` of customers were sealed since this was asked before.
    pub fn sealed(&self) -> [usize; 2] {
        let counts = self.worker.borrow_mut().take_counts();
        let of = |label| counts.iter().find(|(name, _)| *name == label).map_or(0, |(_, count)| *count);
        ["sealed.customer.ssn", "sealed.customer.notes"].map(of).map(|count| usize::try_from(count).unwrap())
    }

    /// A connection of which nothing was heard yet, where the configuration says this of the workload.
    pub fn new(protocol: Protocol, workload: &str, chunk: usize) -> Self {
        let config = r#""policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
            "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600}"#;
        let config = format!(r#"{{"listener": "l", "workload": {workload}, {config}}}"#);
        let config = Config::from_json(config.as_bytes(), protocol, &|_| None).unwrap();
        let ports = TestPorts { now_ms: 1_000_000, ..TestPorts::default() };
        Self::of(Rc::new(RefCell::new(Worker::of_databases(config))), Rc::new(RefCell::new(ports)), chunk)
    }

    fn of(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<TestPorts>>, chunk: usize) -> Self {
        let session = S::new(Rc::clone(&worker), ports.clone(), Client::at("127.0.0.1"));
        let (to_server, to_client, fetches, asked, unread) = Default::default();
        let (closed, in_digits) = (false, false);
        Self {
            session,
            worker,
            ports,
            to_server,
            to_client,
            fetches,
            closed,
            chunk,
            asked,
            in_digits,
            unread,
        }
    }

    /// The connection is this client's.
    pub fn comes_from(&mut self, client: Client) {
        self.session = S::new(Rc::clone(&self.worker), self.ports.clone(), client);
    }

    /// Another connection of the same worker.
    pub fn beside(&self) -> Self {
        Self::of(Rc::clone(&self.worker), Rc::clone(&self.ports), usize::MAX)
    }

    pub fn answer_fetches(&mut self, plan: Result<&[u8], &str>, keys: Result<&[u8], &str>) {
        for fetch in std::mem::take(&mut self.fetches) {
            let answer = match if matches!(fetch, Fetch::Plan(_)) { plan } else { keys } {
                Ok(body) => FetchResponse::Body { body, etag: None },
                Err(reason) => FetchResponse::Failed(reason.to_owned()),
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
        let answer = FetchResponse::Body { body: keys, etag: None };
        let fetch = self.worker.borrow_mut().fetch_keys(now_ms);
        self.worker.borrow_mut().answered(&fetch, answer, now_ms).unwrap();
    }

    fn take(&mut self, output: CallbackOutput) {
        let asked = QUESTIONS.iter().find(|(part, _)| super::contains(&output.to_server, part));
        if let Some((_, asked)) = asked {
            self.asked.push(*asked);
            self.in_digits = super::contains(&output.to_server, b"pg_catalog.convert_to(c1,");
        }
        self.to_server.extend(output.to_server);
        self.to_client.extend(output.to_client);
        self.fetches.extend(output.fetch);
        self.closed |= output.close;
    }

    /// Bytes from the client, held back as the host does while the session waits.
    pub fn client(&mut self, bytes: &[u8]) {
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
