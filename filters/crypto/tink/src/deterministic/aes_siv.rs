//! AES-SIV with keys of 64 bytes (`aes_siv.proto`, RFC 5297): the synthetic IV of 16 bytes, then the
//! ciphertext. The associated data is one component of S2V, also when it is empty.

use std::ops::Range;
use std::sync::{Mutex, TryLockError};

use fieldveil_aes_simd::{Aes256Siv, Associated, SivMessage};
use prost::Message;

use crate::batch::{Opened, RUN, Sealed, ToSeal, append_bodies, judge, take};
use crate::buffer::{append, reserve_wiping};
use crate::error::CryptError;
use crate::keyset::key_value;
use crate::proto::KeyInField2;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesSivKey";
/// Bytes of the synthetic IV.
pub(super) const IV_LEN: usize = 16;

/// Associated data whose MAC is kept: those of so many columns.
const KEPT: usize = 16;

/// A key, ready for use.
pub(super) struct AesSivKey {
    cipher: Aes256Siv,
    /// The MAC of associated data is half of the work for a short value, and the same for a column's. A thread that finds
    /// another at it computes the MAC itself, so that none waits.
    kept: Mutex<Kept>,
}

/// Associated data and its MAC, and which goes next where there are as many as are kept.
#[derive(Default)]
struct Kept {
    entries: Vec<(Vec<u8>, Associated)>,
    next: usize,
}

impl Kept {
    fn get(&mut self, cipher: &Aes256Siv, associated_data: &[u8]) -> Associated {
        if let Some((_, associated)) = self.entries.iter().find(|(known, _)| known == associated_data) {
            return associated.clone();
        }
        let associated = cipher.associate(associated_data);
        match self.entries.get_mut(self.next) {
            Some((known, kept)) => {
                known.clear();
                known.extend_from_slice(associated_data);
                *kept = associated.clone();
            }
            None => self.entries.push((associated_data.to_vec(), associated.clone())),
        }
        self.next = self.next.wrapping_add(1).checked_rem(KEPT).unwrap_or_default();
        associated
    }
}

pub(super) fn read(value: &[u8]) -> Option<AesSivKey> {
    let message = KeyInField2::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    Aes256Siv::new(&key).map(|cipher| AesSivKey { cipher, kept: Mutex::default() })
}

impl AesSivKey {
    fn associate(&self, associated_data: &[u8]) -> Associated {
        match self.kept.try_lock() {
            Ok(mut kept) => kept.get(&self.cipher, associated_data),
            // Another thread panicked at it, maybe between writing the data and its MAC: what is kept is no longer trusted.
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => {
                self.cipher.associate(associated_data)
            }
        }
    }

    /// Appends the synthetic IV and the ciphertext.
    pub(super) fn encrypt_into(&self, plaintext: &[u8], associated_data: &[u8], out: &mut Vec<u8>) {
        out.reserve(IV_LEN.saturating_add(plaintext.len()));
        let before = out.len();
        out.extend_from_slice(&[0; IV_LEN]);
        out.extend_from_slice(plaintext);
        let added = out.get_mut(before..).unwrap_or_default();
        if let Some((place, body)) = added.split_first_chunk_mut::<IV_LEN>() {
            *place = self.cipher.encrypt_associated(&self.associate(associated_data), body.into());
        }
    }

    /// Appends the ciphertexts of values, each behind its header, and where each is with it.
    pub(super) fn encrypt_run(&self, run: ToSeal<'_>, out: &mut Vec<u8>, sealed: &mut Vec<Range<usize>>) {
        let start = out.len();
        // All room at once: no plaintext is left where the buffer was before it grew.
        out.reserve(run.sealed_len(IV_LEN));
        for plaintext in run.plaintexts {
            let start = out.len();
            out.extend_from_slice(run.header);
            out.extend_from_slice(&[0; IV_LEN]);
            out.extend_from_slice(plaintext);
            sealed.push(start..out.len());
        }
        let associated = self.associate(run.associated_data);
        let mut rest = out.get_mut(start..).unwrap_or_default();
        let mut lanes: [SivMessage<'_>; RUN] = Default::default();
        let mut ivs: [&mut [u8]; RUN] = Default::default();
        for ((lane, iv), plaintext) in lanes.iter_mut().zip(&mut ivs).zip(run.plaintexts) {
            take(&mut rest, run.header.len());
            *iv = take(&mut rest, IV_LEN);
            *lane = SivMessage::to_be_sealed(associated.clone(), take(&mut rest, plaintext.len()));
        }
        let lanes = lanes.get_mut(..run.plaintexts.len()).unwrap_or_default();
        self.cipher.seal_batch(lanes);
        for (lane, iv) in lanes.iter().zip(ivs) {
            if let Some(place) = iv.first_chunk_mut() {
                *place = *lane.iv();
            }
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
        let associated = self.associate(associated_data);
        append(out, body, |body| self.cipher.decrypt_associated(&associated, body.into(), iv))
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
        let mut last: Option<(&[u8], Associated)> = None;
        for (lane, sealed) in lanes.iter_mut().zip(run) {
            let data = sealed.associated_data;
            let (_, associated) = match &last {
                Some(known) if std::ptr::eq(known.0, data) => known,
                _ => last.insert((data, self.associate(data))),
            };
            if let Some((iv, len)) = split(sealed) {
                *lane = SivMessage::new(associated.clone(), take(&mut rest, len), iv);
            }
        }
        self.cipher.open_batch(lanes.get_mut(..run.len()).unwrap_or_default());
        judge(opened.get_mut(first..).unwrap_or_default(), lanes.iter().map(SivMessage::is_open));
    }
}
