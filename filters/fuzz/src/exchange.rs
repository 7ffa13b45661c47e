//! One exchange of HTTP: whatever both sides send, however it is cut.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::http::{Edit, Exchange, ExchangeOutput, Flow, Head, Peer};
use fieldveil_engine::worker::Worker;
use serde_json::{Value, json};

use crate::connection::{FixedPorts, KEYS};

const HELD_BYTES: usize = 64;
const VALUE_BYTES: usize = 256;
const KEY_BYTES: usize = 128;
/// What may be kept: a body up to its limit, an envelope's value, a key, and a GraphQL request as it came.
const MOST_KEPT: usize = 2 * HELD_BYTES + 3 * VALUE_BYTES + 4096 + KEY_BYTES;

static CONFIG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let limits = json!({"held_body_bytes": HELD_BYTES, "json_depth": 32, "json_key_bytes": KEY_BYTES});
    let config = json!({"listener": "l", "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
        "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600},
        "limits": {"protected_value_bytes": VALUE_BYTES},
        "http": {"service": "shop", "identity": {"user_header": "x-user"}, "limits": limits}});
    config.to_string().into_bytes()
});

static PLAN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let field = |place: &str, at: &str| {
        json!({"in": place, "at": at, "label": "customer.ssn", "keyset": "pii", "tenant": "", "protection": "deterministic",
            "type": "text", "read": {"treatment": "reveal"}, "on_plaintext": "reveal", "write": "seal"})
    };
    let route = |path: &str, graphql: bool, fields: &[Value]| json!({"path": path, "methods": [], "except": [], "graphql": graphql, "fields": fields});
    let bodies = [field("request", "$..ssn"), field("response", "$..ssn"), field("header", "x-ssn")];
    let variables = [field("request", "$.variables.ssn"), field("response", "$.data.ssn")];
    let people = [field("segment", "ssn"), field("query", "ssn")];
    let routes = [
        route("/customers", false, &bodies),
        route("/graphql", true, &variables),
        route("/people/{ssn}", false, &people),
    ];
    let result = json!({"revision": "1", "subject": "service:shop", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": [],
        "service": {"unmatched": "pass", "routes": routes}});
    json!({ "result": result }).to_string().into_bytes()
});

/// The first byte says what becomes of plan and keys and which direction is looked at, the next two where the body is
/// cut. Then come three lines: the target, the content type, and the validator; the rest is the body.
pub(crate) fn exchange(bytes: &[u8]) {
    let [flags, one, other, rest @ ..] = bytes else { return };
    let mut lines = rest.splitn(4, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (target, media, validator, body) = (line(), line(), line(), line());
    let one = usize::from(*one).min(body.len());
    let other = usize::from(*other).clamp(one, body.len().max(one)).min(body.len());
    let head = [("content-type", media), ("if-match", validator), ("etag", validator), ("x-ssn", validator)];
    let script = Script {
        is_waiting: flags & 1 != 0,
        fails: flags & 2 != 0,
        is_request: flags & 4 != 0,
        has_trailers: flags & 8 != 0,
        target,
        head: &head,
    };
    let whole = script.run(&[body]);
    let cut = script.run(&[&body[..one], &body[one..other], &body[other..]]);
    assert_eq!(whole.is_none(), cut.is_none(), "refused or not, at every cut");
    assert_eq!(whole, cut, "one result at every cut");
}

struct Script<'a> {
    is_waiting: bool,
    fails: bool,
    is_request: bool,
    has_trailers: bool,
    target: &'a [u8],
    head: &'a [(&'a str, &'a [u8])],
}

impl Script<'_> {
    /// What left of a body that was not refused.
    fn run(&self, pieces: &[&[u8]]) -> Option<Vec<u8>> {
        let config = Config::from_json(&CONFIG, Protocol::Http, &|_| None).expect("the configuration is one");
        let worker = Rc::new(RefCell::new(Worker::new(config)));
        let ports = Rc::new(RefCell::new(FixedPorts::default()));
        let mut exchange = Exchange::new(Rc::clone(&worker), ports);
        let mut left = Left::default();
        let pseudo = [(":method", &b"POST"[..]), (":path", self.target)];
        let mut fetches =
            left.take(exchange.request_head(self.head_of(&pseudo), Peer::default(), false), b"")?;
        let mut answer = |exchange: &mut Exchange, left: &mut Left| {
            for fetch in std::mem::take(&mut fetches) {
                let body = if matches!(fetch, Fetch::Plan(_)) { &*PLAN } else { &*KEYS };
                let answer = match self.fails {
                    false => FetchResponse::Body { body, etag: None },
                    true => FetchResponse::Failed("timed out".to_owned()),
                };
                let result = worker.borrow_mut().answered(&fetch, answer, 1_000_000);
                left.take(exchange.answered(&fetch, result), b"")?;
            }
            Some(())
        };
        if !self.is_waiting || !self.is_request {
            answer(&mut exchange, &mut left)?;
        }
        // Of a request that is not over its head is, while its response comes.
        let kept = if self.is_request { 0 } else { exchange.held() };
        if self.is_request {
            for piece in pieces {
                left.take(exchange.request_body(piece, false), piece)?;
                assert!(self.is_waiting || exchange.held() <= MOST_KEPT, "what is kept is bounded");
            }
            let ended = if self.has_trailers {
                exchange.request_trailers(Head::default())
            } else {
                exchange.request_body(b"", true)
            };
            left.take(ended, b"")?;
            answer(&mut exchange, &mut left)?;
        } else {
            let mut left_back = Left::default();
            let head = self.head_of(&[(":status", b"200")]);
            left_back.take(exchange.response_head(head, true, false), b"")?;
            for piece in pieces {
                left_back.take(exchange.response_body(piece, false), piece)?;
                assert!(exchange.held() <= MOST_KEPT, "what is kept is bounded");
            }
            let ended = if self.has_trailers {
                exchange.response_trailers()
            } else {
                exchange.response_body(b"", true)
            };
            left_back.take(ended, b"")?;
            left = left_back;
        }
        assert!(left.head_left, "what is not refused is let through");
        assert_eq!(exchange.held(), kept, "nothing more is kept");
        Some(left.body)
    }

    fn head_of(&self, pseudo: &[(&str, &[u8])]) -> Head {
        let fields = pseudo.iter().chain(self.head).filter(|(_, value)| !value.is_empty());
        Head(fields.map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect())
    }
}

#[derive(Default)]
struct Left {
    head_left: bool,
    is_held: bool,
    body: Vec<u8>,
}

impl Left {
    /// As the host does; nothing if the exchange was refused.
    fn take(&mut self, output: ExchangeOutput, given: &[u8]) -> Option<Vec<Fetch>> {
        let is_refused = output.reply.is_some() || output.reset;
        assert!(
            output.flow == Flow::Continue || output.body.as_deref() == Some(b""),
            "held bytes are kept by the exchange"
        );
        if is_refused {
            return None;
        }
        assert!(output.head.is_empty() || !self.head_left, "a head that has left is not edited");
        let no_newline = |edit: &Edit| match edit {
            Edit::Set(_, value) | Edit::Add(_, value) => !value.contains(&b'\n'),
            Edit::Remove(_) => true,
        };
        assert!(output.head.iter().all(no_newline), "no header field is made of two");
        if output.flow == Flow::Continue {
            assert!(!self.is_held || output.body.is_some() || given.is_empty(), "held bytes are not lost");
            self.head_left = true;
            self.body.extend_from_slice(output.body.as_deref().unwrap_or(given));
        }
        self.is_held = output.flow != Flow::Continue;
        Some(output.fetch)
    }
}
