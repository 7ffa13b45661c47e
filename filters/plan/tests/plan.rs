//! What is a plan, and what is not and why.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use fieldveil_plan::{
    MAX_FIELDS, MAX_PLAN_BYTES, Plan, PlanError, PlanField, Protection, Treatment, WriteRule,
};
use serde_json::{Value, json};

fn field() -> Value {
    json!({"relation": "public.customer", "column": "ssn", "label": "customer.ssn", "keyset": "pii", "tenant": "",
           "protection": "deterministic", "type": "text",
           "read": {"treatment": "mask", "format": "last4"}, "write": "seal"})
}

fn answer(fields: Vec<Value>) -> Value {
    json!({"result": {"revision": "r1", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": fields}})
}

fn parse(answer: &Value) -> Result<Plan, PlanError> {
    Plan::from_json(answer.to_string().as_bytes())
}

/// The answer with one field, changed at a JSON pointer below the field.
fn with(pointer: &str, value: Value) -> Value {
    let mut field = field();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = field.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value == json!("<absent>") {
        parent.remove(name)
    } else {
        parent.insert(name.to_owned(), value)
    };
    answer(vec![field])
}

fn message(answer: &Value) -> String {
    parse(answer).unwrap_err().to_string()
}

#[test]
fn the_example_of_the_design_is_a_plan() {
    let plan = parse(&answer(vec![field()])).unwrap();
    assert_eq!((plan.revision.as_str(), plan.ttl_seconds, plan.max_stale_seconds), ("r1", 30, 300));
    let expected = PlanField {
        schema: "public".into(),
        table: "customer".into(),
        column: "ssn".into(),
        label: "customer.ssn".into(),
        keyset: "pii".into(),
        tenant: String::new(),
        protection: Protection::Deterministic,
        type_name: "text".into(),
        read: Treatment::Mask { format: "last4".into() },
        write: WriteRule::Seal,
    };
    assert_eq!(plan.fields, [expected]);
}

#[test]
fn every_word_of_the_schema_is_known() {
    let cases = [
        ("/protection", vec!["randomized", "deterministic", "indexed", "format_preserving"]),
        ("/write", vec!["seal", "refuse"]),
    ];
    for (pointer, words) in cases {
        for word in words {
            parse(&with(pointer, json!(word))).unwrap();
        }
    }
    for word in ["reveal", "conceal", "null", "refuse"] {
        parse(&with("/read", json!({"treatment": word}))).unwrap();
    }
}

#[test]
fn answer_without_a_result_is_an_undefined_policy() {
    for body in ["{}", r#"{"decision_id":"x"}"#, "[]", "null"] {
        assert_eq!(Plan::from_json(body.as_bytes()), Err(PlanError::Undefined), "{body}");
    }
    assert!(PlanError::Undefined.to_string().contains("policy undefined"));
}

#[test]
fn answer_that_is_no_json_says_where() {
    let error = Plan::from_json(b"{\"result\": \n oops").unwrap_err();
    assert!(matches!(error, PlanError::NotJson { line: 2, .. }), "{error}");
}

#[test]
fn fault_names_its_place_and_remedy() {
    let cases = [
        (
            with("/read/treatment", json!("hide")),
            "fields[0].read.treatment: \"hide\" is not known; use one of reveal",
        ),
        (
            with("/protection", json!("aes")),
            "fields[0].protection: \"aes\" is not known; use one of randomized",
        ),
        (with("/write", json!("plain")), "fields[0].write: \"plain\" is not known; use one of seal, refuse"),
        (with("/read/format", json!("<absent>")), "fields[0].read.format: missing"),
        (with("/read", json!("reveal")), "fields[0].read: not an object"),
        (
            with("/read", json!({"treatment": "null", "format": "last4"})),
            "fields[0].read: \"format\" is not known",
        ),
        (with("/keyset", json!("")), "fields[0].keyset: empty"),
        (with("/keyset", json!(7)), "fields[0].keyset: not a string"),
        (with("/label", json!("")), "fields[0].label: empty"),
        (with("/label", json!("a\0b")), "fields[0].label: holds a NUL"),
        (with("/type", json!("<absent>")), "fields[0].type: missing"),
        (
            with("/relation", json!("customer")),
            "fields[0].relation: no table after the schema; write schema.table",
        ),
        (with("/column", json!("x".repeat(64))), "fields[0].column: longer than 63 bytes"),
        (with("/rows", json!("x > 3")), "fields[0]: \"rows\" is not known to this release"),
        (answer(vec![field(), json!(3)]), "fields[1]: not an object"),
        (json!({"result": {"revision": "r"}}), "fields: missing"),
        (json!({"result": {"fields": []}}), "revision: missing"),
        (json!({"result": 3}), "result: not an object"),
        (json!({"result": {"revision": "r", "fields": [], "ttl_seconds": 0}}), "ttl_seconds: out of range"),
        (
            json!({"result": {"revision": "r", "fields": [], "ttl_seconds": 3601}}),
            "ttl_seconds: out of range",
        ),
        (
            json!({"result": {"revision": "r", "fields": [], "max_stale_seconds": -1}}),
            "max_stale_seconds: out of",
        ),
    ];
    for (answer, expected) in cases {
        let message = message(&answer);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn absent_label_tenant_and_ages_have_defaults() {
    let mut bare = field();
    for name in ["label", "tenant"] {
        bare.as_object_mut().unwrap().remove(name);
    }
    let plan = parse(&json!({"result": {"revision": "r", "fields": [bare]}})).unwrap();
    assert_eq!(plan.fields[0].label, "public.customer.ssn");
    assert_eq!(plan.fields[0].tenant, "");
    assert_eq!((plan.ttl_seconds, plan.max_stale_seconds), (30, 300));
}

#[test]
fn plan_is_asked_for_anew_before_it_is_too_old_to_use() {
    let plan = parse(
        &json!({"result": {"revision": "r", "fields": [], "ttl_seconds": 60, "max_stale_seconds": 20}}),
    );
    assert_eq!(plan.unwrap().ttl_seconds, 20);
}

#[test]
fn unknown_name_at_the_top_is_left_to_later_releases() {
    let mut answer = answer(vec![field()]);
    answer["result"]["request"] = json!([]);
    answer["decision_id"] = json!("x");
    parse(&answer).unwrap();
}

#[test]
fn column_said_twice_is_refused_however_it_is_quoted() {
    let mut again = field();
    again["relation"] = json!("\"public\".customer");
    again["label"] = json!("other");
    assert_eq!(
        message(&answer(vec![field(), again])),
        "fields[1]: the column is in fields[0] already; say each column once"
    );
}

#[test]
fn label_stored_in_two_ways_is_refused() {
    for (name, value) in
        [("protection", "randomized"), ("keyset", "payments"), ("type", "int8"), ("tenant", "acme")]
    {
        let mut other = field();
        other["column"] = json!("ssn2");
        parse(&answer(vec![field(), other.clone()])).unwrap();
        other[name] = json!(value);
        let error = parse(&answer(vec![field(), other])).unwrap_err();
        assert!(matches!(error, PlanError::LabelConflict { what, .. } if what == name), "{error}");
    }
}

#[test]
fn plan_above_a_limit_is_refused() {
    let fields = |count: usize| {
        let numbered = |at: usize| {
            let mut field = field();
            field["column"] = json!(format!("c{at}"));
            field
        };
        (0..count).map(numbered).collect::<Vec<_>>()
    };
    assert_eq!(parse(&answer(fields(MAX_FIELDS))).unwrap().fields.len(), MAX_FIELDS);
    assert_eq!(
        parse(&answer(fields(MAX_FIELDS + 1))),
        Err(PlanError::TooManyFields { count: MAX_FIELDS + 1 })
    );
    let long = vec![b' '; MAX_PLAN_BYTES + 1];
    assert_eq!(Plan::from_json(&long), Err(PlanError::TooLarge { len: MAX_PLAN_BYTES + 1 }));
}

#[test]
fn deep_json_is_an_error_and_no_stack_overflow() {
    let body = "[".repeat(1 << 20);
    assert!(matches!(Plan::from_json(body.as_bytes()), Err(PlanError::NotJson { .. })));
}
