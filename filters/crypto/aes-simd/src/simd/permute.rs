//! AES by byte permutation: one block to a register, the S-box as lookups in tables of sixteen bytes that are registers
//! too (Hamburg, CHES 2009). For few blocks: it is the quickest for those, as a block's rounds wait for each other and
//! little else can be done meanwhile.
//!
//! Between the rounds bytes are in the tower of [`super::tables`], and ShiftRows is left undone: after round `t` row `r`
//! is turned by `t r` columns, which the round keys and MixColumns take into account.

use super::tables::{A_INVERSE, INVERSE, SBOX, SBOX_CONSTANT, SBOX_TOWER, SBOX_TOWER_DOUBLED, TO_TOWER};
use super::vector::{V128, Words, variable};

/// Where each byte comes from: column `c` and row `r` are byte `4 c + r` (FIPS 197, 3.4).
// It runs in the compiler.
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
const fn moved(rows: usize, columns: usize, columns_by_row: usize) -> [u8; 16] {
    let (mut from, mut at) = ([0; 16], 0);
    while at < 16 {
        let (column, row) = (at / 4, at % 4);
        from[at] = (4 * ((column + columns + columns_by_row * row) % 4) + (row + rows) % 4) as u8;
        at += 1;
    }
    from
}

/// The S-box's two inverses, p and q.
#[inline(always)]
fn inverses(state: V128) -> (V128, V128) {
    let (inverse, a_inverse) = (V128::from_bytes(INVERSE), V128::from_bytes(A_INVERSE));
    let (i, k) = state.nibbles();
    let j = i ^ k;
    let a_over_k = a_inverse.lookup(k);
    let p = inverse.lookup(inverse.lookup(i) ^ a_over_k) ^ j;
    let q = inverse.lookup(inverse.lookup(j) ^ a_over_k) ^ i;
    (p, q)
}

#[inline(always)]
fn outputs((p, q): (V128, V128), [of_p, of_q]: &[[u8; 16]; 2]) -> V128 {
    V128::from_bytes(*of_p).lookup(p) ^ V128::from_bytes(*of_q).lookup(q)
}

/// The S-box of bytes in AES's own field, without its constant.
#[inline(always)]
pub(crate) fn substitute(bytes: V128) -> V128 {
    outputs(inverses(bytes.map(&TO_TOWER)), &SBOX)
}

/// Where MixColumns has the next byte of a column from, and the one before, at each turn.
static TURNS: [[[u8; 16]; 2]; 4] = [
    [moved(1, 1, 0), moved(3, 3, 0)],
    [moved(1, 2, 0), moved(3, 2, 0)],
    [moved(1, 3, 0), moved(3, 1, 0)],
    [moved(1, 4, 0), moved(3, 0, 0)],
];

/// A round that is not the last, from its turn.
#[inline(always)]
fn round<const N: usize>(state: &mut [V128; N], key: &V128, [forward, backward]: &[[u8; 16]; 2]) {
    let (forward, backward) = (V128::from_bytes(*forward), V128::from_bytes(*backward));
    let key = *key;
    for block in state {
        let inverses = inverses(*block);
        let (once, twice) = (outputs(inverses, &SBOX_TOWER), outputs(inverses, &SBOX_TOWER_DOUBLED));
        // MixColumns: twice the byte, thrice the next, and the two after that.
        let sum = twice ^ once.lookup(forward);
        // What is known last is added last.
        *block = (once.lookup(backward) ^ key ^ sum) ^ sum.lookup(forward);
    }
}

/// Encrypts, with the keys that [`prepare`] made.
#[inline(always)]
pub(crate) fn encrypt<const KEYS: usize, const N: usize>(keys: &[V128; KEYS], state: &mut [V128; N]) {
    let [first, middle @ .., last] = keys.as_slice() else { return };
    for block in state.iter_mut() {
        *block = block.map(&TO_TOWER) ^ *first;
    }
    let [turn_0, turn_1, turn_2, turn_3] = variable(&TURNS);
    let (fours, rest) = middle.as_chunks::<4>();
    for [a, b, c, d] in fours {
        round(state, a, turn_0);
        round(state, b, turn_1);
        round(state, c, turn_2);
        round(state, d, turn_3);
    }
    // Nine, eleven or thirteen in all.
    if let Some(key) = rest.first() {
        round(state, key, turn_0);
    }
    if let [_, b, c] = rest {
        round(state, b, turn_1);
        round(state, c, turn_2);
    }
    let turn_back = V128::from_bytes(const { moved(0, 0, KEYS - 1) });
    for block in state {
        *block = outputs(inverses(*block), &SBOX).lookup(turn_back) ^ *last;
    }
}

/// The round keys as [`encrypt`] takes them: in the tower, turned as the state is then, and with the S-box's constant,
/// which MixColumns leaves as it is.
pub(crate) fn prepare<const KEYS: usize>(prepared: &mut [V128; KEYS], keys: &[Words; KEYS]) {
    let constant = V128::splat(SBOX_CONSTANT);
    for (prepared, key) in prepared.iter_mut().zip(keys) {
        *prepared = V128::from_words(*key);
    }
    let [first, middle @ .., last] = prepared.as_mut_slice() else { return };
    *first = first.map(&TO_TOWER);
    let turns = [
        const { moved(0, 0, 3) },
        const { moved(0, 0, 2) },
        const { moved(0, 0, 1) },
        const { moved(0, 0, 0) },
    ];
    for (key, turn) in middle.iter_mut().zip(turns.into_iter().cycle()) {
        *key = (key.lookup(V128::from_bytes(turn)) ^ constant).map(&TO_TOWER);
    }
    *last ^= constant;
}
