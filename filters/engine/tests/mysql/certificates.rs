//! The bridge tells of the client's certificate ahead of the client's first packet.

#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

use fieldveil_engine::database::Client;
use fieldveil_engine::fetch::Fetch;
use serde_json::{Value, json};

use crate::mysql_support::*;
use crate::support::contains;

/// A client whose bridge says this, and which has sent its HandshakeResponse.
fn told(word: &[u8], chunk: usize) -> Dialogue {
    let mut client = Client::at("192.0.2.7");
    client.read_certificate(b"follow").unwrap();
    let mut dialogue = Dialogue::new(&revealing(), chunk);
    dialogue.comes_from(client);
    dialogue.server(&greeting());
    dialogue.client(&[packet(0, word), handshake_response()].concat());
    dialogue
}

/// The certificate in what the policy is asked.
fn asked(dialogue: &Dialogue) -> Option<Value> {
    let mut requests = dialogue.fetches.iter().filter_map(|fetch| match fetch {
        Fetch::Plan(principal) => Some(serde_json::from_str::<Value>(principal.request()).unwrap()),
        Fetch::Keys(_) => None,
    });
    requests.next().unwrap()["input"].get("client_certificate").cloned()
}

#[test]
fn certificate_is_the_policys_to_know_and_not_the_servers() {
    let names = json!({"subject": "CN=orders", "dns": ["orders.shop"], "uri": [], "email": []});
    for chunk in [1, 7, usize::MAX] {
        for (word, expected) in [(names.to_string(), Some(names.clone())), ("null".to_owned(), None)] {
            let mut dialogue = told(word.as_bytes(), chunk);
            assert_eq!(asked(&dialogue), expected);
            dialogue.answer_fetches();
            assert_eq!(dialogue.to_server, handshake_response());
        }
    }
}

#[test]
fn bridge_that_can_not_be_understood_lets_nobody_in() {
    for word in [&b""[..], b"CN=orders", b"[]", b"5", br#"{"dns": []}"#, &handshake_response()[4..]] {
        let mut dialogue = told(word, usize::MAX);
        assert!(dialogue.fetches.is_empty());
        assert!(!contains(&dialogue.to_server, b"app\0"), "nobody logs in: {word:?}");
        dialogue.server(&error(2, 1045, "Access denied"));
        assert!(contains(&dialogue.to_client, b"no word of the bridge on the certificate"));
        assert!(dialogue.closed);
    }
}
