//! One direction's bytes between callbacks: the partial message that waits for its rest, and how much of a
//! long message is still to be passed or dropped unread.

use super::Step;

/// Bytes of one direction.
#[derive(Default)]
pub struct Inbox {
    held: Vec<u8>,
    /// Bytes of the current message still to copy to the output.
    pub pass: usize,
    /// Bytes of the current message still to drop.
    pub drop: usize,
    /// Bytes of the current message still to be read piece by piece.
    pub feed: usize,
}

/// What is at hand in one callback: the held bytes and the new ones, as one slice.
pub enum Joined<'a> {
    /// Nothing was held: the callback's own bytes.
    Fresh(&'a [u8]),
    /// The held bytes with the new ones behind them.
    Held(Vec<u8>),
}

impl Joined<'_> {
    /// The bytes from `position` on.
    pub fn from(&self, position: usize) -> &[u8] {
        let all = match self {
            Self::Fresh(bytes) => bytes,
            Self::Held(bytes) => bytes.as_slice(),
        };
        all.get(position..).unwrap_or_default()
    }
}

impl Inbox {
    /// Takes what is held and puts the new bytes behind it.
    pub fn join<'a>(&mut self, new: &'a [u8]) -> Joined<'a> {
        if self.held.is_empty() {
            return Joined::Fresh(new);
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(new);
        Joined::Held(held)
    }

    /// Keeps what comes from `position` on for the next callback.
    pub fn keep(&mut self, joined: Joined<'_>, position: usize) {
        self.held = match joined {
            // Nothing, most often: that takes no memory.
            Joined::Fresh(bytes) => bytes.get(position..).unwrap_or_default().to_vec(),
            Joined::Held(bytes) if position >= bytes.len() => Vec::new(),
            Joined::Held(mut bytes) => {
                bytes.drain(..position);
                bytes
            }
        };
    }

    /// A message of this length passes, of which so many bytes are there: these now, and its rest as it comes.
    pub fn pass_message(&mut self, length: usize, there: usize) -> Step {
        let now = length.min(there);
        self.pass = length.saturating_sub(now);
        Step::Pass(now)
    }

    /// How many of the next bytes, of which so many are there, are to pass, and how many behind those to be dropped.
    pub fn due(&mut self, there: usize) -> (usize, usize) {
        let passed = self.pass.min(there);
        self.pass = self.pass.saturating_sub(passed);
        let dropped = self.drop.min(there.saturating_sub(passed));
        self.drop = self.drop.saturating_sub(dropped);
        (passed, dropped)
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        self.held.len()
    }
}
