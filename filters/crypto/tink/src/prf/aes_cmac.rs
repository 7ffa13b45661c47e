//! AES-CMAC with keys of 32 bytes (`aes_cmac_prf.proto`, RFC 4493): outputs of at most 16 bytes.

use cmac::{Cmac, KeyInit, Mac};
use fieldveil_aes_simd::Aes256;
use prost::Message;
use zeroize::Zeroizing;

use super::{PrfKey, truncate};
use crate::error::CryptError;
use crate::keyset::key_value;
use crate::proto::KeyInField2;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesCmacPrfKey";

/// The keyed state, which each computation starts from.
struct AesCmacPrf(Cmac<Aes256>);

impl PrfKey for AesCmacPrf {
    fn compute(&self, input: &[&[u8]], output: &mut [u8]) -> Result<(), CryptError> {
        let mut mac = self.0.clone();
        input.iter().for_each(|part| mac.update(part));
        let mac: Zeroizing<[u8; 16]> = Zeroizing::new(mac.finalize().into_bytes().into());
        truncate(mac.as_slice(), output)
    }
}

pub(super) fn read(value: &[u8]) -> Option<Box<dyn PrfKey>> {
    let message = KeyInField2::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    Some(Box::new(AesCmacPrf(Cmac::new_from_slice(&key).ok()?)))
}
