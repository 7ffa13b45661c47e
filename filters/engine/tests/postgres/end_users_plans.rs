//! What a session does when the plan is another: for another end user, another comment, or from a moment on.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use crate::support::end_users::*;
use crate::support::*;
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use serde_json::json;

#[test]
fn portal_that_was_bound_under_another_plan_is_executed_under_the_one_in_force() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    let bound = [parse("s", "SELECT ssn FROM customer"), bind("s", &[])].concat();
    let set = [parse("t", &format!("SET fieldveil.token = '{JWT}'"))].concat();
    dialogue.client(&[bound, set].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "PDBP");
    // The unnamed portal of SET would end the other.
    let mut named = Vec::new();
    fieldveil_postgres_wire::frontend::Bind {
        portal: b"p",
        statement: b"t",
        parameter_formats: vec![],
        values: vec![],
        result_formats: vec![],
    }
    .encode(&mut named)
    .unwrap();
    fieldveil_postgres_wire::frontend::Execute { portal: b"p", max_rows: 0 }.encode(&mut named).unwrap();
    dialogue.client(&[named, execute(), sync()].concat());
    assert_eq!(dialogue.asked(), [Asked::Identity]);
    let answered =
        [message(b'1', b""), message(b't', &[0, 0]), row_description(&[("ssn", 3)]), message(b'2', b"")];
    dialogue.server(&[answered.concat(), message(b'1', b""), message(b'2', b""), complete("SET")].concat());
    dialogue.identity[2] = "other".into();
    let answer = dialogue.answer_with(vec![]);
    dialogue.server(&answer);
    dialogue.answer_fetches(Ok(&plan(&reading("null"))), Ok(&keys()));
    dialogue.take_to_client();
    dialogue.server(&[data_row(&[Some(b"fv1.x".to_vec())]), complete("SELECT 1"), ready(b'I')].concat());
    assert_eq!(dialogue.to_client, [data_row(&[None]), complete("SELECT 1"), ready(b'I')].concat());
}

#[test]
fn plan_past_its_end_is_not_used_and_a_denied_one_refuses_what_is_protected() {
    let mut dialogue = waiting_for_plan();
    let held = plan_with(&reading("reveal"), json!({"expires_at": 1010}));
    dialogue.answer_fetches(Ok(&held), Ok(&keys()));
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.ports.borrow_mut().now_ms = 1_009_999;
    done(&mut dialogue, "SELECT ssn FROM customer");
    dialogue.ports.borrow_mut().now_ms = 1_010_000;
    dialogue.client(&query("SELECT ssn FROM customer"));
    let denied = plan_with(&reading("refuse"), json!({"denied": "the token has expired"}));
    dialogue.answer_fetches(Ok(&denied), Ok(&keys()));
    assert!(!contains(&dialogue.to_server, b"ssn FROM"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert!(contains(&told, b"28000") && contains(&told, b"the token has expired"));
    assert_eq!(done(&mut dialogue, "SELECT name FROM customer"), query("SELECT name FROM customer"));
    done(&mut dialogue, "RESET fieldveil.token");
}

#[test]
fn plan_that_has_expired_when_it_comes_is_refused() {
    let mut dialogue = waiting_for_plan();
    let held = plan_with(&reading("reveal"), json!({"expires_at": 999}));
    dialogue.answer_fetches(Ok(&held), Ok(&keys()));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"57P03") && contains(&dialogue.to_client, b"same time"));
}

#[test]
fn comment_speaks_for_its_own_statement() {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let reads_comments = plan_with(&reading("conceal"), json!({"reads_comments": true}));
    done(&mut dialogue, "SET fieldveil.purpose = 'x'");
    dialogue.identity[2] = "x".into();
    let commented =
        format!("SELECT ssn FROM customer /*fieldveil.purpose='a%20b',fieldveil.token='{OTHER}'*/");
    dialogue.client(&query(&commented));
    dialogue.answer_catalog();
    dialogue.take_to_server();
    assert_eq!(asked_input(&dialogue)["comment"], json!({"purpose": "", "token": ""}));
    dialogue.answer_fetches(Ok(&reads_comments), Ok(&keys()));
    assert_eq!(asked_input(&dialogue)["comment"], json!({"purpose": "a b", "token": OTHER}));
    dialogue.answer_fetches(Ok(&plan(&reading("null"))), Ok(&keys()));
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"SELECT ssn") && !contains(&sent, b"eyJ"));
    let row = [row_description(&[("ssn", 3)]), data_row(&[Some(b"fv1.x".to_vec())])].concat();
    dialogue.server(&[row.clone(), complete("SELECT 1"), ready(b'I')].concat());
    assert!(!contains(&dialogue.take_to_client(), b"fv1.x"));
    dialogue.client(&query("SELECT ssn FROM customer"));
    assert_eq!(dialogue.take_to_server(), query("SELECT ssn FROM customer"));
    dialogue.server(&[row, complete("SELECT 1"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_client(), b"fv1.x"), "the next statement is without");
    dialogue.client(&[parse("s", &commented), bind("s", &[]), execute(), sync()].concat());
    assert_untold(&dialogue);
    let answer =
        [message(b'1', b""), message(b't', &[0, 0]), row_description(&[("ssn", 3)]), message(b'2', b"")];
    dialogue.server(
        &[answer.concat(), data_row(&[Some(b"fv1.x".to_vec())]), complete("SELECT 1"), ready(b'I')].concat(),
    );
    assert!(
        contains(&dialogue.take_to_client(), &data_row(&[None])),
        "a prepared statement keeps its comment"
    );
    dialogue.client(&query("SELECT 1 /* fieldveil.purpose is x */"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_client(), b"not understood"));
}

#[test]
fn comment_that_policy_does_not_read_is_blanked_and_nothing_else() {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let text = format!("SELECT ssn FROM customer /*fieldveil.token='{OTHER}'*/");
    let sent = done(&mut dialogue, &text);
    assert_eq!(sent, query(&text.replace(OTHER, &"x".repeat(OTHER.len()))));
    let purpose = "SELECT ssn FROM customer /* fieldveil.purpose is x */";
    assert_eq!(done(&mut dialogue, purpose), query(purpose));
}

#[test]
fn types_that_policy_shows_otherwise_are_told_in_the_servers_words() {
    let number =
        |treatment| vec![field("ssn", "deterministic", "int4", json!({ "treatment": treatment }), "refuse")];
    let mut dialogue = Dialogue::with_catalog(&number("reveal"));
    let text = "SELECT ssn FROM customer";
    dialogue.client(&[parse("s", text), sync()].concat());
    let described = [message(b'1', b""), message(b't', &[0, 0]), row_description(&[("ssn", 3)]), ready(b'I')];
    dialogue.server(&described.concat());
    done(&mut dialogue, "SET fieldveil.purpose = 'x'");
    dialogue.identity[2] = "x".into();
    dialogue.client(&[bind("s", &[]), execute(), sync()].concat());
    dialogue.answer_catalog();
    dialogue.answer_fetches(Ok(&plan(&number("conceal"))), Ok(&keys()));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"cached plan must not change result type"));
}

#[test]
fn what_was_prepared_lives_on_under_a_plan_that_stores_alike() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    done(&mut dialogue, "PREPARE p AS SELECT ssn FROM customer");
    dialogue.ports.borrow_mut().now_ms += 31_000;
    let principal = dialogue.worker.borrow_mut().due(dialogue.ports.borrow().now_ms);
    let Some(fetch) = principal.into_iter().find(|fetch| matches!(fetch, Fetch::Plan(_))) else { panic!() };
    let now_ms = dialogue.ports.borrow().now_ms;
    let flipped = plan(&reading("null"));
    let answer = FetchResponse::Body { body: &flipped, etag: None };
    dialogue.worker.borrow_mut().answered(&fetch, answer, now_ms).unwrap();
    dialogue.client(&query("EXECUTE p"));
    assert!(dialogue.asked().is_empty() && contains(&dialogue.take_to_server(), b"EXECUTE"));
    let row = [row_description(&[("ssn", 3)]), data_row(&[Some(b"fv1.x".to_vec())])].concat();
    dialogue.server(&[row, complete("SELECT 1"), ready(b'I')].concat());
    assert!(!contains(&dialogue.to_client, b"fv1.x"));
}

#[test]
fn dialogue_with_tokens_comes_out_the_same_at_every_split() {
    let run = |size: usize| {
        let mut dialogue = Dialogue::with_catalog_in_chunks(&reading("conceal"), size);
        dialogue.client(&query(&format!("SET fieldveil.token = '{JWT}'")));
        dialogue.identity[1] = word_in(&dialogue.to_server);
        dialogue.server(&[complete("SET"), ready(b'I')].concat());
        dialogue.client(&[parse("", "SELECT ssn FROM customer"), bind("", &[]), execute(), sync()].concat());
        dialogue.answer_catalog();
        dialogue.answer_fetches(Ok(&plan(&reading("reveal"))), Ok(&keys()));
        dialogue.server(&message(b'1', b""));
        dialogue.client(&query("RESET ALL"));
        assert_untold(&dialogue);
        (dialogue.take_to_server(), dialogue.take_to_client())
    };
    let whole = run(usize::MAX);
    for size in 1..200 {
        assert!(run(size) == whole, "in chunks of {size}");
    }
}

#[test]
fn forged_identity_answers_are_a_refusal() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    done(&mut dialogue, "SET fieldveil.purpose = 'x'");
    dialogue.identity[2] = "p".repeat(257);
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.answer_catalog();
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"fieldveil.purpose"));
    assert_eq!(done(&mut dialogue, "RESET fieldveil.purpose"), query("RESET fieldveil.purpose"));
}

#[test]
fn session_whose_principal_has_no_plan_may_end_its_transaction_and_be_another() {
    for text in [
        "ROLLBACK",
        "ABORT",
        "COMMIT",
        "END",
        "RESET fieldveil.token",
        "RESET ALL",
        "DISCARD ALL",
        "SHOW fieldveil.token",
        "SET LOCAL fieldveil.purpose = 'x'",
        "SELECT set_config('fieldveil.purpose', 'x', true)",
    ] {
        let mut dialogue = waiting_for_plan();
        dialogue.answer_fetches(Err("no answer"), Ok(&keys()));
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&dialogue.take_to_client(), b"57P03"));
        dialogue.take_to_server();
        dialogue.client(&query(text));
        assert_eq!(dialogue.take_to_server(), query(text));
        dialogue.server(&[complete("X"), ready(b'I')].concat());
        dialogue.client(&[parse("", text), bind("", &[]), execute(), sync()].concat());
        if dialogue.session.is_waiting() {
            // For the catalog, which RESET may have changed.
            dialogue.answer_catalog();
        }
        assert!(tags(&dialogue.take_to_server()).ends_with("PBES"), "{text}");
        assert!(dialogue.fetches.is_empty(), "{text} waits for no plan");
    }
}
