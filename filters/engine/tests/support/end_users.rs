//! Sessions whose end user changes.

use fieldveil_engine::fetch::Fetch;
use serde_json::{Value, json};

use super::*;

pub const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl";
pub const OTHER: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJldmUifQ.c2lnbmF0dXJl";

/// `customer.ssn` read so.
pub fn reading(treatment: &str) -> Vec<Value> {
    vec![field("ssn", "deterministic", "text", json!({ "treatment": treatment }), "refuse")]
}

/// A plan with these keys beside its fields.
pub fn plan_with(fields: &[Value], more: Value) -> Vec<u8> {
    let mut answer: Value = serde_json::from_slice(&plan(fields)).unwrap();
    answer["result"]["revision"] = json!(format!("{fields:?}{more}"));
    for (name, value) in more.as_object().unwrap() {
        answer["result"][name] = value.clone();
    }
    answer.to_string().into_bytes()
}

/// The word in what went to the server.
pub fn word_in(bytes: &[u8]) -> String {
    let start = bytes.windows(10).position(|w| w == b"fieldveil-").expect("no word");
    String::from_utf8(bytes[start..start + 42].to_vec()).unwrap()
}

/// A simple query, and the server's answer to it.
pub fn done(dialogue: &mut Dialogue, text: &str) -> Vec<u8> {
    dialogue.take_to_server();
    dialogue.client(&query(text));
    let sent = dialogue.take_to_server();
    assert!(!dialogue.session.is_waiting(), "{text} waits");
    let status = dialogue.status;
    dialogue.server(&[complete(text.split(' ').next().unwrap()), ready(status)].concat());
    sent
}

/// The input that the plan is asked for with.
pub fn asked_input(dialogue: &Dialogue) -> Value {
    let [Fetch::Plan(principal)] = dialogue.fetches.as_slice() else { panic!("no plan is asked for") };
    serde_json::from_str::<Value>(principal.request()).unwrap()["input"].clone()
}

/// A session whose end user is the one of the token, up to the statement that waits for the plan.
pub fn waiting_for_plan() -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let sent = done(&mut dialogue, &format!("SET fieldveil.token = '{JWT}'"));
    dialogue.identity[1] = word_in(&sent);
    dialogue.client(&query("SELECT ssn FROM customer"));
    assert_eq!(dialogue.asked(), [Asked::Identity]);
    dialogue.answer_catalog();
    dialogue.take_to_server();
    dialogue
}

pub fn assert_untold(dialogue: &Dialogue) {
    assert!(!contains(&dialogue.to_server, b"eyJ"), "the server sees a token");
    assert!(!contains(&dialogue.to_client, b"eyJ"));
    assert!(dialogue.ports.borrow().lines.borrow().iter().all(|line| !line.contains("eyJ")));
}
