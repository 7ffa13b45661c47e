//! AEAD: one algorithm a file, all through [`NonceCipher`].

mod aes_gcm;
mod aes_gcm_siv;
mod chacha20_poly1305;
mod xchacha20_poly1305;

use std::ops::Range;

use ::aes_gcm::aead::consts::U16;
use ::aes_gcm::aead::{AeadInOut, KeyInit, Nonce, Tag};
use zeroize::Zeroizing;

use crate::Random;
use crate::batch::{Opened, Sealed, ToSeal, by_key, in_runs};
use crate::buffer::{append, reserve_wiping};
use crate::error::{CryptError, KeysetError};
use crate::keyset::{Keyset, RawKey};
use crate::primitives::{Keys, PREFIX_LEN, Prefix};

const PURPOSE: &str = "AEAD";
const TAG_LEN: usize = 16;

/// A key, ready for use. What fails leaves nothing appended.
trait AeadKey: Send + Sync {
    /// Bytes that it adds to a plaintext: nonce and tag.
    fn overhead(&self) -> usize;

    /// Appends nonce, ciphertext and tag.
    fn encrypt_into(
        &self,
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError>;

    /// Appends the plaintext.
    fn decrypt_into(&self, rest: &[u8], associated_data: &[u8], out: &mut Vec<u8>) -> Result<(), CryptError>;

    /// Appends the ciphertexts of values, each behind its header, and where each is with it.
    fn encrypt_run(
        &self,
        random: &mut dyn Random,
        run: ToSeal<'_>,
        out: &mut Vec<u8>,
        sealed: &mut Vec<Range<usize>>,
    ) -> Result<(), CryptError> {
        out.reserve(run.sealed_len(self.overhead()));
        for plaintext in run.plaintexts {
            let start = out.len();
            out.extend_from_slice(run.header);
            self.encrypt_into(random, plaintext, run.associated_data, out)?;
            sealed.push(start..out.len());
        }
        Ok(())
    }

    /// Appends the plaintexts of values without their prefixes, and an outcome for each.
    fn decrypt_run(&self, run: &[Sealed<'_>], out: &mut Vec<u8>, opened: &mut Vec<Opened>) {
        for sealed in run {
            let start = out.len();
            let done = self.decrypt_into(sealed.ciphertext, sealed.associated_data, out);
            opened.push(done.map(|()| start..out.len()));
        }
    }
}

/// Nonce, ciphertext, tag of 16 bytes: the layout of all of Tink's AEADs.
struct NonceCipher<C>(C);

impl<C: KeyInit> NonceCipher<C> {
    /// From a key of exactly the algorithm's length.
    fn new(key: &[u8]) -> Option<Self> {
        C::new_from_slice(key).ok().map(Self)
    }
}

impl<C: AeadInOut<TagSize = U16> + Send + Sync> AeadKey for NonceCipher<C> {
    fn overhead(&self) -> usize {
        Nonce::<C>::default().len().saturating_add(TAG_LEN)
    }

    fn encrypt_into(
        &self,
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        let mut nonce = Nonce::<C>::default();
        random.fill(&mut nonce);
        out.reserve(plaintext.len().saturating_add(self.overhead()));
        let before = out.len();
        out.extend_from_slice(&nonce);
        let tag = append(out, plaintext, |body| {
            self.0.encrypt_inout_detached(&nonce, associated_data, body.into())
        });
        match tag {
            Ok(tag) => out.extend_from_slice(&tag),
            Err(_) => {
                out.truncate(before);
                return Err(CryptError::TooLong);
            }
        }
        Ok(())
    }

    fn decrypt_into(&self, rest: &[u8], associated_data: &[u8], out: &mut Vec<u8>) -> Result<(), CryptError> {
        let nonce_len = Nonce::<C>::default().len();
        let (nonce, rest) = rest.split_at_checked(nonce_len).ok_or(CryptError::Malformed)?;
        let (body, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or(CryptError::Malformed)?;
        let nonce = Nonce::<C>::try_from(nonce).map_err(|_| CryptError::Malformed)?;
        let tag = Tag::<C>::try_from(tag.as_slice()).map_err(|_| CryptError::Malformed)?;
        reserve_wiping(out, body.len());
        append(out, body, |body| self.0.decrypt_inout_detached(&nonce, associated_data, body.into(), &tag))
            .map_err(|_| CryptError::NotAuthentic)
    }
}

/// Seals with the primary key, opens with any enabled one. Equal values have different ciphertexts.
pub struct Aead {
    keys: Keys<Box<dyn AeadKey>>,
    has_short_random_nonces: bool,
}

impl Aead {
    /// From a keyset whose enabled keys are all AEAD keys.
    pub fn new(keyset: &Keyset) -> Result<Self, KeysetError> {
        let mut primary = keyset.keys.iter().filter(|raw| raw.id == keyset.primary);
        let short = [aes_gcm::TYPE_URL, chacha20_poly1305::TYPE_URL];
        Ok(Self {
            keys: Keys::new(keyset, Prefix::Tink, read)?,
            has_short_random_nonces: primary.any(|raw| short.contains(&raw.type_url.as_str())),
        })
    }

    /// Seals `plaintext`, binding `associated_data` to it.
    pub fn encrypt(
        &self,
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
    ) -> Result<Vec<u8>, CryptError> {
        let mut out = Vec::new();
        self.encrypt_into(random, plaintext, associated_data, &mut out)?;
        Ok(out)
    }

    /// As [`Aead::encrypt`], appended to `out`, which grows only where it has no room. What fails appends nothing.
    pub fn encrypt_into(
        &self,
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        let (prefix, key) = self.keys.primary()?;
        out.reserve(PREFIX_LEN.saturating_add(key.overhead()).saturating_add(plaintext.len()));
        let before = out.len();
        out.extend_from_slice(&prefix);
        key.encrypt_into(random, plaintext, associated_data, out).inspect_err(|_| out.truncate(before))
    }

    /// As [`Aead::encrypt_into`] for each of many values with the same associated data, faster. Each ciphertext stands behind
    /// `header`; where it is with that is appended to `sealed`. If one fails, nothing is appended.
    pub fn encrypt_batch<'v>(
        &self,
        random: &mut dyn Random,
        plaintexts: impl IntoIterator<Item = &'v [u8]>,
        (header, associated_data): (&[u8], &[u8]),
        out: &mut Vec<u8>,
        sealed: &mut Vec<Range<usize>>,
    ) -> Result<(), CryptError> {
        let (prefix, key) = self.keys.primary()?;
        let header = [header, &prefix].concat();
        in_runs(plaintexts, out, sealed, |plaintexts, out, sealed| {
            key.encrypt_run(random, ToSeal { plaintexts, associated_data, header: &header }, out, sealed)
        })
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

    /// As [`Aead::decrypt`], appended to `out`, which its owner wipes when done. What fails appends nothing. Where `out` has
    /// no room it grows as [`reserve_wiping`] does, so that no plaintext is left in the memory that it had.
    pub fn decrypt_into(
        &self,
        ciphertext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        let (key, rest) = self.keys.of(ciphertext)?;
        key.decrypt_into(rest, associated_data, out)
    }

    /// As [`Aead::decrypt_into`] for each of many values, faster: for each its outcome is appended to `opened`, where what it
    /// names is in `out`. A value that fails has no part in another's outcome; between the others' it may leave bytes in
    /// `out` that are no plaintext. Quickest where values that follow each other are of one key and share the slice of their
    /// associated data, such as those of one column.
    pub fn decrypt_batch<'v>(
        &self,
        values: impl IntoIterator<Item = Sealed<'v>>,
        out: &mut Vec<u8>,
        opened: &mut Vec<Opened>,
    ) {
        by_key(&self.keys, values, out, opened, |key, run, out, opened| key.decrypt_run(run, out, opened));
    }

    /// The key ids, the primary's first.
    pub fn key_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.keys.ids()
    }

    /// Whether the primary key draws nonces of 96 bits and does not bear two alike: AES-GCM and ChaCha20-Poly1305, not
    /// AES-GCM-SIV. Such a key is good for 2^32 values (NIST SP 800-38D, 8.3).
    pub fn has_short_random_nonces(&self) -> bool {
        self.has_short_random_nonces
    }
}

fn read(raw: &RawKey) -> Result<Box<dyn AeadKey>, KeysetError> {
    let (algorithm, key) = match raw.type_url.as_str() {
        aes_gcm::TYPE_URL => ("AES-GCM", aes_gcm::read(&raw.value)),
        aes_gcm_siv::TYPE_URL => ("AES-GCM-SIV", aes_gcm_siv::read(&raw.value)),
        chacha20_poly1305::TYPE_URL => ("ChaCha20-Poly1305", chacha20_poly1305::read(&raw.value)),
        xchacha20_poly1305::TYPE_URL => ("XChaCha20-Poly1305", xchacha20_poly1305::read(&raw.value)),
        _ => {
            return Err(KeysetError::UnsupportedType {
                key_id: raw.id,
                type_url: raw.type_url.clone(),
                purpose: PURPOSE,
            });
        }
    };
    key.ok_or(KeysetError::MalformedKey { key_id: raw.id, algorithm })
}

impl std::fmt::Debug for Aead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<u32> = self.key_ids().collect();
        f.debug_struct("Aead").field("keys", &ids).finish_non_exhaustive()
    }
}
