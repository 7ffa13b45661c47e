//! One field of the text format.

use std::borrow::Cow;

use memchr::memchr;

use super::Dialect;

/// The value of a field as written, None for NULL. One without an escape is where it stands.
pub fn decode<'r>(dialect: &Dialect, raw: &'r [u8]) -> Option<Cow<'r, [u8]>> {
    if raw == dialect.null {
        return None;
    }
    if memchr(b'\\', raw).is_none() {
        return Some(Cow::Borrowed(raw));
    }
    let mut value = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'\\' {
            value.push(*byte);
            continue;
        }
        let Some((escaped, behind)) = rest.split_first() else {
            value.push(b'\\');
            break;
        };
        rest = behind;
        value.push(match escaped {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'0'..=b'7' => {
                let (number, taken) = digits(escaped.wrapping_sub(b'0'), rest, 8, 2);
                rest = rest.get(taken..).unwrap_or_default();
                number
            }
            b'x' if rest.first().is_some_and(u8::is_ascii_hexdigit) => {
                let (number, taken) = digits(0, rest, 16, 2);
                rest = rest.get(taken..).unwrap_or_default();
                number
            }
            other => *other,
        });
    }
    Some(Cow::Owned(value))
}

/// Up to `most` digits behind what was read already, as the server reads them: cut to a byte.
fn digits(start: u8, rest: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let mut number = u32::from(start);
    let mut taken = 0_usize;
    for byte in rest.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(radix) else { break };
        number = number.wrapping_mul(radix).wrapping_add(digit);
        taken = taken.saturating_add(1);
    }
    (number.to_le_bytes().first().copied().unwrap_or_default(), taken)
}

/// Appends a value as a field, None for NULL.
pub fn encode(dialect: &Dialect, value: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(value) = value else { return out.extend_from_slice(&dialect.null) };
    // Without a way out of the loop, so that it becomes one over vectors. Most values, and all envelopes, need no escape.
    let may_need_escapes =
        |any, byte: &u8| any | (*byte < b' ') | (*byte == b'\\') | (*byte == dialect.delimiter);
    if !value.iter().fold(false, may_need_escapes) {
        return out.extend_from_slice(value);
    }
    for byte in value.iter().copied() {
        let escaped = match byte {
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x0b => b'v',
            b'\\' => b'\\',
            delimiter if delimiter == dialect.delimiter => delimiter,
            other => {
                out.push(other);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', escaped]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(delimiter: u8, null: &str) -> Dialect {
        Dialect { delimiter, null: null.into(), quotes: None }
    }

    #[test]
    fn escapes_are_the_servers() {
        let tabs = dialect(b'\t', "\\N");
        for (raw, value) in [
            ("a", Some("a")),
            ("\\N", None),
            ("", Some("")),
            ("a\\tb\\\\N", Some("a\tb\\N")),
            ("\\x41\\101\\x4g\\q\\7", Some("AA\x04gq\x07")),
            ("\\xg\\", Some("xg\\")),
            ("\\1234", Some("S4")),
        ] {
            assert_eq!(decode(&tabs, raw.as_bytes()).as_deref(), value.map(str::as_bytes), "{raw}");
        }
        assert_eq!(decode(&dialect(b'|', ""), b""), None);
    }

    #[test]
    fn what_is_written_reads_back() {
        for delimiter in [b'\t', b'|', b'-', b'_'] {
            let dialect = dialect(delimiter, "\\N");
            for value in ["", "a\tb\nc\rd\\e|f-g_h\x08\x0b\x0c", "\\N", "fv1.a-b_c"] {
                let mut out = Vec::new();
                encode(&dialect, Some(value.as_bytes()), &mut out);
                assert_eq!(decode(&dialect, &out).as_deref(), Some(value.as_bytes()));
                assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
            }
        }
    }
}
