//! What a session does while a deterministic keyset has several enabled keys, and when that begins and ends.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::keys::*;
use crate::support::*;
use fieldveil_postgres_wire::frontend::{Parse, Target};

#[test]
fn a_search_names_what_every_enabled_key_makes_and_an_insert_what_the_primary_does() {
    let mut dialogue = under("ba");
    dialogue.client(&query(&format!("SELECT id FROM customer WHERE ssn = '{CANARY}'")));
    let sent = dialogue.take_to_server();
    let (a, b) = (sealed_under("a"), sealed_under("b"));
    let expected = format!("WHERE ssn = ANY (E'{{\"{b}\",\"{a}\"}}'::text[])");
    assert!(contains(&sent, expected.as_bytes()), "{}", String::from_utf8_lossy(&sent));
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    assert_eq!(envelopes(&dialogue.to_server), [b]);
}

#[test]
fn every_form_of_a_search_looks_for_every_envelope() {
    let (a, b) = (sealed_under("a"), sealed_under("b"));
    for (condition, times) in [
        (format!("ssn <> '{CANARY}'"), 1),
        (format!("'{CANARY}' = ssn"), 1),
        (format!("ssn IN ('{CANARY}', NULL)"), 1),
        (format!("ssn = ANY ('{{{CANARY},NULL}}')"), 1),
        (format!("ssn = ANY (ARRAY['{CANARY}'])"), 1),
        (format!("ssn IS NOT DISTINCT FROM '{CANARY}'"), 2),
    ] {
        let mut dialogue = under("ab");
        dialogue.client(&query(&format!("DELETE FROM customer WHERE {condition}")));
        let expected = vec![[a.clone(), b.clone()]; times].concat();
        assert_eq!(envelopes(&dialogue.to_server), expected, "{condition}");
    }
}

#[test]
fn what_compares_ciphertexts_with_each_other_is_refused_while_keys_are_several() {
    for text in [
        "SELECT a.id FROM customer a JOIN customer b ON a.ssn = b.ssn",
        "SELECT DISTINCT ssn FROM customer",
        "SELECT ssn, count(*) FROM customer GROUP BY ssn",
        "SELECT count(DISTINCT ssn) FROM customer",
        "SELECT ssn FROM customer UNION SELECT ssn FROM customer",
        "SELECT id FROM customer WHERE ssn IN (SELECT ssn FROM customer)",
        "INSERT INTO customer (ssn) VALUES ('x') ON CONFLICT (ssn) DO NOTHING",
    ] {
        let mut dialogue = under("ba");
        dialogue.client(&query(text));
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        for word in ["0A000", "customer.ssn", "several enabled", "table reseal"] {
            assert!(contains(&dialogue.to_client, word.as_bytes()), "{word}: {text}");
        }
        dialogue.give_keys(&keys_among("b"));
        dialogue.take_to_server();
        dialogue.client(&query(text));
        assert_eq!(tags(&dialogue.to_server), "Q", "{text}");
        assert!(
            contains(&dialogue.to_server, b"FROM customer") || contains(&dialogue.to_server, b"ON CONFLICT")
        );
    }
}

#[test]
fn null_is_looked_for_as_null() {
    let mut dialogue = under("ab");
    let sent = parsed(&mut dialogue, "s", "SELECT id FROM customer WHERE ssn NOT IN ($1, $2)");
    assert!(contains(&sent, b"ssn <> ALL (ARRAY[$1::text[], $2::text[]])\0"));
    let mut message = Vec::new();
    let values = vec![None, Some(CANARY.as_bytes().into())];
    fieldveil_postgres_wire::frontend::Bind {
        portal: b"",
        statement: b"s",
        parameter_formats: vec![],
        values,
        result_formats: vec![],
    }
    .encode(&mut message)
    .unwrap();
    dialogue.client(&message);
    // Arrays within an array are of one length.
    assert!(contains(&dialogue.to_server, b"{NULL,NULL}"));
    assert_eq!(envelopes(&dialogue.to_server).len(), 2);
}

#[test]
fn a_client_sees_its_own_types_whatever_the_keys() {
    let mut dialogue = under("ab");
    let mut text = Vec::new();
    Parse { name: b"s", text: SEARCH.as_bytes(), parameter_types: vec![1043] }.encode(&mut text).unwrap();
    let mut described = Vec::new();
    fieldveil_postgres_wire::frontend::Describe { target: Target::Statement, name: b"s" }
        .encode(&mut described)
        .unwrap();
    dialogue.client(&[text, described, sync()].concat());
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"ANY ($1::text[])\0\0\x01\0\0\0\0"), "the server infers the array's type");
    // The server's: one parameter of type text[].
    let answer = message(b't', &[0, 1, 0, 0, 0x03, 0xf1]);
    dialogue.server(&[message(b'1', b""), answer, row_description(&[("id", 1)]), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, &message(b't', &[0, 1, 0, 0, 0x04, 0x13])));
}

#[test]
fn what_sql_prepared_is_executed_under_other_keys_unless_it_holds_values() {
    let mut dialogue = under("a");
    dialogue.client(&query("PREPARE p AS SELECT id FROM customer WHERE ssn = $1"));
    dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
    dialogue.client(&query(&format!("PREPARE q AS SELECT id FROM customer WHERE ssn = '{CANARY}'")));
    dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
    dialogue.give_keys(&keys_among("ba"));
    dialogue.take_to_server();
    dialogue.client(&query(&format!("EXECUTE p('{CANARY}')")));
    assert_eq!(envelopes(&dialogue.take_to_server()), [sealed_under("b"), sealed_under("a")]);
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    dialogue.take_to_client();
    // What an EXECUTE did to the catalog is not known.
    dialogue.client(&query("EXECUTE q"));
    dialogue.answer_catalog();
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"0A000") && contains(&dialogue.to_client, b"prepare it again"));
}
