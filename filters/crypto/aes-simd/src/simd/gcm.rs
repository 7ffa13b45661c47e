//! AES-GCM (NIST SP 800-38D) over this crate's block cipher and GHASH, with nonces of 96 bits and tags of 128.
//!
//! The mode of the `aes-gcm` crate takes any block cipher, but its GHASH is one that it names itself; and it encrypts the
//! tag's mask apart from the first block of the key stream, where these two together take little more than one.

mod batch;

use aes::cipher::common::{Block, KeySizeUser};
use aes::cipher::consts::{U12, U16};
use aes::cipher::{BlockCipherEncrypt, Key, KeyInit};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadCore, AeadInOut, Error, Nonce, Tag, TagPosition};
use aes_gcm::{A_MAX, P_MAX};
use ctutils::CtEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::ghash::{GHash, GHashKey};
use super::vector::V128;
use crate::stream::{BLOCKS, add, split};

/// AES-GCM with the block cipher `C`.
#[derive(Clone)]
pub struct AesGcm<C> {
    cipher: C,
    hash: GHashKey,
}

/// Blocks of key stream, the tag's mask before the first.
type Stream<C> = [Block<C>; BLOCKS];

/// The nonce as the head of each block that is encrypted to one of the key stream.
#[inline]
fn head(nonce: &[u8; 12]) -> V128 {
    let mut block = [0; 16];
    if let Some(start) = block.first_chunk_mut() {
        *start = *nonce;
    }
    V128::from_bytes(block)
}

/// What is encrypted to a block of the key stream. By vectors: bytes that were written in parts are slow to be read whole.
#[inline(always)]
fn counter_block(head: V128, counter: u32) -> [u8; 16] {
    (head ^ V128::last_word(counter.to_be())).to_bytes()
}

/// The last block that is hashed.
#[inline]
fn lengths(associated_data: &[u8], text: &[u8]) -> [u8; 16] {
    let bits = |bytes: &[u8]| u128::from((bytes.len() as u64).wrapping_mul(8));
    (bits(associated_data) << 64 | bits(text)).to_be_bytes()
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> AesGcm<C> {
    /// Fills as many blocks as are asked for, from this counter on.
    #[inline]
    fn fill(&self, stream: &mut [Block<C>], head: V128, counter: u32) {
        // No more than 2^32 - 2 blocks: the counter does not go round.
        for (place, ahead) in stream.iter_mut().zip(0..) {
            *place = counter_block(head, counter.wrapping_add(ahead)).into();
        }
        self.cipher.encrypt_blocks(stream);
    }

    /// The tag's mask and the first blocks of the key stream, as many as a text of this length takes.
    #[inline]
    fn start(&self, head: V128, len: usize) -> Stream<C> {
        let mut stream = [Block::<C>::default(); BLOCKS];
        let blocks = len.div_ceil(16).saturating_add(1).min(BLOCKS);
        self.fill(stream.get_mut(..blocks).unwrap_or_default(), head, 1);
        stream
    }

    /// Adds the key stream.
    #[inline]
    fn apply(&self, head: V128, stream: &mut Stream<C>, buffer: InOutBuf<'_, '_, u8>) {
        let [_mask, first @ ..] = stream;
        let (here, mut rest) = split(buffer, first.len());
        add(here, first);
        let mut counter = (BLOCKS as u32).wrapping_add(1);
        while !rest.is_empty() {
            let (here, after) = split(rest, BLOCKS);
            self.fill(stream.get_mut(..here.len().div_ceil(16)).unwrap_or_default(), head, counter);
            counter = counter.wrapping_add(BLOCKS as u32);
            add(here, stream);
            rest = after;
        }
    }

    #[inline]
    fn tag(&self, mask: &Block<C>, associated_data: &[u8], ciphertext: &[u8]) -> [u8; 16] {
        let mut hash = GHash::new(&self.hash);
        hash.update_padded(associated_data);
        hash.update_padded(ciphertext);
        hash.update_padded(&lengths(associated_data, ciphertext));
        (u128::from_ne_bytes(hash.finalize()) ^ u128::from_ne_bytes(mask.0)).to_ne_bytes()
    }
}

impl<C: KeySizeUser> KeySizeUser for AesGcm<C> {
    type KeySize = C::KeySize;
}

impl<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit> KeyInit for AesGcm<C> {
    fn new(key: &Key<Self>) -> Self {
        let cipher = C::new(key);
        let mut hash_key = Block::<C>::default();
        cipher.encrypt_block(&mut hash_key);
        let hash = GHashKey::new(&hash_key.0);
        hash_key.zeroize();
        Self { cipher, hash }
    }
}

impl<C> AeadCore for AesGcm<C> {
    type NonceSize = U12;
    type TagSize = U16;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> AeadInOut for AesGcm<C> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        mut buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<Self>, Error> {
        if buffer.len() as u64 > P_MAX || associated_data.len() as u64 > A_MAX {
            return Err(Error);
        }
        let head = head(&nonce.0);
        let mut stream = self.start(head, buffer.len());
        let mask = stream[0];
        self.apply(head, &mut stream, buffer.reborrow());
        Ok(self.tag(&mask, associated_data, buffer.get_out()).into())
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> Result<(), Error> {
        if buffer.len() as u64 > P_MAX || associated_data.len() as u64 > A_MAX {
            return Err(Error);
        }
        let head = head(&nonce.0);
        let mut stream = self.start(head, buffer.len());
        let expected = self.tag(&stream[0], associated_data, buffer.get_in());
        if !expected.ct_eq(&tag.0).to_bool() {
            return Err(Error);
        }
        self.apply(head, &mut stream, buffer);
        Ok(())
    }
}

impl<C> std::fmt::Debug for AesGcm<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AesGcm").finish_non_exhaustive()
    }
}

impl<C: ZeroizeOnDrop> ZeroizeOnDrop for AesGcm<C> {}
