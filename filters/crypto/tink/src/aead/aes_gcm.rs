//! AES-GCM with keys of 16 or 32 bytes (`aes_gcm.proto`): nonces of 12 bytes.

use ::aes_gcm::aead::AeadInOut;
use ::aes_gcm::aead::consts::{U12, U16};
use fieldveil_aes_simd::{Aes128Gcm, Aes256Gcm, Message as Lane, OpenBatch};
use prost::Message;

use super::{AeadKey, NonceCipher};
use crate::Random;
use crate::batch::{Opened, RUN, Sealed, append_bodies, judge, take};
use crate::error::CryptError;
use crate::keyset::key_value;
use crate::proto::KeyInField3;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesGcmKey";

pub(super) fn read(value: &[u8]) -> Option<Box<dyn AeadKey>> {
    let message = KeyInField3::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    match key.len() {
        16 => Some(Box::new(GcmKey::<Aes128Gcm>(NonceCipher::new(&key)?))),
        _ => Some(Box::new(GcmKey::<Aes256Gcm>(NonceCipher::new(&key)?))),
    }
}

/// As the others, and many values side by side.
struct GcmKey<C>(NonceCipher<C>);

/// Nonce, body and tag.
fn split(ciphertext: &[u8]) -> Option<([u8; 12], &[u8], [u8; 16])> {
    let (nonce, rest) = ciphertext.split_first_chunk()?;
    let (body, tag) = rest.split_last_chunk()?;
    Some((*nonce, body, *tag))
}

impl<C: AeadInOut<NonceSize = U12, TagSize = U16> + OpenBatch> AeadKey for GcmKey<C> {
    fn overhead(&self) -> usize {
        self.0.overhead()
    }

    fn encrypt_into(
        &self,
        random: &mut dyn Random,
        plaintext: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        self.0.encrypt_into(random, plaintext, associated_data, out)
    }

    fn decrypt_into(&self, rest: &[u8], associated_data: &[u8], out: &mut Vec<u8>) -> Result<(), CryptError> {
        self.0.decrypt_into(rest, associated_data, out)
    }

    fn decrypt_run(&self, run: &[Sealed<'_>], out: &mut Vec<u8>, opened: &mut Vec<Opened>) {
        let (start, first) = (out.len(), opened.len());
        append_bodies(run.iter().map(|sealed| Some(split(sealed.ciphertext)?.1)), out, opened);
        let mut rest = out.get_mut(start..).unwrap_or_default();
        let mut lanes: [Lane<'_>; RUN] = Default::default();
        for (lane, sealed) in lanes.iter_mut().zip(run) {
            if let Some((nonce, body, tag)) = split(sealed.ciphertext) {
                *lane = Lane::new(nonce, sealed.associated_data, take(&mut rest, body.len()), tag);
            }
        }
        self.0.0.open_batch(lanes.get_mut(..run.len()).unwrap_or_default());
        judge(opened.get_mut(first..).unwrap_or_default(), lanes.iter().map(Lane::is_open));
    }
}
