//! GHASH (NIST SP 800-38D, 6.4) by byte permutation.
//!
//! A product by the key H is a linear map. Each of a block's bytes, times H, has seventeen bytes; the c-th of these, for
//! all sixteen bytes of the block at once, is a lookup in the table of that byte for the sixteen upper nibbles and in one
//! for the sixteen lower. So a block takes 34 lookups, whose results are shifted into their places once for up to
//! [`POWERS`] blocks, of which each has the tables of its own power of H; then one reduction follows.
//!
//! The tables are read in order, whatever the block; what depends on a secret is which byte of a register is picked.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::vector::V128;

/// Blocks that are multiplied at a time.
pub(crate) const POWERS: usize = 4;
/// Bytes of a byte's product with H.
const BYTES: usize = 17;

/// One byte of the products of H and each nibble, the upper ones and the lower ones.
type Pair = [[u8; 16]; 2];

/// The key's powers as tables: by the product's byte, by the power (the first is H's own).
#[derive(Clone)]
pub struct GHashKey(Box<[[Pair; POWERS]; BYTES]>);

impl GHashKey {
    /// From the hash key, which is the encrypted block of zeros.
    pub fn new(key: &[u8; 16]) -> Self {
        let mut tables = Self(Box::new([[[[0; 16]; 2]; POWERS]; BYTES]));
        let mut power = Zeroizing::new(*key);
        tables.set(0, &power);
        for at in 1..POWERS {
            let product = tables.product([V128::from_bytes(*power)]);
            *power = product.to_bytes();
            tables.set(at, &power);
        }
        tables
    }

    fn set(&mut self, at: usize, power: &[u8; 16]) {
        let [ones, twos, fours, eights] = NIBBLE_BITS.map(V128::from_bytes);
        let mut shifted = Zeroizing::new([[0_u8; BYTES]; 8]);
        // The field's x is a shift towards the last byte's lowest bit.
        let number = u128::from_be_bytes(*power);
        for (by, bytes) in (0_u32..).zip(shifted.iter_mut()) {
            let (above, below) = bytes.split_at_mut(16);
            above.copy_from_slice(&number.wrapping_shr(by).to_be_bytes());
            if by > 0 {
                below.fill(number.wrapping_shl(8_u32.wrapping_sub(by)).to_le_bytes()[0]);
            }
        }
        let [b0, b1, b2, b3, b4, b5, b6, b7] = &*shifted;
        for (byte, tables) in self.0.iter_mut().enumerate() {
            let Some([upper, lower]) = tables.get_mut(at) else { continue };
            let of = |bytes: &[u8; BYTES], mask| V128::splat(bytes.get(byte).copied().unwrap_or(0)) & mask;
            *upper = (of(b0, eights) ^ of(b1, fours) ^ of(b2, twos) ^ of(b3, ones)).to_bytes();
            *lower = (of(b4, eights) ^ of(b5, fours) ^ of(b6, twos) ^ of(b7, ones)).to_bytes();
        }
    }

    /// The sum of the products of each block with a power of H, the last with H itself.
    #[inline(always)]
    fn product<const N: usize>(&self, blocks: [V128; N]) -> V128 {
        let nibbles = blocks.map(V128::nibbles);
        let (mut low, mut high) = (V128::splat(0), V128::splat(0));
        for tables in self.0.iter().rev() {
            let mut sum = V128::splat(0);
            for ((upper, lower), tables) in nibbles.iter().rev().zip(tables) {
                let [of_upper, of_lower] = tables;
                sum ^=
                    V128::from_bytes(*of_upper).lookup(*upper) ^ V128::from_bytes(*of_lower).lookup(*lower);
            }
            high = high.advance(low);
            low = low.advance(V128::splat(0)) ^ sum;
        }
        reduce(low, high)
    }
}

/// Which nibbles have each bit, the lowest bit first.
const NIBBLE_BITS: [[u8; 16]; 4] = {
    const X: u8 = 0xff;
    [
        [0, X, 0, X, 0, X, 0, X, 0, X, 0, X, 0, X, 0, X],
        [0, 0, X, X, 0, 0, X, X, 0, 0, X, X, 0, 0, X, X],
        [0, 0, 0, 0, X, X, X, X, 0, 0, 0, 0, X, X, X, X],
        [0, 0, 0, 0, 0, 0, 0, 0, X, X, X, X, X, X, X, X],
    ]
};

/// The products of each nibble with `1 + x + x^2 + x^7`, which x^128 is: their first byte, then what is over.
// It runs in the compiler.
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
const FOLD: [Pair; 2] = {
    let (mut tables, mut n) = ([[[0; 16]; 2]; 2], 0);
    while n < 16 {
        let mut upper = 0;
        while upper < 2 {
            let byte = if upper == 0 { (n as u16) << 12 } else { (n as u16) << 8 };
            let product = byte ^ byte >> 1 ^ byte >> 2 ^ byte >> 7;
            tables[0][upper][n] = (product >> 8) as u8;
            tables[1][upper][n] = product as u8;
            upper += 1;
        }
        n += 1;
    }
    tables
};

/// A product of 32 bytes to the 16 that it is in the field.
#[inline(always)]
fn reduce(low: V128, high: V128) -> V128 {
    let [first, over] = &FOLD;
    let zero = V128::splat(0);
    // What the last byte has over is x^128 again: its place is the first byte.
    let high = high ^ zero.advance(high).map(over);
    low ^ high.map(first) ^ high.map(over).advance(zero)
}

impl Zeroize for GHashKey {
    fn zeroize(&mut self) {
        self.0.as_flattened_mut().as_flattened_mut().as_flattened_mut().zeroize();
    }
}

impl Drop for GHashKey {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for GHashKey {}

/// A hash under way.
pub struct GHash<'k> {
    key: &'k GHashKey,
    sum: V128,
    waiting: [V128; POWERS],
    filled: usize,
}

impl<'k> GHash<'k> {
    /// Of nothing yet.
    #[inline]
    pub fn new(key: &'k GHashKey) -> Self {
        Self::after(key, V128::splat(0))
    }

    /// After blocks of which this is the hash.
    #[inline]
    pub(crate) fn after(key: &'k GHashKey, sum: V128) -> Self {
        Self { key, sum, waiting: [V128::splat(0); POWERS], filled: 0 }
    }

    /// Of these bytes too, with zeros after them to a whole block.
    #[inline]
    pub fn update_padded(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<16>();
        let mut blocks = blocks;
        if self.filled == 0 {
            let (fours, after) = blocks.as_chunks::<POWERS>();
            for four in fours {
                self.waiting = four.map(V128::from_bytes);
                self.absorb::<POWERS>();
            }
            blocks = after;
        }
        for block in blocks {
            self.push(*block);
        }
        if !rest.is_empty() {
            let mut block = [0; 16];
            for (to, from) in block.iter_mut().zip(rest) {
                *to = *from;
            }
            self.push(block);
        }
    }

    #[inline]
    fn push(&mut self, block: [u8; 16]) {
        if let Some(place) = self.waiting.get_mut(self.filled) {
            *place = V128::from_bytes(block);
        }
        self.filled = self.filled.wrapping_add(1);
        if self.filled == POWERS {
            self.absorb::<POWERS>();
            self.filled = 0;
        }
    }

    #[inline(never)]
    fn absorb<const N: usize>(&mut self) {
        let mut blocks = [V128::splat(0); N];
        for (block, waiting) in blocks.iter_mut().zip(self.waiting) {
            *block = waiting;
        }
        if let Some(first) = blocks.first_mut() {
            *first ^= self.sum;
        }
        self.sum = self.key.product(blocks);
    }

    /// What it is.
    #[inline]
    pub fn finalize(self) -> [u8; 16] {
        self.sum().to_bytes()
    }

    #[inline]
    pub(crate) fn sum(mut self) -> V128 {
        match self.filled {
            0 => {}
            1 => self.absorb::<1>(),
            2 => self.absorb::<2>(),
            _ => self.absorb::<3>(),
        }
        self.sum
    }
}
