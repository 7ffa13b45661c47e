//! The key schedule (FIPS 197, 5.2), with the S-box of [`super::permute`].

use zeroize::Zeroizing;

use super::permute::substitute;
use super::tables::SBOX_CONSTANT;
use super::vector::{V128, Words};

/// The round keys of a key of so many words, each a word's bytes as they come: `WORDS + 7` keys.
pub(crate) fn expand<const WORDS: usize, const KEYS: usize>(key: [u32; WORDS]) -> Zeroizing<[Words; KEYS]> {
    let mut keys = Zeroizing::new([[0; 4]; KEYS]);
    // The last so many words, which the next ones take the places of.
    let mut window = Zeroizing::new(key);
    let mut constant = 1_u8;
    let mut words = keys.as_flattened_mut().iter_mut();
    loop {
        for word in window.iter() {
            let Some(next) = words.next() else { return keys };
            *next = *word;
        }
        let mut before = window.last().copied().unwrap_or_default();
        for (at, word) in window.iter_mut().enumerate() {
            if at == 0 {
                // The first byte goes last: bytes are kept from the lowest.
                before = substitute_word(before.rotate_right(8)) ^ u32::from(constant);
            } else if WORDS > 6 && at == 4 {
                before = substitute_word(before);
            }
            *word ^= before;
            before = *word;
        }
        constant = (constant << 1) ^ (constant >> 7).wrapping_mul(0x1b);
    }
}

fn substitute_word(word: u32) -> u32 {
    let bytes = V128::from_words([word.to_le(), 0, 0, 0]);
    let [word, ..] = (substitute(bytes) ^ V128::splat(SBOX_CONSTANT)).to_words();
    u32::from_le(word)
}
