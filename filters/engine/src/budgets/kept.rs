//! Budgets beyond the end of a worker that traps. What a worker has counted stands in texts that Envoy keeps for all
//! workers; one that starts takes in what it finds there. So nobody gets a budget anew by making the filter trap.
//!
//! The texts do not tell the workers apart: of two that count for the same subject and label the greater counts stand. A worker
//! that starts anew may therefore have counted what another one revealed, and reveals less for it, never more.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Budgets, Key, MAX_LENGTHS, MAX_WINDOWS, SLOTS, Window};

/// Texts that all counts are spread over: to write one down takes reading a part of them alone.
pub const TEXTS: u64 = 256;

/// Subject, label and for each window its seconds, its latest slot and the rows of all its slots.
type Entry = (String, String, Vec<(u32, u64, [u32; SLOTS])>);

/// The number of the text that has the counts of a subject and a label, below [`TEXTS`].
pub fn text_of(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish().checked_rem(TEXTS).unwrap_or_default()
}

impl Budgets {
    /// Hands over of which budgets something was spent since the last time.
    pub fn take_unshared(&mut self) -> BTreeSet<Key> {
        std::mem::take(&mut self.unshared)
    }

    /// These could not be shared.
    pub fn put_off(&mut self, key: Key) {
        self.unshared.insert(key);
    }

    /// The text with the counts of a subject and a label written into it, and without those whose time has passed. None if
    /// it can not be written.
    pub fn written(&self, key: &Key, text: &[u8], now_ms: u64) -> Option<Vec<u8>> {
        let mut entries = read(text);
        let mut own = self.spent.get(key).into_iter().flatten().map(Window::kept).collect::<Vec<_>>();
        if let Some(at) =
            entries.iter().position(|(subject, label, _)| (&**subject, &**label) == (&*key.0, &*key.1))
        {
            let (_, _, shared) = entries.swap_remove(at);
            let mut windows: Vec<_> = own.into_iter().map(Window::restored).collect();
            merge(&mut windows, shared);
            own = windows.iter().map(Window::kept).collect();
        }
        entries.push((key.0.to_string(), key.1.to_string(), own));
        entries
            .retain(|(_, _, windows)| windows.iter().any(|window| Window::restored(*window).counts(now_ms)));
        serde_json::to_vec(&entries).ok()
    }

    /// Takes in what other workers have counted, as one does that starts.
    pub fn restore(&mut self, text: &[u8], now_ms: u64) {
        for (subject, label, mut kept) in read(text) {
            kept.retain(|window| Window::restored(*window).counts(now_ms));
            if kept.is_empty() || self.windows.saturating_add(kept.len()) > MAX_WINDOWS {
                continue;
            }
            let windows = self.spent.entry((subject.into(), label.into())).or_default();
            merge(windows, kept);
            self.windows = self.spent.values().map(Vec::len).sum();
        }
    }
}

/// The entries of a text; none of one that is no such text.
fn read(text: &[u8]) -> Vec<Entry> {
    serde_json::from_slice(text).unwrap_or_default()
}

/// The greater counts of both.
fn merge(windows: &mut Vec<Window>, kept: Vec<(u32, u64, [u32; SLOTS])>) {
    for mut other in kept.into_iter().map(Window::restored) {
        let has_room = windows.len() < MAX_LENGTHS;
        match windows.iter_mut().find(|window| window.per_seconds == other.per_seconds) {
            Some(window) => {
                let latest = window.latest.max(other.latest);
                window.advance_to(latest);
                other.advance_to(latest);
                let slots = window.slots.iter_mut().zip(other.slots);
                slots.for_each(|(rows, others)| *rows = (*rows).max(others));
            }
            None if has_room => windows.push(other),
            None => {}
        }
    }
}

impl Window {
    fn kept(&self) -> (u32, u64, [u32; SLOTS]) {
        (self.per_seconds, self.latest, self.slots)
    }

    fn restored((per_seconds, latest, slots): (u32, u64, [u32; SLOTS])) -> Self {
        Self { per_seconds, latest, slots, told_ms: None }
    }

    /// Whether some of its rows still count.
    fn counts(mut self, now_ms: u64) -> bool {
        self.advance(now_ms);
        self.rows() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Allowance, Spending};
    use super::*;

    const START_MS: u64 = 1_700_000_000_000;
    const HOUR: Allowance = Allowance { rows: 10, per_seconds: 3600 };

    fn key(subject: &str) -> Key {
        (subject.into(), "l".into())
    }

    fn spend(budgets: &mut Budgets, subject: &str, allowance: Allowance, now_ms: u64) -> bool {
        budgets.spend(&subject.into(), &"l".into(), allowance, 1, now_ms) == Spending::Revealed
    }

    /// How many more rows are revealed.
    fn left(budgets: &mut Budgets, subject: &str, allowance: Allowance, now_ms: u64) -> usize {
        (0..100).take_while(|_| spend(budgets, subject, allowance, now_ms)).count()
    }

    /// Writes down what was spent.
    fn shared(budgets: &mut Budgets, text: Vec<u8>, now_ms: u64) -> Vec<u8> {
        budgets.take_unshared().iter().fold(text, |text, key| budgets.written(key, &text, now_ms).unwrap())
    }

    fn restored(text: &[u8], now_ms: u64) -> Budgets {
        let mut budgets = Budgets::default();
        budgets.restore(text, now_ms);
        budgets
    }

    #[test]
    fn worker_that_starts_anew_goes_on_where_the_last_one_stopped() {
        let mut trapped = Budgets::default();
        (0..7).for_each(|_| assert!(spend(&mut trapped, "a", HOUR, START_MS)));
        let text = shared(&mut trapped, Vec::new(), START_MS);
        assert_eq!(left(&mut restored(&text, START_MS + 500), "a", HOUR, START_MS + 500), 3);
        assert_eq!(left(&mut restored(&text, START_MS + 500), "b", HOUR, START_MS + 500), 10);
        // A sixteenth past the hour.
        let later = START_MS + 3600 * 1000 * 17 / 16;
        assert_eq!(left(&mut restored(&text, later), "a", HOUR, later), 10);
    }

    #[test]
    fn trap_after_trap_gives_nothing_back() {
        let mut text = Vec::new();
        let mut revealed = 0;
        for second in 0..50 {
            let now_ms = START_MS + second * 1000;
            let mut budgets = restored(&text, now_ms);
            revealed += usize::from(spend(&mut budgets, "a", HOUR, now_ms));
            text = shared(&mut budgets, text, now_ms);
        }
        assert_eq!(revealed, 10);
    }

    #[test]
    fn greater_count_of_two_workers_stands() {
        let (mut one, mut two) = (Budgets::default(), Budgets::default());
        (0..7).for_each(|_| assert!(spend(&mut one, "a", HOUR, START_MS)));
        (0..4).for_each(|_| assert!(spend(&mut two, "a", HOUR, START_MS)));
        let text = shared(&mut one, Vec::new(), START_MS);
        let text = shared(&mut two, text, START_MS);
        assert_eq!(left(&mut restored(&text, START_MS), "a", HOUR, START_MS), 3);
        // Each still counts for itself.
        assert_eq!(left(&mut two, "a", HOUR, START_MS), 6);
    }

    #[test]
    fn every_stretch_of_time_is_kept() {
        let minute = Allowance { rows: 3, per_seconds: 60 };
        let mut trapped = Budgets::default();
        assert!(spend(&mut trapped, "a", HOUR, START_MS));
        assert!(spend(&mut trapped, "a", minute, START_MS));
        let text = shared(&mut trapped, Vec::new(), START_MS);
        assert_eq!(left(&mut restored(&text, START_MS), "a", minute, START_MS), 1);
        assert_eq!(left(&mut restored(&text, START_MS + 70_000), "a", HOUR, START_MS + 70_000), 8);
    }

    #[test]
    fn text_does_not_grow_by_those_whose_time_has_passed() {
        let mut text = Vec::new();
        for minute in 0..100 {
            let now_ms = START_MS + minute * 120_000;
            let mut budgets = Budgets::default();
            spend(&mut budgets, &minute.to_string(), Allowance { rows: 1, per_seconds: 60 }, now_ms);
            text = shared(&mut budgets, text, now_ms);
        }
        assert_eq!(read(&text).len(), 1);
    }

    #[test]
    fn what_is_no_such_text_is_as_none() {
        for text in [&b""[..], b"{}", b"[[1]]", &[0xff; 40]] {
            assert_eq!(left(&mut restored(text, START_MS), "a", HOUR, START_MS), 10);
        }
    }

    #[test]
    fn texts_are_told_apart_by_subject_and_label() {
        let used: BTreeSet<_> = (0..1000).map(|n: u32| text_of(&key(&n.to_string()))).collect();
        assert!(used.len() > 200 && used.iter().all(|number| *number < TEXTS));
    }
}
