//! Many principals: one session's flood of them, and as many sessions as there are principals.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod support;

use fieldveil_engine::fetch::{Answer, Fetch, PrincipalKey};
use fieldveil_engine::plans::Holder;
use fieldveil_engine::worker::Worker;
use fieldveil_plan::PlanInput;
use serde_json::{Value, json};
use support::*;

const NOW: u64 = 1_000_000;
const MINUTE: u64 = 60_000;
/// Plans that no session holds.
const SPARE: usize = 1024;

fn principal(name: &str) -> PrincipalKey {
    PrincipalKey::new(&PlanInput { listener: name.to_owned(), ..PlanInput::default() })
}

fn give(worker: &mut Worker, name: &str, fields: &[Value], now_ms: u64) {
    let answer = Answer::Body { body: &plan(fields), etag: None };
    worker.answered(&Fetch::Plan(principal(name)), answer, now_ms).unwrap();
}

/// A session sets out to be somebody else, again and again.
fn flood(worker: &mut Worker, holder: &mut Holder, count: usize) {
    for number in 0..count {
        let name = format!("flood {number}");
        give(worker, &name, &revealing(), NOW);
        assert!(worker.plan(&principal(&name), holder, NOW).is_some());
    }
}

/// How many of these are there.
fn there<'n>(worker: &mut Worker, names: impl Iterator<Item = &'n String>) -> usize {
    let looker = Holder::default();
    names.filter(|name| worker.plan_of_statement(&principal(name), &looker, NOW).is_some()).count()
}

/// What the gauges say is held.
fn held(worker: &mut Worker) -> i64 {
    worker.take_held_plans().iter().map(|(_, by)| by).sum()
}

fn names(what: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{what} {number}")).collect()
}

#[test]
fn flood_of_principals_costs_no_other_session_its_plan_nor_memory() {
    let mut idle = Dialogue::with_catalog(&revealing());
    idle.take_to_server();
    let mut flooding = Holder::default();
    flood(&mut idle.worker.borrow_mut(), &mut flooding, 3000);
    let text = query("SELECT ssn FROM customer");
    idle.client(&text);
    assert_eq!((idle.fetches.len(), idle.take_to_server()), (0, text));
    // Its own, the flood's last one, and those that are spare.
    assert_eq!(held(&mut idle.worker.borrow_mut()), SPARE as i64 + 2);
}

#[test]
fn plans_of_sessions_are_as_many_as_sessions_and_spare_when_these_end() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let everybody = names("session", 3000);
    let mut holders = Vec::new();
    for name in &everybody {
        let mut holder = Holder::default();
        give(&mut worker, name, &revealing(), NOW);
        assert!(worker.plan(&principal(name), &mut holder, NOW).is_some());
        holders.push(holder);
    }
    worker.due(NOW);
    assert_eq!(held(&mut worker), 3000);
    holders.truncate(10);
    worker.due(NOW);
    assert_eq!(held(&mut worker), 10 + SPARE as i64 - 3000);
    assert_eq!(there(&mut worker, everybody[..10].iter()), 10);
    assert_eq!(there(&mut worker, everybody[3000 - SPARE..].iter()), SPARE, "the last ones stay");
}

#[test]
fn flood_takes_no_more_than_its_share_of_the_plans_of_statements() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let pooled = Holder::default();
    let users = names("user", 500);
    for name in &users {
        give(&mut worker, name, &revealing(), NOW);
        assert!(worker.plan_of_statement(&principal(name), &pooled, NOW).is_some());
    }
    let mut flooding = Holder::default();
    flood(&mut worker, &mut flooding, 3000);
    assert_eq!(there(&mut worker, users.iter()), 500);
    assert_eq!(held(&mut worker), SPARE as i64 + 1);
    // Nor does one who connects anew for each.
    for name in names("anew", 3000) {
        let mut anew = Holder::default();
        give(&mut worker, &name, &revealing(), NOW);
        assert!(worker.plan(&principal(&name), &mut anew, NOW).is_some());
    }
    assert!(there(&mut worker, users.iter()) >= SPARE / 3);
}

#[test]
fn keysets_of_tenants_of_sessions_come_before_those_of_a_flood() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let owned_by = |tenant: &str| {
        let mut fields = revealing();
        fields[0]["keyset"] = json!(format!("pii/{tenant}"));
        fields[0]["tenant"] = json!(tenant);
        fields
    };
    let mut idle = Holder::default();
    give(&mut worker, "idle", &owned_by("idle"), NOW);
    assert!(worker.plan(&principal("idle"), &mut idle, NOW).is_some());
    let mut flooding = Holder::default();
    for name in names("t", 2000) {
        give(&mut worker, &name, &owned_by(&name.replace(' ', "")), NOW);
        assert!(worker.plan(&principal(&name), &mut flooding, NOW).is_some());
    }
    let Fetch::Keys(question) = worker.fetch_keys(NOW) else { panic!("no question") };
    let target = question.target("/k");
    assert!(target.contains("tenant=pii%2Fidle"));
    assert_eq!(target.matches("tenant=").count(), 1024);
}

#[test]
fn renewals_come_in_parts_and_each_gets_its_turn() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    flood(&mut worker, &mut Holder::default(), 3 * 256);
    let later = NOW + MINUTE / 2;
    let mut asked = Vec::new();
    for second in 0..3 {
        let due = worker.due(later + second * 1000);
        let plans: Vec<_> = due.into_iter().filter(|fetch| matches!(fetch, Fetch::Plan(_))).collect();
        assert!(plans.len() <= 256);
        assert!(plans.iter().all(|fetch| !asked.contains(fetch)), "OPA does not answer, and others wait");
        asked.extend(plans);
    }
    assert_eq!(asked.len(), 3 * 256);
}

#[test]
fn plan_of_a_session_that_says_nothing_for_long_is_renewed_also_once_it_was_replaced() {
    let idle = Dialogue::with_catalog(&revealing());
    let start = idle.ports.borrow().now_ms;
    for minute in 1..30 {
        let now_ms = start + minute * MINUTE;
        idle.ports.borrow_mut().now_ms = now_ms;
        let due = idle.worker.borrow_mut().due(now_ms);
        let Some(renewal) = due.iter().find(|fetch| matches!(fetch, Fetch::Plan(_))) else {
            panic!("not renewed in minute {minute}")
        };
        // Another plan than that of the beginning, from then on the same.
        let concealing = [field("ssn", "deterministic", "text", json!({"treatment": "conceal"}), "seal")];
        let answer = Answer::Body { body: &plan(&concealing), etag: None };
        idle.worker.borrow_mut().answered(renewal, answer, now_ms).unwrap();
    }
}
