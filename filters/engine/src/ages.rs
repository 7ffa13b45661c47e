//! How old what is in use has become, for gauges. Envoy's workers share their statistics, and each holds plans and
//! keysets of its own: so the oldest of all is shown. They tell each other over a text that they share.

/// A worker that was not heard of for so long has ended.
const GONE_MS: u64 = 5_000;
/// Workers that are listened to.
const MAX_WORKERS: usize = 1024;
const ENTRY_LEN: usize = 32;

/// The ages, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ages {
    /// Since the key agent last confirmed the keysets.
    pub keysets: u64,
    /// Since OPA last confirmed the plan in use that it confirmed longest ago.
    pub plans: u64,
}

/// What one worker says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Which worker: a random number.
    pub worker: u64,
    /// When it says so.
    pub now_ms: u64,
    /// The ages there.
    pub ages: Ages,
}

/// Puts a report in place of the worker's former one. Gives the text to share, and the greatest ages of all workers.
pub fn merge(shared: &[u8], own: Report) -> (Vec<u8>, Ages) {
    let mut reports = vec![own];
    let others = shared
        .chunks_exact(ENTRY_LEN)
        .filter_map(read)
        .filter(|report| report.worker != own.worker && own.now_ms.abs_diff(report.now_ms) <= GONE_MS);
    reports.extend(others.take(MAX_WORKERS));
    let greatest = reports.iter().fold(Ages::default(), |greatest, report| Ages {
        keysets: greatest.keysets.max(report.ages.keysets),
        plans: greatest.plans.max(report.ages.plans),
    });
    (reports.iter().flat_map(write).collect(), greatest)
}

fn write(report: &Report) -> [u8; ENTRY_LEN] {
    let mut entry = [0; ENTRY_LEN];
    let numbers = [report.worker, report.now_ms, report.ages.keysets, report.ages.plans];
    for (place, number) in entry.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    entry
}

fn read(entry: &[u8]) -> Option<Report> {
    let mut numbers = entry.chunks_exact(8).map(|bytes| bytes.try_into().map(u64::from_le_bytes));
    let mut next = || numbers.next()?.ok();
    Some(Report { worker: next()?, now_ms: next()?, ages: Ages { keysets: next()?, plans: next()? } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(worker: u64, now_ms: u64, keysets: u64, plans: u64) -> Report {
        Report { worker, now_ms, ages: Ages { keysets, plans } }
    }

    #[test]
    fn the_oldest_of_all_workers_is_shown_until_it_is_young_again() {
        let (shared, ages) = merge(b"", report(1, 100_000, 9, 200));
        assert_eq!(ages, Ages { keysets: 9, plans: 200 });
        let (shared, ages) = merge(&shared, report(2, 100_500, 70, 30));
        assert_eq!(ages, Ages { keysets: 70, plans: 200 });
        let (shared, ages) = merge(&shared, report(1, 101_000, 10, 0));
        assert_eq!(ages, Ages { keysets: 70, plans: 30 });
        assert_eq!(shared.len(), 2 * ENTRY_LEN);
    }

    #[test]
    fn worker_that_has_ended_is_forgotten() {
        let (shared, _) = merge(b"", report(1, 100_000, 9, 9));
        let (shared, ages) = merge(&shared, report(2, 100_000 + GONE_MS + 1, 1, 1));
        assert_eq!((shared.len(), ages), (ENTRY_LEN, Ages { keysets: 1, plans: 1 }));
    }
}
