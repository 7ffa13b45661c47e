//! What was prepared before the keys changed, and how it goes on.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

mod support;

use fieldveil_pg_wire::frontend::{Close, Target};
use support::keys::*;
use support::*;

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

/// A session in which the server skipped the messages that parse `s` anew, for what stood before them failed.
fn skipped_parsing_anew() -> Dialogue {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    parsed(&mut dialogue, "one", "SELECT 1");
    dialogue.give_keys(&keys_among("ba"));
    let one = [bind("one", &[]), execute()].concat();
    dialogue.client(&[one, bind("s", &[CANARY.as_bytes()]), execute(), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BECPBES");
    dialogue.server(&[message(b'2', b""), server_error("22012"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2EZ");
    dialogue
}

#[test]
fn what_was_skipped_while_it_was_parsed_anew_goes_again_behind_others_of_its_pipeline() {
    let mut dialogue = skipped_parsing_anew();
    let one = [bind("one", &[]), execute()].concat();
    // The server answers at the Sync: none of these may wait for an answer.
    dialogue.client(&[one, bind("s", &[CANARY.as_bytes()]), execute(), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BECPBES");
    let row = [message(b'2', b""), complete("SELECT 0")].concat();
    let parsed = [message(b'3', b""), message(b'1', b"")].concat();
    dialogue.server(&[row.clone(), parsed, row, ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2C2CZ");
    assert_eq!(tags(&bound(&mut dialogue, "s", &[CANARY.as_bytes()])), "BES");
}

#[test]
fn what_was_skipped_while_it_was_parsed_anew_is_closed_or_replaced_behind_others_of_its_pipeline() {
    let mut close = Vec::new();
    Close { target: Target::Statement, name: b"s" }.encode(&mut close).unwrap();
    for (last, sent) in [(close, "BECS"), (parse("s", SEARCH), "BEPS")] {
        let mut dialogue = skipped_parsing_anew();
        dialogue.client(&[bind("one", &[]), execute(), last, sync()].concat());
        assert_eq!(tags(&dialogue.take_to_server()), sent);
    }
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
fn a_statement_that_is_closed_is_not_parsed_anew() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let mut close = Vec::new();
    Close { target: Target::Statement, name: b"s" }.encode(&mut close).unwrap();
    dialogue.client(&[close, bind("s", &[CANARY.as_bytes()]), sync()].concat());
    assert!(!contains(&dialogue.to_server, b"SELECT"));
}
