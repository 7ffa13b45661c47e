use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn field() -> Value {
    json!({"relation": "public.customer", "column": "ssn", "label": "customer.ssn", "keyset": "pii",
        "tenant": "", "protection": "deterministic", "type": "text",
        "read": {"treatment": "mask", "format": "last4"}, "write": "seal"})
}

fn plan_of(fields: Vec<Value>) -> Result<Plan, PlanError> {
    let plan =
        json!({"result": {"revision": "r", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": fields}});
    Plan::from_json(plan.to_string().as_bytes())
}

fn with(name: &str, value: Value) -> Value {
    let mut field = field();
    field[name] = value;
    field
}

#[test]
fn field_is_read_whole() {
    let plan = plan_of(vec![field()]).unwrap();
    let field = &plan.fields[0];
    assert_eq!(
        (field.schema.as_str(), field.table.as_str(), field.column.as_str()),
        ("public", "customer", "ssn")
    );
    assert_eq!(field.read, Treatment::Mask { format: "last4".into() });
    assert_eq!((field.protection, field.write), (Protection::Deterministic, WriteRule::Seal));
}

#[test]
fn label_defaults_to_the_fields_full_name() {
    let mut unlabelled = field();
    unlabelled.as_object_mut().unwrap().remove("label");
    assert_eq!(plan_of(vec![unlabelled]).unwrap().fields[0].label, "public.customer.ssn");
}

#[test]
fn undefined_decision_is_no_plan() {
    assert!(matches!(Plan::from_json(b"{}"), Err(PlanError::Undefined)));
}

#[test]
fn wrong_values_are_errors_that_name_the_place() {
    let cases = [
        ("protection", json!("rot13")),
        ("read", json!({"treatment": "show"})),
        ("read", json!({"treatment": "mask"})),
        ("write", json!("clear")),
        ("relation", json!("customer")),
        ("column", json!("")),
        ("keyset", json!("")),
        ("label", json!("a\u{0}b")),
        ("surprise", json!(1)),
    ];
    for (name, value) in cases {
        let error = plan_of(vec![field(), with(name, value)]).unwrap_err().to_string();
        assert!(error.contains("fields[1]"), "{name}: {error}");
    }
}

#[test]
fn column_named_twice_is_an_error() {
    assert!(plan_of(vec![field(), field()]).unwrap_err().to_string().contains("twice"));
}

#[test]
fn one_label_with_two_protections_is_an_error() {
    let mut other = with("protection", json!("randomized"));
    other["column"] = json!("ssn2");
    assert!(plan_of(vec![field(), other]).unwrap_err().to_string().contains("customer.ssn"));
}

#[test]
fn ages_are_bounded() {
    for (ttl, stale) in [(0, 300), (3601, 300), (30, 0), (30, 86_401)] {
        let plan = json!({"result": {"revision": "r", "ttl_seconds": ttl, "max_stale_seconds": stale, "fields": []}});
        assert!(Plan::from_json(plan.to_string().as_bytes()).is_err(), "{ttl} {stale}");
    }
}

#[test]
fn too_long_an_answer_is_not_read() {
    assert!(matches!(Plan::from_json(&vec![b' '; MAX_PLAN_BYTES + 1]), Err(PlanError::TooLong(_))));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Plan::from_json(&bytes);
    }
}
