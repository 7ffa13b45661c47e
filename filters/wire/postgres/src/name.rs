//! Names of prepared statements and portals, as the server tells them apart.

/// Bytes of a name that count: NAMEDATALEN - 1 of a server built as usual.
pub const SIGNIFICANT_NAME: usize = 63;

/// The part of a statement's or portal's name that the server looks at.
///
/// The server's tables of statements and portals have fixed keys of NAMEDATALEN bytes and cut longer names
/// silently, so that two names that share their first 63 bytes are *one* statement to it. Whoever keeps a map
/// of statements or portals beside the server's must key it by this, or the two disagree about which
/// statement a Bind means. The cut is by bytes, without regard to the encoding, as the server's is.
pub fn significant(name: &[u8]) -> &[u8] {
    name.get(..SIGNIFICANT_NAME).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_share_63_bytes_are_one_name() {
        let (a, b) = ([b"x".repeat(63), b"1".to_vec()].concat(), [b"x".repeat(63), b"2".to_vec()].concat());
        assert_eq!(significant(&a), significant(&b));
        assert_ne!(significant(&a[1..]), significant(&b[1..]));
        assert_eq!(significant(b""), b"");
    }
}
