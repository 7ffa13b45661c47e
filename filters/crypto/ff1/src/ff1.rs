//! The cipher under one key and alphabet.

use fieldveil_aes_simd::{Aes256, KeyInit};
use fpe::ff1::{FF1, FlexibleNumeralString, NumeralStringError};
use zeroize::{Zeroize, Zeroizing};

use crate::alphabet::{Alphabet, MAX_LEN};
use crate::error::Ff1Error;
use crate::key::KEY_LEN;
use crate::short::{Halves, Short, moduli, numerals};

/// Characters of a value that is too long for [`Short`] which take as much time as a whole value that is not: 33 letters took
/// 20 us and 256 took 250, where 32 took 1.7.
const LONG_CHARACTERS: usize = 2;

/// What a value of so many characters costs, where one costs 1 whose halves are numbers of the machine: up to 56 digits, or 32
/// letters and digits. What is longer than [`MAX_LEN`] is refused, and costs 1.
#[must_use]
pub fn cost(alphabet: Alphabet, len: usize) -> usize {
    match len <= MAX_LEN && moduli(alphabet.radix(), len).is_none() {
        true => len / LONG_CHARACTERS,
        false => 1,
    }
}

type Long =
    fn(&FF1<Aes256>, &[u8], &FlexibleNumeralString) -> Result<FlexibleNumeralString, NumeralStringError>;

/// FF1 with AES-256 under one key, for values of one alphabet. About a kilobyte.
pub struct Ff1 {
    cipher: Aes256,
    /// For values that [`Short`] does not take.
    long: FF1<Aes256>,
    alphabet: Alphabet,
}

impl Ff1 {
    /// With a key, and for the values of an alphabet.
    ///
    /// # Errors
    /// [`Ff1Error::Refused`], which no alphabet here gives reason for.
    pub fn new(key: &[u8; KEY_LEN], alphabet: Alphabet) -> Result<Self, Ff1Error> {
        let long = FF1::new(key, alphabet.radix().into()).map_err(|_| Ff1Error::Refused)?;
        let cipher = Aes256::new_from_slice(key).map_err(|_| Ff1Error::Refused)?;
        Ok(Self { cipher, long, alphabet })
    }

    /// The alphabet of its values.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Another value of the same length and alphabet.
    ///
    /// # Errors
    /// [`Ff1Error`] says what is wrong with the value.
    pub fn encrypt(&self, tweak: &[u8], text: &str) -> Result<String, Ff1Error> {
        let mut out = Vec::with_capacity(text.len());
        self.encrypt_into(tweak, text, &mut out)?;
        String::from_utf8(out).map_err(|_| Ff1Error::Refused)
    }

    /// As [`Ff1::encrypt`], appended to `out`. What fails appends nothing.
    ///
    /// # Errors
    /// [`Ff1Error`] says what is wrong with the value.
    pub fn encrypt_into(&self, tweak: &[u8], text: &str, out: &mut Vec<u8>) -> Result<(), Ff1Error> {
        self.run(tweak, text, out, |way, halves| way.encrypt_halves(halves), FF1::encrypt)
    }

    /// The value that [`Ff1::encrypt`] was given. There is no integrity: any text of the format gives some value.
    ///
    /// # Errors
    /// [`Ff1Error`] says why the text can not have been encrypted here.
    pub fn decrypt(&self, tweak: &[u8], text: &str) -> Result<Zeroizing<String>, Ff1Error> {
        let mut out = Zeroizing::new(Vec::with_capacity(text.len()));
        self.decrypt_into(tweak, text, &mut out)?;
        let text = String::from_utf8(std::mem::take(&mut out)).map_err(|_| Ff1Error::Refused)?;
        Ok(Zeroizing::new(text))
    }

    /// As [`Ff1::decrypt`], appended to `out`: as many bytes as the text has. What fails appends nothing. Whoever has
    /// plaintext in `out` makes room before, as a `Vec` that grows leaves a copy behind.
    ///
    /// # Errors
    /// [`Ff1Error`] says why the text can not have been encrypted here.
    pub fn decrypt_into(&self, tweak: &[u8], text: &str, out: &mut Vec<u8>) -> Result<(), Ff1Error> {
        self.run(tweak, text, out, |way, halves| way.decrypt_halves(halves), FF1::decrypt)
    }

    fn run(
        &self,
        tweak: &[u8],
        text: &str,
        out: &mut Vec<u8>,
        short: fn(&Short<'_>, Halves) -> Halves,
        long: Long,
    ) -> Result<(), Ff1Error> {
        out.reserve(text.len());
        let before = out.len();
        let done = match self.short(tweak, text) {
            Some((way, halves)) => self.append_halves(short(&way, halves), text.len(), out),
            None => {
                let numerals = self.numerals(text)?;
                self.append_numerals(long(&self.long, tweak, &numerals), out)
            }
        };
        done.inspect_err(|_| {
            out.get_mut(before..).unwrap_or_default().zeroize();
            out.truncate(before);
        })
    }

    /// The short way and the value's halves, if it is one for that.
    fn short(&self, tweak: &[u8], text: &str) -> Option<(Short<'_>, Halves)> {
        if !(self.alphabet.min_len()..=MAX_LEN).contains(&text.len()) {
            return None;
        }
        let way = Short::new(&self.cipher, self.alphabet.radix(), text.len(), tweak)?;
        let (first, second) = text.as_bytes().split_at_checked(text.len() / 2)?;
        Some((way, [self.number(first)?, self.number(second)?]))
    }

    /// The number that characters are, None with one of another alphabet.
    fn number(&self, text: &[u8]) -> Option<u128> {
        text.iter().try_fold(0_u128, |number, character| {
            let numeral = self.alphabet.numeral(char::from(*character))?;
            number.checked_mul(self.alphabet.radix().into())?.checked_add(numeral.into())
        })
    }

    fn append_halves(&self, [first, second]: Halves, len: usize, out: &mut Vec<u8>) -> Result<(), Ff1Error> {
        for (number, len) in [(first, len / 2), (second, len.div_ceil(2))] {
            let start = out.len();
            for numeral in numerals(number, self.alphabet.radix()).take(len) {
                out.push(self.byte(numeral?)?);
            }
            out.get_mut(start..).unwrap_or_default().reverse();
        }
        Ok(())
    }

    fn byte(&self, numeral: u16) -> Result<u8, Ff1Error> {
        let character = self.alphabet.character(numeral).ok_or(Ff1Error::Refused)?;
        u8::try_from(character).map_err(|_| Ff1Error::Refused)
    }

    fn numerals(&self, text: &str) -> Result<FlexibleNumeralString, Ff1Error> {
        let alphabet = self.alphabet;
        // Every character takes a byte or more: what is longer in bytes may still be told its foreign character.
        let mut numerals = Zeroizing::new(Vec::with_capacity(text.len().min(MAX_LEN)));
        for (at, character) in text.chars().enumerate() {
            let outside = Ff1Error::OutsideAlphabet { alphabet, position: at.saturating_add(1) };
            let numeral = alphabet.numeral(character).ok_or(outside)?;
            if at >= MAX_LEN {
                return Err(Ff1Error::TooLong { len: text.chars().count() });
            }
            numerals.push(numeral);
        }
        if numerals.len() < alphabet.min_len() {
            return Err(Ff1Error::TooShort { alphabet, len: numerals.len() });
        }
        Ok(std::mem::take(&mut *numerals).into())
    }

    fn append_numerals(
        &self,
        result: Result<FlexibleNumeralString, NumeralStringError>,
        out: &mut Vec<u8>,
    ) -> Result<(), Ff1Error> {
        let numerals: Zeroizing<Vec<u16>> = Zeroizing::new(result.map_err(|_| Ff1Error::Refused)?.into());
        for numeral in numerals.iter() {
            out.push(self.byte(*numeral)?);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Ff1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ff1").field("alphabet", &self.alphabet).finish_non_exhaustive()
    }
}
