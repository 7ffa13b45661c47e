mod paths;
mod shared;
mod united;

use fieldveil_plan::Plan;
use serde_json::{Value, json};
use std::sync::Arc;

use super::*;
use crate::field::ReadTreatment;

/// A field of a type of its label's name before the first dot, sealed deterministically.
fn field(part: &str, at: &str, label: &str) -> Value {
    json!({"in": part, "at": at, "label": label, "keyset": "pii", "protection": "deterministic", "type": "text",
        "read": {"treatment": "reveal"}, "write": "seal"})
}

fn route(path: &str, fields: &[Value]) -> Value {
    json!({"path": path, "fields": fields})
}

fn try_service(routes: &[Value]) -> Result<Service, String> {
    let service = json!({"unmatched": "refuse", "routes": routes});
    let plan =
        json!({"revision": "r", "subject": "user:app", "ttl_seconds": 30, "fields": [], "service": service});
    let plan = Plan::from_json(json!({"result": plan}).to_string().as_bytes()).map_err(|e| e.to_string())?;
    Service::new(plan.service.unwrap()).map_err(|e| e.to_string())
}

fn service(routes: &[Value]) -> Service {
    try_service(routes).unwrap()
}

/// The labels that a route's query parameters have, by which tests tell routes apart.
fn labels(route: &Route) -> Vec<&str> {
    let mut labels: Vec<&str> = route.query.iter().map(|(_, field)| field.spec.label.as_str()).collect();
    labels.sort_unstable();
    labels
}

fn marked(path: &str, label: &str) -> Value {
    route(path, &[field("query", label, label)])
}

#[test]
fn every_route_that_fits_counts() {
    let service = service(&[
        marked("/**", "all"),
        marked("/customers", "list"),
        marked("/customers/{id}", "one"),
        marked("/customers/{id}/**", "below"),
        marked("/customers/new", "new"),
        marked("/", "root"),
    ]);
    for (path, expected) in [
        ("/", &["all", "root"][..]),
        ("/customers", &["all", "list"]),
        ("/customers/7", &["all", "below", "one"]),
        ("/customers/new", &["all", "below", "new", "one"]),
        ("/customers/7/orders/8", &["all", "below"]),
        ("/orders", &["all"]),
        ("/Customers", &["all"]),
        ("*", &["all", "root"]),
    ] {
        let route = service.route("GET", path).unwrap();
        assert_eq!(labels(&route), expected, "{path}");
    }
}

#[test]
fn methods_are_those_named_or_all_but_those_named_and_head_is_as_get() {
    let with = |path: &str, name: &str, methods: &[&str]| {
        let mut route = marked(path, path);
        route[name] = json!(methods);
        route
    };
    let service = service(&[
        with("/a", "methods", &["GET", "PUT"]),
        with("/b", "except", &["GET"]),
        marked("/c", "/c"),
    ]);
    let fits = |method: &str, path: &str| !service.route(method, path).unwrap().is_empty();
    assert!(fits("GET", "/a") && fits("PUT", "/a") && fits("HEAD", "/a"));
    assert!(!fits("POST", "/a") && !fits("get", "/a"));
    assert!(!fits("GET", "/b") && fits("PUT", "/b") && fits("HEAD", "/b") && fits("get", "/b"));
    assert!(["GET", "HEAD", "PATCH", "QUERY"].iter().all(|method| fits(method, "/c")));
}

#[test]
fn what_is_said_of_all_paths_makes_no_request_known() {
    let service = service(&[marked("/**", "all"), route("/health", &[]), route("/files/**", &[])]);
    assert!(service.refuses_unmatched);
    let matched = |path: &str| service.route("GET", path).unwrap().matched;
    assert!(matched("/health") && matched("/files") && matched("/files/a/b"));
    assert!(!matched("/") && !matched("/healthy") && !matched("/a/files"));
}

#[test]
fn service_without_routes_looks_at_no_path() {
    let service = service(&[]);
    for path in ["/", "/..", "/%", ""] {
        let route = service.route("GET", path).unwrap();
        assert!(route.is_empty() && !route.matched && !route.graphql, "{path}");
    }
}

#[test]
fn graphql_is_what_one_of_the_routes_says() {
    let mut graphql = route("/graphql", &[]);
    graphql["graphql"] = json!(true);
    let service = service(&[graphql, marked("/**", "all")]);
    assert!(service.route("POST", "/graphql").unwrap().graphql);
    assert!(!service.route("POST", "/other").unwrap().graphql);
}

#[test]
fn fields_stand_where_they_are_named() {
    let fields = [
        field("request", "$.ssn", "ssn"),
        field("response", "$.ssn", "ssn"),
        field("response", "$.items[*].iban", "iban"),
        field("query", "ssn", "ssn"),
        field("header", "x-ssn", "ssn"),
        field("segment", "id", "ssn"),
    ];
    let service = service(&[route("/v1/{tenant}/customers/{id}", &fields)]);
    let route = service.route("GET", "/v1/acme/customers/7").unwrap();
    let named = |fields: &[Arc<CompiledField>]| -> Vec<String> {
        fields.iter().map(|field| format!("{}: {}", field.spec.label, field.spec.place)).collect()
    };
    assert_eq!(named(&route.request.as_ref().unwrap().fields), ["ssn: $.ssn of the request"]);
    let response = route.response.as_ref().unwrap();
    assert_eq!(
        named(&response.fields),
        ["ssn: $.ssn of the response", "iban: $.items[*].iban of the response"]
    );
    assert_eq!(named(&response.places), named(&response.fields));
    assert_eq!((route.query[0].0.as_str(), route.headers[0].0.as_str()), ("ssn", "x-ssn"));
    assert_eq!(route.segments[0].0, 3);
    let other = service.route("GET", "/v1/acme/customers").unwrap();
    assert!(other.is_empty() && other.request.is_none() && other.response.is_none());
}

#[test]
fn what_can_not_be_carried_out_is_an_error_that_names_the_place() {
    let with = |part: &str, at: &str, name: &str, value: Value| {
        let mut field = field(part, at, "ssn");
        field[name] = value;
        route("/customers/{id}", &[field])
    };
    let plain = |part: &str, at: &str| with(part, at, "tenant", json!(""));
    let cases = [
        (plain("request", "ssn"), ".fields[0] (label ssn): the JSON path ssn: "),
        (plain("response", "$.a[?@.b]"), ".fields[0] (label ssn): the JSON path $.a[?@.b]: "),
        (plain("header", "X-Ssn"), ".fields[0] (label ssn): \"X-Ssn\" is no header's name in lower case"),
        (plain("header", ":path"), ".fields[0] (label ssn): \":path\" is no header's name"),
        (plain("segment", "ssn"), ".fields[0] (label ssn): the route's path has no {ssn}"),
        (with("request", "$.a", "type", json!("money")), ".fields[0] (label ssn): type \"money\""),
        (
            with("query", "q", "protection", json!("randomized")),
            ".fields[0] (label ssn): equal values are not",
        ),
        (with("header", "q", "protection", json!("indexed")), ".fields[0] (label ssn): equal values are not"),
        (with("segment", "id", "type", json!("jsonb")), ".fields[0] (label ssn): equal values are not"),
        (with("query", "q", "type", json!("float8")), ".fields[0] (label ssn): equal values are not"),
        (route("/a//b", &[]), ".path: it has an empty segment"),
        (
            route("/", &[field("request", "$.a", "ssn"), field("request", "$..a", "iban")]),
            ": JSON paths of the labels ssn and iban can lead to one value; change one of them",
        ),
    ];
    for (wrong, expected) in cases {
        let error = try_service(&[route("/", &[]), wrong.clone()]).err().unwrap_or_default();
        assert!(error.starts_with(&format!("service.routes[1]{expected}")), "{wrong}: {error}");
    }
}
