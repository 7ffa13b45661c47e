use fieldveil_config::Protocol;
use fieldveil_plan::PlanInput;
use serde_json::json;

use super::*;
use crate::budgets::{Allowance, Spending};

const ALLOWANCE: Allowance = Allowance { rows: 1000, per_seconds: 60 };

fn state() -> Arc<SidecarState> {
    let source = json!({"cluster": "c", "path": "/p", "timeout_ms": 1});
    let keys = json!({"cluster": "c", "path": "/p", "timeout_ms": 1, "max_stale_seconds": 1});
    let config = json!({"listener": "l", "policy": source, "keys": keys}).to_string();
    let config = Config::from_json(config.as_bytes(), Protocol::Postgres, &|_| None).unwrap();
    Arc::new(SidecarState::of_databases(config))
}

fn assert_send_sync<T: Send + Sync>() {}

#[test]
fn what_workers_share_can_be_used_from_every_thread() {
    assert_send_sync::<SidecarState>();
    assert_send_sync::<CompiledPlan>();
    assert_send_sync::<Keyring>();
    assert_send_sync::<Fetch>();
    assert_send_sync::<Holder>();
}

#[test]
fn workers_on_two_threads_spend_together_exactly_the_allowance() {
    let state = state();
    let spend = |state: Arc<SidecarState>| {
        let worker = Worker::sharing(state);
        let (subject, label) = (Arc::from("app"), Arc::from("ssn"));
        (0..ALLOWANCE.rows)
            .filter(|_| worker.budgets().spend(&subject, &label, ALLOWANCE, 1, 1000) == Spending::Revealed)
            .count()
    };
    let threads = [(); 2].map(|()| {
        let state = Arc::clone(&state);
        std::thread::spawn(move || spend(state))
    });
    assert_eq!(threads.map(|thread| thread.join().unwrap()).iter().sum::<usize>(), 1000);
}

#[test]
fn plan_that_one_worker_took_is_held_by_another_and_renewed_for_it() {
    let state = state();
    let principal = PrincipalKey::new(&PlanInput::default());
    let plan = json!({"result": {"revision": "r", "ttl_seconds": 1, "max_stale_seconds": 30, "fields": []}})
        .to_string();
    let taking = (Arc::clone(&state), principal.clone());
    let taken = std::thread::spawn(move || {
        let body = FetchResponse::Body { body: plan.as_bytes(), etag: None };
        Worker::sharing(taking.0).answered(&Fetch::Plan(taking.1), body, 1000)
    });
    taken.join().unwrap().unwrap();
    let holding = (Arc::clone(&state), principal.clone());
    let holder = std::thread::spawn(move || {
        let mut holder = Holder::default();
        assert!(Worker::sharing(holding.0).plan(&holding.1, &mut holder, false, 1500).is_some());
        holder
    });
    let holder = holder.join().unwrap();
    // Long after a spare plan would have lapsed.
    assert_eq!(state.due_plans(20_000), [Fetch::Plan(principal.clone())]);
    drop(holder);
    assert!(state.due_plans(200_000).is_empty());
}
