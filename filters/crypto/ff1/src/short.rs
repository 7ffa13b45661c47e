//! FF1 (NIST SP 800-38G, algorithms 7 and 8) where half of a value is a number of at most 96 bits: 56 digits, or 32
//! letters and digits. The numbers are then those of the machine, and a round is one block of AES; the names are the
//! standard's.

use fieldveil_aes_simd::{Aes256, BlockCipherEncrypt};

use crate::error::Ff1Error;

/// Bytes of the longest half, as a number: `d` is 16 then, which is all that one block gives.
const MAX_B: u32 = 12;
/// Rounds of the Feistel network.
const ROUNDS: u8 = 10;

/// The rounds of one length and tweak.
pub(crate) struct Short<'k> {
    cipher: &'k Aes256,
    /// The sum before the last block of `P || Q`, with what that block has before `i`.
    before: u128,
    /// Where `i` stands.
    i_at: u32,
    /// What of a block is not `S`.
    over: u32,
    /// How many numbers the first half has, and the second.
    moduli: [u128; 2],
}

/// Both halves of a value as numbers.
pub(crate) type Halves = [u128; 2];

impl<'k> Short<'k> {
    /// None where a half of so many numerals is too long for it.
    pub(crate) fn new(cipher: &'k Aes256, radix: u16, len: usize, tweak: &[u8]) -> Option<Self> {
        let u = u32::try_from(len / 2).ok()?;
        let (moduli, b) = moduli(radix, len)?;
        let d = b.div_ceil(4).wrapping_mul(4).wrapping_add(4);
        let i_at = b.wrapping_mul(8);
        let over = 128_u32.wrapping_sub(d.wrapping_mul(8));
        let mut short = Self { cipher, before: 0, i_at, over, moduli };
        short.before = short.absorb(radix, u, len, tweak)?;
        Some(short)
    }

    /// `P`, the tweak, and the zeros after it.
    fn absorb(&self, radix: u16, u: u32, len: usize, tweak: &[u8]) -> Option<u128> {
        let [_, _, _, u] = u.to_be_bytes();
        let [r0, r1] = radix.to_be_bytes();
        let [n0, n1, n2, n3] = u32::try_from(len).ok()?.to_be_bytes();
        let [t0, t1, t2, t3] = u32::try_from(tweak.len()).ok()?.to_be_bytes();
        let p = [1, 2, 1, 0, r0, r1, 10, u, n0, n1, n2, n3, t0, t1, t2, t3];
        let mut sum = self.encrypt(u128::from_be_bytes(p));
        let (blocks, rest) = tweak.as_chunks();
        for block in blocks {
            sum = self.encrypt(sum ^ u128::from_be_bytes(*block));
        }
        let mut last = [0; 16];
        last.get_mut(..rest.len())?.copy_from_slice(rest);
        sum ^= u128::from_be_bytes(last);
        // `i` and the number, one byte and `b`, are the end of a block.
        let room = 120_u32.checked_sub(self.i_at)?.checked_div(8)?;
        Some(if rest.len() > usize::try_from(room).ok()? { self.encrypt(sum) } else { sum })
    }

    fn encrypt(&self, block: u128) -> u128 {
        let mut block = block.to_be_bytes().into();
        self.cipher.encrypt_block(&mut block);
        u128::from_be_bytes(block.0)
    }

    /// `y` of a round, modulo what its result is modulo, and that.
    fn round(&self, i: u8, number: u128) -> (u128, u128) {
        let [even, odd] = self.moduli;
        let modulus = if i.is_multiple_of(2) { even } else { odd };
        let last = u128::from(i).wrapping_shl(self.i_at) | number;
        let y = self.encrypt(self.before ^ last).wrapping_shr(self.over);
        (remainder(y, modulus), modulus)
    }

    pub(crate) fn encrypt_halves(&self, [mut a, mut b]: Halves) -> Halves {
        for i in 0..ROUNDS {
            let (y, modulus) = self.round(i, b);
            let sum = a.wrapping_add(y);
            (a, b) = (b, if sum >= modulus { sum.wrapping_sub(modulus) } else { sum });
        }
        [a, b]
    }

    pub(crate) fn decrypt_halves(&self, [mut a, mut b]: Halves) -> Halves {
        for i in (0..ROUNDS).rev() {
            let (y, modulus) = self.round(i, a);
            let short = if b < y { modulus } else { 0 };
            (a, b) = (b.wrapping_add(short).wrapping_sub(y), a);
        }
        [a, b]
    }
}

/// How many numbers the halves of so many numerals have, and the bytes of the longest as a number; None where these are too
/// many.
pub(crate) fn moduli(radix: u16, len: usize) -> Option<([u128; 2], u32)> {
    let u = u32::try_from(len / 2).ok()?;
    let v = u32::try_from(len.div_ceil(2)).ok()?;
    let moduli = [u128::from(radix).checked_pow(u)?, u128::from(radix).checked_pow(v)?];
    let [_, longest] = moduli;
    let bits = 128_u32.saturating_sub(longest.saturating_sub(1).leading_zeros());
    let b = bits.div_ceil(8);
    (b <= MAX_B).then_some((moduli, b))
}

/// In 64 bits where they do: those of 128 are divided many times as slowly.
fn remainder(number: u128, by: u128) -> u128 {
    match (u64::try_from(number), u64::try_from(by)) {
        (Ok(number), Ok(by)) => number.checked_rem(by).unwrap_or_default().into(),
        _ => number.checked_rem(by).unwrap_or_default(),
    }
}

/// The numerals of a number, the lowest first, without end.
pub(crate) fn numerals(mut number: u128, radix: u16) -> impl Iterator<Item = Result<u16, Ff1Error>> {
    std::iter::from_fn(move || {
        let wide = u128::from(radix);
        let (quotient, numeral) = match u64::try_from(number) {
            Ok(narrow) => {
                let quotient = narrow.checked_div(radix.into())?;
                (u128::from(quotient), u128::from(narrow.checked_rem(radix.into())?))
            }
            Err(_) => (number.checked_div(wide)?, number.checked_rem(wide)?),
        };
        number = quotient;
        Some(u16::try_from(numeral).map_err(|_| Ff1Error::Refused))
    })
}
