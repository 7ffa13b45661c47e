//! Whether the time of each part depends on what it works on: dudect's method (Reparaz, Balasch and Verbauwhede, "Dude,
//! is my code constant time?", DATE 2017). `cargo run --release -p fieldveil-aes-simd --example timing`; docs/internals/aes.md says
//! how to read it.
//!
//! Inputs of two classes, one value again and again or a random one each time, come in random order; Welch's t-test says
//! whether the classes' times have different means. It can show that there is a difference, never that there is none.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used
)]

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("the code that is measured is there on x86-64 and in Wasm alone");
}

#[cfg(target_arch = "x86_64")]
fn main() {
    measured::main();
}

#[cfg(target_arch = "x86_64")]
mod measured {
    use std::hint::black_box;
    use std::time::Instant;

    use aes::cipher::consts::U16;
    use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
    use fieldveil_aes_simd::simd::{Aes256, GHash, GHashKey};

    /// What dudect takes for a leak.
    const THRESHOLD: f64 = 4.5;
    const SAMPLES: usize = 200_000;
    /// Calls of one measurement: a clock's tick is longer than one.
    const CALLS: usize = 8;

    type Input = [u8; 32];

    pub(super) fn main() {
        let mut leaks = 0;
        let cipher = Aes256::new(&[0x2b; 32].into());
        for blocks in [1, 2, 4, 8] {
            let encrypt = |input: &Input| {
                let mut text: [Array<u8, U16>; 8] = [Array(*input.first_chunk().unwrap()); 8];
                cipher.encrypt_blocks(black_box(&mut text[..blocks]));
                black_box(text);
            };
            leaks += report(&format!("AES-256, {blocks} blocks, texts"), encrypt);
        }
        let encrypt_under = |input: &Input| {
            let mut text = [Array([7; 16]); 8];
            let cipher = Aes256::new(black_box(&(*input).into()));
            cipher.encrypt_blocks(&mut text);
            cipher.encrypt_block(&mut text[0]);
            black_box(text);
        };
        leaks += report("AES-256, keys and their schedule", encrypt_under);
        let key = GHashKey::new(&[0x4d; 16]);
        let hash = |input: &Input| {
            let mut hash = GHash::new(&key);
            hash.update_padded(black_box(input));
            black_box(hash.finalize());
        };
        leaks += report("GHASH, texts", hash);
        let hash_under = |input: &Input| {
            let key = GHashKey::new(black_box(input.first_chunk().unwrap()));
            let mut hash = GHash::new(&key);
            hash.update_padded(&[9; 64]);
            black_box(hash.finalize());
        };
        leaks += report("GHASH, keys and their tables", hash_under);
        // What must be seen, or this sees nothing: a comparison that ends at the first difference.
        let compare = |input: &Input| {
            black_box(input.iter().zip(&FIXED).all(|(a, b)| black_box(a) == black_box(b)));
        };
        let seen = report("control: a comparison that leaks", compare);
        println!("{leaks} beyond {THRESHOLD}; the control {}", if seen == 1 { "is" } else { "IS NOT" });
        std::process::exit(i32::from(leaks != 0 || seen != 1));
    }

    const FIXED: Input = [0xa5; 32];

    /// Says the largest t of this, and 1 if it is beyond the threshold.
    fn report(name: &str, call: impl Fn(&Input)) -> u32 {
        let mut random = Random::new();
        let classes: Vec<bool> = (0..SAMPLES).map(|_| random.next()[0] & 1 == 1).collect();
        let inputs: Vec<Input> =
            classes.iter().map(|is_fixed| if *is_fixed { FIXED } else { random.next() }).collect();
        let times: Vec<u64> = inputs.iter().map(|input| time(&call, input)).collect();
        let mut sorted = times.clone();
        sorted.sort_unstable();
        // Interruptions hide what is small: t of all times, and of those below some percentiles.
        let largest = [50, 75, 90, 95, 99, 100]
            .map(|percent| {
                let below = sorted[(SAMPLES * percent / 100).min(SAMPLES - 1)];
                welch(classes.iter().zip(&times).filter(|(_, time)| **time <= below))
            })
            .into_iter()
            .fold(0.0, |largest: f64, t| largest.max(t.abs()));
        println!("{name:40} |t| {largest:8.2}");
        u32::from(largest > THRESHOLD)
    }

    /// Both classes take the same way here.
    #[inline(never)]
    fn time(call: &impl Fn(&Input), input: &Input) -> u64 {
        let started = Instant::now();
        for _ in 0..CALLS {
            call(black_box(input));
        }
        u64::try_from(started.elapsed().as_nanos()).unwrap()
    }

    /// Welch's t of the two classes' means.
    fn welch<'a>(times: impl Iterator<Item = (&'a bool, &'a u64)>) -> f64 {
        // Count, mean, sum of squared distances from it.
        let mut sums = [(0.0_f64, 0.0_f64, 0.0_f64); 2];
        for (is_fixed, time) in times {
            let (count, mean, squares) = &mut sums[usize::from(*is_fixed)];
            let (time, before) = (*time as f64, *mean);
            *count += 1.0;
            *mean += (time - before) / *count;
            *squares += (time - before) * (time - *mean);
        }
        let [a, b] = sums;
        let variance = |(count, _, squares): (f64, f64, f64)| squares / (count - 1.0) / count;
        let spread = (variance(a) + variance(b)).sqrt();
        if spread > 0.0 { (a.1 - b.1) / spread } else { 0.0 }
    }

    /// Not the code that is measured, and not for secrets.
    struct Random(aes::Aes256, u128);

    impl Random {
        fn new() -> Self {
            Self(aes::Aes256::new(&[1; 32].into()), 0)
        }

        fn next(&mut self) -> Input {
            self.1 += 2;
            let mut blocks = [self.1, self.1 + 1].map(|count| Array(count.to_ne_bytes()));
            self.0.encrypt_blocks(&mut blocks);
            let mut all = [0; 32];
            let (first, second) = all.split_at_mut(16);
            first.copy_from_slice(&blocks[0]);
            second.copy_from_slice(&blocks[1]);
            all
        }
    }
}
