//! Where the key comes from.

use crate::error::Ff1Error;

/// Bytes of a key: AES-256.
pub const KEY_LEN: usize = 32;

const DOMAIN: &[u8] = b"fieldveil/ff1/v1";

/// What the label's PRF is computed over to have a key: `"fieldveil/ff1/v1" 0x00 label 0x00 tenant`. The key is the first
/// [`KEY_LEN`] bytes of its output.
///
/// # Errors
/// [`Ff1Error::Nul`]: with a NUL in one of them, two pairs of label and tenant could share a key.
pub fn key_input(label: &str, tenant: &str) -> Result<Vec<u8>, Ff1Error> {
    if label.contains('\0') || tenant.contains('\0') {
        return Err(Ff1Error::Nul);
    }
    Ok([DOMAIN, label.as_bytes(), tenant.as_bytes()].join(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_domain_label_and_tenant_between_nul_bytes() {
        assert_eq!(key_input("customer.phone", "acme").unwrap(), b"fieldveil/ff1/v1\0customer.phone\0acme");
        assert_eq!(key_input("customer.phone", "").unwrap(), b"fieldveil/ff1/v1\0customer.phone\0");
    }

    #[test]
    fn nul_in_label_or_tenant_is_refused() {
        assert_eq!(key_input("a\0", ""), Err(Ff1Error::Nul));
        assert_eq!(key_input("a", "b\0c"), Err(Ff1Error::Nul));
    }
}
