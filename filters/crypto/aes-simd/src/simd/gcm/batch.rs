//! Many short messages: the blocks of several are encrypted side by side, and the hash of associated data that they share
//! is computed once.

use aes::cipher::BlockCipherEncrypt;
use aes::cipher::common::Block;
use aes::cipher::consts::U16;
use ctutils::CtEq;

use super::super::ghash::GHash;
use super::super::vector::V128;
use super::{AesGcm, counter_block, head};
use crate::batch::{AeadBatch, Message};
use crate::stream::{BLOCKS, add_block};

/// Bytes of the longest text that shares lanes with others: with the tag's mask, a longer one fills them by itself.
const SHORT: usize = (BLOCKS - 1) * 16;

/// A lane's block: which message, which of its counters (1 is the tag's mask), and for the mask the message's hash.
#[derive(Clone, Copy)]
struct Lane {
    message: usize,
    counter: u32,
    hash: V128,
}

/// Lanes that are filled, one after the other, until they are encrypted together. `with_mask` gets the tag's mask of each
/// message, added to the message's hash; only if it marks the message as done is the rest of the key stream added.
struct Lanes<'c, C: BlockCipherEncrypt, F> {
    cipher: &'c C,
    with_mask: F,
    blocks: [Block<C>; BLOCKS],
    lanes: [Lane; BLOCKS],
    filled: usize,
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> AeadBatch for AesGcm<C> {
    fn seal_batch(&self, messages: &mut [Message<'_>]) {
        let mut lanes = Lanes::new(&self.cipher, |message, mask| {
            message.tag = mask.to_bytes();
            message.is_done = true;
        });
        for at in 0..messages.len() {
            let Some(message) = messages.get_mut(at) else { break };
            message.is_done = false;
            if message.text.len() <= SHORT {
                lanes.push_message(messages, at, V128::splat(0));
            }
        }
        lanes.run(messages);
        let mut shared = Shared::default();
        for message in messages {
            if message.text.len() <= SHORT {
                let hash = self.hash(&mut shared, message);
                message.tag = (V128::from_bytes(message.tag) ^ hash).to_bytes();
            } else {
                message.seal_alone(self);
            }
        }
    }

    fn open_batch(&self, messages: &mut [Message<'_>]) {
        let mut lanes = Lanes::new(&self.cipher, |message, tag| {
            message.is_done = tag.to_bytes().ct_eq(&message.tag).to_bool();
        });
        let mut shared = Shared::default();
        for at in 0..messages.len() {
            let Some(message) = messages.get_mut(at) else { break };
            message.is_done = false;
            if message.text.len() > SHORT {
                message.open_alone(self);
                continue;
            }
            let hash = self.hash(&mut shared, message);
            lanes.push_message(messages, at, hash);
        }
        lanes.run(messages);
    }
}

/// The hash of what was hashed last of all associated data.
struct Shared<'m> {
    associated_data: &'m [u8],
    hash: V128,
}

impl Default for Shared<'_> {
    fn default() -> Self {
        Self { associated_data: &[], hash: V128::splat(0) }
    }
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> AesGcm<C> {
    /// Of associated data, ciphertext and lengths.
    #[inline]
    fn hash<'m>(&self, shared: &mut Shared<'m>, message: &Message<'m>) -> V128 {
        if !std::ptr::eq(shared.associated_data, message.associated_data) {
            let mut hash = GHash::new(&self.hash);
            hash.update_padded(message.associated_data);
            *shared = Shared { associated_data: message.associated_data, hash: hash.sum() };
        }
        let mut hash = GHash::after(&self.hash, shared.hash);
        hash.update_padded(message.text);
        hash.update_padded(&super::lengths(message.associated_data, message.text));
        hash.sum()
    }
}

impl<'c, C: BlockCipherEncrypt<BlockSize = U16>, F: Fn(&mut Message<'_>, V128)> Lanes<'c, C, F> {
    fn new(cipher: &'c C, with_mask: F) -> Self {
        let empty = Lane { message: 0, counter: 0, hash: V128::splat(0) };
        let blocks = [Block::<C>::default(); BLOCKS];
        Self { cipher, with_mask, blocks, lanes: [empty; BLOCKS], filled: 0 }
    }

    /// The mask of a message and its key stream.
    #[inline]
    fn push_message(&mut self, messages: &mut [Message<'_>], at: usize, hash: V128) {
        let Some(message) = messages.get(at) else { return };
        let (head, last) = (head(&message.nonce), message.text.len().div_ceil(16) as u32);
        for counter in 1..=last.wrapping_add(1) {
            self.push(messages, head, Lane { message: at, counter, hash });
        }
    }

    #[inline]
    fn push(&mut self, messages: &mut [Message<'_>], head: V128, lane: Lane) {
        if let (Some(block), Some(place)) =
            (self.blocks.get_mut(self.filled), self.lanes.get_mut(self.filled))
        {
            *block = counter_block(head, lane.counter).into();
            *place = lane;
        }
        self.filled = self.filled.wrapping_add(1);
        if self.filled == BLOCKS {
            self.run(messages);
        }
    }

    /// Encrypts what is there. A message's mask comes before the rest of it, so that nothing is written of one that is not
    /// authentic.
    fn run(&mut self, messages: &mut [Message<'_>]) {
        self.cipher.encrypt_blocks(self.blocks.get_mut(..self.filled).unwrap_or_default());
        for (block, lane) in self.blocks.iter().zip(&self.lanes).take(self.filled) {
            let Some(message) = messages.get_mut(lane.message) else { continue };
            let Some(index) = lane.counter.checked_sub(2) else {
                (self.with_mask)(message, V128::from_bytes(block.0) ^ lane.hash);
                continue;
            };
            if message.is_done {
                add_block(message.text, index as usize, block.0);
            }
        }
        self.filled = 0;
    }
}
