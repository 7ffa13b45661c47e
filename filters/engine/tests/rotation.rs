//! What a session does while a deterministic keyset has several enabled keys, and when that begins and ends.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

use fieldveil_pg_wire::frontend::{Close, Parse, Target};
use support::*;

const CANARY: &str = "078-05-1120";
const SEARCH: &str = "SELECT id FROM customer WHERE ssn = $1";

/// A session whose deterministic keyset has these keys.
fn under(keys: &str) -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.give_keys(&keys_among(keys));
    dialogue
}

/// What the value is stored as under one key.
fn sealed_under(key: &str) -> String {
    let mut dialogue = under(key);
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    let envelopes = envelopes(&dialogue.to_server);
    assert_eq!(envelopes.len(), 1);
    envelopes[0].clone()
}

/// Every armored envelope in the bytes, in order.
fn envelopes(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let starts = text.match_indices("fv1.").map(|(at, _)| at);
    starts
        .map(|at| text[at..].split_at(4).1.split(ends).next().unwrap_or_default())
        .map(|s| format!("fv1.{s}"))
        .collect()
}

fn parsed(dialogue: &mut Dialogue, name: &str, text: &str) -> Vec<u8> {
    dialogue.client(&[parse(name, text), sync()].concat());
    let sent = dialogue.take_to_server();
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "1Z");
    sent
}

fn bound(dialogue: &mut Dialogue, name: &str, values: &[&[u8]]) -> Vec<u8> {
    dialogue.client(&[bind(name, values), execute(), sync()].concat());
    dialogue.take_to_server()
}

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
fn a_statement_prepared_under_one_key_is_parsed_anew_when_there_are_two_and_again_when_there_is_one() {
    for chunk in [usize::MAX, 7, 1] {
        let mut dialogue = Dialogue::with_catalog_in_chunks(&revealing(), chunk);
        dialogue.give_keys(&keys_among("a"));
        let sent = parsed(&mut dialogue, "s", SEARCH);
        assert!(contains(&sent, b"ssn = $1\0"));
        let (a, b) = (sealed_under("a"), sealed_under("b"));
        for (keys, sent_tags, text, expected) in [
            ("a", "BES", "", vec![&a]),
            ("ab", "CPBES", "ssn = ANY ($1::text[])\0", vec![&a, &b]),
            ("ba", "BES", "", vec![&b, &a]),
            ("b", "CPBES", "ssn = $1\0", vec![&b]),
        ] {
            dialogue.give_keys(&keys_among(keys));
            let sent = bound(&mut dialogue, "s", &[CANARY.as_bytes()]);
            assert_eq!(tags(&sent), sent_tags, "{keys}");
            assert!(text.is_empty() || contains(&sent, text.as_bytes()), "{keys}");
            assert_eq!(envelopes(&sent), expected.into_iter().cloned().collect::<Vec<_>>(), "{keys}");
            let anew =
                if sent_tags == "CPBES" { [message(b'3', b""), message(b'1', b"")].concat() } else { vec![] };
            dialogue.server(&[anew, message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat());
            assert_eq!(tags(&dialogue.take_to_client()), "2CZ", "{keys}");
        }
    }
}

#[test]
fn the_unnamed_statement_is_parsed_anew_in_its_own_place() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let sent = bound(&mut dialogue, "", &[CANARY.as_bytes()]);
    assert_eq!(tags(&sent), "PBES");
    dialogue.server(&[message(b'1', b""), message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.to_client), "2CZ");
}

#[test]
fn a_value_in_a_prepared_text_is_sealed_anew_when_keys_change() {
    let (a, b) = (sealed_under("a"), sealed_under("b"));
    for (text, under_both) in [
        (format!("SELECT id FROM customer WHERE ssn = '{CANARY}'"), vec![b.clone(), a.clone()]),
        (format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')"), vec![b.clone()]),
    ] {
        let mut dialogue = under("a");
        let sent = parsed(&mut dialogue, "s", &text);
        assert_eq!(envelopes(&sent), std::slice::from_ref(&a));
        assert_eq!(tags(&bound(&mut dialogue, "s", &[])), "BES");
        dialogue.server(&[message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat());
        dialogue.give_keys(&keys_among("ba"));
        let sent = bound(&mut dialogue, "s", &[]);
        assert_eq!((tags(&sent).as_str(), envelopes(&sent)), ("CPBES", under_both), "{text}");
    }
}

#[test]
fn null_is_looked_for_as_null() {
    let mut dialogue = under("ab");
    let sent = parsed(&mut dialogue, "s", "SELECT id FROM customer WHERE ssn NOT IN ($1, $2)");
    assert!(contains(&sent, b"ssn <> ALL (ARRAY[$1::text[], $2::text[]])\0"));
    let mut message = Vec::new();
    let values = vec![None, Some(CANARY.as_bytes().into())];
    fieldveil_pg_wire::frontend::Bind {
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
fn what_could_not_be_parsed_anew_is_tried_again() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    bound(&mut dialogue, "s", &[CANARY.as_bytes()]);
    // The Close was done, the Parse failed: the server does not have the statement any more.
    dialogue.server(&[message(b'3', b""), server_error("25P02"), ready(b'E')].concat());
    let answer = dialogue.take_to_client();
    assert_eq!(tags(&answer), "EZ");
    assert!(contains(&answer, b"25P02"));
    dialogue.server(b"");
    dialogue.client(&query("ROLLBACK"));
    dialogue.server(&[complete("ROLLBACK"), ready(b'I')].concat());
    dialogue.take_to_client();
    dialogue.take_to_server();
    let sent = bound(&mut dialogue, "s", &[CANARY.as_bytes()]);
    assert_eq!(tags(&sent), "CPBES");
    dialogue.server(
        &[message(b'3', b""), message(b'1', b""), message(b'2', b""), complete("SELECT 0"), ready(b'I')]
            .concat(),
    );
    assert_eq!(tags(&dialogue.take_to_client()), "2CZ");
    assert_eq!(tags(&bound(&mut dialogue, "s", &[CANARY.as_bytes()])), "BES");
}

#[test]
fn a_bind_behind_one_that_is_parsed_anew_waits_for_its_answer() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let one = [bind("s", &[CANARY.as_bytes()]), execute(), sync()].concat();
    dialogue.client(&[bind("s", &[CANARY.as_bytes()]), execute(), one.clone(), one].concat());
    // In the same pipeline it goes at once: what fails takes it along.
    assert_eq!(tags(&dialogue.take_to_server()), "CPBEBES");
    let row = [message(b'2', b""), complete("SELECT 0")].concat();
    let parsed = [message(b'3', b""), message(b'1', b"")].concat();
    dialogue.server(&[parsed, row.clone(), row.clone(), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BES");
    dialogue.server(&[row, ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2C2CZ2CZ");
}

#[test]
fn a_client_sees_its_own_types_whatever_the_keys() {
    let mut dialogue = under("ab");
    let mut text = Vec::new();
    Parse { name: b"s", text: SEARCH.as_bytes(), parameter_types: vec![1043] }.encode(&mut text).unwrap();
    let mut described = Vec::new();
    fieldveil_pg_wire::frontend::Describe { target: Target::Statement, name: b"s" }
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

#[test]
fn a_statement_that_is_closed_is_not_parsed_anew() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let mut close = Vec::new();
    Close { target: Target::Statement, name: b"s" }.encode(&mut close).unwrap();
    dialogue.client(&[close, bind("s", &[CANARY.as_bytes()]), sync()].concat());
    assert!(!contains(&dialogue.to_server, b"SELECT"));
}
