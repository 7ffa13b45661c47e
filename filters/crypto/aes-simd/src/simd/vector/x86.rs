//! x86-64's `__m128i`: for tests, measurements of the timing, and benches, where the `aes` crate is what is used.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cvtsi32_si128, _mm_or_si128, _mm_shuffle_epi8,
    _mm_shuffle_epi32, _mm_slli_epi16, _mm_slli_si128, _mm_srli_epi16, _mm_srli_si128, _mm_xor_si128,
};
use std::mem::transmute;
use std::ops::{BitAnd, BitXor};

use super::Words;

#[derive(Clone, Copy)]
pub(crate) struct V128(__m128i);

/// SSE2 is in every x86-64; the lookup alone asks for more.
#[target_feature(enable = "ssse3")]
#[inline]
fn shuffle(table: __m128i, indices: __m128i) -> __m128i {
    _mm_shuffle_epi8(table, indices)
}

/// The same where there is no SSSE3: every byte of the table is looked at for every index.
#[cold]
fn scan(table: V128, indices: V128) -> V128 {
    let (table, mut found) = (table.to_bytes(), V128::splat(0));
    for (at, byte) in (0..).zip(table) {
        found ^= indices.equal(V128::splat(at)) & V128::splat(byte);
    }
    found
}

impl V128 {
    #[inline(always)]
    pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
        // SAFETY: both are 128 bits of which every pattern is a value.
        Self(unsafe { transmute::<[u8; 16], __m128i>(bytes) })
    }

    #[inline(always)]
    pub(crate) fn to_words(self) -> Words {
        // SAFETY: as above.
        unsafe { transmute::<__m128i, Words>(self.0) }
    }

    #[inline(always)]
    pub(crate) fn from_words(words: Words) -> Self {
        // SAFETY: as above.
        Self(unsafe { transmute::<Words, __m128i>(words) })
    }

    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        // SAFETY: as above.
        unsafe { transmute::<__m128i, [u8; 16]>(self.0) }
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
        if !is_x86_feature_detected!("ssse3") {
            return scan(self, indices);
        }
        // SAFETY: the processor has SSSE3.
        Self(unsafe { shuffle(self.0, indices.0) })
    }

    /// 0xff where two bytes are equal, else 0.
    #[inline(always)]
    pub(crate) fn equal(self, other: Self) -> Self {
        // SAFETY: here and below, SSE2 is in every x86-64.
        Self(unsafe { _mm_cmpeq_epi8(self.0, other.0) })
    }

    /// Each 16 bits shifted.
    #[inline(always)]
    pub(crate) fn shift_right_words<const BITS: i32>(self) -> Self {
        Self(unsafe { _mm_srli_epi16::<BITS>(self.0) })
    }

    #[inline(always)]
    pub(crate) fn shift_left_words<const BITS: i32>(self) -> Self {
        Self(unsafe { _mm_slli_epi16::<BITS>(self.0) })
    }

    /// Bytes 12 to 15 from a word in the machine's order, and zeros before.
    #[inline(always)]
    pub(crate) fn last_word(word: u32) -> Self {
        Self(unsafe { _mm_slli_si128::<12>(_mm_cvtsi32_si128(word.cast_signed())) })
    }

    /// Bytes 4 to 15, then 0 to 3.
    #[inline(always)]
    pub(crate) fn rotate_4(self) -> Self {
        Self(unsafe { _mm_shuffle_epi32::<0b00_11_10_01>(self.0) })
    }

    /// Bytes 8 to 15, then 0 to 7.
    #[inline(always)]
    pub(crate) fn rotate_8(self) -> Self {
        Self(unsafe { _mm_shuffle_epi32::<0b01_00_11_10>(self.0) })
    }

    /// The last byte of `before`, then bytes 0 to 14 of this.
    #[inline(always)]
    pub(crate) fn advance(self, before: Self) -> Self {
        Self(unsafe { _mm_or_si128(_mm_slli_si128::<1>(self.0), _mm_srli_si128::<15>(before.0)) })
    }
}

impl BitXor for V128 {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }
}

impl BitAnd for V128 {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(unsafe { _mm_and_si128(self.0, other.0) })
    }
}
