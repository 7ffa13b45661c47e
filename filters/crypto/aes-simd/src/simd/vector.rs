//! Sixteen bytes in one register, with the few operations that this crate needs: the same names over Wasm's `v128` and
//! x86-64's `__m128i`. None of them takes a time that depends on the bytes.

#[cfg(target_arch = "wasm32")]
mod wasm;
#[cfg(target_arch = "wasm32")]
pub(crate) use wasm::V128;

#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::V128;

use std::ops::BitXorAssign;

/// The same bytes as words of the key schedule, each in the order of its bytes.
pub(crate) type Words = [u32; 4];

/// Constants that the compiler takes for variables. A lookup by a constant becomes Wasm's shuffle, for which V8 makes the
/// constant anew in four instructions each time; what is read stays in a register or on the stack.
#[inline(always)]
pub(crate) fn variable<T>(constants: &'static T) -> &'static T {
    std::hint::black_box(constants)
}

/// Wipes secrets. Vector by vector: byte by byte it takes longer than to use them.
pub(crate) fn wipe(secrets: &mut [V128]) {
    secrets.iter_mut().for_each(V128::wipe);
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

impl BitXorAssign for V128 {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl V128 {
    /// All bytes the same.
    #[inline(always)]
    pub(crate) fn splat(byte: u8) -> Self {
        Self::from_bytes([byte; 16])
    }

    /// Of each byte the upper four bits, then the lower four.
    #[inline(always)]
    pub(crate) fn nibbles(self) -> (Self, Self) {
        let mask = Self::splat(0x0f);
        (self.shift_right_words::<4>() & mask, self & mask)
    }

    /// A linear map of each byte, as what it makes of the upper and of the lower four bits.
    #[inline(always)]
    pub(crate) fn map(self, [upper, lower]: &[[u8; 16]; 2]) -> Self {
        let (high, low) = self.nibbles();
        Self::from_bytes(*upper).lookup(high) ^ Self::from_bytes(*lower).lookup(low)
    }
}
