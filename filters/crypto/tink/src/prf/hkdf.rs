//! HKDF with keys of 32 bytes or more (`hkdf_prf.proto`, RFC 5869): the input is HKDF's info. Outputs of at most 255
//! times the hash.

use hkdf::Hkdf;
use prost::Message;
use sha2::{Sha256, Sha512};

use super::PrfKey;
use crate::error::CryptError;
use crate::keyset::key_value;
use crate::proto::{HashPrfKey, SHA256, SHA512};

pub(super) const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.HkdfPrfKey";
/// Tink takes none that is shorter.
const MIN_KEY_LEN: usize = 32;

/// The extracted state, which each expansion starts from.
enum HkdfPrf {
    Sha256(Hkdf<Sha256>),
    Sha512(Hkdf<Sha512>),
}

impl PrfKey for HkdfPrf {
    fn compute(&self, input: &[&[u8]], output: &mut [u8]) -> Result<(), CryptError> {
        match self {
            Self::Sha256(hkdf) => {
                hkdf.expand_multi_info(input, output).map_err(|_| CryptError::OutputTooLong(255 * 32))
            }
            Self::Sha512(hkdf) => {
                hkdf.expand_multi_info(input, output).map_err(|_| CryptError::OutputTooLong(255 * 64))
            }
        }
    }
}

pub(super) fn read(value: &[u8]) -> Option<Box<dyn PrfKey>> {
    let message = HashPrfKey::decode(value).ok()?;
    let key = key_value((message.version, message.key_value))?;
    if key.len() < MIN_KEY_LEN {
        return None;
    }
    let params = message.params?;
    let prf = match params.hash {
        SHA256 => HkdfPrf::Sha256(Hkdf::new(Some(&params.salt), &key)),
        SHA512 => HkdfPrf::Sha512(Hkdf::new(Some(&params.salt), &key)),
        _ => return None,
    };
    Some(Box::new(prf))
}
