//! What reads HTTP: bodies of JSON and of GraphQL, targets, and encoded bodies.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::http::{Exchange, Head, Peer};
use fieldveil_engine::worker::Worker;
use serde_json::{Value, json};

use super::http_texts::{BODIES, BODY_PIECES, MEDIA_TYPES, QUERIES, QUERY_PIECES, TARGET_PIECES, TARGETS};
use super::text::{Chance, Text};
use super::{Case, Input};
use crate::connection::{FixedPorts, KEYS};

/// Bytes of the largest input.
const BYTES: usize = 8 << 10;
/// Bytes that Envoy brings at once, at the least.
const PIECE: usize = 1 << 10;
/// An encoded body of nothing, of which a file may have many.
const GZIP_MEMBER: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";
const ZSTD_FRAME: &[u8] = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00";

static CONFIG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let config = json!({"listener": "l", "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
        "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10, "max_stale_seconds": 600},
        "http": {"service": "shop", "identity": {"user_header": "x-user"}}});
    config.to_string().into_bytes()
});

static PLAN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let field = |place: &str, at: &str, name: &str, declared: &str| {
        json!({"in": place, "at": at, "label": format!("customer.{name}"), "keyset": "pii", "tenant": "",
            "protection": if name == "ssn" { "deterministic" } else { "randomized" }, "type": declared,
            "read": {"treatment": "reveal"}, "on_plaintext": "reveal", "write": "seal"})
    };
    let route = |path: &str, graphql: bool, fields: &[Value]| json!({"path": path, "methods": [], "except": [], "graphql": graphql, "fields": fields});
    let named = [
        ("ssn", "text"),
        ("v", "jsonb"),
        ("num", "numeric"),
        ("f", "float8"),
        ("tags", "text[]"),
        ("day", "timestamptz"),
    ];
    let bodies = ["request", "response"].into_iter().flat_map(|place| {
        named.iter().map(move |(name, declared)| field(place, &format!("$..{name}"), name, declared))
    });
    let variables =
        ["$.variables.ssn", "$.variables.input[*]..ssn"].map(|at| field("request", at, "ssn", "text"));
    let answers = [field("response", "$.data.customer.ssn", "ssn", "text")];
    let people = [field("segment", "ssn", "ssn", "text"), field("query", "ssn", "ssn", "text")];
    let routes = [
        route("/customers", false, &bodies.collect::<Vec<_>>()),
        route("/graphql", true, &[&variables[..], &answers].concat()),
        route("/people/{ssn}", false, &people),
        route("/deep/{a}/{b}/{c}", false, &[]),
        route("/all/**", false, &[]),
    ];
    let result = json!({"revision": "1", "subject": "service:shop", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": [],
        "service": {"unmatched": "pass", "routes": routes}});
    json!({ "result": result }).to_string().into_bytes()
});

/// One exchange.
struct Given {
    target: Vec<u8>,
    head: Vec<(&'static str, Vec<u8>)>,
    body: Vec<u8>,
    is_request: bool,
    /// Bytes that come at once.
    piece: usize,
}

impl Given {
    fn request(target: &str, media: &str, body: Vec<u8>) -> Self {
        let head = vec![("content-type", media.as_bytes().to_vec())];
        Self { target: target.as_bytes().to_vec(), head, body, is_request: true, piece: usize::MAX }
    }

    /// Everything is counted but the worker, which has plan and keys.
    fn input(self, begins: &[u8], bytes: usize) -> Input {
        let config = Config::from_json(&CONFIG, Protocol::Http, &|_| None).expect("the configuration is one");
        let worker = Rc::new(RefCell::new(Worker::new(config)));
        let exchange = || Exchange::new(Rc::clone(&worker), Rc::new(RefCell::new(FixedPorts::default())));
        let mut first = exchange();
        let path = Head(vec![(":method".to_owned(), b"GET".to_vec()), (":path".to_owned(), b"/".to_vec())]);
        let fetches = first.request_head(path, Peer::default(), false).fetch;
        answer(&worker, fetches, &mut first);
        let mut exchange = exchange();
        let input = Input::new(begins, move || {
            let _ = self.run(&mut exchange, &worker);
            exchange.end();
        });
        Input { bytes, ..input }
    }

    /// Nothing if it is refused.
    fn run(&self, exchange: &mut Exchange, worker: &Rc<RefCell<Worker>>) -> Option<()> {
        let field = |(name, value): &(&str, Vec<u8>)| ((*name).to_owned(), value.clone());
        let mut head =
            vec![(":method".to_owned(), b"POST".to_vec()), (":path".to_owned(), self.target.clone())];
        if self.is_request {
            head.extend(self.head.iter().map(field));
        }
        let output = exchange.request_head(Head(head), Peer::default(), false);
        let is_refused = output.reply.is_some();
        answer(worker, output.fetch, exchange);
        (!is_refused).then_some(())?;
        if !self.is_request {
            exchange.request_body(b"", true);
            let status = [(":status".to_owned(), b"200".to_vec())];
            let head = status.into_iter().chain(self.head.iter().map(field)).collect();
            exchange.response_head(Head(head), true, false);
        }
        for piece in self.body.chunks(self.piece.min(self.body.len().max(1))).map(Some).chain([None]) {
            let (bytes, ends) = (piece.unwrap_or_default(), piece.is_none());
            let output = match self.is_request {
                true => exchange.request_body(bytes, ends),
                false => exchange.response_body(bytes, ends),
            };
            (output.reply.is_none() && !output.reset).then_some(())?;
        }
        Some(())
    }
}

fn answer(worker: &Rc<RefCell<Worker>>, fetches: Vec<Fetch>, exchange: &mut Exchange) {
    for fetch in fetches {
        let body = if matches!(fetch, Fetch::Plan(_)) { &*PLAN } else { &*KEYS };
        let result =
            worker.borrow_mut().answered(&fetch, FetchResponse::Body { body, etag: None }, 1_000_000);
        exchange.answered(&fetch, result);
    }
}

/// How a body comes, or the text that stands for one.
type Reader = (&'static str, fn(&str) -> Given);

const JSON: &str = "application/json";
const READERS: [Reader; 9] = [
    ("json-request", |body| Given::request("/customers", JSON, body.into())),
    ("json-response", |body| Given { is_request: false, ..Given::request("/customers", JSON, body.into()) }),
    ("json-pieces", |body| Given { piece: PIECE, ..Given::request("/customers", JSON, body.into()) }),
    ("json-lines", |body| Given::request("/customers", "application/x-ndjson", body.into())),
    ("json-events", |body| Given {
        is_request: false,
        ..Given::request("/customers", "text/event-stream", format!("data: {body}\n\n").into())
    }),
    ("graphql", |query| {
        Given::request(
            "/graphql",
            JSON,
            json!({"query": query, "variables": {"ssn": "x"}}).to_string().into(),
        )
    }),
    ("graphql-target", |query| Given::request(&format!("/graphql?query={query}"), JSON, Vec::new())),
    ("path", |target| Given::request(target, JSON, Vec::new())),
    ("media-type", |media| Given::request("/customers", media, b"{}".to_vec())),
];
const REQUEST: Reader = READERS[0];
const RESPONSE: Reader = READERS[1];
const PIECES: Reader = READERS[2];
const LINES: Reader = READERS[3];
const EVENTS: Reader = READERS[4];
const GRAPHQL: Reader = READERS[5];
const GRAPHQL_TARGET: Reader = READERS[6];
const PATH: Reader = READERS[7];
const MEDIA: Reader = READERS[8];

fn case((name, given): Reader, text: Text<'static>) -> Case {
    Case::new(name, BYTES, move |times| {
        let text = text.write(times);
        given(&text).input(text.as_bytes(), text.len())
    })
}

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for text in BODIES {
        all.extend([REQUEST, RESPONSE].map(|reader| case(reader, *text)));
    }
    for text in BODIES.iter().take(8) {
        all.extend([PIECES, EVENTS, LINES].map(|reader| case(reader, *text)));
    }
    for text in QUERIES {
        all.extend([GRAPHQL, GRAPHQL_TARGET].map(|reader| case(reader, *text)));
    }
    for text in TARGETS {
        all.push(case(PATH, *text));
    }
    for text in MEDIA_TYPES {
        all.push(case(MEDIA, *text));
    }
    for (encoding, unit) in
        [("gzip", GZIP_MEMBER), ("zstd", ZSTD_FRAME), ("gzip", b"\x1f\x8b\x08\x04\0\0\0\0\0\0")]
    {
        for piece in [1, PIECE, usize::MAX] {
            all.push(Case::new("encoded", BYTES, move |times| {
                let body = unit.repeat(times);
                let mut given = Given::request("/customers", JSON, body.clone());
                given.piece = piece;
                given.head.push(("content-encoding", encoding.as_bytes().to_vec()));
                given.input(&body, body.len())
            }));
        }
    }
    let many = |field: fn(usize) -> (&'static str, Vec<u8>)| {
        Case::new("headers", BYTES, move |times| {
            let mut given = Given::request("/customers", JSON, b"{}".to_vec());
            given.head.extend((0..times).map(field));
            let bytes = given.head.iter().map(|(name, value)| name.len() + value.len()).sum();
            given.input(b"headers", bytes)
        })
    };
    all.push(many(|number| ("x-user", format!("user{number}").into_bytes())));
    all.push(many(|_| ("x-other", b"a".to_vec())));
    all.push(many(|_| ("content-type", b"application/json".to_vec())));
    all.push(many(|_| ("content-encoding", b"gzip, identity".to_vec())));
    all
}

/// A body, a query or a target of pieces.
pub(super) fn composed(chance: &mut Chance) -> Case {
    let (name, given) = chance.pick(&READERS);
    let (known, pieces, between) = match name {
        "graphql" | "graphql-target" => (QUERIES, QUERY_PIECES, " "),
        "path" => (TARGETS, TARGET_PIECES, ""),
        "media-type" => (MEDIA_TYPES, TARGET_PIECES, ""),
        _ => (BODIES, BODY_PIECES, ""),
    };
    let [outer, inner] = [(); 2].map(|()| known[chance.below(known.len())]);
    let mut parts = [outer.head, outer.open, inner.core, outer.close, outer.tail].map(str::to_owned);
    match chance.below(4) {
        0 => parts[1].push_str(&chance.some(pieces, 3, between)),
        1 => parts[1] = chance.some(pieces, 4, between),
        2 => parts[2] = inner.write(2),
        _ => parts[1].push_str(inner.open),
    }
    if chance.below(4) == 0 {
        parts[3].clear();
    }
    Case::new(name, BYTES, move |times| {
        let [head, open, core, close, tail] = parts.each_ref().map(String::as_str);
        let text = Text { head, open, core, close, tail }.write(times);
        given(&text).input(text.as_bytes(), text.len())
    })
}
