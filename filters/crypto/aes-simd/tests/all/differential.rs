//! That this crate's ciphers give what RustCrypto's give, for whatever keys, texts and lengths.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]
#![cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]

use aes::cipher::consts::U16;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::consts::U12;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use aes_siv::siv::CmacSiv;
use fieldveil_aes_simd::AesSiv;
use fieldveil_aes_simd::simd::{self, GHash, GHashKey};
use ghash::universal_hash::UniversalHash;

/// Bytes that a seed stands for.
fn bytes(seed: [u8; 16], len: usize) -> Vec<u8> {
    let cipher = aes::Aes128::new(&seed.into());
    let mut blocks: Vec<Array<u8, U16>> =
        (0..len.div_ceil(16)).map(|at| (at as u128).to_be_bytes().into()).collect();
    cipher.encrypt_blocks(&mut blocks);
    blocks.iter().flat_map(|block| block.0).take(len).collect()
}

fn blocks_are_the_same<Theirs, Ours>(key: &[u8], blocks: &[u8])
where
    Theirs: BlockCipherEncrypt<BlockSize = U16> + KeyInit,
    Ours: BlockCipherEncrypt<BlockSize = U16> + KeyInit,
{
    let mut theirs: Vec<Array<u8, U16>> =
        blocks.as_chunks::<16>().0.iter().map(|block| (*block).into()).collect();
    let (mut ours, plain) = (theirs.clone(), theirs.clone());
    let mut apart = theirs.clone();
    Theirs::new_from_slice(key).unwrap().encrypt_blocks(&mut theirs);
    let cipher = Ours::new_from_slice(key).unwrap();
    cipher.encrypt_blocks(&mut ours);
    assert_eq!(theirs, ours);
    apart.fill(Array::default());
    cipher.encrypt_blocks_b2b(&plain, &mut apart).unwrap();
    assert_eq!(theirs, apart);
}

fn modes_are_the_same<Theirs, Ours>(seed: [u8; 16], key: &[u8], aad: &[u8], text: &[u8])
where
    Theirs: BlockCipherEncrypt<BlockSize = U16> + KeyInit,
    Ours: BlockCipherEncrypt<BlockSize = U16> + KeyInit,
{
    let nonce = Array::<u8, U12>::try_from(&seed[..12]).unwrap();
    let (mut theirs, mut ours) = (text.to_vec(), vec![0; text.len()]);
    let gcm = aes_gcm::AesGcm::<Theirs, U12>::new_from_slice(key).unwrap();
    let tag = gcm.encrypt_inout_detached(&nonce, aad, theirs.as_mut_slice().into()).unwrap();
    let gcm = simd::AesGcm::<Ours>::new_from_slice(key).unwrap();
    let buffer = InOutBuf::new(text, &mut ours).unwrap();
    assert_eq!(gcm.encrypt_inout_detached(&nonce, aad, buffer).unwrap(), tag);
    assert_eq!(theirs, ours);
    let mut opened = vec![0; text.len()];
    gcm.decrypt_inout_detached(&nonce, aad, InOutBuf::new(&theirs, &mut opened).unwrap(), &tag).unwrap();
    assert_eq!(opened, text);

    // One bit of the tag, wherever it is.
    let mut wrong = tag;
    wrong[usize::from(seed[12] % 16)] ^= 1 << (seed[13] % 8);
    gcm.decrypt_inout_detached(&nonce, aad, ours.as_mut_slice().into(), &wrong).unwrap_err();
    assert_eq!(theirs, ours, "what does not open stays as it was");
}

fn gcm_siv_is_the_same<Theirs, Ours>(seed: [u8; 16], key: &[u8], aad: &[u8], text: &[u8])
where
    Theirs: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit,
    Ours: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit,
{
    let nonce = Array::<u8, U12>::try_from(&seed[..12]).unwrap();
    let (mut theirs, mut ours) = (text.to_vec(), vec![0; text.len()]);
    let tag = Theirs::new_from_slice(key)
        .unwrap()
        .encrypt_inout_detached(&nonce, aad, theirs.as_mut_slice().into())
        .unwrap();
    let cipher = Ours::new_from_slice(key).unwrap();
    let buffer = InOutBuf::new(text, &mut ours).unwrap();
    assert_eq!(cipher.encrypt_inout_detached(&nonce, aad, buffer).unwrap(), tag);
    assert_eq!(theirs, ours);
    let mut opened = vec![0; text.len()];
    let buffer = InOutBuf::new(&theirs, &mut opened).unwrap();
    cipher.decrypt_inout_detached(&nonce, aad, buffer, &tag).unwrap();
    assert_eq!(opened, text);

    let mut wrong = tag;
    wrong[usize::from(seed[12] % 16)] ^= 1 << (seed[13] % 8);
    cipher.decrypt_inout_detached(&nonce, aad, ours.as_mut_slice().into(), &wrong).unwrap_err();
    assert!(ours.iter().all(|byte| *byte == 0), "what does not open is wiped");
}

fn siv_is_the_same(key: &[u8], aad: &[u8], text: &[u8]) {
    let (mut theirs, mut ours) = (text.to_vec(), text.to_vec());
    let mut siv = CmacSiv::<aes::Aes256>::new_from_slice(key).unwrap();
    let iv = siv.encrypt_inout_detached([aad], theirs.as_mut_slice().into()).unwrap();
    let siv = AesSiv::<simd::Aes256>::new(key).unwrap();
    assert_eq!(siv.encrypt_inout_detached(aad, ours.as_mut_slice().into()), iv.0);
    assert_eq!(theirs, ours);
    let mut wrong = iv.0;
    wrong[usize::from(key[0] % 16)] ^= 1 << (key[1] % 8);
    siv.decrypt_inout_detached(aad, theirs.as_mut_slice().into(), &wrong).unwrap_err();
    assert!(theirs.iter().all(|byte| *byte == 0), "what does not open is wiped");
    siv.decrypt_inout_detached(aad, ours.as_mut_slice().into(), &iv.0).unwrap();
    assert_eq!(ours, text);
    assert!(AesSiv::<simd::Aes256>::new(&key[1..]).is_none(), "a key of another length is none");
}

fn hashes_are_the_same(key: [u8; 16], first: &[u8], second: &[u8]) {
    let mut theirs = ghash::GHash::new(&key.into());
    theirs.update_padded(first);
    theirs.update_padded(second);
    let key = GHashKey::new(&key);
    let mut ours = GHash::new(&key);
    ours.update_padded(first);
    ours.update_padded(second);
    assert_eq!(ours.finalize(), <[u8; 16]>::from(theirs.finalize()));
}

/// All of it, with a key, associated data and a text of these lengths from the seed.
fn all_is_the_same(seed: [u8; 16], aad: usize, text: usize) {
    let material = bytes(seed, 64 + aad + text);
    let (key, rest) = material.split_at(64);
    let (aad, text) = rest.split_at(aad);
    blocks_are_the_same::<aes::Aes128, simd::Aes128>(&key[..16], text);
    blocks_are_the_same::<aes::Aes192, simd::Aes192>(&key[..24], text);
    blocks_are_the_same::<aes::Aes256, simd::Aes256>(&key[..32], text);
    modes_are_the_same::<aes::Aes128, simd::Aes128>(seed, &key[..16], aad, text);
    modes_are_the_same::<aes::Aes192, simd::Aes192>(seed, &key[..24], aad, text);
    modes_are_the_same::<aes::Aes256, simd::Aes256>(seed, &key[..32], aad, text);
    gcm_siv_is_the_same::<Aes128GcmSiv, simd::AesGcmSiv<simd::Aes128>>(seed, &key[..16], aad, text);
    gcm_siv_is_the_same::<Aes256GcmSiv, simd::AesGcmSiv<simd::Aes256>>(seed, &key[..32], aad, text);
    siv_is_the_same(key, aad, text);
    hashes_are_the_same(seed, aad, text);
}

#[test]
fn every_length_gives_what_rustcrypto_gives() {
    for len in 0..=400 {
        all_is_the_same([len as u8; 16], len % 67, len);
    }
    all_is_the_same([1; 16], 5000, 70_000);
}

/// The byte permutation's tables have no entry that these leave out: every value of every byte.
#[test]
fn every_byte_in_every_place_gives_what_rustcrypto_gives() {
    let key = bytes([7; 16], 32);
    for place in 0..16 {
        for byte in 0..=u8::MAX {
            let mut text = [byte.wrapping_mul(3); 16];
            text[place] = byte;
            blocks_are_the_same::<aes::Aes256, simd::Aes256>(&key, &text);
            blocks_are_the_same::<aes::Aes256, simd::Aes256>(&key, &text.repeat(8));
            let mut one = [0; 16];
            one[place] = byte;
            blocks_are_the_same::<aes::Aes128, simd::Aes128>(&text, &one);
            hashes_are_the_same(one, &text, &one);
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_sealed_is_what_rustcrypto_seals(seed: [u8; 16], aad in 0..300_usize, text in 0..600_usize) {
            all_is_the_same(seed, aad, text);
        }

        #[test]
        fn whatever_is_hashed_is_what_rustcrypto_hashes(
            key: [u8; 16],
            first in prop::collection::vec(any::<u8>(), 0..300),
            second in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            hashes_are_the_same(key, &first, &second);
        }
    }
}
