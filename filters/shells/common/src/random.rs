//! The filter's randomness.

use fieldveil_engine::Random;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Bytes that are drawn of one seed: some 5,000 IVs. Who came to know the generator's state knows no more than these.
const PER_SEED: usize = 64 << 10;

/// Where seeds come from: the host; outside Envoy, the operating system.
type Source = fn(&mut [u8]) -> Result<(), getrandom::Error>;
type Seed = [u8; 32];

/// A generator that the system seeds, and seeds anew after so many bytes: a host call for each IV would cost more than the
/// sealing.
pub struct Generator {
    drawn_of: ChaCha20Rng,
    source: Source,
    /// Bytes that are left of this seed.
    left: usize,
}

impl Generator {
    /// Seeded by the host; outside Envoy, by the operating system.
    pub fn new() -> Result<Self, getrandom::Error> {
        Self::seeded_by(getrandom::fill)
    }

    fn seeded_by(source: Source) -> Result<Self, getrandom::Error> {
        let mut seed = Seed::default();
        source(&mut seed)?;
        Ok(Self { drawn_of: ChaCha20Rng::from_seed(seed), source, left: PER_SEED })
    }

    /// A new seed, of the source and of what the generator has drawn of the former ones: it is no worse than the better of
    /// them. A source that fails now is asked again when as much has been drawn once more.
    fn seed_anew(&mut self) {
        self.left = PER_SEED;
        let (mut own, mut fresh) = (Seed::default(), Seed::default());
        self.drawn_of.fill_bytes(&mut own);
        if (self.source)(&mut fresh).is_ok() {
            own.iter_mut().zip(fresh).for_each(|(own, fresh)| *own ^= fresh);
        }
        self.drawn_of = ChaCha20Rng::from_seed(own);
    }
}

impl Random for Generator {
    fn fill(&mut self, bytes: &mut [u8]) {
        if self.left < bytes.len() {
            self.seed_anew();
        }
        self.left = self.left.saturating_sub(bytes.len());
        self.drawn_of.fill_bytes(bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static ASKED: Cell<u8> = const { Cell::new(0) };
        static GIVES: Cell<u8> = const { Cell::new(0) };
    }

    fn asked() -> u8 {
        ASKED.get()
    }

    /// Gives the same seed each time, as a host with a bad source might.
    fn same(seed: &mut [u8]) -> Result<(), getrandom::Error> {
        ASKED.set(ASKED.get() + 1);
        seed.fill(GIVES.get());
        Ok(())
    }

    fn failing(seed: &mut [u8]) -> Result<(), getrandom::Error> {
        same(seed)?;
        if asked() == 1 { Ok(()) } else { Err(getrandom::Error::UNSUPPORTED) }
    }

    fn draw(generator: &mut Generator, bytes: usize) -> Vec<u8> {
        let mut drawn = vec![0; bytes];
        drawn.chunks_mut(12).for_each(|iv| generator.fill(iv));
        drawn
    }

    #[test]
    fn generator_is_seeded_anew_after_so_many_bytes() {
        let mut generator = Generator::seeded_by(same).unwrap();
        draw(&mut generator, PER_SEED / 12 * 12);
        assert_eq!(asked(), 1);
        draw(&mut generator, 12);
        assert_eq!(asked(), 2);
        draw(&mut generator, 3 * PER_SEED);
        assert!(asked() >= 4);
    }

    #[test]
    fn what_comes_behind_a_new_seed_depends_on_it_and_on_what_was_before() {
        let behind = |first, second| {
            GIVES.set(first);
            let mut generator = Generator::seeded_by(same).unwrap();
            draw(&mut generator, PER_SEED / 12 * 12);
            GIVES.set(second);
            draw(&mut generator, 24)
        };
        assert_eq!(behind(1, 2), behind(1, 2));
        assert_ne!(behind(1, 2), behind(1, 3));
        assert_ne!(behind(1, 2), behind(4, 2));
        assert_ne!(behind(1, 1), behind(2, 2));
    }

    #[test]
    fn same_seed_again_does_not_bring_the_same_bytes_again() {
        let mut generator = Generator::seeded_by(same).unwrap();
        let first = draw(&mut generator, PER_SEED / 12 * 12);
        assert_ne!(draw(&mut generator, 120), first.get(..120).unwrap());
    }

    #[test]
    fn source_that_fails_later_takes_nothing_away() {
        let mut generator = Generator::seeded_by(failing).unwrap();
        let first = draw(&mut generator, PER_SEED / 12 * 12);
        assert_ne!(draw(&mut generator, 120), first.get(..120).unwrap());
        assert_eq!(asked(), 2);
    }

    #[test]
    fn more_than_one_seed_is_for_is_drawn_at_once() {
        let mut generator = Generator::seeded_by(same).unwrap();
        let mut drawn = vec![0; 2 * PER_SEED];
        generator.fill(&mut drawn);
        assert!(drawn.iter().any(|byte| *byte != 0));
    }
}
