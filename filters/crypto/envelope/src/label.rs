//! What ties an envelope to its label: the tag in the header and the associated data.

use sha2::{Digest, Sha256};

use crate::EnvelopeError;
use crate::layout::LABEL_TAG_LEN;

const TAG_DOMAIN: &[u8] = b"fieldveil label\0";
const ASSOCIATED_DATA_DOMAIN: &[u8] = b"fieldveil/v1";
const SEPARATOR: u8 = 0;

/// Which label a value was sealed under, in four bytes: enough to find the label again when the column of origin is lost,
/// no proof of anything. Two labels of one catalog may share a tag by chance: whoever looks labels up by tag must notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelTag(pub [u8; LABEL_TAG_LEN]);

impl LabelTag {
    /// The tag of a label: the first bytes of `SHA-256("fieldveil label" 0x00 label)`.
    pub fn of(label: &str) -> Self {
        let digest: [u8; 32] = Sha256::new().chain_update(TAG_DOMAIN).chain_update(label).finalize().into();
        let [a, b, c, d, ..] = digest;
        Self([a, b, c, d])
    }
}

/// The associated data under which a value of this label and tenant (`""`: none) is sealed:
/// `"fieldveil/v1" 0x00 label 0x00 tenant`. The same for every value, so make it once.
///
/// # Errors
/// [`EnvelopeError::NulInLabel`]: with a NUL in the label, two pairs of label and tenant could share associated data.
pub fn associated_data(label: &str, tenant: &str) -> Result<Vec<u8>, EnvelopeError> {
    if label.bytes().any(|byte| byte == SEPARATOR) {
        return Err(EnvelopeError::NulInLabel);
    }
    Ok([ASSOCIATED_DATA_DOMAIN, label.as_bytes(), tenant.as_bytes()].join(&SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_tag_is_the_head_of_the_domain_separated_digest() {
        // printf 'fieldveil label\0customer.ssn' | sha256sum
        assert_eq!(LabelTag::of("customer.ssn"), LabelTag([0x27, 0x55, 0xf6, 0xd5]));
        assert_ne!(LabelTag::of("customer.ssn"), LabelTag::of("customer.ss"));
    }

    #[test]
    fn associated_data_is_domain_label_tenant_between_nul_bytes() {
        assert_eq!(associated_data("customer.ssn", "acme").unwrap(), b"fieldveil/v1\0customer.ssn\0acme");
        assert_eq!(associated_data("customer.ssn", "").unwrap(), b"fieldveil/v1\0customer.ssn\0");
    }

    #[test]
    fn label_with_a_nul_byte_is_refused() {
        assert_eq!(associated_data("a\0b", ""), Err(EnvelopeError::NulInLabel));
        assert!(associated_data("a", "b\0").is_ok());
    }
}
