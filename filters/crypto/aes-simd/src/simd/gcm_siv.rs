//! AES-GCM-SIV (RFC 8452) over this crate's block cipher and hash.
//!
//! Each nonce has keys of its own, which are most of the work for a short message: the blocks that they come from are
//! encrypted side by side, and of the hash key's powers only the first is made, unless a message is long. The mode of the
//! `aes-gcm-siv` crate encrypts those blocks one after the other, and its POLYVAL is one that it names itself.

use aes::cipher::common::{Block, KeySizeUser};
use aes::cipher::consts::{U12, U16};
use aes::cipher::{BlockCipherEncrypt, Key, KeyInit};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadCore, AeadInOut, Error, Nonce, Tag, TagPosition};
use ctutils::CtEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::ghash::{Sum, Tables};
use super::vector::{V128, variable};
use crate::stream::{BLOCKS, add, split};

/// Bytes of the longest text, and of the longest associated data (RFC 8452, 6).
const MAX: u64 = 1 << 36;
/// Bytes from which on four powers of the hash key are made up for by what they hash.
const LONG: usize = 1024;
/// Blocks that keys come from: two for the hash's, four for those of AES-256.
const MAX_DERIVED: usize = 6;

/// AES-GCM-SIV with the block cipher `C`, with nonces of 96 bits and tags of 128.
#[derive(Clone)]
pub struct AesGcmSiv<C>(C);

/// What one nonce's messages are sealed with.
struct NonceKeys<C> {
    hash: Zeroizing<[u8; 16]>,
    cipher: C,
}

impl<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit> AesGcmSiv<C> {
    /// RFC 8452, 4: half of each block is key.
    fn derive(&self, nonce: &[u8; 12]) -> NonceKeys<C> {
        let mut base = [0; 16];
        if let Some(place) = base.last_chunk_mut() {
            *place = *nonce;
        }
        let mut blocks = [Block::<C>::default(); MAX_DERIVED];
        let derived = C::key_size().wrapping_add(16).wrapping_div(8);
        let blocks = blocks.get_mut(..derived).unwrap_or_default();
        for (block, number) in blocks.iter_mut().zip(0_u128..) {
            block.0 = (u128::from_le_bytes(base) | number).to_le_bytes();
        }
        self.0.encrypt_blocks(blocks);
        let mut halves = blocks.iter().filter_map(|block| block.first_chunk::<8>());
        let mut hash = Zeroizing::new([0; 16]);
        hash.as_chunks_mut::<8>().0.iter_mut().zip(&mut halves).for_each(|(to, from)| *to = *from);
        let mut key = Key::<C>::default();
        key.as_chunks_mut::<8>().0.iter_mut().zip(&mut halves).for_each(|(to, from)| *to = *from);
        let cipher = C::new(&key);
        key.zeroize();
        blocks.iter_mut().for_each(|block| block.zeroize());
        NonceKeys { hash, cipher }
    }
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> NonceKeys<C> {
    fn tag(&self, nonce: &[u8; 12], associated_data: &[u8], text: &[u8]) -> [u8; 16] {
        let hash = match associated_data.len().saturating_add(text.len()) {
            ..LONG => polyval::<1>,
            LONG.. => polyval::<4>,
        };
        let mut block = Block::<C>::from(hash(&self.hash, associated_data, text).to_bytes());
        block.iter_mut().zip(nonce).for_each(|(byte, nonce)| *byte ^= nonce);
        if let Some(last) = block.last_mut() {
            *last &= 0x7f;
        }
        self.cipher.encrypt_block(&mut block);
        block.0
    }

    /// Adds the key stream: counter mode from the tag on, whose first four bytes count.
    fn apply(&self, tag: &[u8; 16], mut text: InOutBuf<'_, '_, u8>) {
        let start = u128::from_le_bytes(*tag) | 1 << 127;
        let (mut counter, rest) = (start as u32, start >> 32 << 32);
        let mut stream = [Block::<C>::default(); BLOCKS];
        while !text.is_empty() {
            let (here, after) = split(text, BLOCKS);
            let stream = stream.get_mut(..here.len().div_ceil(16)).unwrap_or_default();
            for place in stream.iter_mut() {
                place.0 = (rest | u128::from(counter)).to_le_bytes();
                counter = counter.wrapping_add(1);
            }
            self.cipher.encrypt_blocks(stream);
            add(here, stream);
            text = after;
        }
    }
}

static REVERSED: [u8; 16] = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

/// POLYVAL of associated data, text and lengths, which is GHASH with the bytes of all blocks reversed and the key times x
/// (RFC 8452, appendix A).
#[inline(never)]
fn polyval<const N: usize>(key: &[u8; 16], associated_data: &[u8], text: &[u8]) -> V128 {
    let reversed = V128::from_bytes(*variable(&REVERSED));
    let order = |block: V128| block.lookup(reversed);
    let key = Zeroizing::new(u128::from_le_bytes(*key));
    let over = (*key & 1).wrapping_mul(0xe1 << 120);
    let mut tables = Tables::<N>::empty();
    tables.fill(&Zeroizing::new((*key >> 1 ^ over).to_be_bytes()));
    let mut sum = Sum::after(&tables, V128::splat(0));
    sum.update_padded(associated_data, order);
    sum.update_padded(text, order);
    let bits = |bytes: &[u8]| u128::from((bytes.len() as u64).wrapping_mul(8));
    let lengths = (bits(text) << 64 | bits(associated_data)).to_le_bytes();
    sum.push(order(V128::from_bytes(lengths)));
    order(sum.finish())
}

impl<C: KeySizeUser> KeySizeUser for AesGcmSiv<C> {
    type KeySize = C::KeySize;
}

impl<C: KeyInit> KeyInit for AesGcmSiv<C> {
    fn new(key: &Key<Self>) -> Self {
        Self(C::new(key))
    }
}

impl<C> AeadCore for AesGcmSiv<C> {
    type NonceSize = U12;
    type TagSize = U16;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit> AeadInOut for AesGcmSiv<C> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<Self>, Error> {
        if buffer.len() as u64 > MAX || associated_data.len() as u64 > MAX {
            return Err(Error);
        }
        let keys = self.derive(&nonce.0);
        let tag = keys.tag(&nonce.0, associated_data, buffer.get_in());
        keys.apply(&tag, buffer);
        Ok(tag.into())
    }

    /// Wipes the text if it is not authentic.
    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        mut buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> Result<(), Error> {
        if buffer.len() as u64 > MAX || associated_data.len() as u64 > MAX {
            return Err(Error);
        }
        let keys = self.derive(&nonce.0);
        keys.apply(&tag.0, buffer.reborrow());
        if keys.tag(&nonce.0, associated_data, buffer.get_out()).ct_eq(&tag.0).to_bool() {
            return Ok(());
        }
        buffer.get_out().zeroize();
        Err(Error)
    }
}

impl<C> std::fmt::Debug for AesGcmSiv<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AesGcmSiv").finish_non_exhaustive()
    }
}

impl<C: ZeroizeOnDrop> ZeroizeOnDrop for AesGcmSiv<C> {}
