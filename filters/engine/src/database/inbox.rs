//! One direction's bytes between callbacks: the partial message that waits for its rest, and how much of a
//! long message is still to be passed or dropped unread.

use super::{Step, Unread};

/// Bytes of memory that are kept when all held bytes have been read. What a longer message took is given back.
const MAX_SPARE: usize = 64 << 10;

/// Bytes of one direction.
#[derive(Default)]
pub struct Inbox {
    held: Vec<u8>,
    /// How many of the held bytes have been read. They are removed when they are half of all, so that the rest is not moved
    /// after each message.
    read: usize,
    /// Bytes of the current message still to copy to the output.
    pass: usize,
    /// Bytes of the current message still to drop.
    drop: usize,
    /// Bytes of the current message still to be read piece by piece.
    pieces: usize,
}

/// The held bytes and the new ones of a callback, as one slice.
pub enum Joined<'a> {
    /// Nothing was held: the callback's own bytes.
    Fresh(&'a [u8]),
    /// The held bytes with the new ones behind them, and how many of them have been read before.
    Held(Vec<u8>, usize),
}

impl Joined<'_> {
    /// The bytes from `position` on.
    pub fn from(&self, position: usize) -> &[u8] {
        match self {
            Self::Fresh(bytes) => bytes.get(position..),
            Self::Held(bytes, read) => bytes.get(read.saturating_add(position)..),
        }
        .unwrap_or_default()
    }
}

impl Inbox {
    /// Takes the held bytes and appends the new ones.
    pub fn join<'a>(&mut self, new: &'a [u8]) -> Joined<'a> {
        if self.held() == 0 {
            return Joined::Fresh(new);
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(new);
        Joined::Held(held, std::mem::take(&mut self.read))
    }

    /// Keeps the bytes from `position` on for the next callback.
    pub fn keep(&mut self, joined: Joined<'_>, position: usize) {
        let left = joined.from(position).len();
        (self.held, self.read) = match joined {
            // Nothing, most often: that takes no memory.
            Joined::Fresh(bytes) => (bytes.get(position..).unwrap_or_default().to_vec(), 0),
            Joined::Held(..) if left == 0 => (Vec::new(), 0),
            Joined::Held(bytes, _) if left > bytes.len() / 2 => {
                let read = bytes.len().saturating_sub(left);
                (bytes, read)
            }
            Joined::Held(mut bytes, _) => {
                bytes.drain(..bytes.len().saturating_sub(left));
                if bytes.capacity() > MAX_SPARE {
                    bytes.shrink_to_fit();
                }
                (bytes, 0)
            }
        };
    }

    /// Notes what is to become of bytes that a step did not read. Returns how many of the `available` bytes it is done with, and
    /// whether these pass unchanged.
    #[inline]
    pub fn note(&mut self, step: &Step, available: usize) -> (usize, bool) {
        match *step {
            Step::More => (0, false),
            Step::Took(taken) => (taken, false),
            Step::TookHead(taken, Unread::Pass(rest)) => {
                self.pass = rest;
                (taken, false)
            }
            Step::TookHead(taken, Unread::Pieces(rest)) => {
                self.pieces = rest;
                (taken, false)
            }
            Step::Pass(length) => {
                let now = length.min(available);
                self.pass = length.saturating_sub(now);
                (now, true)
            }
            Step::Drop(length) => {
                self.drop = length;
                (0, false)
            }
        }
    }

    /// Returns how many of the `available` bytes are the next piece of a message that is read piece by piece.
    #[inline]
    pub fn piece(&mut self, available: usize) -> usize {
        let piece = self.pieces.min(available);
        self.pieces = self.pieces.saturating_sub(piece);
        piece
    }

    /// Says how many of the `available` bytes are to pass unread, and how many behind those are to be dropped.
    #[inline]
    pub fn due(&mut self, available: usize) -> (usize, usize) {
        let passed = self.pass.min(available);
        self.pass = self.pass.saturating_sub(passed);
        let dropped = self.drop.min(available.saturating_sub(passed));
        self.drop = self.drop.saturating_sub(dropped);
        (passed, dropped)
    }

    /// Counts the bytes of memory that it takes, including those that were read already and those that are not used yet.
    pub fn memory(&self) -> usize {
        self.held.capacity()
    }

    /// Bytes held.
    fn held(&self) -> usize {
        self.held.len().saturating_sub(self.read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one held byte a callback, without new ones, and tells how often the held bytes were moved.
    #[test]
    fn what_is_read_bit_by_bit_is_seldom_moved() {
        const LENGTH: usize = 1 << 16;
        let bytes: Vec<u8> = (0..LENGTH).map(|at| at.to_le_bytes()[0]).collect();
        let mut inbox = Inbox::default();
        let joined = inbox.join(&bytes);
        inbox.keep(joined, 0);
        let mut moved = 0;
        for at in 0..LENGTH {
            assert_eq!(inbox.held(), LENGTH - at);
            let joined = inbox.join(b"");
            assert_eq!(joined.from(0), &bytes[at..]);
            inbox.keep(joined, 1);
            moved += usize::from(inbox.read == 0);
        }
        assert_eq!(inbox.held(), 0);
        assert!(moved <= 17, "{moved} times");
    }

    #[test]
    fn what_comes_goes_behind_what_is_left() {
        let mut inbox = Inbox::default();
        let joined = inbox.join(b"abcdef");
        inbox.keep(joined, 1);
        let joined = inbox.join(b"gh");
        assert_eq!(joined.from(1), b"cdefgh");
        inbox.keep(joined, 2);
        assert_eq!(inbox.held(), 5);
        assert_eq!(inbox.join(b"i").from(0), b"defghi");
    }
}
