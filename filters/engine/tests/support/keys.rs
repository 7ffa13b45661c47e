//! Sessions whose deterministic keyset has these keys or those.

#![allow(clippy::string_slice)]

use super::*;

pub const CANARY: &str = "078-05-1120";
pub const SEARCH: &str = "SELECT id FROM customer WHERE ssn = $1";

/// A session whose deterministic keyset has these keys.
pub fn under(keys: &str) -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.give_keys(&keys_among(keys));
    dialogue
}

/// What the value is stored as under one key.
pub fn sealed_under(key: &str) -> String {
    let mut dialogue = under(key);
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    let envelopes = envelopes(&dialogue.to_server);
    assert_eq!(envelopes.len(), 1);
    envelopes[0].clone()
}

/// Every armored envelope in the bytes, in order.
pub fn envelopes(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let starts = text.match_indices("fv1.").map(|(at, _)| at);
    starts
        .map(|at| text[at..].split_at(4).1.split(ends).next().unwrap_or_default())
        .map(|s| format!("fv1.{s}"))
        .collect()
}

pub fn parsed(dialogue: &mut Dialogue, name: &str, text: &str) -> Vec<u8> {
    dialogue.client(&[parse(name, text), sync()].concat());
    let sent = dialogue.take_to_server();
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "1Z");
    sent
}

pub fn bound(dialogue: &mut Dialogue, name: &str, values: &[&[u8]]) -> Vec<u8> {
    dialogue.client(&[bind(name, values), execute(), sync()].concat());
    dialogue.take_to_server()
}
