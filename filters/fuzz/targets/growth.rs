//! Runs every case at three sizes, so that what they cost can be held together.
//!
//! `growth count SCALE SHARE SHARES [NUMBER…]` under a tool that counts the instructions of [`counted`] alone and writes
//! them down after each call: a line for each case, `NUMBER READER BYTES BYTES BYTES BEGINNING`. A number from
//! [`COMPOSED`] on is a case that is put together by chance. `growth search SECONDS FIRST` times such cases itself, and
//! names those whose time grows faster than they do: `suspect NUMBER`.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fieldveil_fuzz::growth::{Case, Input, cases, composed};

/// Above every number of the fixed cases.
const COMPOSED: u64 = 1 << 20;
const SIZES: [usize; 3] = [1, 2, 4];
/// The time of a search is measured, which is noisier than a count: what is suspected is counted.
const SUSPICIOUS: f64 = 2.6;
/// Cases of a search are so many times as large, for a slope to stand out.
const SEARCHED_SCALE: f64 = 8.0;
/// One that takes longer at its smallest size is suspected as it is.
const LONG: Duration = Duration::from_millis(200);
/// The same under a tool that counts.
const TOO_LONG: Duration = Duration::from_millis(500);
/// What takes less at its largest size can't be told from noise.
const SHORT: Duration = Duration::from_micros(300);
/// A recursion may be as deep as the largest input makes it: here it is its cost that is looked for.
const STACK_BYTES: usize = 1 << 30;

/// The tool counts from its beginning to its end, and writes the sum down.
#[inline(never)]
fn counted(run: Box<dyn FnOnce()>) {
    black_box(run)();
}

fn main() -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread");
    thread.join().unwrap_or(ExitCode::FAILURE)
}

fn run() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["count", scale, share, shares, ref numbers @ ..] => {
            let [share, shares] = [share, shares].map(|word| word.parse().expect("a number"));
            let numbers = numbers.iter().map(|word| word.parse().expect("a number")).collect();
            count(scale.parse().expect("a number"), share, shares, numbers);
        }
        ["search", seconds, first] => {
            search(Duration::from_secs(seconds.parse().expect("a number")), first.parse().expect("a number"));
        }
        _ => {
            eprintln!("growth count SCALE SHARE SHARES [NUMBER…] | growth search SECONDS FIRST");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn count(scale: f64, share: u64, shares: u64, numbers: Vec<u64>) {
    let mut fixed: Vec<Option<Case>> = cases().into_iter().map(Some).collect();
    let numbers = if numbers.is_empty() { (0..fixed.len() as u64).collect() } else { numbers };
    for number in numbers.into_iter().filter(|number| number % shares == share) {
        let case = match usize::try_from(number) {
            _ if number >= COMPOSED => composed(number),
            Ok(number) => fixed[number].take().expect("each once"),
            Err(_) => continue,
        };
        // Whoever reads this learns which case did not come to its end.
        eprintln!("{number} {}", case.reader);
        let mut smallest = case.smallest(scale);
        // What is made once, when it is needed first, is there by then. What is too slow as it is needs no large inputs.
        loop {
            let Input { run, .. } = (case.make)(smallest);
            let begun = Instant::now();
            run();
            if begun.elapsed() < TOO_LONG || smallest < 8 {
                break;
            }
            smallest /= 4;
        }
        let mut line = format!("{number} {}", case.reader);
        let mut begins = String::new();
        for size in SIZES {
            let input = (case.make)(smallest * size);
            line.push_str(&format!(" {}", input.bytes));
            begins.clone_from(&input.begins);
            counted(input.run);
        }
        println!("{line} {begins}");
    }
}

fn search(seconds: Duration, first: u64) {
    let begun = Instant::now();
    let mut number = COMPOSED + first;
    while begun.elapsed() < seconds {
        number += 1;
        eprintln!("{number}");
        let case = composed(number);
        if is_suspicious(&case) {
            println!("suspect {number}");
        }
    }
    println!("searched {}", number - COMPOSED - first);
}

fn is_suspicious(case: &Case) -> bool {
    let smallest = case.smallest(if case.times.is_some() { 1.0 } else { SEARCHED_SCALE });
    let took = |size: usize| {
        let times = (0..3).map(|_| {
            let Input { run, .. } = (case.make)(smallest * size);
            let begun = processor_time();
            run();
            processor_time().saturating_sub(begun)
        });
        times.min().unwrap_or_default()
    };
    let one = took(SIZES[0]);
    if one > LONG {
        return true;
    }
    let [two, four] = [took(SIZES[1]), took(SIZES[2])];
    let (before, after) = (two.saturating_sub(one), four.saturating_sub(two));
    four > SHORT && after.as_secs_f64() > SUSPICIOUS * before.as_secs_f64().max(0.02 * two.as_secs_f64())
}

/// What this thread had of a processor. A yield brings it up to date.
fn processor_time() -> Duration {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default())
}
