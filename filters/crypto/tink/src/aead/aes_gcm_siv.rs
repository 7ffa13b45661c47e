//! AES-GCM-SIV with keys of 16 or 32 bytes (`aes_gcm_siv.proto`): nonces of 12 bytes.

use fieldveil_aes_simd::{Aes128GcmSiv, Aes256GcmSiv};
use prost::Message;

use super::{AeadKey, NonceCipher};
use crate::keyset::key_value;
use crate::proto::KeyInField3;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesGcmSivKey";

pub(super) fn read(value: &[u8]) -> Option<Box<dyn AeadKey>> {
    let message = KeyInField3::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    match key.len() {
        16 => Some(Box::new(NonceCipher::<Aes128GcmSiv>::new(&key)?)),
        _ => Some(Box::new(NonceCipher::<Aes256GcmSiv>::new(&key)?)),
    }
}
