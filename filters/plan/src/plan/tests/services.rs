use serde_json::{Value, json};

use crate::{MAX_FIELDS, MAX_ROUTES, Place, Plan, PlanError};

fn field(part: &str, at: &str) -> Value {
    json!({"in": part, "at": at, "label": "customer.ssn", "keyset": "pii", "tenant": "",
        "protection": "deterministic", "type": "text", "read": {"treatment": "reveal"},
        "on_plaintext": "refuse", "write": "seal"})
}

fn route(fields: &[Value]) -> Value {
    json!({"path": "/customers/{id}", "methods": ["GET"], "except": [], "graphql": false, "fields": fields})
}

fn plan_with(service: Value) -> Result<Plan, PlanError> {
    let plan = json!({"revision": "r", "ttl_seconds": 30, "fields": [], "service": service});
    Plan::from_json(json!({"result": plan}).to_string().as_bytes())
}

fn said(service: Value) -> String {
    plan_with(service).unwrap_err().to_string()
}

fn said_of(route: Value) -> String {
    said(json!({"routes": [{"path": "/"}, route]}))
}

#[test]
fn service_is_read_whole() {
    let places = [
        ("request", "$.ssn", Place::Request("$.ssn".into())),
        ("response", "$.ssn", Place::Response("$.ssn".into())),
        ("query", "ssn", Place::Query("ssn".into())),
        ("header", "x-ssn", Place::Header("x-ssn".into())),
        ("segment", "id", Place::Segment("id".into())),
    ];
    let fields: Vec<Value> = places.iter().map(|(part, at, _)| field(part, at)).collect();
    let all_but_get = json!({"path": "/**", "methods": [], "except": ["GET"], "graphql": true, "fields": []});
    let service = json!({"unmatched": "refuse", "routes": [route(&fields), all_but_get]});
    let service = plan_with(service).unwrap().service.unwrap();
    assert!(service.refuses_unmatched);
    let [one, other] = service.routes.as_slice() else { panic!("there are two routes") };
    assert_eq!((one.path.as_str(), one.methods.as_slice()), ("/customers/{id}", &["GET".to_owned()][..]));
    assert_eq!((one.except.len(), one.graphql), (0, false));
    assert!(one.fields.iter().map(|field| &field.place).eq(places.iter().map(|(_, _, place)| place)));
    assert_eq!((other.path.as_str(), other.methods.len(), other.graphql), ("/**", 0, true));
    assert_eq!(other.except, ["GET"]);
}

#[test]
fn service_that_is_not_spoken_of_is_none_and_an_empty_one_passes_all() {
    let plan = json!({"result": {"revision": "r", "ttl_seconds": 30, "fields": []}});
    assert_eq!(Plan::from_json(plan.to_string().as_bytes()).unwrap().service, None);
    let service = plan_with(json!({"unmatched": "pass", "routes": []})).unwrap().service.unwrap();
    assert!(!service.refuses_unmatched && service.routes.is_empty());
}

#[test]
fn wrong_values_are_errors_that_name_the_place() {
    let with = |name: &str, value: Value| {
        let mut route = route(&[]);
        route[name] = value;
        route
    };
    let cases = [
        (with("path", json!("customers")), "service.routes[1].path: it does not begin with /"),
        (with("path", json!("")), "service.routes[1].path: it does not begin with /"),
        (with("methods", json!(["GET", "post"])), "service.routes[1].methods[1]: it is not a method"),
        (with("methods", json!([""])), "service.routes[1].methods[0]: it is not a method"),
        (with("except", json!(["PUT"])), "service.routes[1].except: only a route of all methods"),
        (with("fields", json!([1])), "service.routes[1].fields[0]: it is not an object"),
        (with("surprise", json!(1)), "service.routes[1]: unknown field `surprise`"),
        (json!({"fields": []}), "service.routes[1]: missing field `path`"),
        (json!({"path": "/", "except": ["get"]}), "service.routes[1].except[0]: it is not a method"),
    ];
    for (route, expected) in cases {
        let error = said_of(route.clone());
        assert!(error.starts_with(expected), "{route}: {error}");
    }
    assert!(said(json!({"unmatched": "ignore"})).starts_with("service: unknown variant `ignore`"));
    assert!(said(json!({"surprise": 1})).starts_with("service: unknown field `surprise`"));
    assert!(said(json!([])).starts_with("service: "));
}

#[test]
fn wrong_values_of_fields_are_errors_that_name_the_place() {
    let cases = [
        ("in", json!("cookie"), ".in: it is none of request, response, query, header and segment"),
        ("in", json!(1), ".in: it is not a string"),
        ("at", json!(""), ".at: it is empty"),
        ("at", json!(null), ".at: it is not a string"),
        ("label", json!(null), ": missing field `label`"),
        ("label", json!("a\u{0}b"), ".label: "),
        ("keyset", json!("PII"), ".keyset: "),
        ("protection", json!("rot13"), ": unknown variant"),
        ("type", json!(""), ".type: it is empty"),
        ("alphabet", json!("digits"), ".alphabet: only format_preserving has one"),
        ("read", json!({"treatment": "mask"}), ".read.format: "),
        ("relation", json!("public.customer"), ": unknown field `relation`"),
    ];
    for (name, value, expected) in cases {
        let mut wrong = field("request", "$.tax_id");
        wrong[name] = value;
        let error = said_of(route(&[field("request", "$.ssn"), wrong]));
        assert!(error.starts_with(&format!("service.routes[1].fields[1]{expected}")), "{name}: {error}");
    }
}

#[test]
fn place_named_twice_in_a_route_is_an_error_and_in_two_is_none() {
    let twice = [field("query", "ssn"), field("query", "ssn")];
    assert!(said_of(route(&twice)).starts_with("service.routes[1].fields[1]: the place is named twice"));
    let once = route(&[field("query", "ssn"), field("header", "ssn")]);
    assert!(plan_with(json!({"routes": [once.clone(), once]})).is_ok());
}

#[test]
fn one_label_is_stored_alike_in_all_routes_and_read_as_each_says() {
    let mut masked = field("response", "$.ssn");
    masked["read"] = json!({"treatment": "mask", "format": "last4"});
    let routes = |other: Value| json!({"routes": [route(&[field("request", "$.ssn")]), route(&[other])]});
    assert!(plan_with(routes(masked.clone())).is_ok());
    for (name, value) in [
        ("protection", json!("randomized")),
        ("keyset", json!("pci")),
        ("type", json!("int4")),
        ("tenant", json!("acme")),
    ] {
        let mut other = masked.clone();
        other[name] = value;
        let error = said(routes(other));
        assert!(error.starts_with("service.routes[1].fields[0]: label customer.ssn has another"), "{error}");
    }
}

#[test]
fn budget_of_nobody_is_an_error_in_a_route_too() {
    let mut field = field("response", "$.ssn");
    field["read"] = json!({"treatment": "reveal",
        "budget": {"rows": 5, "per_seconds": 60, "then": {"treatment": "null"}}});
    let error = said_of(route(&[field]));
    assert!(
        error.starts_with("service.routes[1].fields[0].read.budget: the plan does not say whose"),
        "{error}"
    );
}

#[test]
fn routes_and_their_fields_are_bounded() {
    let routes = vec![json!({"path": "/"}); MAX_ROUTES + 1];
    assert!(matches!(plan_with(json!({"routes": routes})), Err(PlanError::TooManyRoutes(_))));
    let fields: Vec<Value> = (0..MAX_FIELDS / 2).map(|n| field("query", &n.to_string())).collect();
    let full = |more: &[Value]| json!({"routes": [route(&fields), route(&fields), route(more)]});
    assert!(plan_with(full(&[])).is_ok());
    assert!(matches!(plan_with(full(&[field("query", "q")])), Err(PlanError::TooManyFields(_))));
}
