//! Tink keysets and the primitives that fields are sealed with, byte for byte as stock Tink has them.
//!
//! AEAD with AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305 and XChaCha20-Poly1305; deterministic AEAD with AES-SIV;
//! both with output prefix TINK. PRFs with HMAC, HKDF and AES-CMAC, without prefix. Not a general Tink: it opens no encrypted keysets (the key agent does), manages no keys
//! and keeps none on disk. It assumes one thread, and randomness that its caller provides through [`Random`].

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod aead;
mod batch;
mod buffer;
mod deterministic;
mod error;
mod keyset;
mod limits;
mod prf;
mod primitives;
mod proto;
mod random;

pub use aead::Aead;
pub use batch::{Opened, Sealed};
pub use buffer::reserve_wiping;
pub use deterministic::DeterministicAead;
pub use error::{CryptError, KeysetError};
pub use keyset::Keyset;
pub use prf::Prf;
pub use random::Random;
