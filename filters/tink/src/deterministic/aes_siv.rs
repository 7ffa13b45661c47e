//! AES-SIV with keys of 64 bytes (`aes_siv.proto`, RFC 5297): the synthetic IV of 16 bytes, then the
//! ciphertext. The associated data is one component of S2V, also when it is empty.

use fieldveil_aes_simd::{Aes256Siv, SivMessage};
use prost::Message;

use crate::batch::{Opened, RUN, Sealed, append_bodies, judge, take};
use crate::buffer::{append, reserve_wiping};
use crate::error::CryptError;
use crate::keyset::key_value;
use crate::proto::KeyInField2;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesSivKey";
/// Bytes of the synthetic IV.
pub(super) const IV_LEN: usize = 16;

/// A key, ready for use.
pub(super) struct AesSivKey(Aes256Siv);

pub(super) fn read(value: &[u8]) -> Option<AesSivKey> {
    let message = KeyInField2::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    Aes256Siv::new(&key).map(AesSivKey)
}

impl AesSivKey {
    /// Appends the synthetic IV and the ciphertext.
    pub(super) fn encrypt_into(&self, plaintext: &[u8], associated_data: &[u8], out: &mut Vec<u8>) {
        out.reserve(IV_LEN.saturating_add(plaintext.len()));
        let before = out.len();
        out.extend_from_slice(&[0; IV_LEN]);
        out.extend_from_slice(plaintext);
        let added = out.get_mut(before..).unwrap_or_default();
        if let Some((place, body)) = added.split_first_chunk_mut::<IV_LEN>() {
            *place = self.0.encrypt_inout_detached(associated_data, body.into());
        }
    }

    /// Appends the plaintext, or nothing.
    pub(super) fn decrypt_into(
        &self,
        rest: &[u8],
        associated_data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CryptError> {
        let (iv, body) = rest.split_first_chunk::<IV_LEN>().ok_or(CryptError::Malformed)?;
        reserve_wiping(out, body.len());
        append(out, body, |body| self.0.decrypt_inout_detached(associated_data, body.into(), iv))
            .map_err(|_| CryptError::NotAuthentic)
    }
    /// Appends the plaintexts of values without their prefixes, and an outcome for each.
    pub(super) fn decrypt_run(&self, run: &[Sealed<'_>], out: &mut Vec<u8>, opened: &mut Vec<Opened>) {
        let (start, first) = (out.len(), opened.len());
        let split = |sealed: &Sealed<'_>| {
            let (iv, body) = sealed.ciphertext.split_first_chunk::<IV_LEN>()?;
            Some((*iv, body.len()))
        };
        append_bodies(run.iter().map(|sealed| sealed.ciphertext.get(IV_LEN..)), out, opened);
        let mut rest = out.get_mut(start..).unwrap_or_default();
        let mut lanes: [SivMessage<'_>; RUN] = Default::default();
        for (lane, sealed) in lanes.iter_mut().zip(run) {
            if let Some((iv, len)) = split(sealed) {
                *lane = SivMessage::new(sealed.associated_data, take(&mut rest, len), iv);
            }
        }
        self.0.open_batch(lanes.get_mut(..run.len()).unwrap_or_default());
        judge(opened.get_mut(first..).unwrap_or_default(), lanes.iter().map(SivMessage::is_open));
    }
}
