//! End users behind one database user: who the session is for is what the server says, and no token reaches it.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use crate::support::end_users::*;
use crate::support::*;
use serde_json::json;

#[test]
fn token_goes_to_policy_and_a_word_to_the_server() {
    let mut dialogue = waiting_for_plan();
    assert_eq!(asked_input(&dialogue)["token"], JWT);
    dialogue.answer_fetches(Ok(&plan(&reading("null"))), Ok(&keys()));
    assert_eq!(dialogue.take_to_server(), query("SELECT ssn FROM customer"), "the catalog stays");
    let row = [row_description(&[("ssn", 3)]), data_row(&[Some(b"fv1.x".to_vec())])].concat();
    dialogue.server(&[row, complete("SELECT 1"), ready(b'I')].concat());
    assert!(!contains(&dialogue.take_to_client(), b"fv1.x"), "the new plan is in force");
    assert_untold(&dialogue);
}

#[test]
fn every_way_to_say_the_token_is_replaced() {
    for text in [
        format!("SET SESSION fieldveil.token TO E'{JWT}'"),
        format!("BEGIN; SET LOCAL \"fieldveil.token\" = $a${JWT}$a$; COMMIT"),
        format!("SELECT set_config('fieldveil.token', '{JWT}', false)"),
    ] {
        for fields in [reading("reveal"), vec![]] {
            let mut dialogue = match fields.is_empty() {
                true => Dialogue::ready(&fields),
                false => Dialogue::with_catalog(&fields),
            };
            dialogue.client(&[parse("", &text), bind("", &[]), execute(), sync()].concat());
            word_in(&dialogue.to_server);
            dialogue.client(&query(&text));
            assert_untold(&dialogue);
        }
    }
}

#[test]
fn token_in_a_parameter_is_replaced() {
    for fields in [reading("reveal"), vec![]] {
        let mut dialogue = match fields.is_empty() {
            true => Dialogue::ready(&fields),
            false => Dialogue::with_catalog(&fields),
        };
        let text = "SELECT set_config('fieldveil.token', $1, true)";
        let message = [parse("s", text), bind("s", &[JWT.as_bytes()]), execute(), sync()].concat();
        dialogue.client(&message);
        word_in(&dialogue.to_server);
        assert_untold(&dialogue);
    }
}

#[test]
fn setting_named_by_a_parameter_is_refused() {
    let mut dialogue = Dialogue::ready(&[]);
    let values: [&[u8]; 2] = [b"fieldveil.Token", JWT.as_bytes()];
    dialogue.client(&[parse("s", "SELECT set_config($1, $2, true)"), bind("s", &values), sync()].concat());
    dialogue.server(&[message(b'1', b""), server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"fieldveil.token"));
    assert_untold(&dialogue);
}

#[test]
fn refused_text_that_carries_a_token_tells_nothing_of_it() {
    for fields in [reading("reveal"), vec![]] {
        let mut dialogue = Dialogue::ready(&fields);
        dialogue.client(&query(&format!("ALTER ROLE app SET fieldveil.token = '{JWT}'")));
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&dialogue.to_client, b"SET fieldveil.token = "));
        assert_untold(&dialogue);
    }
}

#[test]
fn token_of_the_startup_message_is_replaced_and_asked_for() {
    use fieldveil_postgres_wire::startup::{ProtocolVersion, StartupMessage};
    let startup = |parameters: &[(&str, &str)]| {
        let own = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let user = ("user".to_owned(), "app".to_owned());
        let mut out = Vec::new();
        let parameters = std::iter::once(user).chain(own).collect();
        StartupMessage { version: ProtocolVersion::V3_0, parameters }.encode(&mut out).unwrap();
        out
    };
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup(&[("fieldveil.token", JWT), ("fieldveil.purpose", "refund")]));
    dialogue.answer_fetches(Ok(&plan(&[])), Ok(&keys()));
    let word = word_in(&dialogue.take_to_server());
    dialogue.server(&[message(b'R', &[0, 0, 0, 0]), ready(b'I')].concat());
    dialogue.client(&query("SELECT 1"));
    dialogue.identity = ["app".into(), word, "refund".into(), String::new()];
    assert_eq!(dialogue.asked(), [Asked::Identity]);
    dialogue.answer_catalog();
    let input = asked_input(&dialogue);
    assert_eq!((&input["token"], &input["session"]["purpose"]), (&json!(JWT), &json!("refund")));
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup(&[("options", &format!("-c fieldveil\\.token={JWT}"))]));
    dialogue.answer_fetches(Ok(&plan(&[])), Ok(&keys()));
    assert_untold(&dialogue);
    dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C28000\0Mno user\0\0"));
    assert!(contains(&dialogue.to_client, b"options"));
}

#[test]
fn word_that_the_session_has_not_given_is_an_unknown_token() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    done(&mut dialogue, "SELECT set_config('a.b', 'x', false)");
    dialogue.identity[1] = "fieldveil-00000000000000000000000000000000".into();
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.answer_catalog();
    assert_eq!(asked_input(&dialogue)["token"], "unknown");
}

#[test]
fn the_newest_64_tokens_are_remembered() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    dialogue.status = b'T';
    done(&mut dialogue, "BEGIN");
    let words: Vec<String> = (0..65)
        .map(|number| word_in(&done(&mut dialogue, &format!("SET fieldveil.token = 'eyJ{number}'"))))
        .collect();
    for (word, token) in [(&words[0], "unknown"), (&words[1], "eyJ1"), (&words[64], "eyJ64")] {
        done(&mut dialogue, "SET fieldveil.purpose = 'x'");
        dialogue.identity[1].clone_from(word);
        dialogue.client(&query("SELECT ssn FROM customer"));
        dialogue.answer_catalog();
        assert_eq!(asked_input(&dialogue)["token"], token);
        dialogue.answer_fetches(Ok(&plan(&reading("reveal"))), Ok(&keys()));
        dialogue.server(&[complete("SELECT 0"), ready(b'T')].concat());
    }
    let long = format!("SET fieldveil.token = '{}'", "a".repeat((16 << 10) + 1));
    dialogue.client(&query(&long));
    assert!(!contains(&dialogue.to_server, b"aaaa"));
}

#[test]
fn end_of_a_transaction_that_set_the_token_has_the_server_asked_again() {
    for end in ["COMMIT", "ROLLBACK", "ROLLBACK TO a", "RELEASE a"] {
        let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
        dialogue.status = b'T';
        done(&mut dialogue, "BEGIN");
        done(&mut dialogue, "SAVEPOINT a");
        done(&mut dialogue, &format!("SET LOCAL fieldveil.token = '{JWT}'"));
        dialogue.client(&query("SELECT 1"));
        assert_eq!(dialogue.asked(), [Asked::Identity], "within the transaction");
        dialogue.answer_catalog();
        dialogue.server(&[complete("SELECT 1"), ready(b'T')].concat());
        done(&mut dialogue, end);
        dialogue.client(&query("SELECT 1"));
        assert_eq!(dialogue.asked(), [Asked::Identity], "behind {end}");
    }
}

#[test]
fn transaction_that_sets_nothing_asks_nothing() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    for text in
        ["BEGIN", "SELECT 1", "SET LOCAL statement_timeout = 5", "COMMIT", "SELECT 1", "SHOW fieldveil.token"]
    {
        assert_eq!(done(&mut dialogue, text), query(text));
    }
}

#[test]
fn question_comes_between_what_sets_and_what_reads_in_a_pipeline() {
    let mut dialogue = Dialogue::with_catalog(&reading("conceal"));
    let set = [parse("", &format!("SET fieldveil.token = '{JWT}'")), bind("", &[]), execute()].concat();
    let read = [parse("", "SELECT ssn FROM customer"), bind("", &[]), execute(), sync()].concat();
    dialogue.client(&[set, read].concat());
    let sent = dialogue.take_to_server();
    assert_eq!(tags(&sent), "PBEPBECCH");
    dialogue.identity[1] = word_in(&sent);
    dialogue.server(&[message(b'1', b""), message(b'2', b""), complete("SET")].concat());
    let answer = dialogue.answer_with(vec![]);
    dialogue.server(&answer);
    assert_eq!(asked_input(&dialogue)["token"], JWT);
    dialogue.answer_fetches(Ok(&plan(&reading("reveal"))), Ok(&keys()));
    assert_eq!(tags(&dialogue.take_to_server()), "PDBES");
    assert_eq!(tags(&dialogue.to_client), "12C", "the question is not seen");
    assert_untold(&dialogue);
}

#[test]
fn token_does_not_reach_a_server_that_reads_texts_otherwise() {
    let texts = [
        format!("SET \"fieldveil\".\"token\" = '{JWT}'"),
        format!("SET fieldveil . token = '{JWT}'"),
        format!("SET fieldveil.token = '{JWT}'"),
        format!("SELECT set_config('fieldveil.token', '{JWT}', false)"),
        format!("SELECT 1 /*fieldveil%2etoken='{JWT}'*/"),
    ];
    let settings: [&[u8]; 3] =
        [b"client_encoding\0LATIN1\0", b"standard_conforming_strings\0off\0", b"client_encoding\0UTF8\0"];
    for (setting, behind) in settings.into_iter().flat_map(|s| ["", " -- \\", " -- \u{e9}"].map(|b| (s, b))) {
        for (text, fields) in texts.iter().flat_map(|text| [(text, reading("reveal")), (text, vec![])]) {
            let mut dialogue = Dialogue::ready(&fields);
            dialogue.server(&message(b'S', setting));
            let latin1: Vec<u8> = format!("{text}{behind}").chars().map(|c| c as u8).collect();
            dialogue.client(&message(b'Q', &[latin1, vec![0]].concat()));
            assert_untold(&dialogue);
        }
    }
}

#[test]
fn text_that_is_the_same_in_every_encoding_sets_the_token() {
    for setting in ["client_encoding\0SQL_ASCII\0", "standard_conforming_strings\0off\0"] {
        let mut dialogue = Dialogue::ready(&[]);
        dialogue.server(&message(b'S', setting.as_bytes()));
        word_in(&done(&mut dialogue, &format!("SET fieldveil.token = '{JWT}'")));
        assert_untold(&dialogue);
    }
}

#[test]
fn token_by_set_config_costs_one_question_a_transaction() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    let set = [
        parse("", "SELECT set_config('fieldveil.token', $1, true)"),
        bind("", &[JWT.as_bytes()]),
        execute(),
        sync(),
    ]
    .concat();
    for _ in 0..2 {
        dialogue.identity[1].clear();
        dialogue.status = b'T';
        done(&mut dialogue, "BEGIN");
        dialogue.client(&set);
        assert!(!dialogue.session.is_waiting(), "it is for anybody");
        dialogue.identity[1] = word_in(&dialogue.take_to_server());
        let row = data_row(&[Some(b"w".to_vec())]);
        let answer = [message(b'1', b""), message(b'2', b""), row, complete("SELECT 1"), ready(b'T')];
        dialogue.server(&answer.concat());
        dialogue.client(&query("SELECT ssn FROM customer"));
        assert_eq!(dialogue.asked(), [Asked::Identity], "names mean what they meant");
        dialogue.answer_catalog();
        dialogue.answer_fetches(Ok(&plan(&reading("null"))), Ok(&keys()));
        dialogue.server(&[complete("SELECT 0"), ready(b'T')].concat());
        dialogue.status = b'I';
        done(&mut dialogue, "COMMIT");
    }
}

#[test]
fn function_call_that_names_the_setting_is_refused_where_nothing_is_protected() {
    let mut dialogue = Dialogue::ready(&[]);
    let call = message(b'F', format!("set_config fieldveil.token {JWT}").as_bytes());
    dialogue.client(&call);
    assert_untold(&dialogue);
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_client(), b"function call"));
    dialogue.client(&message(b'F', b"other"));
    assert!(contains(&dialogue.take_to_server(), b"other"));
}

#[test]
fn question_in_a_failed_transaction_is_answered_as_the_statement_would_be() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    dialogue.client(&[parse("", "SET fieldveil.purpose = 'x'"), bind("", &[]), execute()].concat());
    dialogue.client(&[parse("", "SELECT ssn FROM customer"), bind("", &[]), execute(), sync()].concat());
    let set = [message(b'1', b""), message(b'2', b""), complete("SET")].concat();
    dialogue.server(&[set, server_error("25P02")].concat());
    let told = dialogue.take_to_client();
    assert!(contains(&told, b"25P02") && !contains(&told, b"57P03"));
}

#[test]
fn transaction_with_modes_begins_in_a_pipeline_before_any_question() {
    let mut dialogue = Dialogue::with_catalog(&reading("reveal"));
    let set = [parse("", "SET search_path = a"), bind("", &[]), execute()].concat();
    let begin = [parse("", "BEGIN ISOLATION LEVEL SERIALIZABLE"), bind("", &[]), execute()].concat();
    dialogue.client(&[set, begin].concat());
    assert_eq!((tags(&dialogue.take_to_server()), dialogue.asked()), ("PBEPBE".to_owned(), &[][..]));
}

#[test]
fn session_that_begins_with_a_text_for_anybody_asks_one_question() {
    for first in ["BEGIN", "SET extra_float_digits = 3"] {
        let mut dialogue = Dialogue::ready(&revealing());
        dialogue.client(&query(first));
        assert_eq!(dialogue.asked(), [Asked::Catalog], "{first}");
        dialogue.answer_catalog();
        let status = if first == "BEGIN" { b'T' } else { b'I' };
        dialogue.server(&[complete(first), ready(status)].concat());
        dialogue.client(&query("SELECT ssn FROM customer"));
        assert_eq!(dialogue.asked(), [], "{first}");
        assert!(contains(&dialogue.to_server, b"SELECT ssn FROM customer"), "{first}");
    }
}
