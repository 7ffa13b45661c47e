//! What is counted and told of values over HTTP, and of whom.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::http::*;
use crate::support::keys::*;
use fieldveil_engine::fetch::PrincipalKey;
use fieldveil_engine::field::StoredForm;
use fieldveil_engine::http::audits::Handle;
use fieldveil_engine::http::problem::Problem;
use fieldveil_engine::http::treat;
use fieldveil_plan::PlanInput;
use serde_json::json;

const SSN: &str = r#""078-05-1120""#;

fn sealed(treated: &Treated, text: &str) -> String {
    String::from_utf8(treated.stored(text, StoredForm::Armored)).unwrap()
}

#[test]
fn counts_and_audit_name_labels_and_never_values() {
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    treated.seal(SSN).unwrap();
    treated.open(&json!(sealed(&treated, CANARY)).to_string()).unwrap();
    treat::search(&treated.ctx, treated.field(), CANARY.as_bytes()).unwrap();
    let problem = treated.open(SSN).unwrap_err();
    treated.ctx.audit.refused(&problem, treated.ctx.now_ms);
    treated.ctx.audit.refused(&Problem::unmatched_route(), treated.ctx.now_ms);

    let counts = treated.counts();
    let of = |name: &str| counts.get(name).copied();
    assert_eq!((of("sealed.customer.value"), of("revealed.customer.value")), (Some(2), Some(1)));
    assert_eq!((of("http.refused.unreadable-value"), of("http.refused.unmatched-route")), (Some(1), Some(1)));

    let lines = treated.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["labels"], json!({"customer.value": {"revealed": 1, "sealed": 1, "searched": 1}}));
    let refusals = json!([
        {"problem": "unmatched-route", "count": 1},
        {"problem": "unreadable-value", "label": "customer.value", "count": 1},
    ]);
    assert_eq!(lines[0]["refusals"], refusals);
    assert_eq!(lines[0].get("ended"), None);
    let told = format!("{counts:?}{lines:?}{problem:?}{}", problem.line());
    let envelope = sealed(&treated, CANARY);
    assert!(!told.contains("078") && !told.contains(envelope.trim_start_matches("fv1.")), "{told}");
}

#[test]
fn audit_goes_on_by_principal_and_is_silent_of_who_touched_nothing() {
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    assert!(treated.lines().is_empty());
    let mut other = PlanInput { listener: "l".into(), ..PlanInput::default() };
    other.session.source = "10.0.0.9".into();
    other.claims.insert("sub".into(), json!("ada"));
    let (worker, ports) = (&treated.ctx.worker, as_ports(&treated.ports));
    let of = |input: &PlanInput| {
        Handle::of(worker, &ports, &PrincipalKey::new(input), input, Some(&treated.ctx.plan))
    };
    let problem = Problem::unmatched_route();
    for _ in 0..2 {
        of(&other).refused(&problem, treated.ctx.now_ms);
        of(&treated.input).refused(&problem, treated.ctx.now_ms);
    }
    let lines = treated.lines();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| (&line["source"], &line["authenticated"], &line["refusals"][0]["count"]))
        .collect();
    assert_eq!(seen, [(&json!("10.0.0.9"), &json!(true), &json!(2)), (&json!(""), &json!(false), &json!(2))]);
    assert_ne!(lines[0]["session"], lines[1]["session"]);
    of(&other).refused(&problem, treated.ctx.now_ms);
    let again = treated.lines();
    assert_eq!((&again[0]["session"], &again[0]["sequence"]), (&lines[0]["session"], &json!(1)));
}

#[test]
fn principals_past_the_limit_cost_nobody_a_line() {
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    let (worker, ports) = (&treated.ctx.worker, as_ports(&treated.ports));
    let handle = |number: usize| {
        let mut input = PlanInput::default();
        input.session.source = number.to_string();
        Handle::of(worker, &ports, &PrincipalKey::new(&input), &input, None)
    };
    let first = handle(0);
    for number in 0..1500 {
        handle(number).refused(&Problem::unmatched_route(), treated.ctx.now_ms);
    }
    // Gone from the list of those who asked last, and still under way.
    first.refused(&Problem::unmatched_route(), treated.ctx.now_ms);
    drop(first);
    let mut sources: Vec<String> = treated.ports.borrow().audit.borrow().clone();
    let count = treated.lines().len() + sources.len();
    assert_eq!(count, 1501);
    sources.retain(|line| line.contains(r#""source":"0""#));
    assert_eq!(sources.len(), 1);
    handle(7).refused(&Problem::unmatched_route(), treated.ctx.now_ms);
    assert_eq!(worker.borrow().state.principals.last_lines().len(), 1);
    assert_eq!(treated.lines().len(), 0);
}
