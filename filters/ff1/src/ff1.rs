//! The cipher under one key and alphabet.

use fieldveil_aes_simd::Aes256;
use fpe::ff1::{FF1, FlexibleNumeralString, NumeralStringError};
use zeroize::{Zeroize, Zeroizing};

use crate::alphabet::Alphabet;
use crate::error::Ff1Error;
use crate::key::KEY_LEN;

/// Characters of the longest value. The work grows with the square of the length, and no value that keeps a format
/// (card, account, phone number, token) is longer.
pub const MAX_LEN: usize = 256;

/// FF1 with AES-256 under one key, for values of one alphabet.
pub struct Ff1 {
    cipher: FF1<Aes256>,
    alphabet: Alphabet,
}

impl Ff1 {
    /// With a key, and for the values of an alphabet.
    ///
    /// # Errors
    /// [`Ff1Error::Refused`], which no alphabet here gives reason for.
    pub fn new(key: &[u8; KEY_LEN], alphabet: Alphabet) -> Result<Self, Ff1Error> {
        let cipher = FF1::new(key, alphabet.radix().into()).map_err(|_| Ff1Error::Refused)?;
        Ok(Self { cipher, alphabet })
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
        let numerals = self.numerals(text)?;
        self.text(self.cipher.encrypt(tweak, &numerals)).map(|mut text| std::mem::take(&mut *text))
    }

    /// The value that [`Ff1::encrypt`] was given. There is no integrity: any text of the format gives some value.
    ///
    /// # Errors
    /// [`Ff1Error`] says why the text can not have been encrypted here.
    pub fn decrypt(&self, tweak: &[u8], text: &str) -> Result<Zeroizing<String>, Ff1Error> {
        let numerals = self.numerals(text)?;
        self.text(self.cipher.decrypt(tweak, &numerals))
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

    fn text(
        &self,
        result: Result<FlexibleNumeralString, NumeralStringError>,
    ) -> Result<Zeroizing<String>, Ff1Error> {
        let mut numerals: Vec<u16> = result.map_err(|_| Ff1Error::Refused)?.into();
        let mut text = Zeroizing::new(String::with_capacity(numerals.len()));
        for numeral in &numerals {
            text.push(self.alphabet.character(*numeral).ok_or(Ff1Error::Refused)?);
        }
        numerals.zeroize();
        Ok(text)
    }
}

impl std::fmt::Debug for Ff1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ff1").field("alphabet", &self.alphabet).finish_non_exhaustive()
    }
}
