//! Many principals: one session's flood of them, and as many sessions as there are principals.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use crate::support::*;
use fieldveil_engine::fetch::{Fetch, FetchResponse, PrincipalKey};
use fieldveil_engine::plans::Holder;
use fieldveil_engine::worker::Worker;
use fieldveil_plan::PlanInput;
use serde_json::{Value, json};

const NOW: u64 = 1_000_000;
const MINUTE: u64 = 60_000;
/// Plans that no session holds.
const SPARE: usize = 1024;

fn principal(name: &str) -> PrincipalKey {
    PrincipalKey::new(&PlanInput { listener: name.to_owned(), ..PlanInput::default() })
}

fn give(worker: &mut Worker, name: &str, fields: &[Value], now_ms: u64) {
    let answer = FetchResponse::Body { body: &plan(fields), etag: None };
    worker.answered(&Fetch::Plan(principal(name)), answer, now_ms).unwrap();
}

/// A session sets out to be somebody else, again and again.
fn flood(worker: &mut Worker, holder: &mut Holder, count: usize) {
    for number in 0..count {
        let name = format!("flood {number}");
        give(worker, &name, &revealing(), NOW);
        assert!(worker.plan(&principal(&name), holder, false, NOW).is_some());
    }
}

/// How many of these are there.
fn there<'n>(worker: &mut Worker, names: impl Iterator<Item = &'n String>) -> usize {
    let looker = Holder::default();
    names.filter(|name| worker.plan_in_passing(&principal(name), &looker, false, NOW).is_some()).count()
}

/// What the gauges say is held.
fn held(worker: &Worker) -> u32 {
    worker.state.show_held_plans(|held| held.values().sum())
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
    assert_eq!(held(&idle.worker.borrow()) as usize, SPARE + 2);
}

#[test]
fn spare_plans_of_many_fields_are_fewer() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let column = |number: usize| {
        field(&format!("c{number}"), "randomized", "text", json!({"treatment": "reveal"}), "seal")
    };
    let fields: Vec<_> = (0..1000).map(column).collect();
    let mut flooding = Holder::default();
    for name in names("flood", 150) {
        give(&mut worker, &name, &fields, NOW);
        assert!(worker.plan(&principal(&name), &mut flooding, false, NOW).is_some());
    }
    let held = worker.state.show_held_plans(|held| held.values().sum::<u32>());
    assert!((20..100).contains(&held), "{held} plans of 1,000 fields are held");
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
        assert!(worker.plan(&principal(name), &mut holder, false, NOW).is_some());
        holders.push(holder);
    }
    worker.due(NOW);
    assert_eq!(held(&worker), 3000);
    holders.truncate(10);
    worker.due(NOW);
    assert_eq!(held(&worker) as usize, 10 + SPARE);
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
        assert!(worker.plan_in_passing(&principal(name), &pooled, false, NOW).is_some());
    }
    let mut flooding = Holder::default();
    flood(&mut worker, &mut flooding, 3000);
    assert_eq!(there(&mut worker, users.iter()), 500);
    assert_eq!(held(&worker) as usize, SPARE + 1);
    // Nor does one who connects anew for each.
    for name in names("anew", 3000) {
        let mut anew = Holder::default();
        give(&mut worker, &name, &revealing(), NOW);
        assert!(worker.plan(&principal(&name), &mut anew, false, NOW).is_some());
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
    assert!(worker.plan(&principal("idle"), &mut idle, false, NOW).is_some());
    let mut flooding = Holder::default();
    for name in names("t", 2000) {
        give(&mut worker, &name, &owned_by(&name.replace(' ', "")), NOW);
        assert!(worker.plan(&principal(&name), &mut flooding, false, NOW).is_some());
    }
    let Fetch::Keys(question) = worker.fetch_keys(NOW) else { panic!("no question") };
    let target = question.target("/k");
    assert!(target.contains("tenant=pii%2Fidle"));
    assert_eq!(target.matches("tenant=").count(), 1024);
}

/// A session whose principals are renewed: a pool's, one a statement.
fn pooled(worker: &mut Worker, count: usize) -> Holder {
    let holder = Holder::default();
    for name in names("user", count) {
        give(worker, &name, &revealing(), NOW);
        assert!(worker.plan_in_passing(&principal(&name), &holder, false, NOW).is_some());
    }
    holder
}

fn renewals(worker: &mut Worker, now_ms: u64) -> Vec<Fetch> {
    worker.due(now_ms).into_iter().filter(|fetch| matches!(fetch, Fetch::Plan(_))).collect()
}

#[test]
fn renewals_follow_each_other_and_each_gets_its_turn() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let _pooled = pooled(&mut worker, 1000);
    let mut idle = Holder::default();
    give(&mut worker, "idle", &revealing(), NOW);
    assert!(worker.plan(&principal("idle"), &mut idle, false, NOW).is_some());
    let later = NOW + MINUTE / 2;
    let mut asked = Vec::new();
    let mut open = renewals(&mut worker, later);
    assert!(open.contains(&Fetch::Plan(principal("idle"))), "sessions come first");
    while let Some(fetch) = open.pop() {
        worker
            .answered(&fetch, FetchResponse::Body { body: &plan(&revealing()), etag: None }, later)
            .unwrap();
        assert!(!asked.contains(&fetch));
        asked.push(fetch);
        open.extend(worker.due_plans(later));
        assert!(open.len() <= 8, "OPA has few questions at a time");
    }
    assert_eq!(asked.len(), 1001);
}

#[test]
fn opa_that_does_not_answer_is_asked_for_one_plan_a_second_and_for_all_when_it_does() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let _pooled = pooled(&mut worker, 1000);
    let mut now_ms = NOW + MINUTE / 2;
    let mut open = renewals(&mut worker, now_ms);
    let mut asked = open.len();
    for _ in 0..20 {
        now_ms += 1000;
        for fetch in open.drain(..) {
            worker.answered(&fetch, FetchResponse::Failed("timed out".into()), now_ms).unwrap_err();
            assert_eq!(worker.due_plans(now_ms - 1), []);
        }
        open = renewals(&mut worker, now_ms);
        asked += open.len();
    }
    assert!(asked <= 30, "{asked}");
    let fetch = open.pop().unwrap();
    worker.answered(&fetch, FetchResponse::Body { body: &plan(&revealing()), etag: None }, now_ms).unwrap();
    assert_eq!(worker.due_plans(now_ms).len(), 8);
}

#[test]
fn plan_that_nobody_uses_is_not_renewed_and_asked_for_when_it_is_used_again_or_used_without_opa() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    let pooled = pooled(&mut worker, 10);
    let later = NOW + MINUTE + 1;
    assert_eq!(renewals(&mut worker, later), []);
    let user = principal("user 1");
    assert!(worker.plan_in_passing(&user, &pooled, false, later).is_none());
    worker
        .answered(&Fetch::Plan(user.clone()), FetchResponse::Failed("timed out".into()), later)
        .unwrap_err();
    assert!(worker.plan_in_passing(&user, &pooled, true, later).is_some());
    assert!(worker.plan_in_passing(&user, &pooled, false, later + 1000).is_some(), "it was just tried");
    assert!(worker.plan_in_passing(&user, &pooled, false, later + 10_000).is_none());
    assert!(worker.plan_in_passing(&user, &pooled, true, NOW + 6 * MINUTE).is_none(), "it is too old");
}

#[test]
fn who_has_not_logged_in_has_no_plan_kept() {
    let mut stranger = Dialogue::new();
    stranger.client(&startup("app"));
    stranger.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    let start = stranger.ports.borrow().now_ms;
    assert_eq!(renewals(&mut stranger.worker.borrow_mut(), start + 2 * MINUTE), []);
    stranger.server(&message(b'R', &[0, 0, 0, 0]));
    assert_eq!(renewals(&mut stranger.worker.borrow_mut(), start + 2 * MINUTE).len(), 1);
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
        let answer = FetchResponse::Body { body: &plan(&concealing), etag: None };
        idle.worker.borrow_mut().answered(renewal, answer, now_ms).unwrap();
    }
}
