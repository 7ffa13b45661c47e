//! Counts what has been revealed to whom under budgets: for each subject and label the rows of the last seconds, in slots.
//!
//! A budget holds over every stretch of its seconds. Time is divided into slots, each a sixteenth of that stretch. A row is
//! revealed if the present slot and the sixteen before it, which together are at least one stretch, hold fewer rows than
//! the budget allows. So a row counts for up to a sixteenth longer than it must, and never shorter.
//!
//! Counts belong to the subject and the label, not to the plan: a new plan, another purpose or another connection continues
//! where the last one stopped. Plans may name different stretches for the same subject and label. Each row counts in all
//! stretches that were asked for before it.
//!
//! A worker that traps forgets its counts. So each count is shared with Envoy before the row that it allowed leaves the
//! sidecar: [`kept`].

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

pub mod kept;

/// A budget's seconds are divided into so many slots.
const DIVISIONS: u64 = 16;
/// So many slots are kept: those of the stretch, and the one that has begun.
const SLOTS: usize = 17;
/// The most windows that are held. Each takes about 200 bytes. A window in use is never given up for another, so that
/// nobody regains a budget by filling the table. A row for whose budget there is no place is not revealed.
pub const MAX_WINDOWS: usize = 65_536;
/// The most stretches of different lengths for one subject and label.
const MAX_LENGTHS: usize = 8;
/// The time between two searches for windows that have passed.
const SWEEP_MS: u64 = 1000;

/// How many rows a budget allows in a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// The most rows within any stretch.
    pub rows: u32,
    /// The length of the stretch.
    pub per_seconds: u32,
}

/// Says whether a row may be revealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spending {
    /// The row may be revealed, and was counted.
    Revealed,
    /// The budget is spent.
    Spent {
        /// In so many seconds a row may be revealed again.
        again_seconds: u64,
        /// True if this is the first time in the window that the budget is spent.
        first: bool,
    },
    /// So many budgets are in use that there is no place for another.
    NoPlace,
}

/// A subject and a label.
type Key = (Arc<str>, Arc<str>);

/// The budgets of all workers of a process.
#[derive(Default)]
pub struct Budgets {
    spent: HashMap<Key, Vec<Window>>,
    /// The budgets of which more was spent than Envoy was told.
    unshared: BTreeSet<Key>,
    windows: usize,
    swept_ms: Option<u64>,
}

struct Window {
    per_seconds: u32,
    /// The number of the latest slot since the epoch, in slots of this window.
    latest: u64,
    /// The rows of each slot. A slot stands at its number, modulo how many slots there are.
    slots: [u32; SLOTS],
    /// The time when it was last reported that the budget is spent.
    told_ms: Option<u64>,
}

impl Budgets {
    /// Spends `rows` for one row of a result, or nothing if the budget has fewer left.
    pub fn spend(
        &mut self,
        subject: &Arc<str>,
        label: &Arc<str>,
        allowance: Allowance,
        rows: u32,
        now_ms: u64,
    ) -> Spending {
        let key = (Arc::clone(subject), Arc::clone(label));
        if !self.make_place(&key, allowance.per_seconds, now_ms) {
            return Spending::NoPlace;
        }
        let asked = self.ask(&key, allowance, rows, now_ms);
        if asked == Spending::Revealed {
            self.spent.get_mut(&key).into_iter().flatten().for_each(|window| window.add(rows));
            if rows > 0 {
                self.unshared.insert(key);
            }
        }
        asked
    }

    /// Says whether one more row would be revealed.
    pub fn would_spend(
        &mut self,
        subject: &Arc<str>,
        label: &Arc<str>,
        allowance: Allowance,
        now_ms: u64,
    ) -> Spending {
        self.ask(&(Arc::clone(subject), Arc::clone(label)), allowance, 1, now_ms)
    }

    fn ask(&mut self, key: &Key, allowance: Allowance, rows: u32, now_ms: u64) -> Spending {
        let Some(windows) = self.spent.get_mut(key) else { return Spending::Revealed };
        windows.iter_mut().for_each(|window| window.advance(now_ms));
        match windows.iter_mut().find(|window| window.per_seconds == allowance.per_seconds) {
            Some(window) if !window.within(allowance.rows, rows) => window.say(allowance.rows, rows, now_ms),
            Some(_) | None => Spending::Revealed,
        }
    }

    /// Makes a window of this length if there is none, and returns false if there is no place for it.
    fn make_place(&mut self, key: &Key, per_seconds: u32, now_ms: u64) -> bool {
        if let Some(windows) = self.spent.get_mut(key) {
            if windows.iter().any(|window| window.per_seconds == per_seconds) {
                return true;
            }
            if windows.len() >= MAX_LENGTHS {
                return false;
            }
        }
        if self.windows >= MAX_WINDOWS {
            self.sweep(now_ms);
        }
        if self.windows >= MAX_WINDOWS {
            return false;
        }
        let windows = self.spent.entry((Arc::clone(&key.0), Arc::clone(&key.1))).or_default();
        let mut window = Window::new(per_seconds, now_ms);
        // It is not known exactly when the rows of the other stretches were revealed, so they count as revealed now.
        windows.iter_mut().for_each(|other| other.advance(now_ms));
        window.add(windows.iter().map(Window::rows).max().unwrap_or_default());
        windows.push(window);
        self.windows = self.windows.saturating_add(1);
        true
    }

    /// Gives up the windows that have passed. It looks at every window, so it does not run for each row that finds no
    /// place.
    fn sweep(&mut self, now_ms: u64) {
        if self.swept_ms.is_some_and(|swept| now_ms.abs_diff(swept) < SWEEP_MS) {
            return;
        }
        self.swept_ms = Some(now_ms);
        self.spent.retain(|_, windows| {
            windows.iter_mut().for_each(|window| window.advance(now_ms));
            windows.iter().any(|window| window.rows() > 0)
        });
        self.windows = self.spent.values().map(Vec::len).sum();
    }
}

impl Window {
    fn new(per_seconds: u32, now_ms: u64) -> Self {
        let mut window = Self { per_seconds, latest: 0, slots: [0; SLOTS], told_ms: None };
        window.latest = window.slot_of(now_ms);
        window
    }

    fn length_ms(&self) -> u64 {
        u64::from(self.per_seconds).saturating_mul(1000)
    }

    fn slot_ms(&self) -> u64 {
        self.length_ms().div_ceil(DIVISIONS).max(1)
    }

    fn slot_of(&self, now_ms: u64) -> u64 {
        now_ms.checked_div(self.slot_ms()).unwrap_or_default()
    }

    /// Forgets the slots that have passed. If the clock is set back, time stands still until the clock has caught up.
    fn advance(&mut self, now_ms: u64) {
        self.advance_to(self.slot_of(now_ms));
    }

    fn advance_to(&mut self, now: u64) {
        let passed = usize::try_from(now.saturating_sub(self.latest)).unwrap_or(SLOTS);
        for _ in 0..passed.min(SLOTS) {
            self.latest = self.latest.saturating_add(1);
            *self.slot(self.latest) = 0;
        }
        self.latest = self.latest.max(now);
    }

    fn slot(&mut self, number: u64) -> &mut u32 {
        let index = usize::try_from(number.checked_rem(SLOTS as u64).unwrap_or_default()).unwrap_or_default();
        let [first, rest @ ..] = &mut self.slots;
        index.checked_sub(1).and_then(|index| rest.get_mut(index)).unwrap_or(first)
    }

    fn add(&mut self, rows: u32) {
        let slot = self.slot(self.latest);
        *slot = slot.saturating_add(rows);
    }

    fn rows(&self) -> u32 {
        self.slots.iter().fold(0, |sum, slot| sum.saturating_add(*slot))
    }

    fn within(&self, allowed: u32, rows: u32) -> bool {
        self.rows().checked_add(rows).is_some_and(|sum| sum <= allowed)
    }

    /// Reports that the budget is spent.
    fn say(&mut self, allowed: u32, rows: u32, now_ms: u64) -> Spending {
        let first = self.told_ms.is_none_or(|told| now_ms.saturating_sub(told) >= self.length_ms());
        if first {
            self.told_ms = Some(now_ms);
        }
        Spending::Spent { again_seconds: self.again_seconds(allowed, rows, now_ms), first }
    }

    /// Returns the seconds until enough of the oldest slots have passed for `rows` more. A row that costs more than the
    /// whole budget is never revealed; then the seconds are those after which the window is empty.
    fn again_seconds(&mut self, allowed: u32, rows: u32, now_ms: u64) -> u64 {
        let mut left = self.rows();
        let oldest = self.latest.saturating_sub(DIVISIONS);
        let mut number = oldest;
        while left > allowed.saturating_sub(rows) && number <= self.latest {
            left = left.saturating_sub(*self.slot(number));
            number = number.saturating_add(1);
        }
        // Slot `number - 1` has passed when as many slots as are kept have begun after it.
        let at_ms = number.saturating_add(DIVISIONS).saturating_mul(self.slot_ms());
        at_ms.saturating_sub(now_ms).div_ceil(1000).max(1)
    }
}

#[cfg(test)]
mod tests;
