//! Text and key stream, block by block.

use aes::cipher::array::Array;
use aes::cipher::consts::U16;
use aes_gcm::aead::inout::InOutBuf;

/// Blocks of key stream at a time: as many as the block cipher has in flight.
pub(crate) const BLOCKS: usize = 8;

/// So many blocks and what follows them.
#[inline]
pub(crate) fn split<'i, 'o>(
    text: InOutBuf<'i, 'o, u8>,
    blocks: usize,
) -> (InOutBuf<'i, 'o, u8>, InOutBuf<'i, 'o, u8>) {
    let here = text.len().min(blocks.wrapping_mul(16));
    text.split_at(here)
}

/// Adds each block of the key stream to a block of the text, of which there may be fewer and the last one short.
#[inline]
pub(crate) fn add(text: InOutBuf<'_, '_, u8>, stream: &[Array<u8, U16>]) {
    let (whole, mut rest) = text.into_chunks::<U16>();
    let mut stream = stream.iter();
    // The text first: the stream's next block is the rest's.
    for (mut block, stream) in whole.into_iter().zip(&mut stream) {
        block.xor_in2out(stream);
    }
    if let Some(stream) = stream.next().and_then(|block| block.get(..rest.len())) {
        rest.xor_in2out(stream);
    }
}

/// Adds one block of the key stream to that block of a text, the last of which may be short.
#[inline]
pub(crate) fn add_block(text: &mut [u8], index: usize, stream: [u8; 16]) {
    let (blocks, rest) = text.as_chunks_mut::<16>();
    match blocks.get_mut(index) {
        Some(block) => *block = (u128::from_ne_bytes(*block) ^ u128::from_ne_bytes(stream)).to_ne_bytes(),
        None => rest.iter_mut().zip(stream).for_each(|(byte, stream)| *byte ^= stream),
    }
}
