//! FF1, the format-preserving encryption of NIST SP 800-38G, over the alphabets that labels name: a value of digits
//! becomes another value of as many digits.
//!
//! Use it where the column can not hold an envelope, and for nothing else. What it gives has **no integrity** (every
//! value of the format opens, a changed or foreign one to nonsense), **no key id** (the key can not be rotated in
//! place), and is deterministic: equal values of one key and tweak are equal.
//!
//! The key is 32 bytes of the label's PRF over [`key_input`], so that each label and tenant has a key of its own; the
//! caller computes it, and keeps the [`Ff1`]: to make one costs as much as some values. It assumes that the caller bounds
//! the tweak. Numbers on the way are not wiped.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod alphabet;
mod error;
mod ff1;
mod key;
mod short;

pub use alphabet::{Alphabet, MAX_LEN, MIN_DOMAIN, UnknownAlphabet};
pub use error::Ff1Error;
pub use ff1::{Ff1, cost};
pub use key::{KEY_LEN, key_input};
