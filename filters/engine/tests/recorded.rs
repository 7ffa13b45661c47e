//! Dialogues of real clients with a real server, recorded through the sidecar, come out the same when their
//! bytes are cut anywhere.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

use std::path::PathBuf;

use serde::Deserialize;
use support::*;

/// A value that the recorded clients write and search for.
const CANARY: &[u8] = b"078-05-1120";

#[derive(Deserialize)]
struct Recorded {
    plan: serde_json::Value,
    keysets: serde_json::Value,
    /// Who sent what, in the order in which it passed.
    events: Vec<(String, String)>,
    to_client: String,
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn recorded() -> Vec<(PathBuf, Recorded)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dialogues");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())).collect()
}

/// Replays the events in chunks of `size` bytes; returns what went to server and client.
fn replay(recorded: &Recorded, size: usize) -> (Vec<u8>, Vec<u8>) {
    let mut dialogue = Dialogue::new();
    dialogue.chunk = size;
    let (plan, keysets) = (recorded.plan.to_string(), recorded.keysets.to_string());
    for (side, bytes) in &recorded.events {
        match side.as_str() {
            "client" => dialogue.client(&unhex(bytes)),
            _ => dialogue.server(&unhex(bytes)),
        }
        if !dialogue.fetches.is_empty() {
            dialogue.answer_fetches(Ok(plan.as_bytes()), Ok(keysets.as_bytes()));
        }
    }
    assert!(!dialogue.closed);
    (dialogue.to_server, dialogue.to_client)
}

#[test]
fn recorded_dialogues_come_out_the_same_at_every_split() {
    let recorded = recorded();
    assert!(recorded.len() >= 6);
    for (path, dialogue) in recorded {
        let expected = unhex(&dialogue.to_client);
        for size in (1..64).chain([usize::MAX]) {
            let (to_server, to_client) = replay(&dialogue, size);
            assert!(to_client == expected, "{path:?} in chunks of {size}: the client gets something else");
            assert!(
                !contains(&to_server, CANARY),
                "{path:?} in chunks of {size}: a value goes to the server"
            );
        }
    }
}
