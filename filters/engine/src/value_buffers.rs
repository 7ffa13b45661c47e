//! The buffers in which a worker treats the values of rows, one after the other.

use zeroize::{Zeroize, Zeroizing};

use crate::field::Scratch;

/// Bytes of a buffer that are kept for the next callback.
const MAX_KEPT: usize = 4096;

/// The buffers in which one value after the other is treated.
#[derive(Default)]
pub struct Buffers {
    pub scratch: Scratch,
    /// A canonical text, before it gets the client's form.
    pub canonical: Zeroizing<Vec<u8>>,
    /// A value in the client's form, before it is put into its row.
    pub shown: Zeroizing<Vec<u8>>,
}

/// Overwrites the content of a buffer and keeps its memory. This covers all that it ever held if nothing else shortens it.
pub fn restart(buffer: &mut Vec<u8>) {
    buffer.as_mut_slice().zeroize();
    buffer.clear();
}

impl Buffers {
    /// Ends a callback: overwrites all values that the buffers hold.
    pub fn wipe(&mut self) {
        self.scratch.wipe();
        for buffer in [&mut self.canonical, &mut self.shown] {
            match buffer.capacity() > MAX_KEPT {
                true => *buffer = Zeroizing::default(),
                false => restart(buffer),
            }
        }
    }
}
