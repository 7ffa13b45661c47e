//! Length-encoded integers: one byte up to 250, or 0xFC, 0xFD, 0xFE and two, three, eight bytes.

/// The byte that stands for NULL where a length-encoded string may be NULL.
pub const NULL: u8 = 0xfb;

/// What a length-encoded integer's bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lenenc {
    /// An integer, and how many bytes it takes. It need not be the shortest way to write it.
    Integer {
        /// The integer.
        value: u64,
        /// Bytes it takes.
        len: usize,
    },
    /// 0xFB: NULL in a row.
    Null,
    /// 0xFF begins no integer (it begins an error).
    Invalid,
}

impl Lenenc {
    /// Reads what `bytes` begin with; `None` until it is complete.
    pub fn peek(bytes: &[u8]) -> Option<Self> {
        let (&first, rest) = bytes.split_first()?;
        Some(match first {
            0..NULL => Self::Integer { value: first.into(), len: 1 },
            NULL => Self::Null,
            0xfc => Self::Integer { value: u16::from_le_bytes(*rest.first_chunk()?).into(), len: 3 },
            0xfd => {
                let [a, b, c] = *rest.first_chunk()?;
                Self::Integer { value: u32::from_le_bytes([a, b, c, 0]).into(), len: 4 }
            }
            0xfe => Self::Integer { value: u64::from_le_bytes(*rest.first_chunk()?), len: 9 },
            0xff => Self::Invalid,
        })
    }
}

/// Appends an integer in the shortest of its forms.
pub fn push_integer(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    let (first, len): (u8, usize) = match value {
        0..=250 => {
            let [first, ..] = bytes;
            return out.push(first);
        }
        251..=0xffff => (0xfc, 2),
        0x1_0000..=0xff_ffff => (0xfd, 3),
        _ => (0xfe, 8),
    };
    out.push(first);
    out.extend(bytes.iter().take(len));
}

/// Appends a string with its length.
pub fn push_string(out: &mut Vec<u8>, bytes: &[u8]) {
    // Lossless: no target of Rust has longer slices.
    push_integer(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a string with its length, or NULL.
pub fn push_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => out.push(NULL),
        Some(bytes) => push_string(out, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_shortest_form_and_come_back() {
        for (value, len) in [
            (0, 1),
            (250, 1),
            (251, 3),
            (0xffff, 3),
            (0x1_0000, 4),
            (0xff_ffff, 4),
            (0x100_0000, 9),
            (u64::MAX, 9),
        ] {
            let mut out = Vec::new();
            push_integer(&mut out, value);
            assert_eq!(out.len(), len);
            assert_eq!(Lenenc::peek(&out), Some(Lenenc::Integer { value, len }));
            for have in 0..len {
                assert_eq!(Lenenc::peek(&out[..have]), None);
            }
        }
    }

    #[test]
    fn null_and_the_error_byte_are_no_integers() {
        assert_eq!(Lenenc::peek(b"\xfb"), Some(Lenenc::Null));
        assert_eq!(Lenenc::peek(b"\xff\0\0\0\0\0\0\0\0"), Some(Lenenc::Invalid));
    }

    #[test]
    fn longer_forms_than_needed_are_read() {
        assert_eq!(Lenenc::peek(b"\xfc\x05\0"), Some(Lenenc::Integer { value: 5, len: 3 }));
    }
}
