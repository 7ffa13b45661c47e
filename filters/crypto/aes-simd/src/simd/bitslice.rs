//! AES in bit slices: eight blocks in eight registers, of which each holds one bit of every byte, so that the S-box is a
//! circuit of ANDs and XORs (Käsper and Schwabe, "Faster and timing-attack resistant AES-GCM", CHES 2009). For many blocks.
//!
//! The byte of a register is the byte of the block, the bit of that byte the block. Bytes are kept by rows (byte
//! `4 r + c`), so that MixColumns turns whole registers by four bytes.

use std::iter::{once, repeat};

use super::tables::SBOX_CONSTANT;
use super::vector::{V128, Words, variable};

/// Blocks at a time.
pub(crate) const BLOCKS: usize = 8;

/// From columns to rows, and the other way: the transposition is its own inverse.
static TRANSPOSED: [u8; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
/// ShiftRows where bytes are kept by rows.
static SHIFT_ROWS: [u8; 16] = [0, 1, 2, 3, 5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14];

/// Encrypts, with the keys that [`prepare`] made.
#[inline(always)]
pub(crate) fn encrypt<const KEYS: usize>(keys: &[V128; KEYS], blocks: &mut [V128; BLOCKS]) {
    let [first, middle @ .., last] = keys.as_slice() else { return };
    let (first, last) = (*first, *last);
    let (transposed, shifted) =
        (V128::from_bytes(*variable(&TRANSPOSED)), V128::from_bytes(*variable(&SHIFT_ROWS)));
    let mut planes = slice(blocks.map(|block| block.lookup(transposed) ^ first));
    for key in middle {
        planes = mix_columns(shift_rows(substitute(planes), shifted));
        add(&mut planes, *key);
    }
    // What is not in slices any more takes the last key as a whole.
    *blocks = slice(shift_rows(substitute(planes), shifted)).map(|block| (block ^ last).lookup(transposed));
}

/// The round keys as [`encrypt`] takes them: by rows, and with the S-box's constant, which MixColumns leaves as it is.
pub(crate) fn prepare<const KEYS: usize>(prepared: &mut [V128; KEYS], keys: &[Words; KEYS]) {
    let (transposed, constant) = (V128::from_bytes(TRANSPOSED), V128::splat(SBOX_CONSTANT));
    let constants = once(V128::splat(0)).chain(repeat(constant));
    for ((prepared, key), constant) in prepared.iter_mut().zip(keys).zip(constants) {
        *prepared = V128::from_words(*key).lookup(transposed) ^ constant;
    }
}

/// Adds a round key to all blocks. Its slices, in which all bits of a byte are the same, are made here: kept, they would be
/// eight times as long, and to make and wipe them takes longer than a short text.
#[inline(always)]
fn add([p0, p1, p2, p3, p4, p5, p6, p7]: &mut [V128; 8], key: V128) {
    let plane = |bit: u8| {
        let bit = V128::splat(bit);
        (key & bit).equal(bit)
    };
    *p0 ^= plane(1);
    *p1 ^= plane(2);
    *p2 ^= plane(4);
    *p3 ^= plane(8);
    *p4 ^= plane(16);
    *p5 ^= plane(32);
    *p6 ^= plane(64);
    *p7 ^= plane(128);
}

/// Transposes the eight by eight bits of each byte: from blocks to planes, and the other way.
#[inline(always)]
fn slice(rows: [V128; 8]) -> [V128; 8] {
    let [mut r0, mut r1, mut r2, mut r3, mut r4, mut r5, mut r6, mut r7] = rows;
    macro_rules! swap {
        ($bits:literal, $mask:literal: $($a:ident $b:ident),+) => { $(
            let difference = ($a.shift_right_words::<$bits>() ^ $b) & V128::splat($mask);
            $b ^= difference;
            $a ^= difference.shift_left_words::<$bits>();
        )+ };
    }
    swap!(1, 0x55: r0 r1, r2 r3, r4 r5, r6 r7);
    swap!(2, 0x33: r0 r2, r1 r3, r4 r6, r5 r7);
    swap!(4, 0x0f: r0 r4, r1 r5, r2 r6, r3 r7);
    [r0, r1, r2, r3, r4, r5, r6, r7]
}

#[inline(always)]
fn shift_rows(planes: [V128; 8], shifted: V128) -> [V128; 8] {
    planes.map(|plane| plane.lookup(shifted))
}

/// `2 (a + b) + b + c + d` of each byte and those below it in its column, where doubling moves each plane one up and
/// adds the uppermost to those of the field's polynomial.
#[inline(always)]
fn mix_columns([a0, a1, a2, a3, a4, a5, a6, a7]: [V128; 8]) -> [V128; 8] {
    let (b0, b1, b2, b3) = (a0.rotate_4(), a1.rotate_4(), a2.rotate_4(), a3.rotate_4());
    let (b4, b5, b6, b7) = (a4.rotate_4(), a5.rotate_4(), a6.rotate_4(), a7.rotate_4());
    let (s0, s1, s2, s3) = (a0 ^ b0, a1 ^ b1, a2 ^ b2, a3 ^ b3);
    let (s4, s5, s6, s7) = (a4 ^ b4, a5 ^ b5, a6 ^ b6, a7 ^ b7);
    [
        s7 ^ b0 ^ s0.rotate_8(),
        s0 ^ s7 ^ b1 ^ s1.rotate_8(),
        s1 ^ b2 ^ s2.rotate_8(),
        s2 ^ s7 ^ b3 ^ s3.rotate_8(),
        s3 ^ s7 ^ b4 ^ s4.rotate_8(),
        s4 ^ b5 ^ s5.rotate_8(),
        s5 ^ b6 ^ s6.rotate_8(),
        s6 ^ b7 ^ s7.rotate_8(),
    ]
}

/// The S-box without its constant, as the circuit of Boyar and Peralta ("A small depth-16 circuit for the AES S-box", 2011;
/// the names are theirs): 32 ANDs and 81 XORs.
#[rustfmt::skip]
#[inline(always)]
fn substitute([x7, x6, x5, x4, x3, x2, x1, x0]: [V128; 8]) -> [V128; 8] {
    // The linear map to the tower.
    let y14 = x3 ^ x5;  let y13 = x0 ^ x6;  let y9 = x0 ^ x3;    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;   let y1 = t0 ^ x7;   let y4 = y1 ^ x3;    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;   let y5 = y1 ^ x6;   let y3 = y5 ^ y8;    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;  let y20 = t1 ^ x1;  let y6 = y15 ^ x7;   let y10 = y15 ^ t0;
    let y11 = y20 ^ y9; let y7 = x7 ^ y11;  let y17 = y10 ^ y11; let y19 = y10 ^ y8;
    let y16 = t0 ^ y11; let y21 = y13 ^ y16; let y18 = x0 ^ y16;
    // The inversion.
    let t2 = y12 & y15; let t3 = y3 & y6;   let t4 = t3 ^ t2;    let t5 = y4 & x7;
    let t6 = t5 ^ t2;   let t7 = y13 & y16; let t8 = y5 & y1;    let t9 = t8 ^ t7;
    let t10 = y2 & y7;  let t11 = t10 ^ t7; let t12 = y9 & y11;  let t13 = y14 & y17;
    let t14 = t13 ^ t12; let t15 = y8 & y10; let t16 = t15 ^ t12; let t17 = t4 ^ t14;
    let t18 = t6 ^ t16; let t19 = t9 ^ t14; let t20 = t11 ^ t16; let t21 = t17 ^ y20;
    let t22 = t18 ^ y19; let t23 = t19 ^ y21; let t24 = t20 ^ y18; let t25 = t21 ^ t22;
    let t26 = t21 & t23; let t27 = t24 ^ t26; let t28 = t25 & t27; let t29 = t28 ^ t22;
    let t30 = t23 ^ t24; let t31 = t22 ^ t26; let t32 = t31 & t30; let t33 = t32 ^ t24;
    let t34 = t23 ^ t33; let t35 = t27 ^ t33; let t36 = t24 & t35; let t37 = t36 ^ t34;
    let t38 = t27 ^ t36; let t39 = t29 & t38; let t40 = t25 ^ t39; let t41 = t40 ^ t37;
    let t42 = t29 ^ t33; let t43 = t29 ^ t40; let t44 = t33 ^ t37; let t45 = t42 ^ t41;
    let z0 = t44 & y15; let z1 = t37 & y6;  let z2 = t33 & x7;   let z3 = t43 & y16;
    let z4 = t40 & y1;  let z5 = t29 & y7;  let z6 = t42 & y11;  let z7 = t45 & y17;
    let z8 = t41 & y10; let z9 = t44 & y12; let z10 = t37 & y3;  let z11 = t33 & y4;
    let z12 = t43 & y13; let z13 = t40 & y5; let z14 = t29 & y2; let z15 = t42 & y9;
    let z16 = t45 & y14; let z17 = t41 & y8;
    // The linear map back, and the S-box's own.
    let t46 = z15 ^ z16; let t47 = z10 ^ z11; let t48 = z5 ^ z13; let t49 = z9 ^ z10;
    let t50 = z2 ^ z12; let t51 = z2 ^ z5;  let t52 = z7 ^ z8;   let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;  let t55 = z16 ^ z17; let t56 = z12 ^ t48; let t57 = t50 ^ t53;
    let t58 = z4 ^ t46; let t59 = z3 ^ t54; let t60 = t46 ^ t57; let t61 = z14 ^ t57;
    let t62 = t52 ^ t58; let t63 = t49 ^ t58; let t64 = z4 ^ t59; let t65 = t61 ^ t62;
    let t66 = z1 ^ t63; let t67 = t64 ^ t65;
    let s0 = t59 ^ t63; let s6 = t56 ^ t62; let s7 = t48 ^ t60;  let s3 = t53 ^ t66;
    let s4 = t51 ^ t66; let s5 = t47 ^ t65; let s1 = t64 ^ s3;   let s2 = t55 ^ t67;
    [s7, s6, s5, s4, s3, s2, s1, s0]
}
