//! `Debug` that tells sizes and never bytes.

use std::fmt;

/// Shows bytes as their number.
pub(crate) struct Sized<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Sized<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}
