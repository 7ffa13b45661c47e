//! The blind index of a version 2 envelope: what it is computed over, and the prefix that envelopes of one value share.
//!
//! ```text
//! magic version label-tag index tink-ciphertext
//! `------- 22 bytes ----------' the same for equal values of one label and tenant
//! ```

use zeroize::Zeroizing;

use crate::envelope::MAGIC;
use crate::label::LabelTag;
use crate::layout::{HEADER_LEN, INDEX_LEN, LABEL_TAG_LEN, Version};
use crate::{ARMOR_PREFIX, EnvelopeError, armor};

/// Bytes of a raw envelope that equal values share: magic, version, label tag, index.
pub const RAW_INDEX_PREFIX_LEN: usize = HEADER_LEN + INDEX_LEN;

/// Characters of an armored envelope that equal values share: `fv1.` and 29 of base64url. The next one holds the last two
/// bits of the 22 bytes, but four of what follows them, too.
pub const ARMORED_INDEX_PREFIX_LEN: usize = ARMOR_PREFIX.len() + RAW_INDEX_PREFIX_LEN * 4 / 3;

const INPUT_DOMAIN: &[u8] = b"fieldveil/index/v1";
const SEPARATOR: u8 = 0;

/// What the PRF is computed over: `"fieldveil/index/v1" 0x00 label 0x00 tenant 0x00 plaintext`. The index is the first
/// [`INDEX_LEN`] bytes of its output.
///
/// # Errors
/// [`EnvelopeError::NulInLabel`], [`EnvelopeError::NulInTenant`]: with a NUL there, values of two fields could share an index.
pub fn index_input(label: &str, tenant: &str, plaintext: &[u8]) -> Result<Zeroizing<Vec<u8>>, EnvelopeError> {
    if label.bytes().any(|byte| byte == SEPARATOR) {
        return Err(EnvelopeError::NulInLabel);
    }
    if tenant.bytes().any(|byte| byte == SEPARATOR) {
        return Err(EnvelopeError::NulInTenant);
    }
    Ok(Zeroizing::new([INPUT_DOMAIN, label.as_bytes(), tenant.as_bytes(), plaintext].join(&SEPARATOR)))
}

/// What every raw envelope of one value begins with, and of no other.
pub fn index_prefix_raw(label_tag: LabelTag, index: &[u8; INDEX_LEN]) -> [u8; RAW_INDEX_PREFIX_LEN] {
    let mut prefix = [0; RAW_INDEX_PREFIX_LEN];
    let [magic, version, rest @ ..] = &mut prefix;
    *magic = MAGIC;
    *version = Version::V2.byte();
    let (tag_room, index_room) = rest.split_at_mut(LABEL_TAG_LEN);
    tag_room.copy_from_slice(&label_tag.0);
    index_room.copy_from_slice(index);
    prefix
}

/// Appends magic, version 2, label tag and index; the caller appends the Tink ciphertext.
pub fn write_indexed_header(out: &mut Vec<u8>, label_tag: LabelTag, index: &[u8; INDEX_LEN]) {
    out.extend_from_slice(&index_prefix_raw(label_tag, index));
}

/// What every armored envelope of one value begins with: [`ARMORED_INDEX_PREFIX_LEN`] characters, the longest prefix that
/// the ciphertext has no part in. It tells 126 of the index's 128 bits.
pub fn index_prefix_armored(label_tag: LabelTag, index: &[u8; INDEX_LEN]) -> String {
    let mut prefix = armor(&index_prefix_raw(label_tag, index));
    prefix.truncate(ARMORED_INDEX_PREFIX_LEN);
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: LabelTag = LabelTag([1, 2, 3, 4]);
    const INDEX: [u8; INDEX_LEN] = [0xA0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xFF];

    #[test]
    fn lengths_are_those_that_stored_expressions_name() {
        assert_eq!((RAW_INDEX_PREFIX_LEN, ARMORED_INDEX_PREFIX_LEN), (22, 33));
    }

    #[test]
    fn raw_prefix_is_magic_version_2_tag_and_index() {
        let expected = [&[0xF7, 2, 1, 2, 3, 4][..], &INDEX].concat();
        assert_eq!(index_prefix_raw(TAG, &INDEX).as_slice(), expected);
    }

    #[test]
    fn input_is_domain_label_tenant_and_plaintext_between_nul_bytes() {
        let input = index_input("customer.ssn", "acme", b"078-05-1120").unwrap();
        assert_eq!(input.as_slice(), b"fieldveil/index/v1\0customer.ssn\0acme\x00078-05-1120");
        assert_eq!(index_input("a", "", b"\0").unwrap().as_slice(), b"fieldveil/index/v1\0a\0\0\0");
    }

    #[test]
    fn nul_in_label_or_tenant_is_refused() {
        assert_eq!(index_input("a\0b", "", b""), Err(EnvelopeError::NulInLabel));
        assert_eq!(index_input("a", "b\0", b""), Err(EnvelopeError::NulInTenant));
    }

    /// Whatever follows the 22 bytes, the prefix is there; and with one character more it would not be.
    #[test]
    fn armored_prefix_is_the_longest_that_no_ciphertext_changes() {
        let prefix = index_prefix_armored(TAG, &INDEX);
        assert_eq!(prefix.len(), ARMORED_INDEX_PREFIX_LEN);
        let mut next = std::collections::BTreeSet::new();
        for first in 0..=255 {
            let mut bytes = Vec::new();
            write_indexed_header(&mut bytes, TAG, &INDEX);
            bytes.extend_from_slice(&[first, 0, 0]);
            let armored = armor(&bytes);
            assert!(armored.starts_with(&prefix), "{armored}");
            next.insert(armored.as_bytes()[ARMORED_INDEX_PREFIX_LEN]);
        }
        assert!(next.len() > 1);
    }

    #[test]
    fn another_index_or_label_has_another_prefix() {
        for at in 0..INDEX_LEN {
            let mut other = INDEX;
            other[at] ^= 0x80;
            assert_ne!(index_prefix_armored(TAG, &INDEX), index_prefix_armored(TAG, &other), "{at}");
        }
        let other = LabelTag([1, 2, 3, 5]);
        assert_ne!(index_prefix_armored(TAG, &INDEX), index_prefix_armored(other, &INDEX));
    }
}
