//! The traits that modes of operation ask for: few blocks by [`super::permute`], many by [`super::bitslice`].

use aes::cipher::common::Block;
use aes::cipher::consts::{U8, U16, U24, U32};
use aes::cipher::inout::{InOut, InOutBuf};
use aes::cipher::{
    AlgorithmName, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key,
    KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser,
};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::vector::{V128, wipe};
use super::{bitslice, permute, schedule};

/// The round keys, for both ways.
#[derive(Clone)]
struct Keys<const KEYS: usize> {
    permuted: [V128; KEYS],
    sliced: [V128; KEYS],
}

impl<const KEYS: usize> Keys<KEYS> {
    fn new<const WORDS: usize>(key: [u32; WORDS]) -> Self {
        let expanded = schedule::expand::<WORDS, KEYS>(key);
        let mut keys = Self { permuted: [V128::splat(0); KEYS], sliced: [V128::splat(0); KEYS] };
        permute::prepare(&mut keys.permuted, &expanded);
        bitslice::prepare(&mut keys.sliced, &expanded);
        keys
    }

    /// At most eight blocks as so many.
    fn encrypt_filled(&self, mut blocks: InOutBuf<'_, '_, Block<Self>>) {
        let mut whole = ParBlocks::<Self>::default();
        for (place, block) in whole.iter_mut().zip(blocks.get_in()) {
            *place = *block;
        }
        self.encrypt_8((&mut whole).into());
        for (block, place) in blocks.get_out().iter_mut().zip(whole) {
            *block = place;
        }
    }

    /// Not inlined, each of these: one of a kind in a module, however many modes there are.
    #[inline(never)]
    fn encrypt_1(&self, blocks: &mut [V128; 1]) {
        permute::encrypt(&self.permuted, blocks);
    }

    #[inline(never)]
    fn encrypt_2(&self, blocks: &mut [V128; 2]) {
        permute::encrypt(&self.permuted, blocks);
    }

    #[inline(never)]
    fn encrypt_4(&self, blocks: &mut [V128; 4]) {
        permute::encrypt(&self.permuted, blocks);
    }

    #[inline(never)]
    fn encrypt_8(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        let mut state = blocks.get_in().0.each_ref().map(load);
        bitslice::encrypt(&self.sliced, &mut state);
        blocks.get_out().0 = state.map(|block| block.to_bytes().into());
    }
}

impl<const KEYS: usize> Zeroize for Keys<KEYS> {
    fn zeroize(&mut self) {
        wipe(&mut self.permuted);
        wipe(&mut self.sliced);
    }
}

impl<const KEYS: usize> Drop for Keys<KEYS> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl<const KEYS: usize> BlockSizeUser for Keys<KEYS> {
    type BlockSize = U16;
}

impl<const KEYS: usize> ParBlocksSizeUser for Keys<KEYS> {
    type ParBlocksSize = U8;
}

#[inline(always)]
fn load(block: &Block<Keys<0>>) -> V128 {
    V128::from_bytes(block.0)
}

impl<const KEYS: usize> BlockCipherEncBackend for Keys<KEYS> {
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block<Self>>) {
        let mut state = [load(block.get_in())];
        self.encrypt_1(&mut state);
        let [state] = state;
        block.get_out().0 = state.to_bytes();
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.encrypt_8(blocks);
    }

    /// What is quickest: docs/internals/aes.md has the measurements.
    #[inline]
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        match blocks.len() {
            0 => {}
            1 => filled(blocks, |state| self.encrypt_1(state)),
            2 => filled(blocks, |state| self.encrypt_2(state)),
            3 | 4 => filled(blocks, |state| self.encrypt_4(state)),
            _ => self.encrypt_filled(blocks),
        }
    }
}

/// Encrypts at most `N` blocks as so many.
#[inline(always)]
fn filled<const N: usize>(
    mut blocks: InOutBuf<'_, '_, Block<Keys<0>>>,
    encrypt: impl FnOnce(&mut [V128; N]),
) {
    let mut state = [V128::splat(0); N];
    for (state, block) in state.iter_mut().zip(blocks.get_in()) {
        *state = load(block);
    }
    encrypt(&mut state);
    for (block, state) in blocks.get_out().iter_mut().zip(state) {
        block.0 = state.to_bytes();
    }
}

macro_rules! aes {
    ($name:ident, $text:literal, $bytes:ty, $words:literal, $keys:literal) => {
        #[doc = concat!($text, ", which encrypts: no mode of operation here decrypts by the block cipher's inverse.")]
        #[derive(Clone)]
        pub struct $name(Keys<$keys>);

        impl KeySizeUser for $name {
            type KeySize = $bytes;
        }

        impl BlockSizeUser for $name {
            type BlockSize = U16;
        }

        impl KeyInit for $name {
            fn new(key: &Key<Self>) -> Self {
                let mut words = Zeroizing::new([0; $words]);
                for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
                Self(Keys::new(*words))
            }
        }

        impl BlockCipherEncrypt for $name {
            #[inline(always)]
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
                f.call(&self.0);
            }
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($text)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl ZeroizeOnDrop for $name {}
    };
}

aes!(Aes128, "AES-128", U16, 4, 11);
aes!(Aes192, "AES-192", U24, 6, 13);
aes!(Aes256, "AES-256", U32, 8, 15);
