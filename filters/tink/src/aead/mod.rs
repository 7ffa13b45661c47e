//! AEAD: one algorithm a file, all through [`NonceCipher`].

mod aes_gcm;
mod aes_gcm_siv;
mod chacha20_poly1305;
mod xchacha20_poly1305;

use ::aes_gcm::aead::consts::U16;
use ::aes_gcm::aead::{AeadInOut, KeyInit, Nonce, Tag};
use zeroize::Zeroizing;

use crate::Random;
use crate::error::{CryptError, KeysetError};
use crate::keyset::{Keyset, RawKey};
use crate::primitives::{Keys, PREFIX_LEN, Prefix};

const PURPOSE: &str = "AEAD";

/// A key, ready for use.
trait AeadKey {
    fn encrypt(
        &self,
        prefix: [u8; PREFIX_LEN],
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
    ) -> Result<Vec<u8>, CryptError>;

    fn decrypt(&self, rest: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptError>;
}

/// Nonce, ciphertext, tag of 16 bytes: the layout of all of Tink's AEADs.
struct NonceCipher<C>(C);

impl<C: KeyInit> NonceCipher<C> {
    /// From a key of exactly the algorithm's length.
    fn new(key: &[u8]) -> Option<Self> {
        C::new_from_slice(key).ok().map(Self)
    }
}

impl<C: AeadInOut<TagSize = U16>> AeadKey for NonceCipher<C> {
    fn encrypt(
        &self,
        prefix: [u8; PREFIX_LEN],
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
    ) -> Result<Vec<u8>, CryptError> {
        let mut nonce = Nonce::<C>::default();
        random.fill(&mut nonce);
        let start = PREFIX_LEN.saturating_add(nonce.len());
        let mut out = Vec::with_capacity(start.saturating_add(plaintext.len()).saturating_add(16));
        out.extend_from_slice(&prefix);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(plaintext);
        let body = out.get_mut(start..).unwrap_or_default();
        let tag = self
            .0
            .encrypt_inout_detached(&nonce, associated_data, body.into())
            .map_err(|_| CryptError::TooLong)?;
        out.extend_from_slice(&tag);
        Ok(out)
    }

    fn decrypt(&self, rest: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptError> {
        let nonce_len = Nonce::<C>::default().len();
        let (nonce, rest) = rest.split_at_checked(nonce_len).ok_or(CryptError::Malformed)?;
        let (body, tag) = rest.split_last_chunk::<16>().ok_or(CryptError::Malformed)?;
        let nonce = Nonce::<C>::try_from(nonce).map_err(|_| CryptError::Malformed)?;
        let tag = Tag::<C>::try_from(tag.as_slice()).map_err(|_| CryptError::Malformed)?;
        let mut plaintext = Zeroizing::new(body.to_vec());
        self.0
            .decrypt_inout_detached(&nonce, associated_data, plaintext.as_mut_slice().into(), &tag)
            .map_err(|_| CryptError::NotAuthentic)?;
        Ok(plaintext)
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
        let (prefix, key) = self.keys.primary()?;
        key.encrypt(prefix, random, plaintext, associated_data)
    }

    /// Opens what was sealed with the same associated data.
    pub fn decrypt(
        &self,
        ciphertext: &[u8],
        associated_data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, CryptError> {
        let (key, rest) = self.keys.of(ciphertext)?;
        key.decrypt(rest, associated_data)
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
