//! What only the engine can check of a plan.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::fetch::{Fetch, PrincipalKey};
use fieldveil_plan::{Plan, PlanInput};
use serde_json::{Value, json};

fn field(column: &str, changes: &Value) -> Value {
    let mut field = json!({"relation": "public.customer", "column": column, "label": "customer.contact",
        "keyset": "pii", "protection": "deterministic", "type": "text", "read": {"treatment": "reveal"}, "write": "seal"});
    for (name, value) in changes.as_object().unwrap() {
        field[name] = value.clone();
    }
    field
}

fn compile(fields: &[Value]) -> Result<CompiledPlan, String> {
    let answer =
        json!({"result": {"revision": "r", "subject": "user:app", "ttl_seconds": 30, "fields": fields}});
    let plan = Plan::from_json(answer.to_string().as_bytes()).map_err(|error| error.to_string())?;
    CompiledPlan::new(plan).map_err(|error| error.to_string())
}

#[test]
fn columns_of_one_label_are_read_alike() {
    assert!(compile(&[field("email", &json!({})), field("mail", &json!({}))]).is_ok());
    let masked = json!({"read": {"treatment": "mask", "format": "last4"}});
    let refused = compile(&[field("email", &json!({})), field("mail", &masked)]).unwrap_err();
    assert!(refused.starts_with("fields[1]: label customer.contact is read in another way"), "{refused}");
}

fn budget(rows: u32, then: &Value) -> Value {
    json!({"read": {"treatment": "reveal", "budget": {"rows": rows, "per_seconds": 60, "then": then}}})
}

#[test]
fn columns_of_one_label_have_one_budget() {
    let null = json!({"treatment": "null"});
    let fields = |rows| [field("email", &budget(5, &null)), field("mail", &budget(rows, &null))];
    assert!(compile(&fields(5)).is_ok());
    let refused = compile(&fields(6)).unwrap_err();
    assert!(refused.starts_with("fields[1]: label customer.contact is read in another way"), "{refused}");
}

#[test]
fn mask_of_rows_past_a_budget_is_one_for_the_type() {
    let masked = |format: &str| {
        let then = json!({"treatment": "mask", "format": format});
        compile(&[field("email", &budget(5, &then))]).map(|_| ())
    };
    assert_eq!(masked("partial(1,\"***\",1)"), Ok(()));
    for (format, reason) in [("year", "does not apply to type text"), ("rot13", "it is not a known mask")] {
        let refused = masked(format).unwrap_err();
        assert!(refused.contains(&format!("read.budget.then.format {format:?}")), "{refused}");
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn only_characters_keep_their_format() {
    let formatted =
        |type_name: &str| json!({"protection": "format_preserving", "alphabet": "digits", "type": type_name});
    assert!(compile(&[field("phone", &formatted("varchar(11)"))]).is_ok());
    for (type_name, part) in
        [("int8", "cannot be format_preserving"), ("text[]", "cannot be format_preserving")]
    {
        let refused = compile(&[field("phone", &formatted(type_name))]).unwrap_err();
        assert!(refused.contains(part), "{refused}");
    }
    let unknown = json!({"protection": "format_preserving", "alphabet": "runes", "type": "text"});
    assert!(compile(&[field("phone", &unknown)]).unwrap_err().contains("alphabet"));
}

#[test]
fn question_for_a_plan_shows_no_token() {
    let mut input = PlanInput { token: "eyJ-of-set".into(), ..PlanInput::default() };
    input.comment.token = "eyJ-of-comment".into();
    let principal = PrincipalKey::new(&input);
    assert!(principal.request().contains("eyJ-of-set") && principal.request().contains("eyJ-of-comment"));
    assert!(!format!("{:?}", Fetch::Plan(principal)).contains("eyJ"));
}
