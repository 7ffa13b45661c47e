//! What connections of MySQL keep in memory: as `memory.rs`.

#![allow(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "an allocator, in a test"
)]

#[path = "support/counting.rs"]
mod counting;
mod mysql_support;
mod support;

use counting::{OTHERS, in_use};
use fieldveil_engine::memory::{MAX_CONNECTION, MAX_WORKER, RESERVE};
use mysql_support::*;
use support::{Connection, contains};

const MIB: usize = 1 << 20;

fn ready() -> Dialogue {
    let dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.ports.borrow_mut().memory_in_use = Some(in_use);
    dialogue
}

fn forget(dialogue: &mut Dialogue) {
    (dialogue.to_server, dialogue.to_client) = (Vec::new(), Vec::new());
}

/// Runs steps until one is refused with ER_OUT_OF_RESOURCES. Returns how many were not.
fn fill(dialogue: &mut Dialogue, step: impl Fn(usize) -> Vec<u8>, done: impl Fn(usize) -> Vec<u8>) -> usize {
    for number in 0..20_000 {
        dialogue.client(&step(number));
        assert!(!dialogue.closed && !dialogue.session.is_waiting(), "step {number} waits");
        if !contains(&dialogue.take_to_server(), format!("SELECT {number:05}").as_bytes()) {
            dialogue.server(&error(1, 1064, "the server's own text"));
            assert!(
                contains(&dialogue.to_client, &[0xff, 0x11, 0x04]),
                "step {number} was refused otherwise"
            );
            forget(dialogue);
            return number;
        }
        dialogue.server(&done(number));
        forget(dialogue);
    }
    panic!("nothing was refused: {} MiB", in_use() / MIB);
}

fn prepare(number: usize) -> Vec<u8> {
    packet(
        0,
        &[b"\x16".as_slice(), format!("SELECT {number:05};{}", "COMMIT;".repeat(4000)).as_bytes()].concat(),
    )
}

fn prepared(number: usize) -> Vec<u8> {
    let id = u32::try_from(number + 1).unwrap().to_le_bytes();
    packet(1, &[b"\0".as_slice(), &id, &[0; 7]].concat())
}

#[test]
fn prepared_statements_are_weighed_with_what_is_known_of_them() {
    let mut dialogue = ready();
    let before = in_use();
    let kept = fill(&mut dialogue, prepare, prepared);
    let bytes = in_use() - before;
    assert!(bytes < MAX_CONNECTION - RESERVE + MIB && bytes > 64 * MIB, "{} MiB", bytes / MIB);
    // What is closed makes room.
    dialogue.client(&packet(0, b"\x19\x01\0\0\0"));
    forget(&mut dialogue);
    dialogue.client(&prepare(kept));
    assert!(contains(&dialogue.to_server, format!("SELECT {kept:05}").as_bytes()));
    drop(dialogue);
    assert!(in_use() < before + MIB);
}

#[test]
fn names_that_sql_gives_are_weighed() {
    let mut dialogue = ready();
    let columns = vec!["ssn"; 200].join(",");
    OTHERS.set(MAX_WORKER - 36 * MIB);
    let text = |number: usize| {
        query(&format!("PREPARE p{number:05} FROM 'SELECT {number:05},{columns} FROM customer'"))
    };
    let before = in_use();
    fill(&mut dialogue, text, |_| ok(1));
    let bytes = in_use() - before;
    OTHERS.set(0);
    assert!(bytes < 5 * MIB && bytes > MIB, "{bytes} bytes");
}
