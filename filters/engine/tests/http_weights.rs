//! What exchanges take in memory is what they say that they hold, read from an allocator that counts; and what one callback
//! takes in time is bounded by what its values cost.

#![allow(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "an allocator, in a test"
)]

#[path = "support/counting.rs"]
mod counting;
mod http_support;

use std::io::Write;

use counting::{OTHERS, in_use};
use fieldveil_engine::http::Exchange;
use fieldveil_engine::memory::MAX_IN_USE;
use http_support::*;
use serde_json::{Value, json};

/// Exchanges that are under way at once.
const EXCHANGES: usize = 8;
/// What each takes beside what it holds, as it does without a body: its plan's and its principal's parts.
const BESIDE: usize = 24 << 10;

/// Bits as brotli has them, the lowest first.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn put(&mut self, value: u32, bits: u32) {
        self.0.extend((0..bits).map(|bit| value >> bit & 1 == 1));
    }

    /// A code of one symbol.
    fn code(&mut self, symbol: u32, bits: u32) {
        self.put(1, 4);
        self.put(symbol, bits);
    }

    /// The number 256, as of block types and of trees.
    fn many(&mut self) {
        self.put(0xf, 4);
        self.put(127, 7);
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        self.0.chunks(8).map(byte).collect()
    }
}

/// A stream of brotli that has 256 tables of each kind, and nothing else.
fn brotli_of_tables() -> Vec<u8> {
    let mut bits = Bits::default();
    for (value, length) in [(0, 1), (0, 1), (0, 2), (0xffff, 16), (0, 1)] {
        bits.put(value, length);
    }
    for _ in 0..3 {
        bits.many();
        bits.code(0, 9);
        bits.code(25, 5);
        bits.put(0, 24);
    }
    bits.put(3, 2);
    bits.put(15, 4);
    (0..256).for_each(|_| bits.put(0, 2));
    for _ in 0..2 {
        bits.many();
        bits.put(0, 1);
        bits.code(0, 8);
        bits.put(0, 1);
    }
    for (symbol, length) in [(32, 8), (703, 10), (0, 10)] {
        (0..256).for_each(|_| bits.code(symbol, length));
    }
    bits.bytes()
}

fn zstd_block(kind: u32, size: usize, content: &[u8]) -> Vec<u8> {
    let header = kind << 1 | u32::try_from(size).unwrap() << 3;
    [&header.to_le_bytes()[..3], content].concat()
}

/// A frame of zstd with this window that has begun, and these blocks of it.
fn zstd(window: u8, blocks: &[Vec<u8>]) -> Vec<u8> {
    [&[0x28, 0xb5, 0x2f, 0xfd, 0, window][..], &blocks.concat()].concat()
}

/// A block of sequences that take no bits: each repeats three bytes.
fn zstd_sequences(count: usize) -> Vec<u8> {
    let [low, high] = u16::try_from(count - 0x7f00).unwrap().to_le_bytes();
    let content = [0, 0xff, low, high, 0b0101_0100, 0, 0, 0, 1];
    zstd_block(2, content.len(), &content)
}

/// What this many exchanges take with a request that is not whole, and what they say of it.
fn weights(sidecar: &Sidecar, target: &str, headers: &[(&str, &str)], body: &[u8]) -> (usize, usize) {
    let begin = || {
        let pseudo = [(":method", "POST"), (":path", target), (":scheme", "http"), (":authority", "shop")];
        let mut exchange = Exchange::new(sidecar.worker.clone(), sidecar.ports.clone());
        let peer = sidecar.exchange().peer;
        let output = exchange.request_head(head(&pseudo, headers), peer, false);
        assert!(output.reply.is_none(), "{}", String::from_utf8(output.reply.unwrap().body).unwrap());
        let output = exchange.request_body(body, false);
        assert!(output.reply.is_none(), "{}", String::from_utf8(output.reply.unwrap().body).unwrap());
        exchange
    };
    drop(begin());
    let before = in_use();
    let exchanges: Vec<_> = (0..EXCHANGES).map(|_| begin()).collect();
    let taken = in_use() - before;
    (taken / EXCHANGES, exchanges.iter().map(Exchange::held).sum::<usize>() / EXCHANGES)
}

fn assert_weighed(what: &str, (taken, held): (usize, usize)) {
    assert!(taken <= held + BESIDE, "{what}: {taken} bytes are taken, and {held} are said to be held");
    assert!(held <= 3 * taken + BESIDE, "{what}: {taken} bytes are taken, and {held} are said to be held");
}

/// A sidecar that has its plan and its keys.
fn ready(plan: Value) -> Sidecar {
    let mut sidecar = Sidecar::under(plan);
    let prf =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../crypto/tink/testdata/prf.json")).unwrap();
    let prf: Value = serde_json::from_slice(&prf).unwrap();
    let mut keys: Value = serde_json::from_slice(&sidecar.keys.clone().unwrap()).unwrap();
    keys["keysets"]["pii"]["prf"] = prf["keysets"]["hmac-sha256"].clone();
    sidecar.keys = Ok(keys.to_string().into_bytes());
    sidecar.exchange().request("GET", "/nowhere", &[], b"");
    sidecar
}

#[test]
fn decoders_weigh_what_they_take() {
    let sidecar = ready(customers());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![b' '; 60_000]).unwrap();
    let literals = |length: u32| {
        let header = (1 | 3 << 2 | length << 4).to_le_bytes();
        zstd_block(2, 5, &[header[0], header[1], header[2], b' ', 0])
    };
    let spaces = zstd_block(1, 128 << 10, b" ");
    let cases: [(&str, &str, Vec<u8>); 7] = [
        ("tables of brotli", "br", brotli_of_tables()),
        ("tables of gzip", "gzip", gzip.finish().unwrap()[..40].to_vec()),
        ("a block of zstd", "zstd", zstd(0x58, &[zstd_block(1, 64, b" ")])),
        ("sequences of zstd", "zstd", zstd(0x58, &[zstd_block(1, 64, b" "), zstd_sequences(43_000)])),
        (
            "more and more sequences of zstd",
            "zstd",
            zstd(0x58, &[zstd_block(1, 64, b" "), zstd_sequences(33_000), zstd_sequences(43_000)]),
        ),
        ("literals of zstd", "zstd", zstd(0x58, &[literals(128 << 10)])),
        ("a window of zstd", "zstd", zstd(0x58, &vec![spaces; 24])),
    ];
    for (what, coding, body) in cases {
        let headers = [JSON, ("content-encoding", coding)];
        assert_weighed(what, weights(&sidecar, "/customers", &headers, &body));
    }
}

/// A route with a field of the body, and one of the query and a header.
fn searched(spec: &Value) -> Value {
    let at = |place: &str, at: &str| {
        let mut field = field(place, at, "customer.ssn");
        field.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        field
    };
    plan(&[route("/customers", &[at("query", "ssn"), at("header", "x-ssn"), at("request", "$[*]")])])
}

#[test]
fn head_that_waits_for_its_body_weighs_what_it_takes() {
    let sidecar = ready(searched(&json!({})));
    let target = format!("/customers?{}", "ssn=a&".repeat(1900));
    assert_weighed("a sealed query", weights(&sidecar, &target, &[JSON], b"["));
    let long = format!("/customers?ssn={}", "a".repeat(60_000));
    assert_weighed("a long value of a query", weights(&sidecar, &long, &[JSON], b"["));
    let value = "a".repeat(60_000);
    assert_weighed("a header", weights(&sidecar, "/customers", &[JSON, ("x-ssn", &value)], b"["));
    // A head whose body is refused if there is one waits, too.
    let headers = [("content-length", "0"), ("x-ssn", &value)];
    assert_weighed("a header without a body", weights(&sidecar, "/customers", &headers, b""));
}

#[test]
fn head_that_waits_for_its_plan_weighs_what_it_takes() {
    let sidecar = Sidecar::under(customers());
    let value = "a".repeat(60_000);
    assert_weighed("a head", weights(&sidecar, "/customers", &[JSON, ("x-other", &value)], b"{"));
}

#[test]
fn request_is_refused_while_the_module_has_no_memory_left() {
    let sidecar = ready(customers());
    sidecar.ports.borrow_mut().memory_in_use = Some(in_use);
    let status = |others: usize| {
        OTHERS.set(others);
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        OTHERS.set(0);
        exchange.reply().map(|(status, _)| status)
    };
    assert_eq!(status(MAX_IN_USE / 2), None);
    assert_eq!(status(MAX_IN_USE), Some(503));
    // What is held already may end, and nothing more is held.
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(b"{", false);
    OTHERS.set(MAX_IN_USE);
    exchange.request_body(&[b' '; 1000], false);
    OTHERS.set(0);
    assert_eq!(exchange.refused(), 503);
}

/// The status with which a request with this query and header is refused; 0 if it goes.
fn looked_for(spec: Value, query: &str, headers: &[(&str, &str)]) -> u16 {
    let sidecar = ready(searched(&spec));
    let mut exchange = sidecar.exchange();
    exchange.request("GET", &format!("/customers?{query}"), headers, b"");
    if exchange.upstream.has_ended { 0 } else { exchange.refused() }
}

#[test]
fn head_with_more_values_than_are_looked_for_is_refused() {
    let text = || json!({"type": "text"});
    assert_eq!(looked_for(text(), &"ssn=a&".repeat(1000), &[]), 0);
    assert_eq!(looked_for(text(), &"ssn=a&".repeat(2100), &[]), 431);
    assert_eq!(looked_for(text(), "", &[("x-ssn", "a"); 1000]), 0);
    assert_eq!(looked_for(text(), "", &[("x-ssn", "a"); 2100]), 431);
    // Of a few characters thousands of digits are made.
    let numeric = || json!({"type": "varchar(4096)"});
    assert_eq!(looked_for(numeric(), &format!("ssn={}", "a".repeat(4000)), &[]), 0);
    assert_eq!(looked_for(numeric(), &format!("ssn={}&", "a".repeat(4000)).repeat(30), &[]), 431);
    let formatted = || json!({"type": "text", "protection": "format_preserving", "alphabet": "alphanumeric"});
    assert_eq!(looked_for(formatted(), &format!("ssn={}&", "a".repeat(20)).repeat(1500), &[]), 0);
    assert_eq!(looked_for(formatted(), &format!("ssn={}&", "a".repeat(40)).repeat(80), &[]), 0);
    assert_eq!(looked_for(formatted(), &format!("ssn={}&", "a".repeat(250)).repeat(30), &[]), 431);
}

/// The status with which so many of this value are refused, encoded; 0 if they go.
fn sent(spec: Value, value: &str, count: usize) -> u16 {
    let sidecar = ready(searched(&spec));
    let body = format!("[{}{value}]", format!("{value},").repeat(count - 1));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(body.as_bytes()).unwrap();
    let mut exchange = sidecar.exchange();
    let headers = [JSON, ("content-encoding", "gzip")];
    exchange.request("POST", "/customers?", &headers, &gzip.finish().unwrap());
    if exchange.upstream.has_ended { 0 } else { exchange.refused() }
}

#[test]
fn values_that_take_long_are_bounded_by_what_they_cost() {
    let formatted = |length: usize, count: usize| {
        let spec = json!({"type": "text", "protection": "format_preserving", "alphabet": "alphanumeric"});
        sent(spec, &format!("\"{}\"", "a".repeat(length)), count)
    };
    assert_eq!((formatted(32, 20_000), formatted(40, 2000), formatted(256, 500)), (0, 0, 0));
    assert_eq!((formatted(40, 65_000), formatted(60, 65_000), formatted(256, 6000)), (413, 413, 413));
    let nested = format!("{}1{}", "{\"\":".repeat(126), "}".repeat(126));
    let body = |type_name: &str, value: &str, count: usize| {
        let spec = json!({"type": type_name, "protection": "randomized"});
        let at = with(field("request", "$[*]", "customer.ssn"), "type", spec["type"].clone());
        let at = with(at, "protection", spec["protection"].clone());
        let sidecar = ready(plan(&[route("/customers", &[at])]));
        let body = format!("[{}{value}]", format!("{value},").repeat(count - 1));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(body.as_bytes()).unwrap();
        let mut exchange = sidecar.exchange();
        let headers = [JSON, ("content-encoding", "gzip")];
        exchange.request("POST", "/customers", &headers, &gzip.finish().unwrap());
        if exchange.upstream.has_ended { 0 } else { exchange.refused() }
    };
    assert_eq!((body("jsonb", &nested, 500), body("jsonb", &nested, 14_500)), (0, 413));
    // Digits that are made and not kept.
    let dropped = format!("{{{}\"a\":1}}", "\"a\":1e-4096,".repeat(1000));
    assert_eq!((body("jsonb", &dropped, 5), body("jsonb", &dropped, 100)), (0, 413));
    assert_eq!((body("numeric(5,2)", "1e-4096", 5000), body("numeric(5,2)", "1e-4096", 65_000)), (0, 413));
    let near = format!("0.{}1", "3".repeat(498));
    assert_eq!((body("float8", &near, 1000), body("float8", &near, 30_000)), (0, 413));
}
