//! What the audit of a connection tells, and that it stays bounded whatever the client does.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;

use fieldveil_engine::audit::{Audit, AuditedBudget, Ended};
use fieldveil_engine::client_error::ClientError;
use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::value_counts::ValueOutcome;
use fieldveil_plan::{ClientCertificate, Plan, PlanInput};
use serde_json::{Value, json};

const START_MS: u64 = 1_800_000_000_123;
const MINUTE_MS: u64 = 60_000;

fn plan(revision: &str, more: &Value) -> Arc<CompiledPlan> {
    let mut plan = json!({"revision": revision, "ttl_seconds": 30, "max_stale_seconds": 300, "fields": []});
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body = json!({ "result": plan }).to_string();
    Arc::new(CompiledPlan::new(Plan::from_json(body.as_bytes()).unwrap()).unwrap())
}

fn input(purpose: &str) -> PlanInput {
    let mut input =
        PlanInput { listener: "orders-db".into(), token: "eyJ-secret".into(), ..PlanInput::default() };
    input.session.user = "app".into();
    input.session.role = "clerk".into();
    input.session.database = "shop".into();
    input.session.source = "10.0.0.9".into();
    let certificate = ClientCertificate { subject: "CN=orders".into(), ..ClientCertificate::default() };
    input.client_certificate = Some(certificate);
    input.session.purpose = purpose.into();
    input
}

fn audit() -> Audit {
    Audit::new("5e55".into(), MINUTE_MS, Arc::default())
}

fn lines(audit: &mut Audit) -> Vec<Value> {
    audit.take_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn line_says_who_saw_how_many_values_of_what_under_which_plan() {
    let mut audit = audit();
    let plan = plan(
        "r1",
        &json!({"bundle": "b7", "subject": "user:app", "break_glass": ["night duty: INC-42"], "denied": "no"}),
    );
    audit.principal(&input("refund"), Some(&plan), START_MS);
    audit.authenticated();
    for _ in 0..3 {
        audit.count(&plan, ValueOutcome::Revealed, &"customer.ssn".into(), START_MS + 1000);
    }
    audit.count(&plan, ValueOutcome::Searched, &"customer.ssn".into(), START_MS + 1000);
    audit.count(&plan, ValueOutcome::Nulled, &"customer.notes".into(), START_MS + 2000);
    audit.refusal(&ClientError::denied("customer.card", "read"), START_MS + 2000);
    audit.refusal(&ClientError::unknown_statement(), START_MS + 2000);
    let budget = AuditedBudget { rows: 500, per_seconds: 60, then: "null" };
    audit.budget(&plan, "customer.ssn", budget, START_MS + 2000);
    audit.budget(&plan, "customer.ssn", budget, START_MS + 2877);
    audit.end(Ended::Client, START_MS + 3000);
    let expected = json!({
        "version": 1, "session": "5e55", "sequence": 0, "listener": "orders-db",
        "workload": {"namespace": "", "service_account": "", "spiffe_id": ""},
        "source": "10.0.0.9",
        "client_certificate": {"subject": "CN=orders", "dns": [], "uri": [], "email": []},
        "user": "app", "database": "shop", "authenticated": true,
        "from": "2027-01-15T08:00:00.123Z", "to": "2027-01-15T08:00:03.123Z",
        "role": "clerk", "application_name": "", "purpose": "refund", "subject": "user:app",
        "plan": "r1", "bundle": "b7", "break_glass": ["night duty: INC-42"], "denied": "no", "merged": false,
        "labels": {"customer.ssn": {"revealed": 3, "searched": 1}, "customer.notes": {"nulled": 1}},
        "refusals": [
            {"sqlstate": "26000", "count": 1},
            {"sqlstate": "42501", "label": "customer.card", "count": 1},
        ],
        "budgets": [{"label": "customer.ssn", "rows": 500, "per_seconds": 60, "then": "null", "count": 2}],
        "ended": "client",
    });
    assert_eq!(lines(&mut audit), [expected]);
}

#[test]
fn lines_come_when_the_interval_is_over_and_only_if_something_happened() {
    let mut audit = audit();
    let plan = plan("r1", &json!({}));
    audit.principal(&input(""), Some(&plan), START_MS);
    audit.count(&plan, ValueOutcome::Masked, &"l".into(), START_MS);
    audit.tick(START_MS + MINUTE_MS - 1);
    assert!(lines(&mut audit).is_empty());
    audit.tick(START_MS + MINUTE_MS);
    let first = lines(&mut audit);
    assert_eq!(
        (first.len(), &first[0]["labels"], &first[0]["ended"]),
        (1, &json!({"l": {"masked": 1}}), &Value::Null)
    );
    // A statement of the same principal that concerns no label is nothing to tell.
    audit.principal(&input(""), Some(&plan), START_MS + 2 * MINUTE_MS);
    assert!(audit.is_idle());
    audit.count(&plan, ValueOutcome::Masked, &"l".into(), START_MS + 5 * MINUTE_MS);
    audit.tick(START_MS + 6 * MINUTE_MS);
    let second = lines(&mut audit);
    assert_eq!(second[0]["labels"], json!({"l": {"masked": 1}}));
    assert_eq!((&first[0]["sequence"], &second[0]["sequence"]), (&json!(0), &json!(1)));
    audit.end(Ended::Server, START_MS + 7 * MINUTE_MS);
    let last = lines(&mut audit);
    assert_eq!((last.len(), &last[0]["ended"], &last[0]["labels"]), (1, &json!("server"), &json!({})));
    audit.end(Ended::Proxy, START_MS + 8 * MINUTE_MS);
    assert!(lines(&mut audit).is_empty());
}

#[test]
fn rows_are_told_under_the_plan_that_treated_them() {
    let mut audit = audit();
    let (before, after) = (plan("before", &json!({})), plan("after", &json!({})));
    audit.principal(&input(""), Some(&before), START_MS);
    audit.principal(&input("refund"), Some(&after), START_MS);
    // The answer to a statement from before the change.
    audit.count(&before, ValueOutcome::Revealed, &"l".into(), START_MS);
    audit.count(&after, ValueOutcome::Masked, &"l".into(), START_MS);
    audit.end(Ended::Client, START_MS);
    let told: Vec<_> = lines(&mut audit);
    let told: Vec<_> = told.iter().map(|line| (&line["plan"], &line["purpose"], &line["labels"])).collect();
    assert_eq!(
        told,
        [
            (&json!("before"), &json!(""), &json!({"l": {"revealed": 1}})),
            (&json!("after"), &json!("refund"), &json!({"l": {"masked": 1}})),
        ]
    );
}

#[test]
fn principal_that_comes_back_within_the_interval_goes_on_with_its_line() {
    let mut audit = audit();
    let plans = [plan("r1", &json!({})), plan("r2", &json!({}))];
    for turn in 0..10 {
        let plan = &plans[turn % 2];
        audit.principal(&input(["a", "b"][turn % 2]), Some(plan), START_MS);
        audit.count(plan, ValueOutcome::Revealed, &"l".into(), START_MS);
    }
    audit.end(Ended::Client, START_MS);
    let told = lines(&mut audit);
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|line| line["labels"] == json!({"l": {"revealed": 5}})));
}

#[test]
fn refusal_without_a_plan_is_told_without_one() {
    let mut audit = audit();
    audit.principal(&input(""), None, START_MS);
    audit.refusal(&ClientError::unavailable("the policy (OPA)", "reason", "remedy"), START_MS);
    audit.end(Ended::Filter, START_MS);
    let told = lines(&mut audit);
    assert_eq!((told.len(), &told[0]["plan"], &told[0]["ended"]), (1, &json!(""), &json!("filter")));
    assert_eq!(told[0]["refusals"], json!([{"sqlstate": "57P03", "count": 1}]));
}

#[test]
fn connection_that_never_named_its_principal_has_no_line() {
    let mut audit = audit();
    audit.refusal(&ClientError::protocol("noise"), START_MS);
    audit.end(Ended::Filter, START_MS);
    assert!(lines(&mut audit).is_empty());
}

#[test]
fn ever_new_principals_are_told_apart_up_to_a_bound_and_then_counted_together() {
    let mut audit = audit();
    let principals = 2000;
    for number in 0..principals {
        let plan = plan(&format!("r{number}"), &json!({}));
        audit.principal(&input(&format!("p{number}")), Some(&plan), START_MS);
        audit.count(&plan, ValueOutcome::Revealed, &"l".into(), START_MS);
    }
    audit.tick(START_MS + MINUTE_MS);
    let told = lines(&mut audit);
    assert!(told.len() < 300, "{}", told.len());
    let (merged, apart): (Vec<_>, Vec<_>) = told.iter().partition(|line| line["merged"] == json!(true));
    assert_eq!(merged.len(), 1);
    assert_eq!((&merged[0]["subject"], &merged[0]["plan"]), (&json!(""), &json!("")));
    let revealed = |line: &&Value| line["labels"]["l"]["revealed"].as_u64().unwrap();
    assert!(apart.iter().all(|line| revealed(line) == 1));
    assert_eq!(told.iter().map(|line| revealed(&line)).sum::<u64>(), principals);
    // The next interval begins anew.
    let plan = plan("again", &json!({}));
    audit.principal(&input("again"), Some(&plan), START_MS + MINUTE_MS);
    audit.end(Ended::Client, START_MS + MINUTE_MS);
    assert_eq!(lines(&mut audit)[0]["purpose"], json!("again"));
}

#[test]
fn line_is_bounded_whatever_is_in_it() {
    let mut audit = audit();
    let mut input = input("");
    input.session.application_name = "n".repeat(1 << 16);
    let plan = plan("r1", &json!({}));
    audit.principal(&input, Some(&plan), START_MS);
    for number in 0..5000 {
        let label = format!("label.{number}");
        audit.count(&plan, ValueOutcome::Revealed, &label.as_str().into(), START_MS);
        audit.refusal(&ClientError::denied(&label, "read"), START_MS);
        audit.budget(&plan, &label, AuditedBudget { rows: 1, per_seconds: 1, then: "refuse" }, START_MS);
    }
    audit.end(Ended::Client, START_MS);
    let line = audit.take_lines().concat();
    assert!(line.len() < 64 << 10, "{}", line.len());
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["labels"]["*"]["revealed"], json!(5000 - 256));
}

#[test]
fn no_token_is_told() {
    let mut audit = audit();
    let mut input = input("");
    input.comment.token = "eyJ-comment".into();
    input.comment.purpose = "of the comment".into();
    audit.principal(&input, Some(&plan("r1", &json!({}))), START_MS);
    audit.end(Ended::Client, START_MS);
    let line = audit.take_lines().concat();
    assert!(!line.contains("eyJ") && line.contains("of the comment"), "{line}");
}
