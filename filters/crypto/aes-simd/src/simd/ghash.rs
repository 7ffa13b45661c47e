//! GHASH (NIST SP 800-38D, 6.4) by byte permutation.
//!
//! A product by the key H is a linear map. Each of a block's bytes, times H, has seventeen bytes; the c-th of these, for
//! all sixteen bytes of the block at once, is a lookup in the table of that byte for the sixteen upper nibbles and in one
//! for the sixteen lower. So a block takes 34 lookups, whose results are shifted into their places once for up to
//! [`POWERS`] blocks, of which each has the tables of its own power of H; then one reduction follows.
//!
//! The tables are read in order, whatever the block; what depends on a secret is which byte of a register is picked.

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::vector::{V128, wipe};

/// Blocks that are multiplied at a time.
pub(crate) const POWERS: usize = 4;
/// Bytes of a byte's product with H.
const BYTES: usize = 17;

/// The key's powers as tables.
#[derive(Clone)]
pub struct GHashKey(Box<Tables<POWERS>>);

impl GHashKey {
    /// From the hash key, which is the encrypted block of zeros.
    pub fn new(key: &[u8; 16]) -> Self {
        // Filled where it stays: what is moved leaves a copy behind.
        let mut tables = Self(Box::new(Tables::empty()));
        tables.0.fill(key);
        tables
    }
}

impl ZeroizeOnDrop for GHashKey {}

/// One byte of the products of H and each nibble, the upper ones and the lower ones.
type Pair = [V128; 2];

/// By the product's byte, by the power (the first is H's own).
#[derive(Clone)]
pub(crate) struct Tables<const N: usize>([[Pair; N]; BYTES]);

impl<const N: usize> Tables<N> {
    pub(crate) fn empty() -> Self {
        Self([[[V128::splat(0); 2]; N]; BYTES])
    }

    pub(crate) fn fill(&mut self, key: &[u8; 16]) {
        let mut power = Zeroizing::new(*key);
        self.set(0, &power);
        for at in 1..N {
            let product = self.product([V128::from_bytes(*power)]);
            *power = product.to_bytes();
            self.set(at, &power);
        }
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
            *upper = of(b0, eights) ^ of(b1, fours) ^ of(b2, twos) ^ of(b3, ones);
            *lower = of(b4, eights) ^ of(b5, fours) ^ of(b6, twos) ^ of(b7, ones);
        }
    }

    /// The sum of the products of each block with a power of H, the last with H itself.
    #[inline(always)]
    fn product<const BLOCKS: usize>(&self, blocks: [V128; BLOCKS]) -> V128 {
        let nibbles = blocks.map(V128::nibbles);
        let (mut low, mut high) = (V128::splat(0), V128::splat(0));
        for tables in self.0.iter().rev() {
            let mut sum = V128::splat(0);
            for ((upper, lower), tables) in nibbles.iter().rev().zip(tables) {
                let [of_upper, of_lower] = tables;
                sum ^= of_upper.lookup(*upper) ^ of_lower.lookup(*lower);
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
const FOLD: [[[u8; 16]; 2]; 2] = {
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

impl<const N: usize> Drop for Tables<N> {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut().as_flattened_mut());
    }
}

/// A hash under way.
pub struct GHash<'k>(Sum<'k, POWERS>);

impl<'k> GHash<'k> {
    /// Of nothing yet.
    #[inline]
    pub fn new(key: &'k GHashKey) -> Self {
        Self::after(key, V128::splat(0))
    }

    /// After blocks of which this is the hash.
    #[inline]
    pub(crate) fn after(key: &'k GHashKey, sum: V128) -> Self {
        Self(Sum::after(&key.0, sum))
    }

    /// Of these bytes too, with zeros after them to a whole block.
    #[inline]
    pub fn update_padded(&mut self, bytes: &[u8]) {
        self.0.update_padded(bytes, |block| block);
    }

    /// What it is.
    #[inline]
    pub fn finalize(self) -> [u8; 16] {
        self.sum().to_bytes()
    }

    #[inline]
    pub(crate) fn sum(self) -> V128 {
        self.0.finish()
    }
}

/// The sum of what was multiplied, and blocks that wait for others.
pub(crate) struct Sum<'k, const N: usize> {
    tables: &'k Tables<N>,
    sum: V128,
    waiting: [V128; N],
    filled: usize,
}

impl<'k, const N: usize> Sum<'k, N> {
    #[inline]
    pub(crate) fn after(tables: &'k Tables<N>, sum: V128) -> Self {
        Self { tables, sum, waiting: [V128::splat(0); N], filled: 0 }
    }

    /// Adds these bytes, with zeros after them to a whole block, each block as `order` turns it.
    #[inline]
    pub(crate) fn update_padded(&mut self, bytes: &[u8], order: impl Fn(V128) -> V128) {
        let (blocks, rest) = bytes.as_chunks::<16>();
        let mut blocks = blocks;
        if self.filled == 0 {
            let (whole, after) = blocks.as_chunks::<N>();
            for group in whole {
                self.waiting = group.map(|block| order(V128::from_bytes(block)));
                self.absorb::<N>();
            }
            blocks = after;
        }
        for block in blocks {
            self.push(order(V128::from_bytes(*block)));
        }
        if !rest.is_empty() {
            let mut block = [0; 16];
            for (to, from) in block.iter_mut().zip(rest) {
                *to = *from;
            }
            self.push(order(V128::from_bytes(block)));
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, block: V128) {
        if let Some(place) = self.waiting.get_mut(self.filled) {
            *place = block;
        }
        self.filled = self.filled.wrapping_add(1);
        if self.filled == N {
            self.absorb::<N>();
            self.filled = 0;
        }
    }

    #[inline(never)]
    fn absorb<const BLOCKS: usize>(&mut self) {
        let mut blocks = [V128::splat(0); BLOCKS];
        for (block, waiting) in blocks.iter_mut().zip(self.waiting) {
            *block = waiting;
        }
        if let Some(first) = blocks.first_mut() {
            *first ^= self.sum;
        }
        self.sum = self.tables.product(blocks);
    }

    #[inline]
    pub(crate) fn finish(mut self) -> V128 {
        // With one power none waits.
        match self.filled {
            _ if N == 1 => {}
            0 => {}
            1 => self.absorb::<1>(),
            2 => self.absorb::<2>(),
            _ => self.absorb::<3>(),
        }
        self.sum
    }
}
