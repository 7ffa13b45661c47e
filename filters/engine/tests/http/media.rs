//! Bodies in which fields can be looked for, and those in which they cannot.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::http_support::*;
use serde_json::json;

const OTHERS: [&str; 9] = [
    "text/html",
    "application/octet-stream",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "application/grpc",
    "application/grpc-web+json",
    "application/json; charset=iso-8859-1",
    "application/json-patch+json",
    "nonsense",
];

#[test]
fn request_in_another_media_type_is_refused_with_415_where_fields_are_named() {
    let sidecar = Sidecar::under(customers());
    for media in OTHERS {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[("content-type", media)], br#"{"ssn":"078-05-1120"}"#);
        assert_eq!(exchange.refused(), 415, "{media}");
    }
    for headers in [&[][..], &[JSON, ("content-type", "text/html")]] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", headers, b"{}");
        assert_eq!(exchange.refused(), 415, "{headers:?}");
    }
}

#[test]
fn multipart_and_forms_are_refused_with_reasons_of_their_own() {
    let sidecar = Sidecar::under(customers());
    let mut reasons = std::collections::BTreeSet::new();
    for media in OTHERS {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[("content-type", media)], b"x");
        reasons.insert(exchange.reply().unwrap().1["reason"].as_str().unwrap().to_owned());
    }
    // The two of gRPC share one.
    assert_eq!(reasons.len(), OTHERS.len() - 2, "{reasons:?}");
}

#[test]
fn response_in_another_media_type_is_refused_with_502_where_fields_are_named() {
    let sidecar = Sidecar::under(customers());
    for media in OTHERS.iter().copied().filter(|media| !media.contains("patch")) {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[("content-type", media)], br#"{"ssn":"078-05-1120"}"#);
        assert_eq!(exchange.reply().unwrap().0, 502, "{media}");
    }
}

#[test]
fn any_media_type_passes_in_a_direction_in_which_nothing_is_named() {
    let response = field("response", "$.ssn", "customer.ssn");
    let request = field("request", "$.ssn", "customer.ssn");
    let sidecar = Sidecar::under(plan(&[route("/reads", &[response]), route("/writes", &[request])]));
    for media in OTHERS {
        let mut exchange = sidecar.exchange();
        exchange.request(
            "POST",
            "/reads",
            &[("content-type", media), ("content-encoding", "br")],
            b"\x00\xff{",
        );
        assert_eq!(exchange.upstream.body, b"\x00\xff{", "{media}");
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/writes", &[JSON], b"{}");
        exchange.respond(200, &[("content-type", media), ("content-encoding", "br")], b"\x00\xff{");
        assert_eq!(exchange.client.body, b"\x00\xff{", "{media}");
    }
}

#[test]
fn events_are_for_answers() {
    let sidecar = Sidecar::under(customers());
    for body in ["data: {\"ssn\":\"078-05-1120\"}\n\n", "{\"ssn\":\"078-05-1120\"}"] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[("content-type", "text/event-stream")], body.as_bytes());
        assert_eq!(exchange.refused(), 415);
    }
}

#[test]
fn every_json_media_type_is_sealed_in_its_framing() {
    let sidecar = Sidecar::under(customers());
    for (media, body) in [
        ("application/merge-patch+json", r#"{"ssn":"078-05-1120"}"#),
        ("application/x-ndjson", "{\"ssn\":\"078-05-1120\"}\n{\"ssn\":\"078-05-1120\"}\n"),
        ("application/jsonl", "{\"ssn\":\"078-05-1120\"}\n\n{\"ssn\":\"078-05-1120\"}"),
        ("application/json-seq", "\u{1e}{\"ssn\":\"078-05-1120\"}\n"),
    ] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[("content-type", media)], body.as_bytes());
        let stored = exchange.upstream.text();
        assert!(stored.contains("fv1.") && !stored.contains("078"), "{media}: {stored}");
        let occurrences = body.matches("ssn").count();
        assert_eq!(stored.matches("fv1.").count(), occurrences, "{media}");
        exchange.respond(200, &[("content-type", media)], stored.as_bytes());
        assert_eq!(exchange.client.text(), body, "{media}");
    }
}

#[test]
fn graphql_is_taken_in_bodies_alone_and_whole() {
    let mut graphql = route(
        "/graphql",
        &[
            field("request", "$.variables.ssn", "customer.ssn"),
            field("response", "$.data.customer.ssn", "customer.ssn"),
        ],
    );
    graphql["graphql"] = json!(true);
    let http = json!({"service": "shop", "limits": {"held_body_bytes": 4096}});
    let sidecar = Sidecar::configured(plan(&[graphql]), http);
    for path in ["/graphql?query=%7Ba%7D", "/graphql?x=1&vari%61bles=%7B%7D"] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", path, &[], b"");
        assert_eq!(exchange.refused(), 405, "{path}");
    }
    let document = "query($ssn: String!) { customer(ssn: $ssn) { ssn } }";
    let body = json!({"query": document, "variables": {"ssn": CANARY}}).to_string();
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/graphql", &[JSON], false);
    for byte in body.as_bytes().chunks(1) {
        exchange.request_body(byte, false);
        assert!(exchange.upstream.head.is_none());
    }
    exchange.request_body(b"", true);
    assert!(exchange.upstream.json()["variables"]["ssn"].as_str().unwrap().starts_with("fv1."));
    let literal = json!({"query": "{ customer(ssn: \"078-05-1120\") { ssn } }"}).to_string();
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/graphql", &[JSON], literal.as_bytes());
    assert_eq!(exchange.refused(), 422);
    let long = json!({"query": format!("{{ a }} #{}", "x".repeat(4096))}).to_string();
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/graphql", &[JSON], long.as_bytes());
    assert_eq!(exchange.refused(), 413);
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/graphql", &[("content-type", "application/x-ndjson")], literal.as_bytes());
    assert_eq!(exchange.refused(), 415);
}
