//! What comes in bodies over HTTP: JSON of every declared type, and requests of GraphQL.

use std::sync::Arc;
use std::sync::LazyLock;

use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::field::CompiledField;
use fieldveil_engine::http::graphql;
use fieldveil_engine::http::value::{to_json, to_text};
use fieldveil_json_stream::Kind;
use fieldveil_plan::Plan;
use serde_json::json;
use serde_json::value::RawValue;

use crate::values::{TYPES, pick};

/// What is shown of a value is read as the same value. The first byte picks the type; the rest is JSON.
pub(crate) fn values(bytes: &[u8]) {
    let [kind, json @ ..] = bytes else { return };
    let declared = pick(&TYPES, *kind);
    let _ = to_json(declared, json);
    let canonical = |json: &[u8]| {
        let json: &RawValue = serde_json::from_slice(json).ok()?;
        let json = json.get().as_bytes();
        let text = to_text(declared, kind_of(json), json).ok()??;
        declared.canonicalize(&text).ok()
    };
    let Some(text) = canonical(json) else { return };
    let shown = to_json(declared, &text).expect("a canonical text can be shown");
    assert_eq!(canonical(&shown), Some(text));
}

fn kind_of(json: &[u8]) -> Kind {
    match json.first() {
        Some(b'"') => Kind::String,
        Some(b't') => Kind::True,
        Some(b'f') => Kind::False,
        Some(b'n') => Kind::Null,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        _ => Kind::Number,
    }
}

/// The fields of a route of GraphQL, in requests and responses.
fn fields() -> [Vec<Arc<CompiledField>>; 2] {
    static PLAN: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let field = |place: &str, at: &str| {
            json!({"in": place, "at": at, "label": "customer.ssn", "keyset": "pii", "protection": "deterministic",
                "type": "text", "read": {"treatment": "reveal"}, "write": "seal"})
        };
        let fields = [
            field("request", "$.variables.ssn"),
            field("request", "$.variables.input[*]..ssn"),
            field("response", "$.data.customer.ssn"),
        ];
        let route =
            json!({"path": "/graphql", "methods": ["POST"], "except": [], "graphql": true, "fields": fields});
        let plan = json!({"result": {"revision": "1", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": [],
            "service": {"unmatched": "pass", "routes": [route]}}});
        plan.to_string().into_bytes()
    });
    let plan = CompiledPlan::new(Plan::from_json(&PLAN).expect("a plan")).expect("a plan");
    let route = plan.service.expect("a service").route("POST", "/graphql").expect("a route");
    [&route.request, &route.response].map(|body| body.as_ref().expect("named fields").places.clone())
}

/// A request's body: that it passes does not depend on what is around it, and a batch never does.
pub(crate) fn graphql(bytes: &[u8]) {
    let [request, response] = fields();
    let passes = |body: &[u8]| graphql::check(body, &request, &response).is_ok();
    let _ = graphql::check_target(bytes);
    if passes(bytes) {
        assert!(passes(&[b" ", bytes, b"\n"].concat()));
        assert!(!passes(&[b"[", bytes, b"]"].concat()));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let literal = json!({"query": format!("{text}\n query Q {{ customer(ssn: \"1\") {{ name }} }}")});
    let body = json!({"query": text, "variables": {"ssn": "1"}});
    // A comment or a string that is open may swallow what is put behind it, and is then no document.
    if passes(body.to_string().as_bytes()) {
        assert!(!passes(literal.to_string().as_bytes()));
    }
}
