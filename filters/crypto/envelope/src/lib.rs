//! The envelope: the bytes that stand in place of a protected value.
//!
//! ```text
//! envelope   = magic version label-tag body
//! magic      = %xF7
//! version    = %x01                   ; AEAD or deterministic, told apart by the key's type
//!            / %x02                   ; blind index, then AEAD
//! label-tag  = 4OCTET                 ; first 4 bytes of SHA-256("fieldveil label" 0x00 label)
//! body       = tink-ciphertext        ; version 1: exactly what Tink writes (0x01, key id, IV, ct, tag)
//!            / index tink-ciphertext  ; version 2: index = first 16 bytes of the PRF over the index input
//! armored    = "fv1." base64url       ; unpadded; how an envelope stands in a text column or a JSON string
//! ```
//!
//! The associated data of the Tink ciphertext is `"fieldveil/v1" 0x00 label 0x00 tenant`: a value moved to a field of
//! another label, or to another tenant, does not open.
//!
//! The index input is `"fieldveil/index/v1" 0x00 label 0x00 tenant 0x00 plaintext`: equal values of one label and tenant have
//! equal indexes, and those of two labels do not, even under one PRF keyset.
//!
//! This crate frames; it encrypts nothing and proves nothing. That bytes parse as an envelope says only that they look
//! like one: anybody can write such bytes. Only opening the Tink part says that a value is genuine.
//!
//! It assumes that labels hold no NUL byte (and refuses those that do), and that the caller bounds the input: what is
//! allocated here never exceeds a small multiple of it. These formats are frozen: `testdata/` holds envelopes that must be
//! understood for ever.

mod armor;
mod envelope;
mod error;
mod index;
mod label;
mod layout;

pub use armor::{
    ARMOR_PREFIX, MIN_ARMORED_LEN, armor, armor_to, armored_len, is_armored, looks_sealed, unarmor,
    unarmor_into, unarmor_to,
};
pub use envelope::{Envelope, MAGIC, write_header};
pub use error::EnvelopeError;
pub use index::{
    ARMORED_INDEX_PREFIX_LEN, RAW_INDEX_PREFIX_LEN, index_input, index_prefix_armored, index_prefix_raw,
    write_indexed_header,
};
pub use label::{LabelTag, associated_data};
pub use layout::{HEADER_LEN, INDEX_LEN, LABEL_TAG_LEN, MIN_LEN, Version};
