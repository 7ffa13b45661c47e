//! How long what instructions are counted of takes natively: whole transactions, and values under every cipher.
//!
//! `cargo bench -p fieldveil-bench`, and behind it a part of a name. In Envoy's VM: `bench-sealing` (`loadtests/README.md`).

#![allow(clippy::expect_used)]

use criterion::Criterion;
use fieldveil_bench::counted;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (name, mut call) in counted::all().expect("everything is looked at before it is timed") {
        criterion.bench_function(&name, |bencher| bencher.iter(|| call().expect("it went well before")));
    }
    criterion.final_summary();
}
