//! Many short messages: the blocks of several are encrypted side by side. A message's MAC is a chain in which each block
//! waits for the one before, so that alone it uses one lane.

use aes::cipher::BlockCipherEncrypt;
use aes::cipher::common::Block;
use aes::cipher::consts::U16;
use ctutils::CtEq;
use zeroize::{Zeroize, Zeroizing};

use super::{AesSiv, Associated, counter_block, double, number, padded};
use crate::stream::{BLOCKS, add_block};

/// Blocks of the longest text that shares lanes with others.
const SHORT: usize = 4;

/// A message that is sealed or opened in place with AES-SIV.
#[derive(Default)]
pub struct SivMessage<'m> {
    associated: Associated,
    text: &'m mut [u8],
    iv: [u8; 16],
    is_open: bool,
}

impl<'m> SivMessage<'m> {
    /// A message to be opened, with its synthetic IV; `text` holds what is sealed.
    pub fn new(associated: Associated, text: &'m mut [u8], iv: [u8; 16]) -> Self {
        Self { associated, text, iv, is_open: false }
    }

    /// A message to be sealed.
    pub fn to_be_sealed(associated: Associated, text: &'m mut [u8]) -> Self {
        Self::new(associated, text, [0; 16])
    }

    /// The synthetic IV.
    pub fn iv(&self) -> &[u8; 16] {
        &self.iv
    }

    /// Whether a message to be opened was authentic and its text is what was sealed; else the text is wiped.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    fn is_short(&self) -> bool {
        self.text.len() <= SHORT.wrapping_mul(16)
    }
}

/// What is MACed of a message, block by block, and what of it was until now.
#[derive(Default)]
struct Chain {
    blocks: [u128; SHORT],
    count: usize,
    sum: u128,
}

impl Zeroize for Chain {
    fn zeroize(&mut self) {
        self.blocks.zeroize();
        self.sum.zeroize();
    }
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> AesSiv<C> {
    /// Seals each message, by itself.
    pub fn seal_batch(&self, messages: &mut [SivMessage<'_>]) {
        for group in messages.chunks_mut(BLOCKS) {
            let mut chains: Zeroizing<[Chain; BLOCKS]> = Zeroizing::default();
            for (message, chain) in group.iter_mut().zip(chains.iter_mut()) {
                if message.is_short() {
                    self.chain(message.associated.0, message.text, chain);
                } else {
                    message.iv = self.encrypt_associated(&message.associated, (&mut *message.text).into());
                }
            }
            self.mac_each(&mut chains);
            for (message, chain) in
                group.iter_mut().zip(chains.iter()).filter(|(message, _)| message.is_short())
            {
                message.iv = chain.sum.to_ne_bytes();
            }
            self.add_streams(group);
        }
    }

    /// Opens each message that is authentic, by itself: what one is has no part in another's outcome.
    pub fn open_batch(&self, messages: &mut [SivMessage<'_>]) {
        for group in messages.chunks_mut(BLOCKS) {
            self.add_streams(group);
            let mut chains: Zeroizing<[Chain; BLOCKS]> = Zeroizing::default();
            for (message, chain) in group.iter_mut().zip(chains.iter_mut()) {
                if !message.is_short() {
                    let text = (&mut *message.text).into();
                    let opened = self.decrypt_associated(&message.associated, text, &message.iv);
                    message.is_open = opened.is_ok();
                    continue;
                }
                self.chain(message.associated.0, message.text, chain);
            }
            self.mac_each(&mut chains);
            for (message, chain) in group.iter_mut().zip(chains.iter()) {
                if !message.is_short() {
                    continue;
                }
                message.is_open = chain.sum.to_ne_bytes().ct_eq(&message.iv).to_bool();
                if !message.is_open {
                    message.text.zeroize();
                }
            }
        }
    }

    /// Adds the key streams of the short ones.
    fn add_streams(&self, group: &mut [SivMessage<'_>]) {
        let mut stream = [Block::<C>::default(); BLOCKS];
        let (mut places, mut filled) = ([(0, 0); BLOCKS], 0_usize);
        for at in 0..group.len() {
            let Some(message) = group.get(at) else { break };
            let blocks = if message.is_short() { message.text.len().div_ceil(16) } else { 0 };
            let iv = message.iv;
            for (index, ahead) in (0..blocks).zip(0..) {
                if let (Some(block), Some(place)) = (stream.get_mut(filled), places.get_mut(filled)) {
                    *block = counter_block(&iv, ahead).into();
                    *place = (at, index);
                }
                filled = filled.wrapping_add(1);
                if filled == BLOCKS {
                    self.add_each(group, &mut stream, &places);
                    filled = 0;
                }
            }
        }
        self.add_each(group, stream.get_mut(..filled).unwrap_or_default(), &places);
    }

    fn add_each(&self, group: &mut [SivMessage<'_>], stream: &mut [Block<C>], places: &[(usize, usize)]) {
        self.cipher.encrypt_blocks(stream);
        for (block, (message, index)) in stream.iter().zip(places) {
            if let Some(message) = group.get_mut(*message) {
                add_block(message.text, *index, block.0);
            }
        }
    }

    /// The blocks whose MAC is S2V's, for a text that follows associated data of which this is the sum.
    fn chain(&self, associated: u128, text: &[u8], chain: &mut Chain) {
        let (whole, rest) = text.as_chunks::<16>();
        chain.count = text.len().div_ceil(16).max(1);
        for (to, block) in chain.blocks.iter_mut().zip(whole) {
            *to = number(*block);
        }
        if rest.is_empty() && !whole.is_empty() {
            if let Some(last) = chain.blocks.get_mut(whole.len().wrapping_sub(1)) {
                *last ^= associated ^ self.whole;
            }
            return;
        }
        if whole.is_empty() {
            chain.blocks[0] = double(associated) ^ padded(text) ^ self.whole;
            return;
        }
        // The sum is added to the last sixteen bytes: the last of one block and the first of a padded one.
        let mut ending = [0; 32];
        for (to, from) in ending.iter_mut().skip(rest.len()).zip(associated.to_ne_bytes()) {
            *to = from;
        }
        let (before, last) = ending.split_at(16);
        let [.., add_before, add_last] =
            [before, last].map(|half| half.first_chunk().map_or(0, |half| number(*half)));
        if let Some(block) = chain.blocks.get_mut(whole.len().wrapping_sub(1)) {
            *block ^= add_before;
        }
        if let Some(block) = chain.blocks.get_mut(whole.len()) {
            *block = padded(rest) ^ add_last ^ self.padded;
        }
    }

    /// Goes all chains at once, a block at a time.
    fn mac_each(&self, chains: &mut [Chain; BLOCKS]) {
        for step in 0..SHORT {
            let mut blocks = [Block::<C>::default(); BLOCKS];
            let mut filled = 0_usize;
            for chain in chains.iter().filter(|chain| step < chain.count) {
                if let (Some(place), Some(block)) = (blocks.get_mut(filled), chain.blocks.get(step)) {
                    *place = (chain.sum ^ block).to_ne_bytes().into();
                }
                filled = filled.wrapping_add(1);
            }
            let blocks = blocks.get_mut(..filled).unwrap_or_default();
            self.mac.encrypt_blocks(blocks);
            for (chain, block) in chains.iter_mut().filter(|chain| step < chain.count).zip(blocks) {
                chain.sum = number(block.0);
            }
        }
    }
}
