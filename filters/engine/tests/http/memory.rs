//! A body of any length goes through in bounded memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::http_support::*;
use fieldveil_engine::http::Flow;
use serde_json::json;

const GIGABYTE: usize = 1_000_000_000;
/// What a rewriter keeps beside the limits: a key, a number's sign and the like.
const SLACK: usize = 4096;

/// A piece of 1 MB of an array's elements: three named fields, and much that is not.
fn piece(value: &str) -> Vec<u8> {
    let mut piece = Vec::new();
    for part in ["x", "y", "z"] {
        let element = json!({"ssn": value, "name": part.repeat(333_000), "list": [1.5, null, true, {}]});
        piece.extend_from_slice(element.to_string().as_bytes());
        piece.push(b',');
    }
    piece
}

fn elements() -> serde_json::Value {
    let at = |place| field(place, "$[*].ssn", "customer.ssn");
    plan(&[route("/customers", &[at("request"), at("response")])])
}

#[test]
fn more_values_at_once_than_a_worker_may_be_busy_with_are_refused() {
    let sidecar = Sidecar::under(plan(&[route("/numbers", &[field("request", "$[*]", "customer.ssn")])]));
    let body = format!("[{}\"1\"]", "\"1\",".repeat(262_144));
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/numbers", &[JSON], false);
    exchange.request_body(body.as_bytes(), true);
    assert_eq!(exchange.refused(), 413);

    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/numbers", &[JSON], false);
    for piece in body.as_bytes().chunks(128 << 10) {
        exchange.request_body(piece, false);
    }
    exchange.request_body(b"", true);
    assert!(exchange.upstream.has_ended);
}

#[test]
fn gigabyte_streams_both_ways_and_no_more_than_the_limits_is_held() {
    let http = json!({"service": "shop", "limits": {"held_body_bytes": 65_536}});
    let sidecar = Sidecar::configured(elements(), http);
    let stored = sidecar.stored("POST", "/customers", &format!("[{{\"ssn\":\"{CANARY}\"}}]"));
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    for is_request in [true, false] {
        let mut exchange = sidecar.exchange();
        let value = if is_request { CANARY } else { stored[0]["ssn"].as_str().unwrap() };
        exchange.request_head("POST", "/customers", &[JSON], !is_request);
        if !is_request {
            exchange.response_head(200, &[JSON], false);
        }
        let exchange = &mut exchange.exchange;
        let piece = piece(value);
        let (mut given, mut left, mut most) = (0, 0, 0);
        let mut give = |bytes: &[u8], is_last: bool| {
            let output = match is_request {
                true => exchange.request_body(bytes, is_last),
                false => exchange.response_body(bytes, is_last),
            };
            assert!(output.reply.is_none() && !output.reset);
            assert!(output.flow == Flow::Continue || !is_last);
            left += output.body.map_or(bytes.len(), |body| body.len());
            given += bytes.len();
            most = most.max(exchange.held());
            given
        };
        give(b"[", false);
        while piece.chunks(65_536).map(|chunk| give(chunk, false)).last().unwrap() < GIGABYTE {}
        give(b"0]", true);
        assert!(most <= 65_536 + SLACK, "{most} bytes were held");
        assert!(if is_request { left > given } else { left < given });
    }
}

#[test]
fn field_that_never_ends_is_held_to_its_limit_and_refused() {
    let mut config = config(json!({"service": "shop"}));
    config["limits"] = json!({"protected_value_bytes": 100_000});
    let sidecar = Sidecar::with_config(elements(), &config);
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(b"[{\"ssn\":\"", false);
    let mut most = 0;
    while !exchange.is_over() {
        exchange.request_body(&[b'x'; 4096], false);
        most = most.max(exchange.exchange.held());
    }
    assert_eq!(exchange.reply().unwrap().0, 413);
    assert!(most <= 100_000 + SLACK && exchange.exchange.held() == 0, "{most}");
    assert!(!exchange.upstream.body.contains(&b'x'));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// What the service gets, or the status that the client gets, of an encoded body whose named values are of this type.
fn sent(at: &str, type_name: &str, text: &str) -> Result<usize, u16> {
    let value = with(field("request", at, "shop.value"), "type", json!(type_name));
    let sidecar =
        Sidecar::under(plan(&[route("/values", &[with(value, "protection", json!("randomized"))])]));
    let mut exchange = sidecar.exchange();
    let encoding = ("content-encoding", "gzip");
    exchange.chunk = usize::MAX;
    exchange.request("POST", "/values", &[JSON, encoding], &gzip(text));
    match exchange.upstream.has_ended {
        true => Ok(exchange.upstream.body.len()),
        false => Err(exchange.refused()),
    }
}

#[test]
fn short_body_that_stands_for_a_long_one_is_refused() {
    let list = |value: &str, count: usize| format!("[{}{value}]", format!("{value},").repeat(count - 1));
    let objects = |count: usize| list(r#"{"num":1e4096}"#, count);
    // What ended the worker, or kept it for seconds.
    assert_eq!(sent("$[*].num", "numeric", &objects(180_000)), Err(413));
    assert_eq!(sent("$[*].num", "numeric", &objects(40_000)), Err(413));
    let matrix = list(&list("1e4096", 540), 300);
    assert_eq!(sent("$.v", "jsonb", &format!(r#"{{"v":{matrix}}}"#)), Err(413));
    assert_eq!(sent("$.v[*]", "jsonb", &format!(r#"{{"v":{}}}"#, list(&list("1e4096", 200), 300))), Err(413));
    assert_eq!(sent("$[*]", "float8", &list("1.5", 250_000)), Err(413));
    assert_eq!(sent("$[*]", "float8[]", &list(&list("1.5", 60_000), 30)), Err(413));
    // What an application sends.
    assert!(sent("$[*].num", "numeric", &objects(1000)).is_ok());
    assert!(sent("$[*]", "numeric", &list("1e100", 20_000)).is_ok());
    assert!(sent("$[*]", "float8", &list("0.30000000000000004", 50_000)).is_ok());
    assert!(sent("$[*]", "float8[]", &list(&list("0.125", 3000), 40)).is_ok());
    assert!(sent("$.v", "jsonb", &format!(r#"{{"v":{}}}"#, list("1e10", 50_000))).is_ok());
}
