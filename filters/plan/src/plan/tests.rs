mod services;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Budget, Column, OnPlaintext, Protection, Then, WriteRule};

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

fn plan_with(head: Value, fields: Vec<Value>) -> Result<Plan, PlanError> {
    let mut plan = json!({"revision": "r", "ttl_seconds": 30, "fields": fields});
    plan.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
    Plan::from_json(json!({"result": plan}).to_string().as_bytes())
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
    let column = Column { schema: "public", table: "customer", column: "ssn" };
    assert_eq!(field.column(), column);
    assert_eq!(field.read, Treatment::Mask { format: "last4".into() });
    assert_eq!((field.protection, field.write), (Protection::Deterministic, WriteRule::Seal));
}

#[test]
fn head_is_read_whole_and_defaults_to_nothing() {
    let head = json!({"bundle": "1,2", "subject": "user:app", "expires_at": 1_800_000_000_u64, "denied": "expired",
        "break_glass": ["oncall: INC-42"], "reads_comments": true, "what_comes_later": 1});
    let plan = plan_with(head, vec![]).unwrap();
    assert_eq!((plan.bundle.as_str(), plan.subject.as_str()), ("1,2", "user:app"));
    assert_eq!((plan.expires_at, plan.denied.as_deref()), (Some(1_800_000_000), Some("expired")));
    assert_eq!((plan.break_glass, plan.reads_comments), (vec!["oncall: INC-42".to_owned()], true));
    let plan = plan_with(json!({}), vec![]).unwrap();
    assert_eq!(
        (plan.bundle.as_str(), plan.subject.as_str(), plan.expires_at, plan.denied),
        ("", "", None, None)
    );
    assert_eq!((plan.break_glass, plan.reads_comments), (vec![], false));
}

#[test]
fn reason_to_deny_is_a_line() {
    for reason in ["", " ", "a\0b", "a\nb"] {
        assert!(
            plan_with(json!({"denied": reason}), vec![]).unwrap_err().to_string().starts_with("denied: ")
        );
    }
}

fn budget() -> Value {
    json!({"treatment": "reveal", "budget": {"rows": 500, "per_seconds": 60, "then": {"treatment": "mask", "format": "last4"}}})
}

#[test]
fn budget_is_read_whole() {
    let read = |read: Value| {
        plan_with(json!({"subject": "user:app"}), vec![with("read", read)]).unwrap().fields.remove(0).read
    };
    assert_eq!(read(json!({"treatment": "reveal"})), Treatment::Reveal { budget: None });
    let then = Then::Mask { format: "last4".into() };
    let expected = Budget { rows: 500, per_seconds: 60, then };
    assert_eq!(read(budget()), Treatment::Reveal { budget: Some(expected.clone()) });
    for (name, then) in [("null", Then::Null), ("refuse", Then::Refuse)] {
        let mut value = budget();
        value["budget"]["then"] = json!({"treatment": name});
        assert_eq!(read(value), Treatment::Reveal { budget: Some(Budget { then, ..expected.clone() }) });
    }
}

#[test]
fn budget_that_can_not_be_is_an_error_that_names_its_place() {
    let said = |change: &dyn Fn(&mut Value)| {
        let mut read = budget();
        change(&mut read);
        plan_with(json!({"subject": "user:app"}), vec![with("read", read)]).unwrap_err().to_string()
    };
    for (name, most) in [("rows", 1_000_000_000_u32), ("per_seconds", 86_400)] {
        for wrong in [0, most + 1] {
            let error = said(&|read| read["budget"][name] = json!(wrong));
            let expected = format!("fields[0].read.budget.{name}: {wrong} is not between 1 and {most}");
            assert_eq!(error, expected);
        }
        for wrong in [json!(-1), json!(1.5), json!("1"), json!(null)] {
            assert!(said(&|read| read["budget"][name] = wrong.clone()).starts_with("fields[0]: "), "{name}");
        }
    }
    for wrong in [json!({"treatment": "reveal"}), json!({"treatment": "conceal"})] {
        let error = said(&|read| read["budget"]["then"] = wrong.clone());
        assert_eq!(error, "fields[0].read.budget.then: it is none of mask, null and refuse");
    }
    let error = said(&|read| read["treatment"] = json!("null"));
    assert_eq!(error, "fields[0].read.budget: only reveal has one; leave it out");
    let error = said(&|read| read["budget"]["more"] = json!(1));
    assert!(error.starts_with("fields[0]: unknown field"), "{error}");
}

#[test]
fn budget_of_nobody_is_an_error() {
    let error = plan_with(json!({}), vec![with("read", budget())]).unwrap_err().to_string();
    assert_eq!(error, "fields[0].read.budget: the plan does not say whose it is; give the plan a subject");
}

#[test]
fn subject_is_not_too_long_to_be_held() {
    assert!(plan_with(json!({"subject": "s".repeat(512)}), vec![]).is_ok());
    let error = plan_with(json!({"subject": "s".repeat(513)}), vec![]).unwrap_err().to_string();
    assert!(error.starts_with("subject: it has 513 bytes"), "{error}");
}

#[test]
fn subject_makes_no_lines_of_its_own() {
    for subject in ["token:i#a\nfieldveil: all is well", "token:i#\u{9b}31m", "a\0b"] {
        let error = plan_with(json!({"subject": subject}), vec![]).unwrap_err().to_string();
        assert_eq!(error, "subject: it has control characters; name it without");
    }
    assert!(plan_with(json!({"subject": "token:https://idp.example#Ädä Lovelace"}), vec![]).is_ok());
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
        ("read", json!({"treatment": "null", "format": "last4"})),
        ("read", json!({"treatment": "null", "more": 1})),
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
