//! Dialogues of real clients with a real PostgreSQL, MariaDB and MySQL, recorded through the sidecar, come out the same when
//! their bytes are cut anywhere.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::path::PathBuf;

use crate::support::{Both, Connection, contains};
use fieldveil_engine::config::Protocol;
use fieldveil_engine::{mysql, postgres};
use fieldveil_mysql_wire::packet::peek_packet;
use serde::Deserialize;

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

fn recorded(folder: &str) -> Vec<(PathBuf, Recorded)> {
    let folder = format!("{}/testdata/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())).collect()
}

/// Replays the events in chunks of `size` bytes; returns what went to server and client.
fn replay<S: Connection>(recorded: &Recorded, protocol: Protocol, size: usize) -> (Vec<u8>, Vec<u8>) {
    let mut both = Both::<S>::new(protocol, "{}", size);
    // The servers were reached by their Unix sockets.
    both.ports.borrow_mut().server_is_private = true;
    let (plan, keysets) = (recorded.plan.to_string(), recorded.keysets.to_string());
    for (side, bytes) in &recorded.events {
        match side.as_str() {
            "client" => both.client(&unhex(bytes)),
            _ => both.server(&unhex(bytes)),
        }
        while !both.fetches.is_empty() {
            both.answer_fetches(Ok(plan.as_bytes()), Ok(keysets.as_bytes()));
        }
    }
    assert!(!both.closed, "the connection is ended in chunks of {size}");
    (both.to_server, both.to_client)
}

/// Replays all dialogues of a folder. `seen` is what must be as it was recorded of what the client gets.
fn check<S: Connection>(folder: &str, protocol: Protocol, least: usize, seen: fn(&[u8]) -> Vec<Vec<u8>>) {
    let recorded = recorded(folder);
    assert!(recorded.len() >= least);
    for (path, dialogue) in recorded {
        let (_, whole) = replay::<S>(&dialogue, protocol, usize::MAX);
        assert!(
            seen(&whole) == seen(&unhex(&dialogue.to_client)),
            "{path:?}: the client gets something else"
        );
        for size in (1..64).chain([usize::MAX]) {
            let (to_server, to_client) = replay::<S>(&dialogue, protocol, size);
            assert!(to_client == whole, "{path:?} in chunks of {size}: the client gets something else");
            assert!(
                !contains(&to_server, CANARY),
                "{path:?} in chunks of {size}: a value goes to the server"
            );
        }
    }
}

/// What the client gets, packet by packet; of a refusal only that it is one, for its words have tests of their own.
fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some((header, payload)) = peek_packet(bytes) {
        let refused = payload.first() == Some(&0xff) && contains(payload, b"fieldveil: ");
        packets.push(if refused {
            vec![header.sequence, 0xff]
        } else {
            bytes[..header.total_len()].to_vec()
        });
        bytes = &bytes[header.total_len()..];
    }
    assert!(bytes.is_empty(), "half a packet");
    packets
}

#[test]
fn recorded_dialogues_with_postgresql_come_out_the_same_at_every_split() {
    check::<postgres::PostgresConnection>("dialogues", Protocol::Postgres, 6, |bytes| vec![bytes.to_vec()]);
}

#[test]
fn recorded_dialogues_with_mysql_come_out_the_same_at_every_split() {
    check::<mysql::MySqlConnection>("mysql-dialogues", Protocol::MySql, 8, packets);
}
