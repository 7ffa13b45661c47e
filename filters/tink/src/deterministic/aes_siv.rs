//! AES-SIV with keys of 64 bytes (`aes_siv.proto`, RFC 5297): the synthetic IV of 16 bytes, then the
//! ciphertext. The associated data is one component of S2V, also when it is empty.

use fieldveil_aes_simd::Aes256Siv;
use prost::Message;
use zeroize::Zeroizing;

use crate::error::CryptError;
use crate::keyset::key_value;
use crate::primitives::PREFIX_LEN;
use crate::proto::KeyInField2;

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.AesSivKey";
const IV_LEN: usize = 16;

/// A key, ready for use.
pub(super) struct AesSivKey(Aes256Siv);

pub(super) fn read(value: &[u8]) -> Option<AesSivKey> {
    let message = KeyInField2::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    Aes256Siv::new(&key).map(AesSivKey)
}

impl AesSivKey {
    pub(super) fn encrypt(
        &self,
        prefix: [u8; PREFIX_LEN],
        plaintext: &[u8],
        associated_data: &[u8],
    ) -> Result<Vec<u8>, CryptError> {
        let start = PREFIX_LEN.saturating_add(IV_LEN);
        let mut out = Vec::with_capacity(start.saturating_add(plaintext.len()));
        out.extend_from_slice(&prefix);
        out.extend_from_slice(&[0; IV_LEN]);
        out.extend_from_slice(plaintext);
        let body = out.get_mut(start..).unwrap_or_default();
        let iv = self.0.encrypt_inout_detached(associated_data, body.into());
        out.get_mut(PREFIX_LEN..start).unwrap_or_default().copy_from_slice(&iv);
        Ok(out)
    }

    pub(super) fn decrypt(
        &self,
        rest: &[u8],
        associated_data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, CryptError> {
        let (iv, body) = rest.split_first_chunk::<IV_LEN>().ok_or(CryptError::Malformed)?;
        let mut plaintext = Zeroizing::new(body.to_vec());
        self.0
            .decrypt_inout_detached(associated_data, plaintext.as_mut_slice().into(), iv)
            .map_err(|_| CryptError::NotAuthentic)?;
        Ok(plaintext)
    }
}
