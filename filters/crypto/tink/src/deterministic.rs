//! Deterministic AEAD: AES-SIV, the one algorithm that Tink has for it.

mod aes_siv;

use std::ops::Range;

use zeroize::Zeroizing;

use self::aes_siv::{AesSivKey, IV_LEN};
use crate::batch::{Opened, Sealed, ToSeal, by_key, in_runs};
use crate::error::{CryptError, KeysetError};
use crate::keyset::{Keyset, RawKey};
use crate::primitives::{Keys, PREFIX_LEN, Prefix};

const PURPOSE: &str = "deterministic AEAD";

/// Seals with the primary key, opens with any enabled one. Equal values under one key have equal ciphertexts.
pub struct DeterministicAead(Keys<AesSivKey>);

impl DeterministicAead {
    /// From a keyset whose enabled keys are all deterministic.
    pub fn new(keyset: &Keyset) -> Result<Self, KeysetError> {
        Keys::new(keyset, Prefix::Tink, read).map(Self)
    }

    /// Seals `plaintext`, binding `associated_data` to it.
    pub fn encrypt(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, CryptError> {
        let mut out = Vec::new();
        self.encrypt_into(plaintext, associated_data, &mut out)?;
        Ok(out)
    }

    /// As [`DeterministicAead::encrypt`], appended to `out`, which grows only where it has no room.
    pub fn encrypt_into(
        &self,
        plaintext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        let (prefix, key) = self.0.primary()?;
        encrypt_into(prefix, key, plaintext, associated_data, out);
        Ok(())
    }

    /// As [`DeterministicAead::encrypt_into`] for each of many values with the same associated data, faster; otherwise as
    /// [`Aead::encrypt_batch`](crate::Aead::encrypt_batch).
    pub fn encrypt_batch<'v>(
        &self,
        plaintexts: impl IntoIterator<Item = &'v [u8]>,
        (header, associated_data): (&[u8], &[u8]),
        out: &mut Vec<u8>,
        sealed: &mut Vec<Range<usize>>,
    ) -> Result<(), CryptError> {
        let (prefix, key) = self.0.primary()?;
        let header = [header, &prefix].concat();
        in_runs(plaintexts, out, sealed, |plaintexts, out, sealed| {
            key.encrypt_run(ToSeal { plaintexts, associated_data, header: &header }, out, sealed);
            Ok(())
        })
    }

    /// Seals `plaintext` with every key, with the primary one first: whichever sealed a value, its ciphertext is one of
    /// these.
    pub fn encrypt_with_each(
        &self,
        plaintext: &[u8],
        associated_data: &[u8],
    ) -> Result<Vec<Vec<u8>>, CryptError> {
        let encrypt = |(prefix, key)| {
            let mut out = Vec::new();
            encrypt_into(prefix, key, plaintext, associated_data, &mut out);
            out
        };
        Ok(self.0.each().map(encrypt).collect())
    }

    /// Opens what was sealed with the same associated data.
    pub fn decrypt(
        &self,
        ciphertext: &[u8],
        associated_data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, CryptError> {
        let mut out = Zeroizing::new(Vec::new());
        self.decrypt_into(ciphertext, associated_data, &mut out)?;
        Ok(out)
    }

    /// As [`DeterministicAead::decrypt`], appended to `out`, which its owner wipes when done. What fails appends nothing.
    /// Where `out` has no room it grows as [`reserve_wiping`](crate::reserve_wiping) does, so that no plaintext is left in
    /// the memory that it had.
    pub fn decrypt_into(
        &self,
        ciphertext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        let (key, rest) = self.0.of(ciphertext)?;
        key.decrypt_into(rest, associated_data, out)
    }

    /// As [`DeterministicAead::decrypt_into`] for each of many values, faster; otherwise as
    /// [`Aead::decrypt_batch`](crate::Aead::decrypt_batch).
    pub fn decrypt_batch<'v>(
        &self,
        values: impl IntoIterator<Item = Sealed<'v>>,
        out: &mut Vec<u8>,
        opened: &mut Vec<Opened>,
    ) {
        by_key(&self.0, values, out, opened, AesSivKey::decrypt_run);
    }

    /// The key ids, the primary's first.
    pub fn key_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.ids()
    }
}

fn encrypt_into(
    prefix: [u8; PREFIX_LEN],
    key: &AesSivKey,
    plaintext: &[u8],
    associated_data: &[u8],
    out: &mut Vec<u8>,
) {
    out.reserve(PREFIX_LEN.saturating_add(IV_LEN).saturating_add(plaintext.len()));
    out.extend_from_slice(&prefix);
    key.encrypt_into(plaintext, associated_data, out);
}

fn read(raw: &RawKey) -> Result<AesSivKey, KeysetError> {
    if raw.type_url != aes_siv::TYPE_URL {
        let type_url = raw.type_url.clone();
        return Err(KeysetError::UnsupportedType { key_id: raw.id, type_url, purpose: PURPOSE });
    }
    aes_siv::read(&raw.value).ok_or(KeysetError::MalformedKey { key_id: raw.id, algorithm: "AES-SIV" })
}

impl std::fmt::Debug for DeterministicAead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<u32> = self.key_ids().collect();
        f.debug_struct("DeterministicAead").field("keys", &ids).finish_non_exhaustive()
    }
}
