//! A word stands for its token no longer than the server may have it set: many may read it, and say it later.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use crate::support::end_users::*;
use crate::support::*;

/// What sets a word without naming the setting.
const HIDDEN: &str = "SELECT set_config('field'||'veil.token', 'field'||'veil-…', true)";

/// The token that policy is asked for when the server has this word set.
fn token_of(dialogue: &mut Dialogue, word: &str) -> String {
    dialogue.client(&query("SELECT ssn FROM customer"));
    assert!(!dialogue.asked().is_empty());
    dialogue.identity[1] = word.into();
    dialogue.fetches.clear();
    dialogue.answer_catalog();
    let token = asked_input(dialogue)["token"].as_str().unwrap().to_owned();
    dialogue.answer_fetches(Ok(&plan(&reading("reveal"))), Ok(&keys()));
    let status = dialogue.status;
    dialogue.server(&[complete("SELECT 0"), ready(status)].concat());
    token
}

/// A simple query, and the answers to what the filter asks before it, and to it.
fn run(dialogue: &mut Dialogue, text: &str) -> Vec<u8> {
    dialogue.client(&query(text));
    if !dialogue.asked().is_empty() {
        dialogue.answer_catalog();
    }
    dialogue.answer_fetches(Ok(&plan(&reading("conceal"))), Ok(&keys()));
    let status = if text == "BEGIN" { b'T' } else { dialogue.status };
    dialogue.status = status;
    dialogue.server(&[complete(text), ready(status)].concat());
    dialogue.take_to_server()
}

fn begin(dialogue: &mut Dialogue) {
    run(dialogue, "BEGIN");
}

fn end(dialogue: &mut Dialogue, text: &str) {
    dialogue.status = b'I';
    done(dialogue, text);
    dialogue.identity[1].clear();
}

#[test]
fn word_of_a_transaction_stands_for_nothing_behind_it() {
    for set in ["SET LOCAL fieldveil.token = 'JWT'", "SELECT set_config('fieldveil.token', 'JWT', true)"] {
        let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
        begin(&mut dialogue);
        let word = word_in(&run(&mut dialogue, &set.replace("JWT", JWT)));
        assert_eq!(token_of(&mut dialogue, &word), JWT);
        end(&mut dialogue, "COMMIT");
        begin(&mut dialogue);
        done(&mut dialogue, &format!("SET LOCAL fieldveil.token = '{OTHER}'"));
        assert_eq!(token_of(&mut dialogue, &word), "unknown");
    }
}

#[test]
fn word_of_the_session_stands_for_nothing_when_the_server_has_another() {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let word = word_in(&done(&mut dialogue, &format!("SET fieldveil.token = '{JWT}'")));
    assert_eq!(token_of(&mut dialogue, &word), JWT);
    done(&mut dialogue, "SET fieldveil.purpose = 'x'");
    dialogue.identity[2] = "x".into();
    assert_eq!(token_of(&mut dialogue, &word), JWT, "the server has it still");
    done(&mut dialogue, "DISCARD ALL");
    // Within the transaction it would not be known whose the word is.
    dialogue.status = b'T';
    dialogue.client(&query("BEGIN"));
    assert!(!dialogue.asked().is_empty());
    dialogue.identity[1].clear();
    dialogue.status = b'I';
    dialogue.answer_catalog();
    dialogue.status = b'T';
    dialogue.server(&[complete("BEGIN"), ready(b'T')].concat());
    run(&mut dialogue, HIDDEN);
    assert_eq!(token_of(&mut dialogue, &word), "unknown");
}

#[test]
fn rollback_brings_the_sessions_word_back() {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let word = word_in(&done(&mut dialogue, &format!("SET fieldveil.token = '{JWT}'")));
    assert_eq!(token_of(&mut dialogue, &word), JWT);
    begin(&mut dialogue);
    let other = word_in(&done(&mut dialogue, &format!("SET fieldveil.token = '{OTHER}'")));
    assert_eq!(token_of(&mut dialogue, &other), OTHER);
    end(&mut dialogue, "ROLLBACK");
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.identity[1] = word;
    dialogue.answer_catalog();
    assert!(dialogue.fetches.is_empty(), "its plan is held");
}

#[test]
fn prepared_statement_gives_its_word_each_time() {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let set = parse("s", &format!("SET LOCAL fieldveil.token = '{JWT}'"));
    dialogue.client(&[set, sync()].concat());
    let word = word_in(&dialogue.take_to_server());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    for expected in [JWT, "unknown"] {
        begin(&mut dialogue);
        if expected == JWT {
            dialogue.client(&[bind("s", &[]), execute(), sync()].concat());
            dialogue.server(&[message(b'2', b""), complete("SET"), ready(b'T')].concat());
        } else {
            run(&mut dialogue, HIDDEN);
        }
        assert_eq!(token_of(&mut dialogue, &word), expected);
        end(&mut dialogue, "COMMIT");
    }
}
