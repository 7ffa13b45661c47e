//! HMAC with keys of 16 bytes or more (`hmac_prf.proto`, RFC 2104): outputs as long as the hash, at most.

use hmac::{Hmac, KeyInit, Mac};
use prost::Message;
use sha2::{Sha256, Sha384, Sha512};
use zeroize::Zeroize;

use super::{PrfKey, truncate};
use crate::error::CryptError;
use crate::keyset::key_value;
use crate::proto::{HashPrfKey, SHA256, SHA384, SHA512};

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.HmacPrfKey";
/// Tink takes none that is shorter.
const MIN_KEY_LEN: usize = 16;

/// The keyed state, which each computation starts from.
struct HmacPrf<M>(M);

impl<M: Mac + Clone + Send + Sync> PrfKey for HmacPrf<M> {
    fn compute(&self, input: &[&[u8]], output: &mut [u8]) -> Result<(), CryptError> {
        let mut mac = self.0.clone();
        input.iter().for_each(|part| mac.update(part));
        let mut mac = mac.finalize().into_bytes();
        let done = truncate(&mac, output);
        mac.as_mut_slice().zeroize();
        done
    }
}

pub(super) fn read(value: &[u8]) -> Option<Box<dyn PrfKey>> {
    let message = HashPrfKey::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    if key.len() < MIN_KEY_LEN {
        return None;
    }
    match message.params?.hash {
        SHA256 => Some(Box::new(HmacPrf(Hmac::<Sha256>::new_from_slice(&key).ok()?))),
        SHA384 => Some(Box::new(HmacPrf(Hmac::<Sha384>::new_from_slice(&key).ok()?))),
        SHA512 => Some(Box::new(HmacPrf(Hmac::<Sha512>::new_from_slice(&key).ok()?))),
        _ => None,
    }
}
