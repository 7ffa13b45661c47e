//! ChaCha20-Poly1305 with keys of 32 bytes (`chacha20_poly1305.proto`): nonces of 12 bytes.

use chacha20poly1305::ChaCha20Poly1305;
use prost::Message;

use super::{AeadKey, NonceCipher};
use crate::keyset::key_value;
use crate::proto::KeyInField2;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.ChaCha20Poly1305Key";

pub(super) fn read(value: &[u8]) -> Option<Box<dyn AeadKey>> {
    let message = KeyInField2::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    Some(Box::new(NonceCipher::<ChaCha20Poly1305>::new(&key)?))
}
