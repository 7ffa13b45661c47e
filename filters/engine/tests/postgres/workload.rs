//! Who runs here, where the key agent says its SPIFFE id: no plan is asked for before, and another id is another principal.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use fieldveil_engine::fetch::Fetch;
use serde_json::{Value, json};

const ORDERS: &str = "spiffe://example.org/shop/orders";
const JOBS: &str = "spiffe://example.org/shop/jobs";

fn new() -> Dialogue {
    Dialogue::of_workload(r#"{"namespace": "shop", "spiffe_id_from": "key_agent"}"#)
}

/// The agent's answer, with this said of the workload.
fn keys_of(workload: Value) -> Vec<u8> {
    let mut answer: Value = serde_json::from_slice(&keys()).unwrap();
    answer["workload"] = workload;
    answer.to_string().into_bytes()
}

fn keys_for(id: &str) -> Vec<u8> {
    keys_of(json!({ "spiffe_id": id }))
}

/// The workloads for whom plans are asked.
fn asked_for(dialogue: &Dialogue) -> Vec<Value> {
    let plans = dialogue.fetches.iter().filter_map(|fetch| match fetch {
        Fetch::Plan(principal) => Some(serde_json::from_str::<Value>(principal.request()).unwrap()),
        Fetch::Keys(_) => None,
    });
    plans.map(|request| request["input"]["workload"].clone()).collect()
}

fn workload(id: &str) -> Value {
    json!({"namespace": "shop", "service_account": "", "spiffe_id": id})
}

fn up() -> Dialogue {
    let mut dialogue = new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys_for(ORDERS)));
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys_for(ORDERS)));
    dialogue.server(&[message(b'R', &[0, 0, 0, 0]), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue
}

/// Whether the session ends before the server knows who wants in, because of the agent.
fn is_not_let_in(dialogue: &mut Dialogue) -> bool {
    assert!(!contains(&dialogue.to_server, b"app"));
    dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C28000\0Mno user\0\0"));
    contains(&dialogue.to_client, b"the key agent is unavailable")
}

#[test]
fn no_plan_is_asked_for_before_the_agent_has_said_who_runs_here() {
    let mut dialogue = new();
    dialogue.client(&startup("app"));
    assert!(matches!(dialogue.fetches.as_slice(), [Fetch::Keys(_)]));
    dialogue.answer_fetches(Err("unused"), Ok(&keys_for(ORDERS)));
    assert_eq!(asked_for(&dialogue), [workload(ORDERS)]);
    assert_eq!(dialogue.fetches.len(), 1, "the keys are there");
    dialogue.answer_fetches(Ok(&plan(&revealing())), Err("unused"));
    assert!(!dialogue.to_server.is_empty() && !dialogue.closed);
}

#[test]
fn agent_that_says_no_spiffe_id_or_an_odd_one_lets_nobody_in() {
    for answer in
        [keys(), keys_for(""), keys_of(json!({})), keys_for("https://x/y"), keys_of(json!({"spiffe_id": 5}))]
    {
        let mut dialogue = new();
        dialogue.client(&startup("app"));
        dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&answer));
        assert!(dialogue.fetches.is_empty());
        assert!(is_not_let_in(&mut dialogue));
    }
}

#[test]
fn what_an_agent_says_of_the_workload_counts_only_where_it_is_asked() {
    let mut dialogue = Dialogue::of_workload(r#"{"namespace": "shop"}"#);
    dialogue.client(&startup("app"));
    assert_eq!(asked_for(&dialogue), [workload("")]);
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys_for(ORDERS)));
    dialogue.server(&[message(b'R', &[0, 0, 0, 0]), ready(b'I')].concat());
    dialogue.client(&query("SELECT 1"));
    assert!(dialogue.fetches.is_empty());
}

#[test]
fn open_session_is_another_principals_once_the_id_is_another() {
    let mut dialogue = up();
    dialogue.client(&query("SELECT 1"));
    assert!(asked_for(&dialogue).is_empty());
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.give_keys(&keys_for(JOBS));
    dialogue.client(&query("SELECT 2"));
    assert_eq!(asked_for(&dialogue), [workload(JOBS)]);
    assert!(dialogue.to_server.is_empty(), "it waits for the plan");
    dialogue.answer_fetches(Err("timed out"), Err("unused"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"the policy (OPA)"));
}

#[test]
fn id_that_is_known_stays_while_the_agent_is_away_no_longer_than_its_keysets() {
    let dialogue = up();
    dialogue.ports.borrow_mut().now_ms += 599_000;
    let mut other = dialogue.beside();
    other.client(&startup("app"));
    assert_eq!(asked_for(&other), [workload(ORDERS)]);
    other.ports.borrow_mut().now_ms += 2_000;
    let mut third = dialogue.beside();
    third.client(&startup("app"));
    third.answer_fetches(Ok(&plan(&revealing())), Err("timed out"));
    assert!(is_not_let_in(&mut third));
}
