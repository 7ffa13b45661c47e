//! XChaCha20-Poly1305 with keys of 32 bytes (`xchacha20_poly1305.proto`): nonces of 24 bytes.

use chacha20poly1305::XChaCha20Poly1305;
use prost::Message;

use super::{AeadKey, NonceCipher};
use crate::keyset::key_value;
use crate::proto::KeyInField3;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.XChaCha20Poly1305Key";

pub(super) fn read(value: &[u8]) -> Option<Box<dyn AeadKey>> {
    let message = KeyInField3::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    Some(Box::new(NonceCipher::<XChaCha20Poly1305>::new(&key)?))
}
