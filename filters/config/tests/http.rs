//! What the section `http` may say.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use fieldveil_config::{Config, ConfigError, Protocol};
use serde_json::{Value, json};

fn read(protocol: Protocol, http: Option<Value>) -> Result<Config, ConfigError> {
    let mut config = json!({
        "listener": "shop",
        "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": 500},
        "keys": {"cluster": "keys", "path": "/v1/keysets", "timeout_ms": 500, "max_stale_seconds": 3600},
    });
    if let Some(http) = http {
        config["http"] = http;
    }
    Config::from_json(config.to_string().as_bytes(), protocol, &|_| None)
}

fn said(http: Value) -> String {
    read(Protocol::Http, Some(http)).unwrap_err().to_string()
}

#[test]
fn section_is_the_json_filters_alone_and_that_filter_needs_it() {
    let http = || Some(json!({"service": "shop-api"}));
    assert!(read(Protocol::Postgres, None).unwrap().http.is_none());
    assert_eq!(read(Protocol::Http, http()).unwrap().http.unwrap().service, "shop-api");
    let error = read(Protocol::Postgres, http()).unwrap_err().to_string();
    assert_eq!(error, "http: this is the PostgreSQL filter; leave it out, or load filter-json");
    let error = read(Protocol::Http, None).unwrap_err().to_string();
    assert_eq!(error, "http: it is missing; name the service, as in {\"service\": \"shop-api\"}");
}

#[test]
fn nobody_says_who_asks_unless_told() {
    let identity = read(Protocol::Http, Some(json!({"service": "s"}))).unwrap().http.unwrap().identity;
    assert_eq!((identity.jwt_payload, identity.user_header, identity.purpose_header), Default::default());
    assert!(identity.headers.is_empty());
    for claim in ["exp", "iat", "nbf", "jti", "auth_time", "nonce", "sid", "at_hash", "c_hash"] {
        assert!(identity.claims_left_out.iter().any(|left_out| left_out == claim), "{claim}");
    }
}

#[test]
fn limits_hold_unless_told() {
    let limits = |limits: Value| {
        let config = read(Protocol::Http, Some(json!({"service": "s", "limits": limits}))).unwrap();
        let limits = config.http.unwrap().limits;
        (limits.held_body_bytes, limits.json_depth, limits.json_key_bytes, limits.waiting_body_bytes)
    };
    assert_eq!(limits(json!({})), (65_536, 1000, 65_536, 16_777_216));
    let told = json!({"held_body_bytes": 1, "json_depth": 2, "json_key_bytes": 3, "waiting_body_bytes": 4});
    assert_eq!(limits(told), (1, 2, 3, 4));
}

#[test]
fn what_can_not_be_is_refused_with_its_place() {
    let with_identity = |name: &str, value: Value| json!({"service": "s", "identity": {name: value}});
    let with_limit = |name: &str, value: Value| json!({"service": "s", "limits": {name: value}});
    let many: Vec<String> = (0..33).map(|number| format!("x-{number}")).collect();
    let cases = [
        (json!({}), "http: missing field `service`"),
        (json!({"service": " "}), "http.service: it is empty"),
        (json!({"service": "s", "event_bytes": 1}), "http.event_bytes: unknown field"),
        (with_identity("user", json!("x-user")), "http.identity.user: unknown field"),
        (
            with_identity("user_header", json!("X-User")),
            "http.identity.user_header: \"X-User\" is no header's name",
        ),
        (
            with_identity("user_header", json!(":path")),
            "http.identity.user_header: \":path\" is no header's name",
        ),
        (
            with_identity("purpose_header", json!("cookie")),
            "http.identity.purpose_header: \"cookie\" says nothing",
        ),
        (with_identity("headers", json!(["x-a", ""])), "http.identity.headers[1]: \"\" is no header's name"),
        (
            with_identity("headers", json!(["authorization"])),
            "http.identity.headers[0]: \"authorization\" says",
        ),
        (
            with_identity("headers", json!(["content-type"])),
            "http.identity.headers[0]: \"content-type\" says",
        ),
        (
            with_identity("headers", json!(["x-a", "x-b", "x-a"])),
            "http.identity.headers[2]: \"x-a\" is named twice",
        ),
        (with_identity("headers", json!(many)), "http.identity.headers: 33 are more than 32"),
        (
            with_limit("held_body_bytes", json!(0)),
            "http.limits.held_body_bytes: 0 is not between 1 and 16777216",
        ),
        (with_limit("json_depth", json!(10_001)), "http.limits.json_depth: 10001 is not between 1 and 10000"),
        (with_limit("json_key_bytes", json!(0)), "http.limits.json_key_bytes: 0 is not"),
        (
            with_limit("waiting_body_bytes", json!(16_777_217)),
            "http.limits.waiting_body_bytes: 16777217 is not",
        ),
    ];
    for (http, expected) in cases {
        let error = said(http.clone());
        assert!(error.starts_with(expected), "{http}: {error}");
    }
}
