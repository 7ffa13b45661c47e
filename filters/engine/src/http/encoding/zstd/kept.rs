//! What the zstd library keeps for a frame. It does not tell, so it is worked out from the blocks as the library reads them:
//! a block of a few bytes can ask for a megabyte, which stays until the frame ends.

use super::number;

/// Tables of codes, and the decoder itself.
const TABLE_BYTES: usize = 32 << 10;
/// One sequence of a compressed block: three numbers.
const SEQUENCE_BYTES: usize = 12;
/// Free bytes that the library's ring buffer has when it has grown beyond that.
const RING_SLACK: usize = 256 << 10;

/// The library's buffers, by what they have room for.
#[derive(Default)]
pub(super) struct KeptBuffers {
    /// Decoded bytes that it may still refer to.
    decoded: usize,
    content: usize,
    literals: usize,
    sequences: usize,
}

impl KeptBuffers {
    /// A block comes to so many bytes, of which the library keeps no more than `most`.
    pub(super) fn decodes(&mut self, bytes: usize, most: usize) {
        self.decoded = self.decoded.saturating_add(bytes).min(most);
    }

    /// A compressed block is decoded. What follows its header is given.
    pub(super) fn reads(&mut self, content: &[u8]) {
        let (literals, sequences) = sizes(content);
        self.content = grown(self.content, content.len());
        self.literals = grown(self.literals, literals);
        self.sequences = grown(self.sequences, sequences);
    }

    /// Bytes of all of them.
    pub(super) fn bytes(&self) -> usize {
        let sequences = self.sequences.saturating_mul(SEQUENCE_BYTES);
        let all = [TABLE_BYTES, ring(self.decoded), self.content, self.literals, sequences];
        all.into_iter().fold(0, usize::saturating_add)
    }
}

/// The room of a vector that had some and needs so much.
fn grown(before: usize, needed: usize) -> usize {
    if needed > before { needed.max(before.saturating_mul(2)) } else { before }
}

/// The room of the library's ring buffer for so many bytes.
fn ring(bytes: usize) -> usize {
    let power = |bytes: usize| bytes.checked_next_power_of_two().unwrap_or(usize::MAX);
    match bytes.saturating_add(1).checked_sub(RING_SLACK) {
        Some(beyond) => power(beyond).saturating_add(RING_SLACK),
        None => power(bytes.saturating_add(1)),
    }
}

/// How many literals and sequences a compressed block says that it has: RFC 8878, sections 3.1.1.3.1.1 and 3.1.1.3.2.1. One
/// that is cut short has none; the library refuses it.
fn sizes(content: &[u8]) -> (usize, usize) {
    let first = content.first().copied().unwrap_or_default();
    let (kind, format) = (first & 3, (first >> 2) & 3);
    // Bytes of the header, where the number of literals begins, and how many bits it has.
    let (header, shift, bits) = match (kind, format) {
        (0 | 1, 0 | 2) => (1, 3, 5),
        (0 | 1, 1) => (2, 4, 12),
        (0 | 1, _) => (3, 4, 20),
        (_, 0 | 1) => (3, 4, 10),
        (_, 2) => (4, 4, 14),
        _ => (5, 4, 18),
    };
    let said = number(content, 0, header) >> shift;
    let part = |said: u64| usize::try_from(said & !(u64::MAX << bits)).unwrap_or(usize::MAX);
    let literals = part(said);
    let stored = match kind {
        0 => literals,
        1 => 1,
        _ => part(said >> bits),
    };
    let at = header.saturating_add(stored);
    let sequences = match content.get(at).copied().unwrap_or_default() {
        255 => number(content, at.saturating_add(1), 2).saturating_add(0x7f00),
        few @ ..128 => u64::from(few),
        more => (u64::from(more & 127) << 8) | number(content, at.saturating_add(1), 1),
    };
    (literals, usize::try_from(sequences).unwrap_or(usize::MAX))
}
