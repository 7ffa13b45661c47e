//! What a SPIFFE ID looks like.

/// SPIFFE-ID, 2.3: implementations support as many bytes, and should make none longer.
const MAX_SPIFFE_ID: usize = 2048;

/// Checks that the text is empty, or has the form of a SPIFFE ID. Its issuer has checked what follows the scheme.
pub fn check_spiffe_id(id: &str) -> Result<(), &'static str> {
    let is_written = id.bytes().all(|byte| byte.is_ascii_graphic());
    match id.is_empty() || (id.starts_with("spiffe://") && is_written && id.len() <= MAX_SPIFFE_ID) {
        true => Ok(()),
        false => Err("it is no SPIFFE id; write it as spiffe://example.org/shop/orders"),
    }
}
