//! Wasm's `v128`, with `simd128`.

#![allow(unsafe_code)]

use std::arch::wasm32::{
    i8x16_eq, i8x16_shuffle, i8x16_swizzle, i32x4_shuffle, u16x8_shl, u16x8_shr, u32x4_replace_lane, v128,
    v128_and, v128_xor,
};
use std::mem::transmute;
use std::ops::{BitAnd, BitXor};

use super::Words;

#[derive(Clone, Copy)]
pub(crate) struct V128(v128);

impl V128 {
    #[inline(always)]
    pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
        // SAFETY: both are 128 bits of which every pattern is a value.
        Self(unsafe { transmute::<[u8; 16], v128>(bytes) })
    }

    #[inline(always)]
    pub(crate) fn to_words(self) -> Words {
        // SAFETY: as above.
        unsafe { transmute::<v128, Words>(self.0) }
    }

    #[inline(always)]
    pub(crate) fn from_words(words: Words) -> Self {
        // SAFETY: as above.
        Self(unsafe { transmute::<Words, v128>(words) })
    }

    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        // SAFETY: as above.
        unsafe { transmute::<v128, [u8; 16]>(self.0) }
    }

    /// Makes it zero, also where nobody reads it any more.
    #[inline(always)]
    pub(crate) fn wipe(&mut self) {
        // SAFETY: a reference can be written to.
        unsafe { std::ptr::write_volatile(self, Self::splat(0)) };
    }

    /// For each byte of `indices` that byte of this. Those from 0x80 on give 0; those from 16 to 0x7f are not for use.
    #[inline(always)]
    pub(crate) fn lookup(self, indices: Self) -> Self {
        Self(i8x16_swizzle(self.0, indices.0))
    }

    /// 0xff where two bytes are equal, else 0.
    #[inline(always)]
    pub(crate) fn equal(self, other: Self) -> Self {
        Self(i8x16_eq(self.0, other.0))
    }

    /// Each 16 bits shifted.
    #[inline(always)]
    pub(crate) fn shift_right_words<const BITS: u32>(self) -> Self {
        Self(u16x8_shr(self.0, BITS))
    }

    #[inline(always)]
    pub(crate) fn shift_left_words<const BITS: u32>(self) -> Self {
        Self(u16x8_shl(self.0, BITS))
    }

    /// Bytes 12 to 15 from a word in the machine's order, and zeros before.
    #[inline(always)]
    pub(crate) fn last_word(word: u32) -> Self {
        Self(u32x4_replace_lane::<3>(Self::splat(0).0, word))
    }

    /// Bytes 4 to 15, then 0 to 3.
    #[inline(always)]
    pub(crate) fn rotate_4(self) -> Self {
        Self(i32x4_shuffle::<1, 2, 3, 0>(self.0, self.0))
    }

    /// Bytes 8 to 15, then 0 to 7.
    #[inline(always)]
    pub(crate) fn rotate_8(self) -> Self {
        Self(i32x4_shuffle::<2, 3, 0, 1>(self.0, self.0))
    }

    /// The last byte of `before`, then bytes 0 to 14 of this.
    #[inline(always)]
    pub(crate) fn advance(self, before: Self) -> Self {
        Self(i8x16_shuffle::<15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(
            before.0, self.0,
        ))
    }
}

impl BitXor for V128 {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(v128_xor(self.0, other.0))
    }
}

impl BitAnd for V128 {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(v128_and(self.0, other.0))
    }
}
