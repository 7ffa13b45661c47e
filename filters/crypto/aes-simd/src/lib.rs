//! AES for WebAssembly, which has no instructions for it, and the modes GCM, GCM-SIV and SIV.
//!
//! What it is: [`Aes128`], [`Aes192`] and [`Aes256`] as RustCrypto's modes of operation take them, the modes [`Aes128Gcm`],
//! [`Aes256Gcm`], [`Aes128GcmSiv`], [`Aes256GcmSiv`] and [`Aes256Siv`], and nothing else of AES.
//!
//! With Wasm's `simd128` these are this crate's own, in [`simd`]: constant-time and several times as fast as code without
//! vectors. Everywhere else they are those of the `aes`, `aes-gcm` and `aes-gcm-siv` crates, which know the processors' own
//! instructions; [`simd`] is there on x86-64 too, for tests and measurements. Block ciphers encrypt only: none of these
//! modes, nor CMAC or FF1, needs the inverse.
//!
//! It assumes that the host's compiler makes of each vector instruction one or a few whose time does not depend on the
//! operands, as V8 does. `docs/internals/aes.md` says how each part works, what shows that it is right, and what was measured.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used))]

mod batch;
#[cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]
pub mod simd;
mod siv;
mod stream;

pub use aes::cipher::{BlockCipherEncrypt, KeyInit};
pub use batch::{AeadBatch, Message};
pub use siv::{AesSiv, Associated, SivMessage};

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod chosen {
    use crate::simd;
    pub use simd::{Aes128, Aes192, Aes256};

    /// AES-GCM with keys of 16 bytes, nonces of 12 and tags of 16.
    pub type Aes128Gcm = simd::AesGcm<Aes128>;
    /// AES-GCM with keys of 32 bytes, nonces of 12 and tags of 16.
    pub type Aes256Gcm = simd::AesGcm<Aes256>;
    /// AES-GCM-SIV with keys of 16 bytes.
    pub type Aes128GcmSiv = simd::AesGcmSiv<Aes128>;
    /// AES-GCM-SIV with keys of 32 bytes.
    pub type Aes256GcmSiv = simd::AesGcmSiv<Aes256>;
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod chosen {
    pub use aes::{Aes128, Aes192, Aes256};
    pub use aes_gcm::{Aes128Gcm, Aes256Gcm};
    pub use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
}

pub use chosen::{Aes128, Aes128Gcm, Aes128GcmSiv, Aes192, Aes256, Aes256Gcm, Aes256GcmSiv};

/// AES-SIV with keys of 64 bytes.
pub type Aes256Siv = AesSiv<Aes256>;
