//! AES-GCM with keys of 16 or 32 bytes (`aes_gcm.proto`): nonces of 12 bytes.

use std::ops::Range;

use ::aes_gcm::aead::AeadInOut;
use ::aes_gcm::aead::consts::{U12, U16};
use fieldveil_aes_simd::{AeadBatch, Aes128Gcm, Aes256Gcm, Message as Lane};
use prost::Message;

use super::{AeadKey, NonceCipher, TAG_LEN};
use crate::Random;
use crate::batch::{Opened, RUN, Sealed, ToSeal, append_bodies, judge, take};
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

/// Bytes of a nonce.
const NONCE_LEN: usize = 12;

/// Nonce, body and tag.
fn split(ciphertext: &[u8]) -> Option<([u8; NONCE_LEN], &[u8], [u8; TAG_LEN])> {
    let (nonce, rest) = ciphertext.split_first_chunk()?;
    let (body, tag) = rest.split_last_chunk()?;
    Some((*nonce, body, *tag))
}

impl<C: AeadInOut<NonceSize = U12, TagSize = U16> + AeadBatch + Send + Sync> AeadKey for GcmKey<C> {
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

    fn encrypt_run(
        &self,
        random: &mut dyn Random,
        run: ToSeal<'_>,
        out: &mut Vec<u8>,
        sealed: &mut Vec<Range<usize>>,
    ) -> Result<(), CryptError> {
        let start = out.len();
        // All room at once: no plaintext is left where the buffer was before it grew.
        out.reserve(run.sealed_len(self.overhead()));
        for plaintext in run.plaintexts {
            let start = out.len();
            out.extend_from_slice(run.header);
            let mut nonce = [0; NONCE_LEN];
            random.fill(&mut nonce);
            out.extend_from_slice(&nonce);
            out.extend_from_slice(plaintext);
            out.extend_from_slice(&[0; TAG_LEN]);
            sealed.push(start..out.len());
        }
        let mut rest = out.get_mut(start..).unwrap_or_default();
        let mut lanes: [Lane<'_>; RUN] = Default::default();
        let mut tags: [&mut [u8]; RUN] = Default::default();
        for ((lane, tag), plaintext) in lanes.iter_mut().zip(&mut tags).zip(run.plaintexts) {
            take(&mut rest, run.header.len());
            let nonce = take(&mut rest, NONCE_LEN).first_chunk().copied().unwrap_or_default();
            *lane = Lane::to_be_sealed(nonce, run.associated_data, take(&mut rest, plaintext.len()));
            *tag = take(&mut rest, TAG_LEN);
        }
        let lanes = lanes.get_mut(..run.plaintexts.len()).unwrap_or_default();
        self.0.0.seal_batch(lanes);
        for (lane, tag) in lanes.iter().zip(tags) {
            let place = tag.first_chunk_mut().filter(|_| lane.is_done()).ok_or(CryptError::TooLong)?;
            *place = *lane.tag();
        }
        Ok(())
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
        judge(opened.get_mut(first..).unwrap_or_default(), lanes.iter().map(Lane::is_done));
    }
}
