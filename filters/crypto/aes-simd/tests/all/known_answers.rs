//! Answers that others know: NIST's and the RFCs'.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]
#![cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]

use aes::cipher::consts::U16;
use aes::cipher::{Array, BlockCipherEncrypt, InnerIvInit, KeyInit, StreamCipherCore};
use aes_gcm::aead::{AeadInOut, Nonce};
use cmac::{Cmac, Mac};
use fieldveil_aes_simd::AesSiv;
use fieldveil_aes_simd::simd::{Aes128, Aes192, Aes256, AesGcm};

fn unhex(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn encrypt<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit>(key: &str, blocks: &str) -> Vec<u8> {
    let bytes = unhex(blocks);
    let mut blocks: Vec<Array<u8, U16>> =
        bytes.as_chunks::<16>().0.iter().map(|block| (*block).into()).collect();
    C::new_from_slice(&unhex(key)).unwrap().encrypt_blocks(&mut blocks);
    blocks.iter().flat_map(|block| block.0).collect()
}

/// Appendix C.
#[test]
fn fips_197_examples_encrypt() {
    let (key, block) = (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
    );
    assert_eq!(encrypt::<Aes128>(&key[..32], block), unhex("69c4e0d86a7b0430d8cdb78070b4c55a"));
    assert_eq!(encrypt::<Aes192>(&key[..48], block), unhex("dda97ca4864cdfe06eaf70a0ec0d7191"));
    assert_eq!(encrypt::<Aes256>(key, block), unhex("8ea2b7ca516745bfeafc49904b496089"));
}

const TEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";
const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const KEY_192: &str = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";
const KEY_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";

/// Four blocks, F.1: as they are, and three times over, which other code encrypts.
#[test]
fn sp_800_38a_ecb_examples_encrypt() {
    let check = |encrypt: fn(&str, &str) -> Vec<u8>, key, expected: &str| {
        assert_eq!(encrypt(key, TEXT), unhex(expected));
        assert_eq!(encrypt(key, &TEXT.repeat(3)), unhex(&expected.repeat(3)));
    };
    check(
        encrypt::<Aes128>,
        KEY_128,
        "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
         43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
    );
    check(
        encrypt::<Aes192>,
        KEY_192,
        "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef
         ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
    );
    check(
        encrypt::<Aes256>,
        KEY_256,
        "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
         b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
    );
}

/// F.5, by the `ctr` crate's mode.
#[test]
fn sp_800_38a_counter_mode_examples_encrypt() {
    fn check<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit>(key: &str, expected: &str) {
        let cipher = C::new_from_slice(&unhex(key)).unwrap();
        let iv: [u8; 16] = unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").try_into().unwrap();
        let mut text = unhex(TEXT);
        ctr::CtrCore::<_, ctr::flavors::Ctr128BE>::inner_iv_init(&cipher, &iv.into())
            .apply_keystream_partial(text.as_mut_slice().into());
        assert_eq!(text, unhex(expected));
    }
    check::<Aes128>(
        KEY_128,
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
    );
    check::<Aes256>(
        KEY_256,
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
    );
}

/// RFC 4493, 4, by the `cmac` crate's mode.
#[test]
fn rfc_4493_examples_are_authenticated() {
    for (len, expected) in [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ] {
        let mut mac = Cmac::<Aes128>::new_from_slice(&unhex(KEY_128)).unwrap();
        mac.update(&unhex(TEXT)[..len]);
        assert_eq!(mac.finalize().into_bytes().to_vec(), unhex(expected), "{len} bytes");
    }
}

/// McGrew and Viega's test cases, "The Galois/Counter Mode of Operation", appendix B.
#[test]
fn gcm_test_cases_1_2_4_and_16_seal() {
    fn check<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit>(case: [&str; 4], expected: &str, tag: &str) {
        let [key, nonce, aad, text] = case.map(unhex);
        let gcm = AesGcm::<C>::new_from_slice(&key).unwrap();
        let nonce = Nonce::<AesGcm<C>>::try_from(nonce.as_slice()).unwrap();
        let mut text = text;
        let found = gcm.encrypt_inout_detached(&nonce, &aad, text.as_mut_slice().into()).unwrap();
        assert_eq!((text, found.to_vec()), (unhex(expected), unhex(tag)));
    }
    let zeros = "00000000000000000000000000000000";
    check::<Aes128>([zeros, &zeros[..24], "", ""], "", "58e2fccefa7e3061367f1d57a4e7455a");
    let (expected, tag) = ("0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf");
    check::<Aes128>([zeros, &zeros[..24], "", zeros], expected, tag);
    let key = "feffe9928665731c6d6a8f9467308308";
    let rest = [
        "cafebabefacedbaddecaf888",
        "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    ];
    let [nonce, aad, text] = rest;
    check::<Aes128>(
        [key, nonce, aad, text],
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
         21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
        "5bc94fbc3221a5db94fae95ae7121a47",
    );
    check::<Aes256>(
        [&key.repeat(2), nonce, aad, text],
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
         8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
        "76fc6ece0f4e1768cddf8853bb2d551b",
    );
}

/// Appendix A.1.
#[test]
fn rfc_5297_deterministic_example_seals_and_opens() {
    let key = unhex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let aad = unhex("101112131415161718191a1b1c1d1e1f2021222324252627");
    let siv = AesSiv::<Aes128>::new(&key).unwrap();
    let mut text = unhex("112233445566778899aabbccddee");
    let iv = siv.encrypt_inout_detached(&aad, text.as_mut_slice().into());
    assert_eq!(iv.to_vec(), unhex("85632d07c6e8f37f950acd320a2ecc93"));
    assert_eq!(text, unhex("40c02b9690c4dc04daef7f6afe5c"));
    siv.decrypt_inout_detached(&aad, text.as_mut_slice().into(), &iv).unwrap();
    assert_eq!(text, unhex("112233445566778899aabbccddee"));
}
