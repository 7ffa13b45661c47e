//! PRFs: one algorithm a file, all through [`PrfKey`].

mod aes_cmac;
mod hkdf;
mod hmac;

use zeroize::Zeroizing;

use crate::error::{CryptError, KeysetError};
use crate::keyset::{Keyset, RawKey};
use crate::primitives::{Keys, Prefix};

const PURPOSE: &str = "PRF";

/// A key, ready for use.
trait PrfKey: Send + Sync {
    /// Fills `output` with the head of what the key makes of these bytes, one after the other.
    fn compute(&self, input: &[&[u8]], output: &mut [u8]) -> Result<(), CryptError>;
}

/// Tink's PRF set, of which only the primary key computes: an output does not say which key made it. So a keyset whose
/// primary key changes gives other outputs for every input.
pub struct Prf(Keys<Box<dyn PrfKey>>);

impl Prf {
    /// From a keyset whose enabled keys are all PRF keys.
    pub fn new(keyset: &Keyset) -> Result<Self, KeysetError> {
        Keys::new(keyset, Prefix::Raw, read).map(Self)
    }

    /// The first `output_len` bytes of what the primary key makes of `input`. HMAC gives as many as its hash has, AES-CMAC
    /// 16, HKDF 255 times its hash.
    pub fn compute_primary(&self, input: &[u8], output_len: usize) -> Result<Zeroizing<Vec<u8>>, CryptError> {
        let mut output = Zeroizing::new(vec![0; output_len]);
        self.compute_primary_into(&[input], &mut output)?;
        Ok(output)
    }

    /// As [`Prf::compute_primary`] of the parts of an input one after the other, without a copy of them; fills `output`.
    /// Where that fails it stays as it was.
    pub fn compute_primary_into(&self, input: &[&[u8]], output: &mut [u8]) -> Result<(), CryptError> {
        self.0.primary_key()?.compute(input, output)
    }

    /// The key ids, the primary's first.
    pub fn key_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.ids()
    }
}

/// Copies the head of a MAC to `output`.
fn truncate(mac: &[u8], output: &mut [u8]) -> Result<(), CryptError> {
    let head = mac.get(..output.len()).ok_or(CryptError::OutputTooLong(mac.len()))?;
    output.copy_from_slice(head);
    Ok(())
}

fn read(raw: &RawKey) -> Result<Box<dyn PrfKey>, KeysetError> {
    let (algorithm, key) = match raw.type_url.as_str() {
        aes_cmac::TYPE_URL => ("AES-CMAC PRF", aes_cmac::read(&raw.value)),
        hkdf::TYPE_URL => ("HKDF PRF (SHA-256 or SHA-512)", hkdf::read(&raw.value)),
        hmac::TYPE_URL => ("HMAC PRF (SHA-256, SHA-384 or SHA-512)", hmac::read(&raw.value)),
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

impl std::fmt::Debug for Prf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<u32> = self.key_ids().collect();
        f.debug_struct("Prf").field("keys", &ids).finish_non_exhaustive()
    }
}
