//! What a transaction costs, as Envoy would see it: each call of the host by its name, and the allocations, held to
//! `costs/numbers.txt`. Those numbers may only fall.
//!
//! When one falls, write it down, so that it does not rise again: `UPDATE_COSTS=1 cargo test -p fieldveil-host --test costs`.
//! That never writes a number that is higher; who has a reason for one edits the file and says the reason in the commit.
//!
//! To lower one, see where its allocations come from:
//! `TRACE_COSTS='PostgreSQL: point read' cargo test -p fieldveil-host --test costs -- --nocapture` prints the place of each
//! of one transaction, the innermost functions of ours first. The calls of the host are all made in `filters/host/src`.

#![allow(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a host of the module, in a test"
)]

#[path = "costs/abi.rs"]
mod abi;
#[path = "../../engine/tests/support/agent.rs"]
#[allow(dead_code, reason = "the keysets of all tests")]
mod agent;
#[path = "costs/allocations.rs"]
mod allocations;
#[path = "costs/envoy.rs"]
mod envoy;
#[path = "costs/json.rs"]
mod json;
#[path = "costs/mysql.rs"]
mod mysql;
#[path = "costs/numbers.rs"]
mod numbers;
#[path = "costs/postgres.rs"]
mod postgres;

use serde_json::Value;

use self::numbers::{Costs, measured};

/// Rows of the long reads.
const ROWS: usize = 100;
/// What is stored in the protected columns.
const VALUES: [&str; 3] = ["078-05-1120", "prefers letters", "ada@example.com"];

fn config(http: &Value) -> String {
    let mut config = serde_json::json!({"listener": "l",
        "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
        "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10,
            "max_stale_seconds": 600}});
    if http.as_object().is_some_and(|http| !http.is_empty()) {
        config["http"] = http.clone();
    }
    config.to_string()
}

/// Every armored envelope in the bytes, in order: in either protocol the byte before it is its length.
fn envelopes(bytes: &[u8]) -> Vec<String> {
    let starts = bytes.windows(5).enumerate().filter(|(_, window)| window.ends_with(b"fv1."));
    let envelope = |(at, window): (usize, &[u8])| {
        String::from_utf8(bytes[at + 1..=at + usize::from(window[0])].to_vec()).unwrap()
    };
    starts.map(envelope).collect()
}

#[test]
fn no_transaction_costs_more_than_it_did() {
    let mut costs = Costs::default();
    let (worker, session) = postgres::protected();
    costs.insert("PostgreSQL: point read, prepared", measured(|| session.read(1)));
    costs.insert("PostgreSQL: 100 rows, prepared", measured(|| session.read(ROWS)));
    costs.insert("PostgreSQL: insert, prepared", measured(|| session.insert()));
    costs.insert("PostgreSQL: point read, simple query", measured(|| session.query()));
    costs.insert("PostgreSQL: columns that are not protected", measured(|| session.pass(1)));
    costs.insert("PostgreSQL: a tick after 100 reads", {
        let reads = || (0..100).for_each(|_| session.read(1));
        numbers::measured_behind(reads, || worker.tick())
    });
    let session = postgres::unprotected();
    costs.insert("PostgreSQL: 100 rows, nothing protected", measured(|| session.pass(ROWS)));
    let session = mysql::protected();
    costs.insert("MySQL: point read, prepared", measured(|| session.read(1)));
    costs.insert("MySQL: 100 rows, prepared", measured(|| session.read(ROWS)));
    costs.insert("MySQL: insert, prepared", measured(|| session.insert()));
    costs.insert("MySQL: point read, query", measured(|| session.query()));
    costs.insert("MySQL: columns that are not protected", measured(|| session.pass(1)));
    let session = mysql::unprotected();
    costs.insert("MySQL: 100 rows, nothing protected", measured(|| session.pass(ROWS)));
    let service = json::start();
    costs.insert("JSON: exchange with a field each way", measured(|| service.exchange("/customers", false)));
    costs.insert("JSON: bodies with the end alone", measured(|| service.exchange("/customers", true)));
    costs.insert("JSON: route without fields", measured(|| service.exchange("/orders", true)));
    numbers::compare(&costs);
}
