//! The tables of [`super::permute`], computed at compile time from the fields' definitions.
//!
//! AES inverts in GF(2^8). Written over GF(2^4) as `i + k ζ'`, where ζ and ζ' are the roots of `t² + t + c`, so that
//! `x = i ζ + j ζ'` with `j = i + k`, an element is inverted with inversions in GF(2^4) alone (Hamburg, "Accelerating AES
//! with vector permute instructions", CHES 2009, section 4): with `a = 1/c` and
//!
//! ```text
//! p = 1/(1/i + a/k) + j        q = 1/(1/j + a/k) + i        1/x = ζ'²/p + ζ²/q
//! ```
//!
//! where `1/0` is infinity, `1/∞` is 0, and what is added to infinity is infinity, except that `∞ + ∞` is 0. Infinity is
//! [`INFINITY`], which a lookup gives 0 for. Each map below is a table of sixteen bytes: what a nibble becomes.

// All of it runs in the compiler, where what is out of range is an error.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]

/// What a lookup gives 0 for.
const INFINITY: u8 = 0x80;

/// The product in AES's field: modulo x^8 + x^4 + x^3 + x + 1.
const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = double(a);
        b >>= 1;
    }
    product
}

const fn double(a: u8) -> u8 {
    (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x1b }
}

const fn power(mut a: u8, mut exponent: u8) -> u8 {
    let mut product = 1;
    while exponent != 0 {
        if exponent & 1 == 1 {
            product = multiply(product, a);
        }
        a = multiply(a, a);
        exponent >>= 1;
    }
    product
}

/// The inverse, and 0 of 0.
const fn invert(a: u8) -> u8 {
    power(a, 254)
}

/// Of AES's field, a root of x^4 + x + 1: its powers 0 to 3 are the bits of a nibble.
const ROOT: u8 = {
    let mut a = 2;
    while power(a, 4) ^ a ^ 1 != 0 {
        a += 1;
    }
    a
};

/// A nibble in AES's field.
const fn embed(nibble: u8) -> u8 {
    let (mut sum, mut bit) = (0, 0);
    while bit < 4 {
        if nibble >> bit & 1 == 1 {
            sum ^= power(ROOT, bit);
        }
        bit += 1;
    }
    sum
}

/// The nibble that [`embed`] takes to this.
const fn nibble(a: u8) -> u8 {
    let mut nibble = 0;
    while embed(nibble) != a {
        nibble += 1;
    }
    nibble
}

/// ζ: outside of the nibbles' field, with ζ² + ζ within it. The other root is ζ + 1.
const ZETA: u8 = {
    let mut a = 2;
    while power(a, 16) ^ a != 1 {
        a += 1;
    }
    a
};
const ZETA_OTHER: u8 = ZETA ^ 1;
/// 1/c.
const A: u8 = invert(multiply(ZETA, ZETA_OTHER));

/// From the two nibbles `i` and `k` to AES's byte, and the other way.
const TOWER: ([u8; 256], [u8; 256]) = {
    let (mut from, mut to, mut n) = ([0; 256], [0; 256], 0);
    while n < 256 {
        let byte = embed((n >> 4) as u8) ^ multiply(embed((n & 15) as u8), ZETA_OTHER);
        from[n] = byte;
        to[byte as usize] = n as u8;
        n += 1;
    }
    (from, to)
};

const fn to_tower(byte: u8) -> u8 {
    TOWER.1[byte as usize]
}

/// The linear part of the S-box's affine map (FIPS 197, 5.1.1).
const fn affine(a: u8) -> u8 {
    a ^ a.rotate_left(1) ^ a.rotate_left(2) ^ a.rotate_left(3) ^ a.rotate_left(4)
}

/// To the tower, what the upper and what the lower nibble give.
pub(crate) const TO_TOWER: [[u8; 16]; 2] = {
    let (mut tables, mut n) = ([[0; 16]; 2], 0);
    while n < 16 {
        tables[0][n] = to_tower((n as u8) << 4);
        tables[1][n] = to_tower(n as u8);
        n += 1;
    }
    tables
};

/// What is added after the S-box's linear part.
pub(crate) const SBOX_CONSTANT: u8 = 0x63;

/// 1/n.
pub(crate) const INVERSE: [u8; 16] = scaled_inverse(1);
/// a/n.
pub(crate) const A_INVERSE: [u8; 16] = scaled_inverse(A);

const fn scaled_inverse(scale: u8) -> [u8; 16] {
    let (mut table, mut n) = ([INFINITY; 16], 1);
    while n < 16 {
        table[n] = nibble(multiply(scale, invert(embed(n as u8))));
        n += 1;
    }
    table
}

/// The S-box without its constant of p and of q, in AES's own field: for the last round, and for keys.
pub(crate) const SBOX: [[u8; 16]; 2] = outputs(false, 1);
/// The same in the tower.
pub(crate) const SBOX_TOWER: [[u8; 16]; 2] = outputs(true, 1);
/// Twice that (as MixColumns doubles) in the tower.
pub(crate) const SBOX_TOWER_DOUBLED: [[u8; 16]; 2] = outputs(true, 2);

const fn outputs(in_tower: bool, factor: u8) -> [[u8; 16]; 2] {
    let (mut tables, mut n) = ([[0; 16]; 2], 1);
    while n < 16 {
        let inverse = invert(embed(n as u8));
        let mut at = 0;
        while at < 2 {
            let zeta = if at == 0 { ZETA_OTHER } else { ZETA };
            let out = multiply(factor, affine(multiply(inverse, multiply(zeta, zeta))));
            tables[at][n] = if in_tower { to_tower(out) } else { out };
            at += 1;
        }
        n += 1;
    }
    tables
}
