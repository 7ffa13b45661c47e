//! As much of Envoy as the modules see: the functions that they call, each call counted by its name, and the callbacks as
//! Envoy makes them. Nothing in it decides anything: bytes lie in its buffers until the module has had its turn.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::abi;
use super::allocations::outside;

/// Kinds of buffers, and the directions of a connection that can be paused, as the ABI numbers them.
const REQUEST_BODY: u32 = 0;
const RESPONSE_BODY: u32 = 1;
pub const DOWNSTREAM: u32 = 2;
const UPSTREAM: u32 = 3;
const CALL_BODY: u32 = 4;
const CONFIGURATION: u32 = 7;
/// Kinds of maps.
const REQUEST_HEADERS: u32 = 0;
const RESPONSE_HEADERS: u32 = 2;
const CALL_HEADERS: u32 = 6;

pub const OK: u32 = 0;
pub const NOT_FOUND: u32 = 1;
pub const EMPTY: u32 = 7;
const CONTINUE: u32 = 0;

pub type Headers = Vec<(String, String)>;

/// What lies with Envoy.
#[derive(Default)]
pub struct Envoy {
    calls: BTreeMap<&'static str, u64>,
    pub buffers: BTreeMap<u32, Vec<u8>>,
    pub headers: BTreeMap<u32, Headers>,
    to_server: Vec<u8>,
    pub asked: Vec<(u32, String)>,
    pub tokens: u32,
    /// How many entries each shared queue has.
    pub queues: Vec<u32>,
    pub metrics: Vec<u64>,
    pub shared: BTreeMap<String, Vec<u8>>,
    pub nanoseconds: u64,
}

thread_local! {
    static ENVOY: RefCell<Envoy> = RefCell::default();
}

fn envoy<T>(look: impl FnOnce(&mut Envoy) -> T) -> T {
    ENVOY.with_borrow_mut(look)
}

/// The module's call of a function by this name.
pub fn called<T>(name: &'static str, does: impl FnOnce(&mut Envoy) -> T) -> T {
    outside(|| {
        envoy(|envoy| {
            *envoy.calls.entry(name).or_default() += 1;
            does(envoy)
        })
    })
}

/// Calls of the host so far, by name.
pub fn calls() -> BTreeMap<&'static str, u64> {
    envoy(|envoy| envoy.calls.clone())
}

/// What OPA and the key agent answer.
#[derive(Clone)]
pub struct Answers {
    pub plan: Vec<u8>,
    pub keys: Vec<u8>,
}

impl Envoy {
    /// What lies in the downstream buffer goes to the server.
    pub fn pass_downstream(&mut self) {
        let bytes = self.buffers.remove(&DOWNSTREAM).unwrap_or_default();
        self.to_server.extend(bytes);
        self.buffers.insert(DOWNSTREAM, Vec::new());
    }
}

/// One worker with a module, and what it is answered.
#[derive(Clone)]
pub struct Worker {
    root: u32,
    answers: Answers,
}

impl Worker {
    /// The module that was registered last, under this configuration. `number` tells the workers of the test apart.
    pub fn start(number: u32, configuration: &str, answers: Answers) -> Self {
        let root = number * 1_000_000 + 1;
        envoy(|envoy| {
            envoy.nanoseconds = 1_700_000_000_000_000_000;
            envoy.buffers.insert(CONFIGURATION, configuration.as_bytes().to_vec());
        });
        abi::create(root, 0);
        assert!(abi::configure(root, configuration.len()), "the module takes no such configuration");
        Self { root, answers }
    }

    /// A second has passed.
    pub fn tick(&self) {
        abi::tick(self.root);
    }

    /// OPA and the key agent answer what they were asked, also by the root context for what lies in its queue.
    fn answer(&self) {
        loop {
            if let Some(queue) = envoy(|envoy| envoy.queues.iter().position(|queued| *queued > 0)) {
                abi::queue_ready(self.root, u32::try_from(queue).unwrap());
            }
            let Some((token, cluster)) = envoy(|envoy| envoy.asked.pop()) else { return };
            let body = if cluster == "opa" { &self.answers.plan } else { &self.answers.keys };
            let status = vec![(":status".to_owned(), "200".to_owned())];
            envoy(|envoy| {
                envoy.headers.insert(CALL_HEADERS, status);
                envoy.buffers.insert(CALL_BODY, body.clone());
            });
            abi::call_response(self.root, token, 1, body.len(), 0);
        }
    }

    /// A connection of a client; `number` tells those of one worker apart.
    pub fn connection(&self, number: u32) -> Connection {
        let id = self.root + number;
        abi::create(id, self.root);
        envoy(|envoy| {
            envoy.buffers.insert(DOWNSTREAM, Vec::new());
            envoy.to_server.clear();
        });
        Connection { id, worker: self.clone() }
    }

    /// A request with a body and its response, each in one piece: what the service gets of the one, the client of the
    /// other. `ends_alone`: the end of a body comes behind its bytes, as of HTTP/1.1.
    pub fn exchange(
        &self,
        number: u32,
        path: &str,
        (body, ends_alone): (&str, bool),
        response: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Vec<u8> {
        let id = self.root + number;
        let headers = |pairs: &[(&str, &str)]| -> Headers {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let json = ("content-type", "application/json");
        envoy(|envoy| {
            let head = [(":method", "POST"), (":path", path), (":authority", "shop"), json];
            envoy.headers.insert(REQUEST_HEADERS, headers(&head));
            envoy.headers.insert(RESPONSE_HEADERS, headers(&[(":status", "200"), json]));
            envoy.buffers.insert(REQUEST_BODY, body.as_bytes().to_vec());
        });
        abi::create(id, self.root);
        abi::request_headers(id, 4, false);
        self.answer();
        let mut stored = pass(id, abi::request_body, REQUEST_BODY, !ends_alone);
        if ends_alone {
            stored.extend(pass(id, abi::request_body, REQUEST_BODY, true));
        }
        let response = response(&stored);
        envoy(|envoy| envoy.buffers.insert(RESPONSE_BODY, response));
        abi::response_headers(id, 2, false);
        let mut shown = pass(id, abi::response_body, RESPONSE_BODY, !ends_alone);
        if ends_alone {
            shown.extend(pass(id, abi::response_body, RESPONSE_BODY, true));
        }
        abi::done(id);
        abi::delete(id);
        shown
    }
}

/// What lies in a body's buffer is given to the module. What is let through leaves the buffer.
fn pass(id: u32, callback: fn(u32, usize, bool) -> u32, kind: u32, ends: bool) -> Vec<u8> {
    let size = envoy(|envoy| envoy.buffers.entry(kind).or_default().len());
    if callback(id, size, ends) == CONTINUE {
        return envoy(|envoy| envoy.buffers.remove(&kind)).unwrap();
    }
    assert!(!ends, "a whole body is held");
    Vec::new()
}

/// A connection through the module.
pub struct Connection {
    id: u32,
    worker: Worker,
}

impl Connection {
    /// Bytes of the client, in one piece. What the server gets.
    pub fn client(&self, bytes: &[u8]) -> Vec<u8> {
        let size = envoy(|envoy| {
            let buffer = envoy.buffers.entry(DOWNSTREAM).or_default();
            buffer.extend_from_slice(bytes);
            buffer.len()
        });
        if abi::downstream(self.id, size, false) == CONTINUE {
            envoy(Envoy::pass_downstream);
        }
        self.worker.answer();
        envoy(|envoy| std::mem::take(&mut envoy.to_server))
    }

    /// Bytes of the server, in pieces of 8 KiB, as PostgreSQL sends them. What the client gets.
    pub fn server(&self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        for piece in bytes.chunks(8192) {
            envoy(|envoy| envoy.buffers.insert(UPSTREAM, piece.to_vec()));
            abi::upstream(self.id, piece.len(), false);
            shown.extend(envoy(|envoy| envoy.buffers.remove(&UPSTREAM)).unwrap());
        }
        shown
    }

    /// What the server got without the client having sent more.
    pub fn sent_on(&self) -> Vec<u8> {
        envoy(|envoy| std::mem::take(&mut envoy.to_server))
    }
}
