//! Keysets' names, as policies and the key agent write them: `NAME`, or `NAME/TENANT` for a tenant's own.

/// Characters of a name, and of a tenant.
const MAX_PART: usize = 63;

/// Splits a keyset's name into name and tenant. None if it can not name a keyset.
pub fn split(keyset: &str) -> Option<(&str, Option<&str>)> {
    let (name, tenant) = match keyset.split_once('/') {
        Some((name, tenant)) => (name, Some(tenant)),
        None => (keyset, None),
    };
    (is_part(name) && tenant.is_none_or(is_part)).then_some((name, tenant))
}

/// Lower case alone, so that names stay apart on file systems that fold it, and no dot, which divides a file's name.
fn is_part(text: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= MAX_PART
        && text.as_bytes().first().is_some_and(plain)
        && text.bytes().all(|byte| plain(&byte) || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn name_and_tenant_are_told_apart() {
        assert_eq!(split("pii"), Some(("pii", None)));
        assert_eq!(split("pii/acme"), Some(("pii", Some("acme"))));
        let long = "a".repeat(63);
        assert_eq!(split(&format!("{long}/0_-")), Some((long.as_str(), Some("0_-"))));
    }

    #[test]
    fn what_names_no_keyset_is_refused() {
        let long = "a".repeat(64);
        for name in [
            "", "/", "pii/", "/acme", "pii/a/b", "PII", "pii/Acme", "_pii", "pii/-a", "pii.acme", "pii/a b",
            "pïi", &long,
        ] {
            assert_eq!(split(name), None, "{name}");
        }
    }
}
