//! Holds input and plan to the contract files, to which the policies' own tests hold the library.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use fieldveil_plan::{
    CommentInput, OnPlaintext, Place, Plan, PlanField, PlanInput, Protection, RoutePlan, SessionInput, Then,
    Treatment, Workload, WriteRule,
};
use serde_json::{Value, json};

/// Name and content of each.
fn contracts() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/contract");
    let cases = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).map(|case| {
        let text = std::fs::read(case.path().join("data.json")).unwrap();
        (case.file_name().into_string().unwrap(), serde_json::from_slice(&text).unwrap())
    });
    cases.collect()
}

fn input_of(said: &Value) -> PlanInput {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let session = &said["session"];
    PlanInput {
        protocol: text(&said["protocol"]),
        listener: text(&said["listener"]),
        workload: Workload {
            namespace: text(&said["workload"]["namespace"]),
            service_account: text(&said["workload"]["service_account"]),
            spiffe_id: text(&said["workload"]["spiffe_id"]),
            labels: serde_json::from_value(
                said["workload"].get("labels").cloned().unwrap_or_else(|| json!({})),
            )
            .unwrap(),
        },
        session: SessionInput {
            user: text(&session["user"]),
            role: text(&session["role"]),
            database: text(&session["database"]),
            application_name: text(&session["application_name"]),
            source: text(&session["source"]),
            purpose: text(&session["purpose"]),
        },
        client_certificate: said
            .get("client_certificate")
            .map(|one| serde_json::from_value(one.clone()).unwrap()),
        token: text(&said["token"]),
        comment: CommentInput {
            purpose: text(&said["comment"]["purpose"]),
            token: text(&said["comment"]["token"]),
        },
        claims: said["claims"].as_object().unwrap().clone(),
        headers: serde_json::from_value(said.get("headers").cloned().unwrap_or_else(|| json!({}))).unwrap(),
    }
}

/// The plan as it was read, in the words that it was written in.
fn written(plan: &Plan) -> Value {
    let mut written = json!({
        "revision": plan.revision,
        "bundle": plan.bundle,
        "subject": plan.subject,
        "break_glass": plan.break_glass,
        "reads_comments": plan.reads_comments,
        "ttl_seconds": plan.ttl_seconds,
        "max_stale_seconds": plan.max_stale_seconds,
        "fields": plan.fields.iter().map(field).collect::<Vec<_>>(),
    });
    if let Some(expires_at) = plan.expires_at {
        written["expires_at"] = json!(expires_at);
    }
    if let Some(denied) = &plan.denied {
        written["denied"] = json!(denied);
    }
    if let Some(service) = &plan.service {
        written["service"] = json!({
            "unmatched": if service.refuses_unmatched { "refuse" } else { "pass" },
            "routes": service.routes.iter().map(route).collect::<Vec<_>>(),
        });
    }
    written
}

fn route(route: &RoutePlan) -> Value {
    json!({
        "path": route.path,
        "methods": route.methods,
        "except": route.except,
        "graphql": route.graphql,
        "fields": route.fields.iter().map(field).collect::<Vec<_>>(),
    })
}

fn place(place: &Place) -> Value {
    let (part, at) = match place {
        Place::Column { schema, table, column } => {
            let relation = format!("{}.{}", quoted(schema), quoted(table));
            return json!({"relation": relation, "column": column});
        }
        Place::Request(path) => ("request", path),
        Place::Response(path) => ("response", path),
        Place::Query(name) => ("query", name),
        Place::Header(name) => ("header", name),
        Place::Segment(name) => ("segment", name),
    };
    json!({"in": part, "at": at})
}

fn field(field: &PlanField) -> Value {
    let mut written = json!({
        "label": field.label,
        "keyset": field.keyset,
        "tenant": field.tenant,
        "type": field.type_name,
        "protection": match field.protection {
            Protection::Randomized => "randomized",
            Protection::Deterministic => "deterministic",
            Protection::Indexed => "indexed",
            Protection::FormatPreserving => "format_preserving",
        },
        "on_plaintext": match field.on_plaintext {
            OnPlaintext::Refuse => "refuse",
            OnPlaintext::Reveal => "reveal",
            OnPlaintext::Null => "null",
        },
        "read": treatment(&field.read),
        "write": match field.write {
            WriteRule::Seal => "seal",
            WriteRule::Refuse => "refuse",
        },
    });
    written.as_object_mut().unwrap().extend(place(&field.place).as_object().unwrap().clone());
    if let Some(alphabet) = &field.alphabet {
        written["alphabet"] = json!(alphabet);
    }
    written
}

fn quoted(name: &str) -> String {
    let plain =
        name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'$'));
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn treatment(read: &Treatment) -> Value {
    match read {
        Treatment::Reveal { budget: None } => json!({"treatment": "reveal"}),
        Treatment::Reveal { budget: Some(budget) } => {
            let then = match &budget.then {
                Then::Mask { format } => json!({"treatment": "mask", "format": format}),
                Then::Null => json!({"treatment": "null"}),
                Then::Refuse => json!({"treatment": "refuse"}),
            };
            let budget = json!({"rows": budget.rows, "per_seconds": budget.per_seconds, "then": then});
            json!({"treatment": "reveal", "budget": budget})
        }
        Treatment::Mask { format } => json!({"treatment": "mask", "format": format}),
        Treatment::Conceal => json!({"treatment": "conceal"}),
        Treatment::Null => json!({"treatment": "null"}),
        Treatment::Refuse => json!({"treatment": "refuse"}),
    }
}

#[test]
fn filter_asks_as_the_contracts_say() {
    for (case, contract) in contracts() {
        let request: Value = serde_json::from_str(&input_of(&contract["input"]).to_request()).unwrap();
        assert_eq!(request, json!({"input": contract["input"]}), "{case}");
    }
}

#[test]
fn filter_reads_all_of_the_plans_that_the_contracts_say() {
    for (case, contract) in contracts() {
        let answer = json!({"result": contract["plan"]}).to_string();
        let plan = Plan::from_json(answer.as_bytes()).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(written(&plan), contract["plan"], "{case}");
    }
}

#[test]
fn contracts_show_every_treatment_and_routes() {
    let plans: String = contracts().iter().map(|(_, contract)| contract["plan"].to_string()).collect();
    for word in
        ["budget", "conceal", "null", "refuse", "mask", "partial(", "expires_at", "denied", "seal", "segment"]
    {
        assert!(plans.contains(word), "{word}");
    }
}
