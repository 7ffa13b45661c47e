//! The measurement of transactions, step by step: each is checked, then warmed up, then measured once a round.

use std::time::Duration;

use fieldveil_engine::Random;
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_host::{Generator, Work};
use serde::Deserialize;
use serde_json::json;

use super::{Transaction, transactions};
use crate::timing::{batch, time, warm_up};

/// What each line begins with, before its JSON.
const MARK: &str = "bench-sessions: ";

/// How much is measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionsConfiguration {
    /// What the names of the transactions hold; empty: all.
    sessions: String,
    /// Measurements of each.
    rounds: u32,
    /// What one measurement takes at least.
    batch_ms: u64,
    /// For how long each is called before it is measured.
    warm_up_ms: u64,
}

struct MeasuredTransaction {
    name: &'static str,
    transaction: Box<dyn Transaction>,
    calls: u32,
}

impl MeasuredTransaction {
    fn timed(&mut self, calls: u32) -> Result<Duration, String> {
        let named = |error| format!("{}: {error}", self.name);
        time(calls, || self.transaction.run().map(drop)).map_err(named)
    }
}

/// All transactions and how far it is.
pub struct Sessions {
    configuration: SessionsConfiguration,
    entries: Vec<MeasuredTransaction>,
    /// Passes over all transactions that are done. The first makes ready, each other is a round.
    passes: u32,
    next: usize,
}

fn randomness() -> Result<Box<dyn Random>, String> {
    Ok(Box::new(Generator::new().map_err(|error| format!("the system gives no randomness: {error}"))?))
}

impl Work for Sessions {
    fn from_configuration(configuration: &[u8]) -> Result<Self, String> {
        let configuration: SessionsConfiguration = serde_json::from_slice(configuration)
            .map_err(|error| format!("the configuration is not usable: {error}"))?;
        let entry = |(name, transaction)| MeasuredTransaction { name, transaction, calls: 1 };
        let found = transactions(&configuration.sessions, &randomness)?;
        Ok(Self { configuration, entries: found.into_iter().map(entry).collect(), passes: 0, next: 0 })
    }

    fn step(&mut self, ports: &mut dyn Ports) -> Result<bool, String> {
        if self.passes > self.configuration.rounds {
            ports.log(Level::Info, &format!("{MARK}{}", json!({"done": self.entries.len()})));
            return Ok(false);
        }
        let Some(entry) = self.entries.get_mut(self.next) else { return Ok(false) };
        if self.passes == 0 {
            let [least, warm] =
                [self.configuration.batch_ms, self.configuration.warm_up_ms].map(Duration::from_millis);
            entry.transaction.check().map_err(|error| format!("{}: {error}", entry.name))?;
            warm_up(warm, || entry.transaction.run().map(drop))?;
            entry.calls = batch(least, |calls| entry.timed(calls))?;
        } else {
            let calls = entry.calls;
            let nanoseconds = u64::try_from(entry.timed(calls)?.as_nanos()).unwrap_or(u64::MAX);
            let line = json!({
                "transaction": entry.name, "round": self.passes, "calls": calls, "nanoseconds": nanoseconds,
            });
            ports.log(Level::Info, &format!("{MARK}{line}"));
        }
        self.next = self.next.saturating_add(1);
        if self.next >= self.entries.len() {
            self.next = 0;
            self.passes = self.passes.saturating_add(1);
        }
        Ok(true)
    }
}
