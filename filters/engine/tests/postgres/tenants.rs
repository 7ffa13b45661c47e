//! Tenants' own keysets: asked for when a plan names them, gone when the agent leaves them out.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use fieldveil_engine::fetch::{Fetch, FetchResponse, PrincipalKey};
use fieldveil_plan::PlanInput;
use serde_json::json;

/// `ssn` under the tenant's own keyset, `notes` under that for all.
fn owned_by(tenant: &str) -> Vec<serde_json::Value> {
    let mut fields = revealing();
    fields[0]["keyset"] = json!(format!("pii/{tenant}"));
    fields[0]["tenant"] = json!(tenant);
    fields
}

/// The agent's answer with the keysets of these tenants.
fn keys_with(tenants: &[&str]) -> Vec<u8> {
    let mut answer: serde_json::Value = serde_json::from_slice(&keys()).unwrap();
    for tenant in tenants {
        answer["keysets"][format!("pii/{tenant}")] = answer["keysets"]["pii"].clone();
    }
    answer["revision"] = json!(tenants.join(","));
    answer.to_string().into_bytes()
}

fn target(fetch: &Fetch) -> String {
    match fetch {
        Fetch::Keys(question) => question.target("/k"),
        Fetch::Plan(_) => "a plan".into(),
    }
}

/// A session that is up under a plan that names a tenant's keyset; the agent serves those of `tenants`.
fn up(tenant: &str, tenants: &[&str]) -> Dialogue {
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(&owned_by(tenant))), Ok(&keys_with(&[])));
    dialogue.answer_fetches(Err("unasked"), Ok(&keys_with(tenants)));
    dialogue.server(&message(b'R', &[0, 0, 0, 0]));
    dialogue.server(&message(b'S', b"client_encoding\0UTF8\0"));
    dialogue.server(&ready(b'I'));
    dialogue.client(&query("SELECT 1"));
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.take_to_client();
    dialogue
}

/// What the client is told for a statement: the server's error in place of the statement's answer becomes ours.
fn answer_to(dialogue: &mut Dialogue, text: &str) -> Vec<u8> {
    dialogue.take_to_client();
    dialogue.client(&query(text));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.take_to_client()
}

#[test]
fn startup_waits_once_for_the_keyset_of_its_tenant() {
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(&owned_by("acme"))), Ok(&keys_with(&[])));
    assert!(dialogue.session.is_waiting() && dialogue.to_server.is_empty());
    assert_eq!(dialogue.fetches.iter().map(target).collect::<Vec<_>>(), ["/k?tenant=pii%2Facme"]);
    dialogue.answer_fetches(Err("unasked"), Ok(&keys_with(&["acme"])));
    assert_eq!(dialogue.to_server, startup("app"));
    // It is there for the next connection.
    let mut beside = dialogue.beside();
    beside.client(&startup("app"));
    assert_eq!(beside.to_server, startup("app"));
}

#[test]
fn session_is_let_in_without_the_keyset_of_its_tenant_and_only_its_fields_are_refused() {
    for keys in [Ok(keys_with(&[])), Err("down")] {
        let mut dialogue = Dialogue::new();
        dialogue.client(&startup("app"));
        dialogue.answer_fetches(Ok(&plan(&owned_by("acme"))), Ok(&keys_with(&[])));
        dialogue.answer_fetches(Err("unasked"), keys.as_deref().map_err(|reason| *reason));
        assert_eq!(dialogue.to_server, startup("app"));
    }
    let mut dialogue = up("acme", &[]);
    for text in [
        "SELECT ssn FROM customer",
        "SELECT * FROM customer",
        "SELECT id FROM customer WHERE ssn = 'x'",
        "INSERT INTO customer (id, ssn) VALUES (1, 'x')",
        "UPDATE customer SET name = 'x' RETURNING ssn",
        "COPY customer (ssn) TO STDOUT",
    ] {
        let told = answer_to(&mut dialogue, text);
        assert!(contains(&told, b"57P03"), "{text}");
        assert!(contains(&told, b"keyset pii/acme is not served by the key agent"), "{text}");
    }
    dialogue.client(&query("INSERT INTO customer (id, notes) VALUES (1, 'x')"));
    assert!(contains(&dialogue.take_to_server(), b"fv1."));
}

#[test]
fn principal_that_seals_and_opens_nothing_needs_no_keyset() {
    let mut dialogue = Dialogue::new();
    let mut concealed = field("ssn", "deterministic", "text", json!({"treatment": "conceal"}), "refuse");
    concealed["keyset"] = json!("absent");
    dialogue.client(&startup("auditor"));
    dialogue.answer_fetches(Ok(&plan(&[concealed])), Ok(&keys()));
    assert_eq!(dialogue.to_server, startup("auditor"));
}

#[test]
fn keyset_that_the_agent_leaves_out_is_gone_from_idle_sessions_prepared_statements_and_rows_on_their_way() {
    let mut dialogue = up("acme", &["acme"]);
    dialogue.client(&[parse("s", "SELECT ssn FROM customer WHERE id = 1"), sync()].concat());
    dialogue.server(&[message(b'1', b""), message(b't', &[0, 0])].concat());
    dialogue.server(&[row_description(&[("ssn", 3)]), ready(b'I')].concat());
    dialogue.client(&query("INSERT INTO customer (id, ssn) VALUES (1, 'value')"));
    let sent = dialogue.take_to_server();
    let at = sent.windows(4).position(|w| w == b"fv1.").unwrap();
    let envelope = sent[at..].split(|byte| *byte == b'\'').next().unwrap().to_vec();
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());

    let keyring = std::sync::Arc::downgrade(&dialogue.worker.borrow().latest_keyring().unwrap());
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.server(&[row_description(&[("ssn", 3)]), data_row(&[Some(envelope.clone())])].concat());
    assert!(contains(&dialogue.take_to_client(), b"value"));
    dialogue.give_keys(&keys_with(&[]));
    assert!(keyring.upgrade().is_none(), "a session keeps keys that are gone");
    dialogue.server(&[data_row(&[Some(envelope)]), complete("SELECT 2"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert!(contains(&told, b"57P03") && !contains(&told, b"value"));

    dialogue.client(&[bind("s", &[]), execute(), sync()].concat());
    assert!(!contains(&dialogue.take_to_server(), b"\0s\0"), "the prepared statement was bound");
}

#[test]
fn plan_of_another_tenant_is_waited_for_once_and_asks_for_its_keyset() {
    let mut dialogue = up("acme", &["acme"]);
    let now = dialogue.ports.borrow().now_ms + 60_000;
    dialogue.ports.borrow_mut().now_ms = now;
    let renewals = dialogue.worker.borrow_mut().due(now);
    let principal = renewals.iter().find(|fetch| matches!(fetch, Fetch::Plan(_))).unwrap();
    let switched = plan(&owned_by("globex"));
    let answer = FetchResponse::Body { body: &switched, etag: None };
    dialogue.worker.borrow_mut().answered(principal, answer, now).unwrap();
    dialogue.client(&query("SELECT ssn FROM customer"));
    assert!(dialogue.session.is_waiting());
    assert_eq!(dialogue.fetches.iter().map(target).collect::<Vec<_>>(), ["/k?tenant=pii%2Fglobex"]);
    dialogue.answer_fetches(Err("unasked"), Ok(&keys_with(&["globex"])));
    assert_eq!(dialogue.fetches, []);
}

#[test]
fn tenants_of_all_plans_in_use_are_asked_for_and_of_no_others() {
    let dialogue = up("acme", &["acme"]);
    let mut beside = dialogue.beside();
    beside.client(&startup("billing"));
    beside.answer_fetches(Ok(&plan(&owned_by("globex"))), Err("unasked"));
    assert_eq!(target(&beside.fetches[0]), "/k?tenant=pii%2Facme&tenant=pii%2Fglobex");
    beside.answer_fetches(Err("unasked"), Ok(&keys_with(&["acme", "globex"])));
    beside.server(&message(b'R', &[0, 0, 0, 0]));

    let later = dialogue.ports.borrow().now_ms + 11 * 60 * 1000;
    let asked = |now_ms| target(&dialogue.worker.borrow_mut().fetch_keys(now_ms));
    assert_eq!(asked(later), "/k?tenant=pii%2Facme&tenant=pii%2Fglobex", "both sessions are open");
    drop(beside);
    assert_eq!(asked(later), "/k?tenant=pii%2Facme");
}

#[test]
fn keysets_of_more_tenants_than_are_held_are_left_out() {
    let dialogue = Dialogue::new();
    let mut worker = dialogue.worker.borrow_mut();
    for number in 0..600 {
        let mut fields = owned_by(&format!("a{number}"));
        fields[1]["keyset"] = json!(format!("pii/b{number}"));
        fields[1]["tenant"] = json!(format!("b{number}"));
        let fetch = Fetch::Plan(PrincipalKey::new(&PlanInput {
            listener: number.to_string(),
            ..PlanInput::default()
        }));
        worker.answered(&fetch, FetchResponse::Body { body: &plan(&fields), etag: None }, 1000).unwrap();
    }
    let asked = target(&worker.fetch_keys(1000));
    assert_eq!(asked.matches("tenant=").count(), 1024);
    assert!(asked.contains("%2Fa599") && !asked.contains("%2Fa0&"), "those used last come first");
    assert_eq!(worker.take_counts().get("tenant_keysets.over_limit"), Some(&1));
}

#[test]
fn uses_of_keys_are_counted_and_ages_told() {
    let mut dialogue = up("acme", &["acme"]);
    for text in [
        "INSERT INTO customer (id, ssn, notes) VALUES (1, 'x', 'y'), (2, 'x', 'y')",
        "SELECT id FROM customer WHERE ssn = 'x'",
    ] {
        dialogue.client(&query(text));
        dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    }
    let mut worker = dialogue.worker.borrow_mut();
    let uses: Vec<_> = worker.take_key_uses().into_iter().map(|used| (used.statistic, used.count)).collect();
    let counts: Vec<_> =
        uses.iter().map(|(name, count)| (name.rsplit_once('.').unwrap().0, *count)).collect();
    assert_eq!(counts, [("key_uses.pii.aead", 2), ("key_uses.pii/acme.deterministic", 3)]);
    let now = dialogue.ports.borrow().now_ms;
    let ages = worker.ages(now + 7000, 0);
    assert_eq!((ages.keysets, ages.plans), (7000, 7000));
}
