//! How long each part takes, beside RustCrypto's: natively, and in V8 as docs/internals/aes.md says. The least of many short
//! measurements, as others use the machine too. With words as arguments, the lines that have one of them in their name.

#![allow(clippy::arithmetic_side_effects, clippy::cast_lossless, clippy::indexing_slicing)]
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use aes::cipher::consts::{U12, U16};
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes_gcm::aead::AeadInOut;
use ghash::universal_hash::UniversalHash;

/// What one measurement takes at least.
const BATCH: Duration = Duration::from_micros(100);
const BATCHES: usize = 600;
/// Values that are opened together.
const VALUES: usize = 100;
/// As many bytes as the filter's own for a label of 13 characters.
const ASSOCIATED_DATA: [u8; 26] = [1; 26];

fn main() {
    theirs();
    #[cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]
    ours();
}

fn theirs() {
    blocks::<aes::Aes256>("aes");
    aead::<aes_gcm::Aes256Gcm>("aes-gcm");
    aead::<aes_gcm_siv::Aes256GcmSiv>("aes-gcm-siv");
    let mut siv = aes_siv::siv::Aes256Siv::new(&[9; 64].into());
    for len in [16, 300, 4096] {
        let mut text = vec![0; len];
        measure(&format!("aes-siv, seal {len} bytes"), || {
            black_box(
                siv.encrypt_inout_detached([ASSOCIATED_DATA], black_box(&mut text[..]).into()).unwrap(),
            );
        });
    }
    let key = ghash::GHash::new(&[7; 16].into());
    for len in [16, 64, 4096] {
        let text = vec![1; len];
        measure(&format!("ghash, {len} bytes"), || {
            let mut hash = key.clone();
            hash.update_padded(black_box(&text));
            black_box(hash.finalize());
        });
    }
}

#[cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]
fn ours() {
    use fieldveil_aes_simd::simd::{Aes256, AesGcm, GHash, GHashKey};
    use fieldveil_aes_simd::{AesSiv, simd};

    blocks::<Aes256>("simd");
    aead::<AesGcm<Aes256>>("simd GCM");
    aead::<aes_gcm::AesGcm<Aes256, U12>>("aes-gcm over simd");
    aead::<aes_gcm_siv::AesGcmSiv<Aes256>>("aes-gcm-siv over simd");
    aead::<simd::AesGcmSiv<Aes256>>("simd GCM-SIV");
    gcm_batch::<AesGcm<Aes256>>();
    let mut theirs = aes_siv::siv::CmacSiv::<Aes256>::new(&[9; 64].into());
    measure("aes-siv over simd, seal 16 bytes", || {
        black_box(theirs.encrypt_inout_detached([ASSOCIATED_DATA], (&mut [0; 16][..]).into()).unwrap());
    });
    let siv = AesSiv::<Aes256>::new(&[9; 64]).unwrap();
    for len in [16, 300, 4096] {
        let mut text = vec![0; len];
        measure(&format!("simd SIV, seal {len} bytes"), || {
            black_box(siv.encrypt_inout_detached(&ASSOCIATED_DATA, black_box(&mut text[..]).into()));
        });
        let associated = siv.associate(&ASSOCIATED_DATA);
        measure(&format!("simd SIV, seal {len} bytes, associated data known"), || {
            black_box(siv.encrypt_associated(&associated, black_box(&mut text[..]).into()));
        });
    }
    siv_batch(&siv);
    let key = GHashKey::new(&[7; 16]);
    measure("simd GHASH, key", || drop(black_box(GHashKey::new(black_box(&[7; 16])))));
    for len in [16, 64, 4096] {
        let text = vec![1; len];
        measure(&format!("simd GHASH, {len} bytes"), || {
            let mut hash = GHash::new(black_box(&key));
            hash.update_padded(black_box(&text));
            black_box(hash.finalize());
        });
    }
}

fn blocks<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit>(name: &str) {
    let key = vec![7; C::key_size()];
    measure(&format!("{name}, key"), || drop(black_box(C::new_from_slice(black_box(&key)).unwrap())));
    let cipher = C::new_from_slice(&key).unwrap();
    for count in [1, 2, 3, 4, 6, 8, 64] {
        let mut blocks = vec![Array::<u8, U16>::default(); count];
        measure(&format!("{name}, {count} blocks"), || cipher.encrypt_blocks(black_box(&mut blocks)));
    }
}

fn aead<C: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit>(name: &str) {
    let key = vec![7; C::key_size()];
    measure(&format!("{name}, key"), || drop(black_box(C::new_from_slice(black_box(&key)).unwrap())));
    let cipher = C::new_from_slice(&key).unwrap();
    for len in [16, 64, 300, 4096] {
        let mut text = vec![0; len];
        measure(&format!("{name}, seal {len} bytes"), || {
            let text = black_box(&mut text[..]).into();
            let tag = cipher.encrypt_inout_detached(&[3; 12].into(), &ASSOCIATED_DATA, text);
            black_box(tag.unwrap());
        });
    }
}

/// As many values of one column as the rows of a page may have; a value's part of the time is told.
#[cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]
fn gcm_batch<C: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit + fieldveil_aes_simd::AeadBatch>() {
    use fieldveil_aes_simd::Message;

    let cipher = C::new_from_slice(&[7; 32]).unwrap();
    for len in [16, 40, 300] {
        let nonce = |at: usize| [at as u8; 12];
        let mut sealed = vec![0; len * VALUES];
        let mut tags = Vec::new();
        for (at, text) in sealed.chunks_mut(len).enumerate() {
            tags.push(
                cipher.encrypt_inout_detached(&nonce(at).into(), &ASSOCIATED_DATA, text.into()).unwrap(),
            );
        }
        let mut text = sealed.clone();
        measure_each(&format!("simd GCM, open {VALUES} of {len} bytes, each"), VALUES, || {
            text.copy_from_slice(&sealed);
            for (at, texts) in text.chunks_mut(len * 16).enumerate() {
                let mut messages: [_; 16] = Default::default();
                let mut count = 0;
                for ((text, tag), message) in texts.chunks_mut(len).zip(&tags[at * 16..]).zip(&mut messages) {
                    *message = Message::new(nonce(at * 16 + count), &ASSOCIATED_DATA, text, tag.0);
                    count += 1;
                }
                cipher.open_batch(black_box(&mut messages[..count]));
                assert!(messages[..count].iter().all(Message::is_done));
            }
        });
    }
}

#[cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]
fn siv_batch<C: BlockCipherEncrypt<BlockSize = U16>>(cipher: &fieldveil_aes_simd::AesSiv<C>) {
    use fieldveil_aes_simd::SivMessage;

    for len in [16, 40, 300] {
        let mut sealed = vec![0; len * VALUES];
        let seal = |text: &mut [u8]| cipher.encrypt_inout_detached(&ASSOCIATED_DATA, text.into());
        let associated = cipher.associate(&ASSOCIATED_DATA);
        let ivs: Vec<[u8; 16]> = sealed.chunks_mut(len).map(seal).collect();
        let mut text = sealed.clone();
        measure_each(&format!("simd SIV, open {VALUES} of {len} bytes, each"), VALUES, || {
            text.copy_from_slice(&sealed);
            for (texts, ivs) in text.chunks_mut(len * 16).zip(ivs.chunks(16)) {
                let mut messages: [_; 16] = Default::default();
                for ((text, iv), message) in texts.chunks_mut(len).zip(ivs).zip(&mut messages) {
                    *message = SivMessage::new(associated.clone(), text, *iv);
                }
                let messages = &mut messages[..ivs.len()];
                cipher.open_batch(black_box(messages));
                assert!(messages.iter().all(SivMessage::is_open));
            }
        });
    }
}

fn measure(name: &str, call: impl FnMut()) {
    measure_each(name, 1, call);
}

fn measure_each(name: &str, count: usize, mut call: impl FnMut()) {
    let mut words = std::env::args().skip(1).peekable();
    if words.peek().is_some() && !words.any(|word| name.contains(&word)) {
        return;
    }
    let mut time = |calls: u32| {
        let started = Instant::now();
        (0..calls).for_each(|_| call());
        started.elapsed()
    };
    let mut calls = 1;
    while (0..20).map(|_| time(calls)).min().unwrap() < BATCH {
        calls *= 2;
    }
    let least = (0..BATCHES).map(|_| time(calls)).min().unwrap();
    println!("{name:40} {:10.1} ns", least.as_nanos() as f64 / (f64::from(calls) * count as f64));
}
