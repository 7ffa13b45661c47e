//! How much one callback may write of values, for the worker serves nobody else meanwhile and its memory never shrinks.
//!
//! A short text can stand for a long one: `1e4000` is four thousand digits, and a body can be decoded from a few bytes. So
//! what is written is bounded by what came.

/// Bytes that are written whatever came. To print and seal that much of long numbers takes 0.15 s of a processor.
const FREE_BYTES: usize = 16 << 20;
/// Bytes that are written for each that came, beyond that. A text comes to no more than twice its own length in bytes that
/// are told in hexadecimal, and to half as much again in `jsonb`.
const TIMES: usize = 2;

/// What is left to one callback.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrintBudget {
    most: usize,
    left: usize,
}

/// More than the budget, which was so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintedTooMuch(pub usize);

impl PrintBudget {
    /// Of a callback that looks at so many bytes, as they came.
    pub fn of(came: usize) -> Self {
        let most = came.saturating_mul(TIMES).saturating_add(FREE_BYTES);
        Self { most, left: most }
    }

    /// So many bytes of a value were written.
    pub fn take(&mut self, bytes: usize) -> Result<(), PrintedTooMuch> {
        self.left = self.left.checked_sub(bytes).ok_or(PrintedTooMuch(self.most))?;
        Ok(())
    }
}
