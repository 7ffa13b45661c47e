//! AES and GHASH in vectors of sixteen bytes.

mod bitslice;
mod cipher;
mod gcm;
mod gcm_siv;
mod ghash;
mod permute;
mod schedule;
mod tables;
mod vector;

pub use cipher::{Aes128, Aes192, Aes256};
pub use gcm::AesGcm;
pub use gcm_siv::AesGcmSiv;
pub use ghash::{GHash, GHashKey};
