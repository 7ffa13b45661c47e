//! What connections keep in memory, each kind filled to its bound and read from an allocator that counts: one step further is
//! refused, or waits, while another user's connection of the same worker goes on.

#![allow(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "an allocator, in a test"
)]

#[path = "support/counting.rs"]
mod counting;
mod support;

use counting::{OTHERS, in_use};
use fieldveil_engine::memory::{MAX_CONNECTION, MAX_WORKER, RESERVE};
use fieldveil_postgres_wire::frontend::{Bind, Close, Parse, Target};
use serde_json::json;
use support::*;

const MIB: usize = 1 << 20;
/// What stands in `docs/reference/limits.md`.
const ANALYSES: usize = 16 * MIB;
const IN_FLIGHT: usize = 16 * MIB;

/// A connection that is up for this user, on a worker whose memory is counted.
fn up(mut dialogue: Dialogue, user: &str) -> Dialogue {
    dialogue.ports.borrow_mut().memory_in_use = Some(in_use);
    user.clone_into(&mut dialogue.identity[0]);
    dialogue.client(&startup(user));
    if !dialogue.fetches.is_empty() {
        dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    }
    dialogue.server(&message(b'R', &[0, 0, 0, 0]));
    dialogue.server(&message(b'S', b"client_encoding\0UTF8\0"));
    dialogue.server(&ready(b'I'));
    dialogue.client(&query("SELECT 1"));
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    forget(&mut dialogue);
    dialogue
}

fn first() -> Dialogue {
    up(Dialogue::new(), "app")
}

/// What went out is not the connection's any more.
fn forget(dialogue: &mut Dialogue) {
    (dialogue.to_server, dialogue.to_client) = (Vec::new(), Vec::new());
}

/// A text of which some 70 times as much is known as it has bytes.
fn heavy(number: usize, length: usize) -> String {
    format!("SELECT {number:05};{}", "END;".repeat(length / 4))
}

/// Whether the connection is served.
fn is_served(dialogue: &mut Dialogue) -> bool {
    forget(dialogue);
    let text = query("SELECT ssn FROM customer WHERE id = 7");
    dialogue.client(&text);
    let goes = dialogue.take_to_server() == text;
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    forget(dialogue);
    goes && !dialogue.closed
}

/// What this refusal came to, which stands in the place of a server's error.
fn refused_with(dialogue: &mut Dialogue, code: &str) -> bool {
    dialogue.client(&sync());
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let told = contains(&dialogue.to_client, code.as_bytes());
    forget(dialogue);
    told
}

/// Does steps until one is refused for lack of memory: then `mark` and its number do not go to the server. Returns how many
/// were not, and the bytes that were in use then.
fn fill(dialogue: &mut Dialogue, mark: &str, step: impl Fn(usize) -> Vec<u8>, done: &[u8]) -> (usize, usize) {
    for number in 0..2_000 {
        dialogue.client(&step(number));
        let sent = dialogue.take_to_server();
        assert!(
            !dialogue.closed && !dialogue.session.is_waiting(),
            "step {number} waits: {}",
            String::from_utf8_lossy(&sent)
        );
        if !contains(&sent, format!("{mark}{number:05}").as_bytes()) {
            drop(sent);
            let kept = in_use();
            assert!(refused_with(dialogue, "53200"), "step {number} was refused for another reason");
            return (number, kept);
        }
        dialogue.server(done);
        forget(dialogue);
    }
    panic!("nothing was refused at {mark}: {} MiB", in_use() / MIB);
}

/// The connection keeps no more than it may, with what it took before.
fn is_within(before: usize, now: usize, bound: usize) {
    let kept = now - before;
    assert!(kept <= bound, "{} MiB where {} are said", kept / MIB, bound / MIB);
    assert!(kept > bound / 2, "{} MiB where {} are said: the bound was not reached", kept / MIB, bound / MIB);
}

#[test]
fn analyses_that_a_worker_keeps_have_a_bound_in_bytes() {
    let mut dialogue = first();
    let before = in_use();
    for number in 0..100 {
        dialogue.client(&query(&format!("SELECT {number};{}", "SELECT;".repeat(1000))));
        assert!(!dialogue.session.is_waiting());
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        forget(&mut dialogue);
    }
    let kept = in_use() - before;
    assert!(kept <= ANALYSES, "{} MiB", kept / MIB);
    assert!(kept > 2 * MIB, "none was kept");
}

#[test]
fn what_is_in_flight_has_a_bound_in_bytes_and_the_client_waits() {
    let mut dialogue = first();
    let mut other = up(dialogue.beside(), "other");
    let before = in_use();
    let mut sent = 0;
    while !dialogue.session.is_waiting() {
        dialogue.client(&query(&heavy(sent, 16_000)));
        forget(&mut dialogue);
        sent += 1;
        assert!(sent < 100, "{} MiB, and the client does not wait", (in_use() - before) / MIB);
    }
    is_within(before, in_use(), IN_FLIGHT + IN_FLIGHT / 2);
    assert!(is_served(&mut other));
    // The answers let it go on, and nothing is lost.
    for _ in 0..sent {
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    }
    assert!(
        !dialogue.session.is_waiting()
            && contains(&dialogue.to_server, format!("{:05};", sent - 1).as_bytes())
    );
    assert!(is_served(&mut dialogue));
}

#[test]
fn what_waits_without_a_sync_is_flushed_once() {
    let mut dialogue = first();
    let mut sent = 0;
    let flush = [b'H', 0, 0, 0, 4];
    while !dialogue.session.is_waiting() {
        forget(&mut dialogue);
        dialogue.client(&parse("", &heavy(sent, 16_000)));
        sent += 1;
        assert!(sent < 100, "the client does not wait");
    }
    assert_eq!(dialogue.to_server, flush);
    forget(&mut dialogue);
    dialogue.server(&message(b'1', b""));
    assert!(!dialogue.session.is_waiting() || dialogue.to_server.is_empty());
    for _ in 1..sent - 1 {
        dialogue.server(&message(b'1', b""));
    }
    assert!(!dialogue.session.is_waiting() && !dialogue.to_server.is_empty());
}

#[test]
fn prepared_statements_are_weighed_with_what_is_known_of_them() {
    let mut dialogue = first();
    let mut other = up(dialogue.beside(), "other");
    let before = in_use();
    let step = |number: usize| parse(&format!("s{number:05}"), &heavy(number, 16_000));
    let done = [message(b'1', b"")].concat();
    let (kept, now) = fill(&mut dialogue, "SELECT ", step, &done);
    is_within(before, now, MAX_CONNECTION - RESERVE + ANALYSES);
    assert!(is_served(&mut dialogue) && is_served(&mut other));
    // What is closed makes room.
    let mut close = Vec::new();
    Close { target: Target::Statement, name: b"s00000" }.encode(&mut close).unwrap();
    dialogue.client(&[close, sync()].concat());
    dialogue.server(&[message(b'3', b""), ready(b'I')].concat());
    forget(&mut dialogue);
    dialogue.client(&step(kept));
    assert!(contains(&dialogue.to_server, format!("SELECT {kept:05}").as_bytes()));
    // And nothing is left of a connection that ends.
    drop(dialogue);
    assert!(in_use() < before + ANALYSES + MIB);
}

#[test]
fn types_of_parameters_are_weighed() {
    let mut dialogue = first();
    let before = in_use();
    let step = |number: usize| {
        let (name, text) = (format!("s{number:05}"), format!("SELECT {number:05}"));
        let mut out = Vec::new();
        let parameter_types = vec![0; 32_000];
        Parse { name: name.as_bytes(), text: text.as_bytes(), parameter_types }.encode(&mut out).unwrap();
        out
    };
    let (_, now) = fill(&mut dialogue, "SELECT ", step, &message(b'1', b""));
    is_within(before, now, MAX_CONNECTION - RESERVE + ANALYSES);
}

#[test]
fn portals_are_weighed() {
    let mut dialogue = first();
    dialogue.client(&[parse("s", "SELECT 1"), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    forget(&mut dialogue);
    let before = in_use();
    let step = |number: usize| {
        let portal = format!("p{number:05}");
        let result_formats = vec![fieldveil_postgres_wire::Format::Binary; 60_000];
        let mut out = Vec::new();
        let parts = Bind {
            portal: portal.as_bytes(),
            statement: b"s",
            parameter_formats: vec![],
            values: vec![],
            result_formats,
        };
        parts.encode(&mut out).unwrap();
        out
    };
    let (_, now) = fill(&mut dialogue, "p", step, &message(b'2', b""));
    is_within(before, now, MAX_CONNECTION - RESERVE / 2 + MIB);
}

#[test]
fn names_that_sql_gives_are_weighed() {
    let columns = vec!["ssn"; 200].join(",");
    let prepare =
        |number: usize| format!("PREPARE p{number:05} AS SELECT {number:05},{columns} FROM customer");
    let declare =
        |number: usize| format!("DECLARE c{number:05} CURSOR FOR SELECT {number:05},{columns} FROM customer");
    let texts: [&dyn Fn(usize) -> String; 2] = [&prepare, &declare];
    for text in texts {
        let mut dialogue = first();
        dialogue.client(&query("BEGIN"));
        dialogue.status = b'T';
        dialogue.server(&[complete("BEGIN"), ready(b'T')].concat());
        forget(&mut dialogue);
        OTHERS.set(MAX_WORKER - RESERVE - 4 * MIB);
        let before = in_use();
        let done = [complete("PREPARE"), ready(b'T')].concat();
        let (_, now) = fill(&mut dialogue, "SELECT ", |number| query(&text(number)), &done);
        OTHERS.set(0);
        is_within(before, now, 3 * MIB);
    }
}

#[test]
fn plans_that_statements_are_kept_with_are_weighed() {
    let mut dialogue = first();
    let mut other = up(dialogue.beside(), "other");
    let mut fields = revealing();
    let of_others = |number: usize| {
        field(&format!("c{number}"), "randomized", "text", json!({"treatment": "reveal"}), "seal")
    };
    fields.extend((0..300).map(of_others));
    OTHERS.set(MAX_WORKER - RESERVE - 16 * MIB);
    let before = in_use();
    for number in 0..100 {
        dialogue.client(&query(&format!("SET fieldveil.purpose = 'p{number}'")));
        dialogue.server(&[complete("SET"), ready(b'I')].concat());
        dialogue.identity[2] = format!("p{number}");
        forget(&mut dialogue);
        dialogue.client(&parse(&format!("s{number:05}"), &format!("SELECT {number:05}, ssn FROM customer")));
        while dialogue.session.is_waiting() {
            match dialogue.fetches.is_empty() {
                true => dialogue.answer_catalog(),
                false => dialogue.answer_fetches(Ok(&plan(&fields)), Ok(&keys())),
            }
        }
        if !contains(&dialogue.take_to_server(), format!("SELECT {number:05}").as_bytes()) {
            assert!(refused_with(&mut dialogue, "53200"), "step {number} was refused for another reason");
            let kept = in_use() - before;
            assert!(number > 5 && kept < 12 * MIB, "{number} plans, {} MiB", kept / MIB);
            other.client(&parse("s", "SELECT 1, ssn FROM customer"));
            assert!(contains(&other.to_server, b"SELECT 1, ssn"), "another user may keep nothing");
            OTHERS.set(0);
            return;
        }
        dialogue.client(&sync());
        dialogue.server(&[message(b'1', b""), message(b'n', b""), ready(b'I')].concat());
    }
    panic!("nothing was refused: {} MiB", (in_use() - OTHERS.get()) / MIB);
}

#[test]
fn sessions_with_the_same_catalog_share_it() {
    let rows: Vec<_> = (0..20_u32)
        .flat_map(|view| {
            (1..=500).map(move |number| {
                let (oid, name, number) = (20_000 + view, format!("v{view}"), number.to_string());
                let column = format!("a_column_with_a_long_name_{number}");
                let first = [&oid.to_string(), "public", &name, "v", "t", &number, &column, "25", "f", ""]
                    .map(str::to_owned);
                let last = ["", "", "f", "-1", "SELECT 1", "f"].map(str::to_owned);
                first.into_iter().chain(last).map(|value| Some(value.into_bytes())).collect::<Vec<_>>()
            })
        })
        .collect();
    let rows = [catalog_rows(), rows].concat();
    let with = |mut dialogue: Dialogue, user: &str| {
        dialogue.ports.borrow_mut().memory_in_use = Some(in_use);
        dialogue.client(&startup(user));
        if !dialogue.fetches.is_empty() {
            dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
        }
        dialogue.server(&message(b'R', &[0, 0, 0, 0]));
        dialogue.server(&message(b'S', b"client_encoding\0UTF8\0"));
        dialogue.server(&ready(b'I'));
        dialogue.client(&query("SELECT 1"));
        dialogue.answer_catalog_with(rows.clone());
        dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
        forget(&mut dialogue);
        dialogue
    };
    let before = in_use();
    let one = with(Dialogue::new(), "app");
    let of_one = in_use() - before;
    let many: Vec<_> = (0..10).map(|_| with(one.beside(), "app")).collect();
    let of_all = in_use() - before;
    assert!(of_one > MIB && of_all < of_one + of_one / 2, "{of_one} bytes, {of_all} of {}", many.len() + 1);
}

#[test]
fn a_user_may_keep_no_more_than_is_still_free() {
    let mut one = first();
    let mut two = up(one.beside(), "app");
    let mut other = up(one.beside(), "other");
    OTHERS.set(MAX_WORKER - 100 * MIB);
    let step = |number: usize| parse(&format!("s{number:05}"), &heavy(number, 16_000));
    let done = message(b'1', b"");
    let before = in_use();
    let (kept, now) = fill(&mut one, "SELECT ", step, &done);
    assert_eq!(fill(&mut two, "SELECT ", step, &done).0, 0, "another session of the same user keeps some");
    let kept_bytes = now - before;
    assert!(kept > 3 && kept_bytes < 60 * MIB, "{} MiB", kept_bytes / MIB);
    // There is room for another user, and who may keep nothing more is served.
    assert!(is_served(&mut one) && is_served(&mut two) && is_served(&mut other));
    other.client(&step(0));
    assert!(contains(&other.take_to_server(), b"SELECT 00000"));
    // With nothing left, what needs no analysis of its own still goes.
    OTHERS.set(MAX_WORKER + 2 * RESERVE);
    one.client(&query("SELECT notes FROM customer"));
    assert!(refused_with(&mut one, "53200"));
    one.client(&query("ROLLBACK"));
    assert!(contains(&one.take_to_server(), b"ROLLBACK"));
    OTHERS.set(0);
}

#[test]
fn messages_that_are_not_whole_cost_no_other_user_its_connection() {
    let dialogue = first();
    let mut other = up(dialogue.beside(), "other");
    OTHERS.set(MAX_WORKER - 100 * MIB);
    let begin = |dialogue: &mut Dialogue| {
        dialogue.client(
            &[b"Q".as_slice(), (15 * MIB as u32).to_be_bytes().as_slice(), &vec![b' '; 12 * MIB]].concat(),
        );
        !dialogue.closed
    };
    let mut many: Vec<_> = (0..8).map(|_| up(dialogue.beside(), "app")).collect();
    many.retain_mut(begin);
    let held = many.len();
    assert!(held > 1 && held < 6, "{held} messages of 12 MiB are held where 100 MiB are free");
    assert!(begin(&mut other), "another user's is held");
    OTHERS.set(0);
}
