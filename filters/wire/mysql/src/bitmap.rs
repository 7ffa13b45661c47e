//! Bits that tell which values are NULL.

/// Bytes that a bitmap of this many bits takes.
pub(crate) fn len(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Whether a bit is set.
#[inline]
pub(crate) fn is_set(bitmap: &[u8], bit: usize) -> bool {
    bitmap.get(bit.wrapping_div(8)).is_some_and(|byte| byte & mask(bit) != 0)
}

/// Sets a bit.
#[inline]
pub(crate) fn set(bitmap: &mut [u8], bit: usize) {
    if let Some(byte) = bitmap.get_mut(bit.wrapping_div(8)) {
        *byte |= mask(bit);
    }
}

fn mask(bit: usize) -> u8 {
    1 << (bit & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_where_they_were_set() {
        assert_eq!((len(0), len(1), len(8), len(9)), (0, 1, 1, 2));
        let mut bitmap = [0; 2];
        set(&mut bitmap, 0);
        set(&mut bitmap, 9);
        set(&mut bitmap, 99);
        assert_eq!(bitmap, [1, 2]);
        assert!(is_set(&bitmap, 9) && !is_set(&bitmap, 8) && !is_set(&bitmap, 99));
    }
}
