//! The measurement, step by step: every case is checked, then warmed up, then measured once a round.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use fieldveil_engine::Random;
use fieldveil_engine::keyring::Keyring;
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_host::Work;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cases::{Buffers, Case, cases};
use crate::keys::keyring;
use crate::timing::{batch, time, warm_up};

/// What each line begins with, before its JSON.
const MARK: &str = "bench-sealing: ";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SealingConfiguration {
    /// Lengths of the values.
    bytes: Vec<usize>,
    /// Measurements of each.
    rounds: u32,
    /// What one measurement takes at least.
    batch_ms: u64,
    /// For how long each is called before it is measured.
    warm_up_ms: u64,
}

/// One measurement.
#[derive(Serialize)]
struct Measured<'a> {
    protection: &'a str,
    key: &'a str,
    column: &'a str,
    bytes: usize,
    /// `seal` or `open`.
    call: &'static str,
    round: u32,
    calls: u32,
    nanoseconds: u64,
}

/// A case with what it takes to measure it.
struct MeasuredCase {
    case: Case,
    sealed: Vec<u8>,
    buffers: RefCell<Buffers>,
    seals: u32,
    opens: u32,
}

impl MeasuredCase {
    fn seal(&self, keyring: &Keyring, random: &mut dyn Random) -> Result<(), String> {
        black_box(black_box(&self.case).seal(keyring, random, &mut self.buffers.borrow_mut())?);
        Ok(())
    }

    fn open(&self, keyring: &Keyring) -> Result<(), String> {
        black_box(self.case.open(keyring, black_box(&self.sealed), &mut self.buffers.borrow_mut())?);
        Ok(())
    }
}

/// All cases and how far it is.
pub struct Sealing {
    configuration: SealingConfiguration,
    keyring: Keyring,
    entries: Vec<MeasuredCase>,
    /// Passes over all cases that are done. The first makes ready, each other is a round.
    passes: u32,
    next: usize,
}

impl Work for Sealing {
    fn from_configuration(configuration: &[u8]) -> Result<Self, String> {
        let configuration: SealingConfiguration = serde_json::from_slice(configuration)
            .map_err(|error| format!("the configuration is not usable: {error}"))?;
        let entry =
            |case| MeasuredCase { case, sealed: Vec::new(), buffers: RefCell::default(), seals: 1, opens: 1 };
        let entries = cases(&configuration.bytes)?.into_iter().map(entry).collect();
        Ok(Self { configuration, keyring: keyring()?, entries, passes: 0, next: 0 })
    }

    fn step(&mut self, ports: &mut dyn Ports) -> Result<bool, String> {
        if self.passes > self.configuration.rounds {
            ports.log(Level::Info, &format!("{MARK}{}", json!({"done": self.entries.len()})));
            return Ok(false);
        }
        match self.passes {
            0 => self.make_ready(ports)?,
            _ => self.measure(ports)?,
        }
        self.next = self.next.saturating_add(1);
        if self.next >= self.entries.len() {
            self.next = 0;
            self.passes = self.passes.saturating_add(1);
        }
        Ok(true)
    }
}

impl Sealing {
    /// Checks the case, has it compiled, and finds how many calls are a measurement.
    fn make_ready(&mut self, random: &mut dyn Ports) -> Result<(), String> {
        let (least, warm) =
            [self.configuration.batch_ms, self.configuration.warm_up_ms].map(Duration::from_millis).into();
        let keyring = &self.keyring;
        let Some(entry) = self.entries.get_mut(self.next) else { return Ok(()) };
        entry.case.check(keyring, random)?;
        entry.sealed = entry.case.seal(keyring, random, &mut entry.buffers.borrow_mut())?;
        warm_up(warm, || entry.seal(keyring, random))?;
        warm_up(warm, || entry.open(keyring))?;
        let seals = batch(least, |calls| time(calls, || entry.seal(keyring, random)))?;
        let opens = batch(least, |calls| time(calls, || entry.open(keyring)))?;
        (entry.seals, entry.opens) = (seals, opens);
        Ok(())
    }

    fn measure(&self, ports: &mut dyn Ports) -> Result<(), String> {
        let keyring = &self.keyring;
        let Some(entry) = self.entries.get(self.next) else { return Ok(()) };
        let seals = time(entry.seals, || entry.seal(keyring, ports))?;
        self.tell(ports, &entry.case, "seal", entry.seals, seals);
        let opens = time(entry.opens, || entry.open(keyring))?;
        self.tell(ports, &entry.case, "open", entry.opens, opens);
        Ok(())
    }

    fn tell(&self, ports: &dyn Ports, case: &Case, call: &'static str, calls: u32, took: Duration) {
        let measured = Measured {
            protection: case.protection,
            key: &case.key,
            column: case.column,
            bytes: case.bytes(),
            call,
            round: self.passes,
            calls,
            nanoseconds: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        };
        // It holds nothing that JSON can't.
        let line = serde_json::to_string(&measured).unwrap_or_default();
        ports.log(Level::Info, &format!("{MARK}{line}"));
    }
}

#[cfg(test)]
mod tests {
    use fieldveil_host::Generator;

    use super::*;

    struct Lines(Generator, RefCell<Vec<String>>);

    impl Random for Lines {
        fn fill(&mut self, bytes: &mut [u8]) {
            self.0.fill(bytes);
        }
    }

    impl Ports for Lines {
        fn now_ms(&self) -> u64 {
            0
        }

        fn log(&self, _level: Level, line: &str) {
            self.1.borrow_mut().push(line.to_owned());
        }

        fn audit(&self, _line: &str) {}

        fn server_is_private(&self) -> bool {
            false
        }
    }

    #[test]
    fn each_round_measures_both_calls_of_every_case_and_the_last_line_says_how_many() {
        let configuration = br#"{"bytes": [64], "rounds": 2, "batch_ms": 0, "warm_up_ms": 0}"#;
        let mut work = Sealing::from_configuration(configuration).unwrap();
        let cases = work.entries.len();
        let mut ports = Lines(Generator::new().unwrap(), RefCell::default());
        while work.step(&mut ports).unwrap() {}
        let lines = ports.1.into_inner();
        let (last, measured) = lines.split_last().unwrap();
        assert_eq!(last, &format!("bench-sealing: {{\"done\":{cases}}}"));
        assert_eq!(measured.len(), cases * 2 * 2);
        for (index, line) in measured.iter().enumerate() {
            let found: serde_json::Value = serde_json::from_str(line.strip_prefix(MARK).unwrap()).unwrap();
            assert_eq!(found["call"], ["seal", "open"][index % 2]);
            assert_eq!(found["round"], index / (cases * 2) + 1);
            assert_eq!(found["calls"], 1);
        }
    }

    #[test]
    fn configuration_that_is_not_understood_is_refused() {
        for configuration in
            ["", "{}", r#"{"bytes": [64], "rounds": 1, "batch_ms": 0, "warm_up_ms": 0, "more": 1}"#]
        {
            let refused = Sealing::from_configuration(configuration.as_bytes()).err().unwrap();
            assert!(refused.starts_with("the configuration is not usable"), "{refused}");
        }
    }
}
