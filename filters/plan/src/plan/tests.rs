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
        ("keyset", json!("pii/acme/more")),
        ("keyset", json!("PII")),
        ("label", json!("a\u{0}b")),
        ("on_plaintext", json!("ignore")),
        ("alphabet", json!(10)),
        ("surprise", json!(1)),
    ];
    for (name, value) in cases {
        let error = plan_of(vec![field(), with(name, value)]).unwrap_err().to_string();
        assert!(error.contains("fields[1]"), "{name}: {error}");
    }
}

#[test]
fn plaintext_among_envelopes_is_refused_unless_the_plan_says_otherwise() {
    let rules =
        [("refuse", OnPlaintext::Refuse), ("reveal", OnPlaintext::Reveal), ("null", OnPlaintext::Null)];
    assert_eq!(plan_of(vec![field()]).unwrap().fields[0].on_plaintext, OnPlaintext::Refuse);
    for protection in ["randomized", "deterministic", "indexed"] {
        for (name, rule) in rules {
            let mut field = with("on_plaintext", json!(name));
            field["protection"] = json!(protection);
            assert_eq!(plan_of(vec![field]).unwrap().fields[0].on_plaintext, rule, "{protection} {name}");
        }
    }
}

fn format_preserving(alphabet: Value) -> Value {
    let mut field = with("protection", json!("format_preserving"));
    field["alphabet"] = alphabet;
    field
}

#[test]
fn format_preserving_field_has_its_alphabet() {
    let plan = plan_of(vec![format_preserving(json!("digits"))]).unwrap();
    assert_eq!(plan.fields[0].alphabet.as_deref(), Some("digits"));
    assert_eq!(plan_of(vec![field()]).unwrap().fields[0].alphabet, None);
}

#[test]
fn alphabet_is_required_for_format_preserving_and_refused_otherwise() {
    let said = |field: Value| plan_of(vec![field]).unwrap_err().to_string();
    let without = with("protection", json!("format_preserving"));
    for missing in [without, format_preserving(json!(null)), format_preserving(json!(""))] {
        assert_eq!(
            said(missing),
            "fields[0].alphabet: format_preserving needs one; name the characters of its values, such as \"digits\""
        );
    }
    for protection in ["randomized", "deterministic", "indexed"] {
        let mut field = with("protection", json!(protection));
        field["alphabet"] = json!("digits");
        assert_eq!(said(field), "fields[0].alphabet: only format_preserving has one; leave it out");
    }
}

#[test]
fn format_preserving_values_can_not_be_told_from_plaintext() {
    for rule in ["reveal", "null"] {
        let mut field = format_preserving(json!("digits"));
        field["on_plaintext"] = json!(rule);
        assert!(
            plan_of(vec![field]).unwrap_err().to_string().starts_with("fields[0].on_plaintext: "),
            "{rule}"
        );
    }
}

#[test]
fn one_label_with_two_alphabets_is_an_error() {
    let mut other = format_preserving(json!("alphanumeric"));
    other["column"] = json!("ssn2");
    let error = plan_of(vec![format_preserving(json!("digits")), other]).unwrap_err().to_string();
    assert!(error.contains("alphabet") && error.contains("customer.ssn"), "{error}");
}

#[test]
fn keyset_of_a_tenant_goes_with_that_tenant_alone() {
    let mut owned = with("keyset", json!("pii/acme"));
    for tenant in ["", "globex"] {
        owned["tenant"] = json!(tenant);
        let error = plan_of(vec![owned.clone()]).unwrap_err().to_string();
        assert_eq!(
            error,
            "fields[0].tenant: keyset pii/acme is that of tenant acme alone; name that tenant, or another keyset"
        );
    }
    owned["tenant"] = json!("acme");
    assert!(plan_of(vec![owned]).unwrap().fields[0].has_tenant_keyset());
    let shared = plan_of(vec![with("tenant", json!("acme"))]).unwrap();
    assert!(!shared.fields[0].has_tenant_keyset());
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
