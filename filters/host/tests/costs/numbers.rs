//! The numbers: measured, written down, and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{allocations, envoy};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/costs/numbers.txt");
/// Runs before those that count: buffers have grown, statements are known, statistics defined.
const WARM_UP: u32 = 20;
/// Runs that count; what one costs is their mean.
const RUNS: u64 = 50;
const ALLOCATIONS: &str = "allocations";

/// What one transaction takes, by name.
pub type Cost = BTreeMap<String, u64>;

/// What all of them take.
#[derive(Default)]
pub struct Costs(BTreeMap<String, Cost>);

impl Costs {
    pub fn insert(&mut self, transaction: &str, (cost, trace): (Cost, Trace)) {
        let wanted = std::env::var("TRACE_COSTS").ok();
        if wanted.is_some_and(|wanted| transaction.starts_with(&wanted)) {
            eprintln!("{transaction}: allocations");
            let mut places: Vec<_> = trace.into_iter().collect();
            places.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            places.iter().for_each(|(place, count)| eprintln!("{count:6}  {place}"));
        }
        self.0.insert(transaction.to_owned(), cost);
    }
}

/// Where allocations come from; empty if nobody asked.
pub type Trace = BTreeMap<String, u64>;

/// The mean cost of a transaction.
pub fn measured(transaction: impl Fn()) -> (Cost, Trace) {
    measured_behind(|| {}, transaction)
}

/// The same of what happens behind something else that is not counted.
pub fn measured_behind(before: impl Fn(), transaction: impl Fn()) -> (Cost, Trace) {
    for _ in 0..WARM_UP {
        before();
        transaction();
    }
    let mut total = Cost::new();
    for _ in 0..RUNS {
        before();
        let (allocated, calls) = (allocations::allocations(), envoy::calls());
        transaction();
        *total.entry(ALLOCATIONS.to_owned()).or_default() += allocations::allocations() - allocated;
        for (name, count) in envoy::calls() {
            let count = count - calls.get(name).copied().unwrap_or_default();
            *total.entry(name.to_owned()).or_default() += count;
        }
    }
    let mean = |sum: u64| (sum + RUNS / 2) / RUNS;
    let cost = total.into_iter().map(|(name, sum)| (name, mean(sum))).filter(|(_, mean)| *mean > 0).collect();
    let trace = match std::env::var_os("TRACE_COSTS") {
        Some(_) => allocations::traced(transaction),
        None => Trace::new(),
    };
    (cost, trace)
}

/// Holds what was measured to what is written down.
pub fn compare(Costs(measured): &Costs) {
    let written = std::fs::read_to_string(FILE).map(|text| read(&text)).unwrap_or_default();
    let (mut risen, mut fallen) = (Vec::new(), Vec::new());
    let mut least = BTreeMap::new();
    for (transaction, cost) in measured {
        let known = written.get(transaction);
        let names: BTreeSet<_> = cost.keys().chain(known.into_iter().flat_map(BTreeMap::keys)).collect();
        let mut kept = Cost::new();
        for name in names {
            let now = cost.get(name).copied().unwrap_or_default();
            // A transaction that is new has no number to fall from.
            let then = known.map_or(now, |known| known.get(name).copied().unwrap_or_default());
            let line = format!("  {transaction}: {name} was {then}, is {now}");
            match now.cmp(&then) {
                std::cmp::Ordering::Greater => risen.push(line),
                std::cmp::Ordering::Less => fallen.push(line),
                std::cmp::Ordering::Equal => {}
            }
            kept.insert(name.clone(), now.min(then));
        }
        kept.retain(|_, count| *count > 0);
        least.insert(transaction.clone(), kept);
    }
    if std::env::var_os("UPDATE_COSTS").is_some() {
        std::fs::write(FILE, shown(&least)).unwrap();
        fallen.clear();
    }
    let is_new = least.keys().any(|transaction| !written.contains_key(transaction));
    assert!(
        risen.is_empty(),
        "transactions cost more than they did:\n{}\nTRACE_COSTS='<name>' shows where allocations come from; \
         the head of filters/host/tests/costs.rs says more",
        risen.join("\n")
    );
    assert!(
        fallen.is_empty() && (!is_new || std::env::var_os("UPDATE_COSTS").is_some()),
        "transactions cost less than they did, or are new:\n{}\nwrite that down, so that it stays so: \
         UPDATE_COSTS=1 cargo test -p fieldveil-host --test costs",
        fallen.join("\n")
    );
}

fn read(text: &str) -> BTreeMap<String, Cost> {
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    let mut transaction = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("    ").and_then(|entry| entry.split_once(' ')) {
            Some((name, count)) => {
                let cost = costs.entry(transaction.clone()).or_default();
                cost.insert(name.to_owned(), count.trim().parse().unwrap());
            }
            None => {
                line.clone_into(&mut transaction);
                costs.entry(transaction.clone()).or_default();
            }
        }
    }
    costs
}

fn shown(costs: &BTreeMap<String, Cost>) -> String {
    let mut text = String::from(
        "# What one transaction takes of the host and of the allocator: see ../costs.rs. Numbers here may only fall.\n",
    );
    for (transaction, cost) in costs {
        writeln!(text, "\n{transaction}").unwrap();
        for (name, count) in cost {
            writeln!(text, "    {name:36} {count:5}").unwrap();
        }
    }
    text
}
