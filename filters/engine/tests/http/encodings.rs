//! Encoded bodies: what comes of one is what comes of the same body without an encoding, and what cannot be decoded is refused.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::io::Write;

use crate::http_support::*;
use fieldveil_engine::http::Flow;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

const CODINGS: [&str; 4] = ["gzip", "x-gzip", "br", "zstd"];

fn encoded(coding: &str, text: &[u8]) -> Vec<u8> {
    match coding {
        "br" => {
            let mut encoded = Vec::new();
            let parameters = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
            brotli::BrotliCompress(&mut &*text, &mut encoded, &parameters).unwrap();
            encoded
        }
        "zstd" => compress_to_vec(text, CompressionLevel::Fastest),
        _ => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn held(bytes: usize) -> Value {
    json!({"service": "shop", "limits": {"held_body_bytes": bytes}})
}

/// A document of about so many bytes that does not shrink to nothing.
fn document(length: usize) -> String {
    let mut state = 7_u32;
    let letters = (0..length).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 28) as u8)
    });
    json!({"filling": letters.collect::<String>(), "ssn": CANARY, "list": [1, null, {"ssn": 2}]}).to_string()
}

#[test]
fn encoded_request_leaves_decoded_and_sealed_with_the_head_of_a_plain_one() {
    let sidecar = Sidecar::under(customers());
    let body = document(200);
    let stored = sidecar.stored("POST", "/customers", &body);
    for coding in CODINGS {
        let bytes = encoded(coding, body.as_bytes());
        for chunk in [1, 7, bytes.len()] {
            let mut exchange = sidecar.exchange();
            exchange.chunk = chunk;
            exchange.request("POST", "/customers", &[JSON, ("content-encoding", coding)], &bytes);
            assert_eq!(exchange.upstream.text(), stored, "{coding}");
            assert!(exchange.upstream.header("content-encoding").is_empty());
            assert_eq!(exchange.upstream.header("content-length"), [stored.len().to_string()]);
        }
    }
}

#[test]
fn encoded_response_is_given_decoded_and_opened() {
    let sidecar = Sidecar::under(customers());
    let body = document(200);
    let stored = sidecar.stored("POST", "/customers", &body);
    for coding in CODINGS {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        let headers = [JSON, ("content-encoding", coding), ("etag", "\"a\""), ("vary", "accept-encoding")];
        exchange.respond(200, &headers, &encoded(coding, stored.as_bytes()));
        assert_eq!(exchange.client.text(), body, "{coding}");
        assert!(exchange.client.header("content-encoding").is_empty());
        assert_eq!(exchange.client.header("content-length"), [body.len().to_string()]);
        assert_eq!(exchange.client.header("etag"), ["W/\"a\""]);
        assert_eq!(exchange.client.header("vary"), ["accept-encoding"]);
    }
    for (method, status) in [("HEAD", 200), ("GET", 304)] {
        let mut exchange = sidecar.exchange();
        exchange.request(method, "/customers", &[], b"");
        exchange.respond(status, &[JSON, ("content-encoding", "gzip")], b"");
        assert!(exchange.client.header("content-encoding").is_empty(), "{method}");
    }
}

#[test]
fn long_encoded_bodies_stream_both_ways() {
    let sidecar = Sidecar::configured(customers(), held(4096));
    let letters = json!({"ssn": CANARY, "filling": "x".repeat(200_000)}).to_string();
    for body in [document(300_000), letters] {
        let stored = sidecar.stored("POST", "/customers", &body);
        for coding in CODINGS {
            let mut exchange = sidecar.exchange();
            exchange.chunk = 1000;
            let headers = [JSON, ("content-encoding", coding)];
            exchange.request("POST", "/customers", &headers, &encoded(coding, body.as_bytes()));
            assert_eq!(exchange.reply(), None);
            assert!(exchange.upstream.text() == stored, "{coding}");
            assert!(exchange.upstream.header("content-length").is_empty());
            exchange.respond(200, &headers, &encoded(coding, stored.as_bytes()));
            assert!(exchange.client.text() == body, "{coding}");
            assert_eq!(exchange.exchange.held(), 0, "what a decoder held is let go of");
        }
    }
}

#[test]
fn body_that_came_while_the_plan_was_awaited_is_decoded_too() {
    let body = document(100);
    for coding in CODINGS {
        let sidecar = Sidecar::under(customers());
        let mut exchange = sidecar.exchange();
        exchange.answers = false;
        let headers = [JSON, ("content-encoding", coding)];
        exchange.request("POST", "/customers", &headers, &encoded(coding, body.as_bytes()));
        assert!(exchange.upstream.head.is_none());
        exchange.answer();
        exchange.answer();
        assert!(exchange.upstream.text().contains("fv1."), "{coding}");
    }
}

#[test]
fn events_and_lines_that_are_flushed_leave_at_once() {
    let sidecar = Sidecar::under(customers());
    let event = "data: {\"ssn\":null}\n\n";
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.response_head(
        200,
        &[("content-type", "text/event-stream"), ("content-encoding", "gzip")],
        false,
    );
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for count in 1..4 {
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        exchange.response_body(&std::mem::take(encoder.get_mut()), false);
        assert_eq!(exchange.client.body, event.repeat(count).as_bytes());
    }
    exchange.response_body(&encoder.finish().unwrap(), true);
    assert_eq!(exchange.client.text(), event.repeat(3));
    // The decoder of zstd would keep them back.
    for media in ["text/event-stream", "application/x-ndjson", "application/json-seq"] {
        let headers = [("content-type", media), ("content-encoding", "zstd")];
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &headers, &encoded("zstd", event.as_bytes()));
        assert_eq!(exchange.refused(), 415);
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &headers, &encoded("zstd", event.as_bytes()));
        assert_eq!(exchange.reply().unwrap().0, 502);
    }
}

#[test]
fn other_encodings_and_several_are_refused_and_the_client_is_told_which_are_taken() {
    let sidecar = Sidecar::under(customers());
    for coding in ["deflate", "compress", "unknown", "gzip, br", "br, br", "zstd;q=1"] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[JSON, ("content-encoding", coding)], b"{}");
        assert_eq!(exchange.refused(), 415, "{coding}");
        let told = ("accept-encoding".to_owned(), "gzip, br, zstd".to_owned());
        assert!(exchange.reply.as_ref().unwrap().headers.contains(&told));
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[JSON, ("content-encoding", coding)], b"{}");
        assert_eq!(exchange.reply().unwrap().0, 502, "{coding}");
    }
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON, ("content-encoding", "identity")], b"{}");
    assert_eq!(exchange.upstream.text(), "{}");
}

#[test]
fn body_that_is_cut_short_changed_or_followed_by_more_is_never_taken_for_whole() {
    let sidecar = Sidecar::under(customers());
    let body = document(100);
    for coding in CODINGS {
        let whole = encoded(coding, body.as_bytes());
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 0x55;
        let mut bodies: Vec<Vec<u8>> = (1..whole.len()).map(|length| whole[..length].to_vec()).collect();
        bodies.extend([[&whole[..], b"{}"].concat(), body.clone().into_bytes()]);
        if coding != "br" {
            // It has no checksum.
            bodies.push(changed);
        }
        for bytes in bodies {
            let mut exchange = sidecar.exchange();
            exchange.request("POST", "/customers", &[JSON, ("content-encoding", coding)], &bytes);
            assert_eq!(exchange.refused(), 400, "{coding} {}", bytes.len());
            assert!(!exchange.reply().unwrap().1.to_string().contains(CANARY));
            let mut exchange = sidecar.exchange();
            exchange.request("GET", "/customers", &[], b"");
            exchange.respond(200, &[JSON, ("content-encoding", coding)], &bytes);
            assert_eq!(exchange.reply().unwrap().0, 502, "{coding} {}", bytes.len());
            assert!(exchange.client.head.is_none());
        }
    }
}

#[test]
fn body_that_breaks_after_it_has_begun_to_leave_is_reset() {
    let sidecar = Sidecar::configured(customers(), held(1000));
    let stored = sidecar.stored("POST", "/customers", &document(300_000));
    for coding in CODINGS {
        let bytes = encoded(coding, stored.as_bytes());
        let mut exchange = sidecar.exchange();
        exchange.chunk = 1000;
        exchange.request("GET", "/customers", &[], b"");
        exchange.response_head(200, &[JSON, ("content-encoding", coding)], false);
        exchange.response_body(&bytes[..bytes.len() - 1], true);
        // What zstd's decoder keeps back may be all.
        assert!(exchange.reset || exchange.reply().unwrap().0 == 502, "{coding}");
        assert!(!exchange.client.has_ended, "{coding}");
    }
}

#[test]
fn body_of_nothing_is_what_it_is_without_an_encoding() {
    let sidecar = Sidecar::under(customers());
    for coding in CODINGS {
        for bytes in [vec![], encoded(coding, b"")] {
            let mut exchange = sidecar.exchange();
            exchange.request_head("POST", "/customers", &[JSON, ("content-encoding", coding)], false);
            exchange.request_body(&bytes, true);
            assert_eq!(exchange.upstream.text(), "", "{coding}");
        }
    }
}

#[test]
fn bomb_is_refused_and_takes_little_memory() {
    let sidecar = Sidecar::under(customers());
    let bomb = json!({"a": "x".repeat(16 << 20)}).to_string();
    let stored = sidecar.stored("POST", "/customers", "{}");
    assert_eq!(stored, "{}");
    for coding in CODINGS {
        let bytes = encoded(coding, bomb.as_bytes());
        assert!(bytes.len() < 40 << 10, "{coding} {}", bytes.len());
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[JSON, ("content-encoding", coding)], &bytes);
        assert_eq!(exchange.refused(), 413, "{coding}");
        assert_eq!(exchange.exchange.held(), 0);
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[JSON, ("content-encoding", coding)], &bytes);
        assert_eq!(exchange.reply().unwrap().0, 502, "{coding}");
    }
}

#[test]
fn decoders_memory_counts_among_what_exchanges_hold() {
    let sidecar = Sidecar::under(customers());
    let bytes = encoded("gzip", document(100).as_bytes());
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON, ("content-encoding", "gzip")], false);
    exchange.request_body(&bytes, false);
    assert!(exchange.exchange.held() > 64 << 10, "{}", exchange.exchange.held());
    assert!(exchange.upstream.head.is_none(), "but the document is held by its own length");
    let output = exchange.exchange.request_body(b"", true);
    assert!(output.flow == Flow::Continue && exchange.exchange.held() == 0);
}

#[test]
fn graphql_is_looked_at_decoded() {
    let mut graphql = route("/graphql", &[field("request", "$.variables.ssn", "customer.ssn")]);
    graphql["graphql"] = json!(true);
    let sidecar = Sidecar::configured(plan(&[graphql]), held(4096));
    let literal = json!({"query": "{ customer(ssn: \"078-05-1120\") { name } }"}).to_string();
    let long = json!({"query": format!("{{ a }} #{}", "x".repeat(5000))}).to_string();
    for coding in CODINGS {
        for (body, status) in [(&literal, 422), (&long, 413)] {
            let mut exchange = sidecar.exchange();
            let headers = [JSON, ("content-encoding", coding)];
            exchange.request("POST", "/graphql", &headers, &encoded(coding, body.as_bytes()));
            assert_eq!(exchange.refused(), status, "{coding}");
        }
    }
}

#[test]
fn service_is_asked_for_no_encoding_that_the_client_did_not_ask_for_or_that_is_not_streamed() {
    let sidecar = Sidecar::under(customers());
    for (asked, left) in [
        (&[("accept-encoding", "gzip, deflate, br, zstd")][..], &["gzip, br"][..]),
        (&[("accept-encoding", "deflate"), ("accept-encoding", "br;q=0.5")], &["br;q=0.5"]),
        (&[("accept-encoding", "*")], &[]),
        (&[], &[]),
    ] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", asked, b"");
        assert_eq!(exchange.upstream.header("accept-encoding"), left, "{asked:?}");
    }
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[("accept-encoding", "deflate, zstd")], b"");
    assert_eq!(exchange.upstream.header("accept-encoding"), ["deflate, zstd"]);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        ("[a-c]", 1..5000_usize).prop_map(|(letter, times)| Value::from(letter.repeat(times))),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]|ssn", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encoded_body_comes_to_what_the_same_body_comes_to_plain(
        value in value(),
        coding in 0..CODINGS.len(),
        chunk in 1..2000_usize,
        most in prop_oneof![Just(1_usize), Just(200), Just(65_536)],
        ends_early in any::<bool>(),
    ) {
        let at = |place| with(field(place, "$..ssn", "customer.ssn"), "type", json!("json"));
        let sidecar = Sidecar::configured(plan(&[route("/x", &[at("request"), at("response")])]), held(most));
        let mut body = value.to_string();
        if ends_early {
            body.pop();
        }
        let coding = CODINGS[coding];
        let bytes = encoded(coding, body.as_bytes());
        let run = |headers: &[(&str, &str)], bytes: &[u8]| {
            let mut exchange = sidecar.exchange();
            exchange.chunk = chunk;
            exchange.request("POST", "/x", headers, bytes);
            let status = exchange.reply().map(|(status, _)| status);
            (status, exchange.upstream.has_ended.then(|| exchange.upstream.text()))
        };
        let plain = run(&[JSON], body.as_bytes());
        prop_assert_eq!(run(&[JSON, ("content-encoding", coding)], &bytes), plain);
    }
}
