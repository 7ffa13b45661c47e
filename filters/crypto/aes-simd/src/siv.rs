//! AES-SIV (RFC 5297) with one component of associated data, as Tink has it.
//!
//! The mode of the `aes-siv` crate takes any block cipher too. For every message it makes the key schedule of the
//! encrypting key and the MAC of zero anew, which for a value of 16 bytes is half of the work; here the key holds them.

use aes::cipher::common::Block;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes_gcm::aead::Error;
use aes_gcm::aead::inout::InOutBuf;
use ctutils::CtEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::stream::{BLOCKS, add, split};

mod batch;

pub use batch::SivMessage;

/// AES-SIV with the block cipher `C`. Its key is twice as long as that one's: first CMAC's, then that of the counter mode.
#[derive(Clone)]
pub struct AesSiv<C> {
    mac: C,
    cipher: C,
    /// What CMAC adds to a last block that is whole.
    whole: u128,
    /// What it adds to one that is padded.
    padded: u128,
    /// Twice the MAC of zero, which S2V begins with.
    start: u128,
}

impl<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit> AesSiv<C> {
    /// From a key of exactly the algorithm's length.
    pub fn new(key: &[u8]) -> Option<Self> {
        let (mac, cipher) = key.split_at_checked(key.len() / 2)?;
        let (mac, cipher) = (C::new_from_slice(mac).ok()?, C::new_from_slice(cipher).ok()?);
        let whole = double(encrypt(&mac, 0));
        let mut siv = Self { mac, cipher, whole, padded: double(whole), start: 0 };
        siv.start = double(siv.cmac(&[0; 16]));
        Some(siv)
    }
}

/// What S2V is before the text: the same for all texts with the same associated data under a key, so it can be kept.
#[derive(Clone, Default)]
pub struct Associated(u128);

impl Drop for Associated {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Associated {}

impl<C: BlockCipherEncrypt<BlockSize = U16>> AesSiv<C> {
    /// What [`AesSiv::encrypt_associated`] and [`AesSiv::decrypt_associated`] take for this associated data.
    pub fn associate(&self, associated_data: &[u8]) -> Associated {
        Associated(self.start ^ self.cmac(associated_data))
    }

    /// Encrypts, and returns the synthetic IV.
    pub fn encrypt_inout_detached(&self, associated_data: &[u8], text: InOutBuf<'_, '_, u8>) -> [u8; 16] {
        self.encrypt_associated(&self.associate(associated_data), text)
    }

    /// As [`AesSiv::encrypt_inout_detached`].
    pub fn encrypt_associated(&self, associated: &Associated, mut text: InOutBuf<'_, '_, u8>) -> [u8; 16] {
        let iv = self.s2v(associated, text.get_in());
        self.apply(&iv, text.reborrow());
        iv
    }

    /// Decrypts, and wipes the text if it is not authentic.
    ///
    /// # Errors
    /// The text is not what was encrypted with this key and this associated data.
    pub fn decrypt_inout_detached(
        &self,
        associated_data: &[u8],
        text: InOutBuf<'_, '_, u8>,
        iv: &[u8; 16],
    ) -> Result<(), Error> {
        self.decrypt_associated(&self.associate(associated_data), text, iv)
    }

    /// As [`AesSiv::decrypt_inout_detached`].
    ///
    /// # Errors
    /// The text is not what was encrypted with this key and this associated data.
    pub fn decrypt_associated(
        &self,
        associated: &Associated,
        mut text: InOutBuf<'_, '_, u8>,
        iv: &[u8; 16],
    ) -> Result<(), Error> {
        self.apply(iv, text.reborrow());
        if self.s2v(associated, text.get_out()).ct_eq(iv).to_bool() {
            return Ok(());
        }
        text.get_out().zeroize();
        Err(Error)
    }

    /// S2V of two components (RFC 5297, 2.4).
    fn s2v(&self, associated: &Associated, text: &[u8]) -> [u8; 16] {
        let sum = associated.0;
        let iv = match text.split_last_chunk() {
            Some((before, last)) => self.cmac_with(before, number(*last) ^ sum),
            None => encrypt(&self.mac, double(sum) ^ padded(text) ^ self.whole),
        };
        iv.to_ne_bytes()
    }

    /// CMAC (RFC 4493).
    fn cmac(&self, text: &[u8]) -> u128 {
        match text.split_last_chunk() {
            Some((before, last)) => self.cmac_with(before, number(*last)),
            None => encrypt(&self.mac, padded(text) ^ self.padded),
        }
    }

    /// CMAC of these bytes and then these sixteen.
    fn cmac_with(&self, before: &[u8], last: u128) -> u128 {
        let (blocks, rest) = before.as_chunks();
        let sum = blocks.iter().fold(0, |sum, block| encrypt(&self.mac, sum ^ number(*block)));
        if rest.is_empty() {
            return encrypt(&self.mac, sum ^ last ^ self.whole);
        }
        // A block that begins in `rest`, and a short one.
        let mut ending = Zeroizing::new([0; 32]);
        for (to, from) in ending.iter_mut().zip(rest.iter().copied().chain(last.to_ne_bytes())) {
            *to = from;
        }
        let (block, short) = ending.split_at(16);
        let sum = encrypt(&self.mac, sum ^ padded(block));
        encrypt(&self.mac, sum ^ padded(short.get(..rest.len()).unwrap_or_default()) ^ self.padded)
    }

    /// Adds the key stream: counter mode from the IV on, of which two bits are cleared (RFC 5297, 2.5).
    fn apply(&self, iv: &[u8; 16], mut text: InOutBuf<'_, '_, u8>) {
        let (mut stream, mut counter) = ([Block::<C>::default(); BLOCKS], 0);
        while !text.is_empty() {
            let (here, after) = split(text, BLOCKS);
            let stream = stream.get_mut(..here.len().div_ceil(16)).unwrap_or_default();
            for place in stream.iter_mut() {
                *place = counter_block(iv, counter).into();
                counter = counter.wrapping_add(1);
            }
            self.cipher.encrypt_blocks(stream);
            add(here, stream);
            text = after;
        }
    }
}

/// What is encrypted to a block of the key stream: the IV without two of its bits, and so many more.
fn counter_block(iv: &[u8; 16], ahead: u64) -> [u8; 16] {
    let mut block = *iv;
    if let Some(count) = block.last_chunk_mut() {
        // The bit that is cleared takes what would be carried into the other half.
        let first = u64::from_be_bytes(*count) & !(1 << 63 | 1 << 31);
        *count = first.wrapping_add(ahead).to_be_bytes();
    }
    block
}

// Blocks are numbers of the machine's order, which adding does not care for.

fn number(block: [u8; 16]) -> u128 {
    u128::from_ne_bytes(block)
}

/// At most sixteen bytes, and if they are fewer a bit and zeros.
fn padded(bytes: &[u8]) -> u128 {
    let mut block = [0; 16];
    for (to, from) in block.iter_mut().zip(bytes.iter().chain(&[0x80])) {
        *to = *from;
    }
    number(block)
}

fn encrypt<C: BlockCipherEncrypt<BlockSize = U16>>(cipher: &C, block: u128) -> u128 {
    let mut block = block.to_ne_bytes().into();
    cipher.encrypt_block(&mut block);
    number(block.0)
}

/// Times x, modulo x^128 + x^7 + x^2 + x + 1.
fn double(block: u128) -> u128 {
    let number = u128::from_be(block);
    ((number << 1) ^ (number >> 127).wrapping_mul(0x87)).to_be()
}

impl<C> std::fmt::Debug for AesSiv<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AesSiv").finish_non_exhaustive()
    }
}

impl<C> Drop for AesSiv<C> {
    fn drop(&mut self) {
        self.whole.zeroize();
        self.padded.zeroize();
        self.start.zeroize();
    }
}

impl<C: ZeroizeOnDrop> ZeroizeOnDrop for AesSiv<C> {}
