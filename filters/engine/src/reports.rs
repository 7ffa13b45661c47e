//! What Envoy's workers tell each other over a text that they share, for gauges that speak of all of them: how old what is in
//! use has become, how much memory is in use, and how many plans are held, by their bundle.
//!
//! A worker that traps tells nobody. So a gauge of plans is the sum of what stands in the text: whoever finds the report of
//! a worker that was not heard of for some time takes it out of the text, and its plans off the gauges.

use std::collections::BTreeMap;

/// Bundles that have a gauge of their own; the further ones share one. Envoy keeps a statistic for ever.
pub(crate) const MAX_NAMES: usize = 256;
/// Characters of a gauge's name.
pub(crate) const MAX_NAME_LEN: usize = 64;
/// A worker that was not heard of for so long has ended.
const GONE_MS: u64 = 5_000;
/// Workers that are listened to.
const MAX_WORKERS: usize = 1024;
/// Of a report without the plans, and of a count of plans without its name.
const HEAD_LEN: usize = 42;
const COUNT_LEN: usize = 5;

/// The ages, in milliseconds, and the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ages {
    /// Since the key agent last confirmed the keysets.
    pub keysets: u64,
    /// Since OPA last confirmed the plan in use that it confirmed longest ago.
    pub plans: u64,
    /// Bytes of memory in use.
    pub memory: u64,
}

/// Plans that are held, by the last part of their gauge's name.
pub type Held = BTreeMap<String, u32>;

/// What one worker says.
#[derive(Debug, Clone, Copy)]
pub struct Report<'h> {
    /// Which worker: a random number.
    pub worker: u64,
    /// When it says so.
    pub now_ms: u64,
    /// The ages there.
    pub ages: Ages,
    /// The plans there.
    pub held: &'h Held,
}

/// The reports of all workers.
#[derive(Debug, PartialEq, Eq)]
pub struct Merged {
    /// The text to share.
    pub text: Vec<u8>,
    /// The greatest ages.
    pub ages: Ages,
    /// By how much the gauges of plans change with the text.
    pub changes: BTreeMap<String, i64>,
}

/// Puts a report in place of the worker's former one, and leaves out those of workers that have ended.
pub fn merge(shared: &[u8], own: Report<'_>) -> Merged {
    let held_len = told(own.held)
        .fold(0_usize, |sum, (name, _)| sum.saturating_add(COUNT_LEN).saturating_add(name.len()));
    let room = shared.len().saturating_add(HEAD_LEN).saturating_add(held_len);
    let mut merged = Merged { text: Vec::with_capacity(room), ages: own.ages, changes: BTreeMap::new() };
    let mut former: &[u8] = &[];
    let mut others = 0_usize;
    for entry in entries(shared) {
        if entry.worker == own.worker {
            former = entry.held;
        } else if own.now_ms.abs_diff(entry.now_ms) <= GONE_MS && others < MAX_WORKERS {
            others = others.saturating_add(1);
            write_head(&mut merged.text, &entry, entry.held.len());
            merged.text.extend_from_slice(entry.held);
            merged.ages.keysets = merged.ages.keysets.max(entry.ages.keysets);
            merged.ages.plans = merged.ages.plans.max(entry.ages.plans);
            merged.ages.memory = merged.ages.memory.max(entry.ages.memory);
        } else {
            change(&mut merged.changes, entry.held, -1);
        }
    }
    let Report { worker, now_ms, ages, .. } = own;
    write_head(&mut merged.text, &ReportEntry { worker, now_ms, ages, held: &[] }, held_len);
    let start = merged.text.len();
    for (name, count) in told(own.held) {
        merged.text.push(u8::try_from(name.len()).unwrap_or_default());
        merged.text.extend_from_slice(name.as_bytes());
        merged.text.extend_from_slice(&count.to_le_bytes());
    }
    let held = merged.text.get(start..).unwrap_or_default();
    if held != former {
        change(&mut merged.changes, former, -1);
        change(&mut merged.changes, held, 1);
        merged.changes.retain(|_, by| *by != 0);
    }
    merged
}

/// The plans as they stand in the text, whose lengths hold no more and no longer names.
fn told(held: &Held) -> impl Iterator<Item = (&String, &u32)> {
    held.iter().filter(|(name, _)| name.len() <= MAX_NAME_LEN).take(MAX_NAMES.saturating_add(1))
}

/// A report as it stands in the text.
struct ReportEntry<'t> {
    worker: u64,
    now_ms: u64,
    ages: Ages,
    held: &'t [u8],
}

fn write_head(text: &mut Vec<u8>, entry: &ReportEntry<'_>, held_len: usize) {
    let Ages { keysets, plans, memory } = entry.ages;
    for number in [entry.worker, entry.now_ms, keysets, plans, memory] {
        text.extend_from_slice(&number.to_le_bytes());
    }
    text.extend_from_slice(&u16::try_from(held_len).unwrap_or_default().to_le_bytes());
}

fn entries(mut text: &[u8]) -> impl Iterator<Item = ReportEntry<'_>> {
    std::iter::from_fn(move || {
        let (head, rest) = text.split_first_chunk::<HEAD_LEN>()?;
        let (numbers, len) = head.split_at_checked(HEAD_LEN - 2)?;
        let mut numbers = numbers.chunks_exact(8).map(|bytes| bytes.try_into().map(u64::from_le_bytes));
        let mut next = || numbers.next()?.ok();
        let (worker, now_ms) = (next()?, next()?);
        let ages = Ages { keysets: next()?, plans: next()?, memory: next()? };
        let (held, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(len.try_into().ok()?)))?;
        text = rest;
        Some(ReportEntry { worker, now_ms, ages, held })
    })
}

/// Counts the plans of a report in a sum, or out of it.
fn change(changes: &mut BTreeMap<String, i64>, mut held: &[u8], sign: i64) {
    while let Some((len, rest)) = held.split_first() {
        let Some((name, rest)) = rest.split_at_checked(usize::from(*len)) else { return };
        let Some((count, rest)) = rest.split_first_chunk() else { return };
        let by = sign.saturating_mul(u32::from_le_bytes(*count).into());
        let sum = changes.entry(String::from_utf8_lossy(name).into_owned()).or_default();
        *sum = sum.saturating_add(by);
        held = rest;
    }
}

/// Counts since they were last taken, by statistic name.
pub type Counts = BTreeMap<String, u64>;

/// Adds to the count of a statistic.
pub fn add_count(counts: &mut Counts, name: impl AsRef<str> + Into<String>, by: u64) {
    if let Some(count) = counts.get_mut(name.as_ref()) {
        *count = count.saturating_add(by);
    } else {
        counts.insert(name.into(), by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NONE: Held = Held::new();

    fn report(worker: u64, now_ms: u64, keysets: u64, plans: u64) -> Report<'static> {
        Report { worker, now_ms, ages: Ages { keysets, plans, memory: plans }, held: &NONE }
    }

    fn held(counts: &[(&str, u32)]) -> Held {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    fn changes(changes: &[(&str, i64)]) -> BTreeMap<String, i64> {
        changes.iter().map(|(name, by)| ((*name).to_owned(), *by)).collect()
    }

    #[test]
    fn the_oldest_of_all_workers_is_shown_until_it_is_young_again() {
        let first = merge(b"", report(1, 100_000, 9, 200));
        assert_eq!(first.ages, Ages { keysets: 9, plans: 200, memory: 200 });
        let second = merge(&first.text, report(2, 100_500, 70, 30));
        assert_eq!(second.ages, Ages { keysets: 70, plans: 200, memory: 200 });
        let third = merge(&second.text, report(1, 101_000, 10, 0));
        assert_eq!(third.ages, Ages { keysets: 70, plans: 30, memory: 30 });
        assert_eq!(third.text.len(), 2 * HEAD_LEN);
    }

    #[test]
    fn worker_that_has_ended_is_forgotten() {
        let Merged { text, .. } = merge(b"", report(1, 100_000, 9, 9));
        let Merged { text, ages, .. } = merge(&text, report(2, 100_000 + GONE_MS + 1, 1, 1));
        assert_eq!((text.len(), ages), (HEAD_LEN, Ages { keysets: 1, plans: 1, memory: 1 }));
    }

    #[test]
    fn gauges_of_plans_are_the_sum_of_what_the_workers_hold() {
        let (two, three) = (held(&[("first", 2)]), held(&[("first", 1), ("second", 3)]));
        let one = merge(b"", Report { held: &two, ..report(1, 100_000, 0, 0) });
        assert_eq!(one.changes, changes(&[("first", 2)]));
        let both = merge(&one.text, Report { held: &two, ..report(2, 100_000, 0, 0) });
        assert_eq!(both.changes, changes(&[("first", 2)]));
        let renewed = merge(&both.text, Report { held: &three, ..report(1, 101_000, 0, 0) });
        assert_eq!(renewed.changes, changes(&[("first", -1), ("second", 3)]));
        let same = merge(&renewed.text, Report { held: &three, ..report(1, 102_000, 0, 0) });
        assert_eq!(same.changes, changes(&[]));
    }

    #[test]
    fn plans_of_a_worker_that_has_trapped_are_taken_off_once() {
        let two = held(&[("first", 2)]);
        let trapped = merge(b"", Report { held: &two, ..report(1, 100_000, 0, 0) });
        let soon = merge(&trapped.text, Report { held: &two, ..report(2, 100_000 + GONE_MS, 0, 0) });
        assert_eq!(soon.changes, changes(&[("first", 2)]));
        let later = merge(&soon.text, Report { held: &two, ..report(2, 100_001 + GONE_MS, 0, 0) });
        assert_eq!(later.changes, changes(&[("first", -2)]));
        let after = merge(&later.text, Report { held: &two, ..report(2, 101_001 + GONE_MS, 0, 0) });
        assert_eq!(after.changes, changes(&[]));
    }

    #[test]
    fn worker_that_was_only_slow_counts_again() {
        let two = held(&[("first", 2)]);
        let slow = merge(b"", Report { held: &two, ..report(1, 100_000, 0, 0) });
        let without = merge(&slow.text, report(2, 100_001 + GONE_MS, 0, 0));
        assert_eq!(without.changes, changes(&[("first", -2)]));
        let again = merge(&without.text, Report { held: &two, ..report(1, 101_000 + GONE_MS, 0, 0) });
        assert_eq!(again.changes, changes(&[("first", 2)]));
    }

    #[test]
    fn text_that_is_cut_or_of_others_is_no_trap() {
        let two = held(&[("first", 2)]);
        let Merged { text, .. } = merge(b"", Report { held: &two, ..report(1, 100_000, 0, 0) });
        for cut in 0..text.len() {
            let merged = merge(&text[..cut], report(2, 100_000, 0, 0));
            assert_eq!(merged.text.len(), HEAD_LEN, "{cut}");
        }
        merge(&[0xff; 200], report(2, 100_000, 0, 0));
    }
}
