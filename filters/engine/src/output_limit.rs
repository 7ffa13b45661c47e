//! Limits how many bytes of values one callback may write, because the worker serves nobody else meanwhile, and its memory never
//! shrinks.
//!
//! A short text can stand for a long one: `1e4000` is four thousand digits, and a body can be decoded from a few bytes. So
//! what is written is bounded by what came.

/// Bytes that are written whatever came. To write and seal that much of long numbers takes 0.15 s of a processor.
const FREE_BYTES: usize = 16 << 20;
/// Bytes that may be written for each byte that came, beyond that. Hexadecimal doubles the length of a value, and the spaces
/// that `jsonb` is written with add half as much at most.
const TIMES: usize = 2;

/// How many bytes of values one callback may still write.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputLimit {
    most: usize,
    left: usize,
}

/// A callback would write more bytes of values than this limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputTooLong(pub usize);

impl OutputLimit {
    /// Makes the limit of a callback that looks at so many bytes, as they came.
    pub fn of(came: usize) -> Self {
        let most = came.saturating_mul(TIMES).saturating_add(FREE_BYTES);
        Self { most, left: most }
    }

    /// Counts bytes of a value that are written.
    pub fn take(&mut self, bytes: usize) -> Result<(), OutputTooLong> {
        self.left = self.left.checked_sub(bytes).ok_or(OutputTooLong(self.most))?;
        Ok(())
    }
}
