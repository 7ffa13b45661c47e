//! Validators, ranges, digests, caches, tunnels, who asks, and values outside of bodies.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::http_support::*;
use serde_json::{Value, json};

#[test]
fn strong_etag_becomes_weak_on_every_response_and_strong_again_in_if_match() {
    let sidecar = Sidecar::under(customers());
    for (method, status, ends) in
        [("GET", 200, false), ("HEAD", 200, true), ("GET", 304, true), ("GET", 404, false)]
    {
        for (etag, weak) in [("\"a\"", "W/\"a\""), ("W/\"a\"", "W/\"a\"")] {
            let mut exchange = sidecar.exchange();
            exchange.request(method, "/customers", &[], b"");
            exchange.response_head(status, &[JSON, ("etag", etag)], ends);
            if !ends {
                exchange.response_body(b"{}", true);
            }
            assert_eq!(exchange.client.header("etag"), [weak], "{method} {status}");
        }
    }
    let mut exchange = sidecar.exchange();
    exchange.request(
        "PUT",
        "/customers",
        &[JSON, ("if-match", "W/\"a\", \"b\""), ("if-none-match", "W/\"c\"")],
        b"{}",
    );
    assert_eq!(exchange.upstream.header("if-match"), ["\"a\", \"b\""]);
    assert_eq!(exchange.upstream.header("if-none-match"), ["W/\"c\""]);
}

#[test]
fn if_match_of_a_method_without_fields_is_strong_where_a_get_has_some() {
    let mut get = route("/customers", &[field("response", "$.ssn", "customer.ssn")]);
    get["methods"] = json!(["GET"]);
    let sidecar = Sidecar::under(plan(&[get]));
    for (path, if_match) in [("/customers", "\"a\""), ("/elsewhere", "W/\"a\"")] {
        let mut exchange = sidecar.exchange();
        exchange.request("DELETE", path, &[("if-match", "W/\"a\"")], b"");
        assert_eq!(exchange.upstream.header("if-match"), [if_match]);
    }
}

#[test]
fn ranges_are_not_asked_for_and_parts_are_not_given() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    let asked =
        [("range", "bytes=0-9"), ("if-range", "\"a\""), ("accept-encoding", "deflate"), ("accept", "*/*")];
    exchange.request("GET", "/customers", &asked, b"");
    for name in ["range", "if-range", "accept-encoding"] {
        assert!(exchange.upstream.header(name).is_empty(), "{name}");
    }
    assert_eq!(exchange.upstream.header("accept"), ["*/*"]);
    exchange.respond(206, &[JSON, ("content-range", "bytes 0-9/20")], br#"{"ssn":"07"#);
    assert_eq!(exchange.reply().unwrap().0, 502);
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.respond(200, &[("content-type", "multipart/byteranges; boundary=x")], b"--x");
    assert_eq!(exchange.reply().unwrap().0, 502);
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.respond(200, &[JSON, ("accept-ranges", "bytes")], b"{}");
    assert!(exchange.client.header("accept-ranges").is_empty());
}

#[test]
fn digests_of_what_the_service_sent_do_not_reach_the_client() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    let digests =
        [JSON, ("content-digest", "a"), ("repr-digest", "a"), ("digest", "a"), ("content-md5", "a")];
    exchange.respond(200, &digests, b"{}");
    for (name, _) in &digests[1..] {
        assert!(exchange.client.header(name).is_empty(), "{name}");
    }
}

#[test]
fn no_shared_cache_may_keep_a_response_in_which_fields_are_named() {
    let sidecar = Sidecar::under(customers());
    for (said, expected) in [
        (&[][..], &["private"][..]),
        (&[("cache-control", "max-age=60, public")], &["max-age=60, public", "private"]),
        (&[("cache-control", "max-age=60, Private")], &["max-age=60, Private"]),
        (&[("cache-control", "no-store"), ("vary", "accept")], &["no-store"]),
        (&[("cdn-cache-control", "max-age=60"), ("x-accel-expires", "60")], &["private"]),
        (&[("vendor-cdn-cache-control", "max-age=60"), ("surrogate-control", "max-age=60")], &["private"]),
    ] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[&[JSON], said].concat(), b"{}");
        assert_eq!(exchange.client.header("cache-control"), expected);
        for name in ["cdn-cache-control", "vendor-cdn-cache-control", "surrogate-control", "x-accel-expires"]
        {
            assert!(exchange.client.header(name).is_empty(), "{name}");
        }
        let vary = said.iter().filter(|(name, _)| *name == "vary").count();
        assert_eq!(exchange.client.header("vary").len(), vary);
    }
}

#[test]
fn tunnels_pass_only_where_nothing_is_named() {
    let sidecar = Sidecar::under(customers());
    let upgrade = [("upgrade", "websocket"), ("connection", "upgrade")];
    for (path, status) in [("/customers", Some(403)), ("/chat", None)] {
        let mut exchange = sidecar.exchange();
        exchange.request_head("GET", path, &upgrade, false);
        assert_eq!(exchange.reply().map(|(status, _)| status), status, "{path}");
        let mut exchange = sidecar.exchange();
        let pseudo = [(":method", "CONNECT"), (":protocol", "websocket"), (":path", path)];
        exchange.request_with(head(&pseudo, &[]), false);
        assert_eq!(exchange.reply().map(|(status, _)| status), status, "{path}");
        if status.is_none() {
            exchange.request_body(b"\x81\x00", false);
            exchange.response_head(200, &[], false);
            exchange.response_body(b"\x81\x01", false);
            assert_eq!(
                (&exchange.upstream.body[..], &exchange.client.body[..]),
                (&b"\x81\x00"[..], &b"\x81\x01"[..])
            );
        }
    }
    let mut exchange = sidecar.exchange();
    exchange.request_with(head(&[(":method", "CONNECT"), (":authority", "shop:80")], &[]), false);
    assert_eq!(exchange.refused(), 403);
    let sidecar = Sidecar::under(plan(&[]));
    let mut exchange = sidecar.exchange();
    exchange.request_with(head(&[(":method", "CONNECT"), (":authority", "shop:80")], &[]), false);
    assert_eq!(exchange.reply(), None);
}

/// What the policy was asked.
fn input(exchange: &Dialogue<'_>) -> Value {
    let plan = exchange.asked.iter().find_map(|fetch| match fetch {
        fieldveil_engine::fetch::Fetch::Plan(principal) => Some(principal.request().to_owned()),
        fieldveil_engine::fetch::Fetch::Keys(_) => None,
    });
    serde_json::from_str::<Value>(&plan.unwrap()).unwrap()["input"].clone()
}

fn identified() -> Sidecar {
    let identity = json!({"jwt_payload": "claims", "user_header": "x-user", "purpose_header": "x-purpose",
        "headers": ["x-team"]});
    Sidecar::configured(customers(), json!({"service": "shop", "identity": identity}))
}

#[test]
fn policy_is_told_who_asks_by_what_is_configured_and_nothing_else() {
    let sidecar = identified();
    let mut exchange = sidecar.exchange();
    exchange.peer.claims =
        json!({"sub": "ada", "roles": ["a"], "exp": 1, "jti": "x"}).as_object().unwrap().clone();
    let headers = [
        ("x-user", "ada"),
        ("x-purpose", "refund"),
        ("x-team", "billing"),
        ("x-other", "z"),
        ("cookie", "c"),
    ];
    exchange.request("GET", "/customers?a=b", &headers, b"");
    let input = input(&exchange);
    assert_eq!(input["protocol"], "http");
    assert_eq!(input["listener"], "l");
    assert_eq!(
        input["session"],
        json!({"user": "ada", "role": "", "database": "shop", "application_name": "", "source": "10.0.0.7", "purpose": "refund"})
    );
    assert_eq!(input["claims"], json!({"sub": "ada", "roles": ["a"]}));
    assert_eq!(input["headers"], json!({"x-team": "billing"}));
    assert!(!input.to_string().contains("customers"));
}

#[test]
fn nothing_is_trusted_unless_it_is_configured() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.peer.claims = json!({"sub": "ada"}).as_object().unwrap().clone();
    exchange.request("GET", "/customers", &[("x-user", "ada"), ("x-team", "billing")], b"");
    let input = input(&exchange);
    assert_eq!((&input["session"]["user"], &input["claims"]), (&json!(""), &json!({})));
    assert!(input.get("headers").is_none());
}

#[test]
fn identity_header_that_comes_twice_or_is_no_text_is_refused() {
    let sidecar = identified();
    for name in ["x-user", "x-purpose", "x-team"] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/elsewhere", &[(name, "a"), (name, "a")], b"");
        assert_eq!(exchange.refused(), 400, "{name}");
        assert!(exchange.asked.is_empty());
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/elsewhere", &[(name, "a\u{1}")], b"");
        assert_eq!(exchange.refused(), 400, "{name}");
        let mut exchange = sidecar.exchange();
        let mut head = head(&[(":method", "GET"), (":path", "/")], &[]);
        head.0.push((name.into(), b"\xff".to_vec()));
        exchange.request_with(head, true);
        assert_eq!(exchange.refused(), 400, "{name}");
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/elsewhere", &[(name, "a".repeat(5000).as_str())], b"");
        assert_eq!(exchange.refused(), 400, "{name}");
    }
}

fn searching() -> Sidecar {
    Sidecar::under(plan(&[
        route("/people", &[field("query", "ssn", "customer.ssn"), field("header", "x-ssn", "customer.ssn")]),
        route("/people/{ssn}", &[field("segment", "ssn", "customer.ssn")]),
        route(
            "/people/{ssn}/all",
            &[field("request", "$.ssn", "customer.ssn"), field("segment", "ssn", "customer.ssn")],
        ),
    ]))
}

#[test]
fn named_parameters_headers_and_segments_are_sealed_in_place() {
    let sidecar = searching();
    let envelope =
        serde_json::from_str::<Value>(&sidecar.stored("POST", "/people/x/all", r#"{"ssn":"078-05-1120"}"#))
            .unwrap()["ssn"]
            .as_str()
            .unwrap()
            .to_owned();
    let mut exchange = sidecar.exchange();
    let headers = [("x-ssn", CANARY), ("x-other", CANARY), ("x-ssn", CANARY)];
    exchange.request("GET", "/people?a=%20b+c&s%73n=078-05-1120&ssn=078%2D05-1120&x", &headers, b"");
    assert_eq!(
        exchange.upstream.header(":path"),
        [format!("/people?a=%20b+c&s%73n={envelope}&ssn={envelope}&x")]
    );
    assert_eq!(exchange.upstream.header("x-ssn"), [envelope.as_str(), &envelope]);
    assert_eq!(exchange.upstream.header("x-other"), [CANARY]);
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/people/078-05-1120/all?a=b", &[JSON], br#"{"ssn":"078-05-1120"}"#);
    assert_eq!(exchange.upstream.header(":path"), [format!("/people/{envelope}/all?a=b")]);
    assert_eq!(exchange.upstream.json()["ssn"], envelope);
}

#[test]
fn search_while_several_keys_seal_is_refused_and_none_of_the_request_is_forwarded() {
    let mut sidecar = searching();
    sidecar.keys = Ok(keys_among("ab"));
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/people/078-05-1120", &[], b"");
    assert_eq!(exchange.refused(), 503);
    assert!(!exchange.reply().unwrap().1.to_string().contains("078"));
}

#[test]
fn path_that_services_may_read_in_several_ways_is_refused_where_there_are_routes() {
    for path in ["/customers/%2e%2e/x", "/customers%2fx", "/customers/%zz", "/customers/%00"] {
        let sidecar = Sidecar::under(customers());
        let mut exchange = sidecar.exchange();
        exchange.request("GET", path, &[], b"");
        assert_eq!(exchange.refused(), 400, "{path}");
        let sidecar = Sidecar::under(plan(&[]));
        let mut exchange = sidecar.exchange();
        exchange.request("GET", path, &[], b"");
        assert!(exchange.upstream.has_ended, "{path}");
    }
}

#[test]
fn another_spelling_of_a_path_is_the_same_route() {
    let sidecar = Sidecar::under(customers());
    for path in ["/customers/", "//customers", "/cust%6Fmers", "/customers;v=1", "/customers?x#y"] {
        let stored = sidecar.stored("POST", path, r#"{"ssn":"078-05-1120"}"#);
        assert!(stored.contains("fv1."), "{path}");
    }
}
