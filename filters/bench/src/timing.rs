//! Time that calls take: many at a time, so that asking the clock costs nothing beside them.

use std::time::{Duration, Instant};

/// Calls of a batch at most, for a clock that stands still.
const MAX_CALLS: u32 = 1 << 20;

/// How long `calls` calls take.
pub(crate) fn time(calls: u32, mut call: impl FnMut() -> Result<(), String>) -> Result<Duration, String> {
    let started = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(started.elapsed())
}

/// Calls as long as this takes, so that whatever compiles what is used much has done so.
pub(crate) fn warm_up(least: Duration, mut call: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    let started = Instant::now();
    while started.elapsed() < least {
        call()?;
    }
    Ok(())
}

/// How many calls take as long as this: a power of two.
pub(crate) fn batch(
    least: Duration,
    mut time: impl FnMut(u32) -> Result<Duration, String>,
) -> Result<u32, String> {
    let mut calls = 1;
    while calls < MAX_CALLS && time(calls)? < least {
        calls = calls.saturating_mul(2);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_is_the_first_power_of_two_that_takes_long_enough() {
        let each = Duration::from_micros(3);
        let calls = batch(Duration::from_millis(1), |calls| Ok(each.saturating_mul(calls))).unwrap();
        assert_eq!(calls, 512);
        assert_eq!(batch(Duration::ZERO, |_| Ok(Duration::ZERO)).unwrap(), 1);
    }

    #[test]
    fn clock_that_stands_still_ends_the_search() {
        assert_eq!(batch(Duration::from_millis(1), |_| Ok(Duration::ZERO)).unwrap(), MAX_CALLS);
    }

    #[test]
    fn call_that_fails_ends_the_measurement() {
        let fails = || Err("no".to_owned());
        assert_eq!(time(3, fails).unwrap_err(), "no");
        assert_eq!(warm_up(Duration::from_secs(60), fails).unwrap_err(), "no");
    }
}
