//! Project Wycheproof's vectors, all that are for these algorithms and the sizes that are taken here.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]
#![cfg(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64"))]

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadInOut, KeyInit, Nonce};
use cmac::{Cmac, Mac};
use fieldveil_aes_simd::AesSiv;
use fieldveil_aes_simd::simd::{Aes128, Aes192, Aes256, AesGcm, AesGcmSiv};
use serde::Deserialize;
use wycheproof::{TestResult, aead, mac};

/// That what is valid seals to its bytes and opens, and that what is not valid does not open.
fn check<C: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit>(case: &aead::Test) {
    let cipher = C::new_from_slice(&case.key).unwrap();
    let nonce = Nonce::<C>::try_from(case.nonce.as_ref()).unwrap();
    let mut opened = case.ct.to_vec();
    let tag = case.tag.as_ref().try_into().unwrap();
    let is_open =
        cipher.decrypt_inout_detached(&nonce, &case.aad, opened.as_mut_slice().into(), &tag).is_ok();
    assert_eq!(is_open, case.result == TestResult::Valid, "{}", case.tc_id);
    if is_open {
        assert_eq!(opened, case.pt.to_vec(), "{}", case.tc_id);
        let made = cipher.encrypt_inout_detached(&nonce, &case.aad, opened.as_mut_slice().into()).unwrap();
        assert_eq!((opened, made), (case.ct.to_vec(), tag), "{}", case.tc_id);
    }
}

/// How many cases were looked at, of those with nonces of 12 bytes and tags of 16.
fn run(name: aead::TestName, check: fn(usize, &aead::Test)) -> usize {
    let mut count = 0;
    for group in aead::TestSet::load(name).unwrap().test_groups {
        if group.nonce_size != 96 || group.tag_size != 128 {
            continue;
        }
        for case in &group.tests {
            check(group.key_size, case);
            count += 1;
        }
    }
    count
}

#[test]
fn aes_gcm_does_what_its_vectors_say() {
    let count = run(aead::TestName::AesGcm, |bits, case| match bits {
        128 => check::<AesGcm<Aes128>>(case),
        192 => check::<AesGcm<Aes192>>(case),
        _ => check::<AesGcm<Aes256>>(case),
    });
    assert!(count > 150, "{count}");
}

/// By our mode, and over our block cipher by the `aes-gcm-siv` crate's.
#[test]
fn aes_gcm_siv_does_what_its_vectors_say() {
    let count = run(aead::TestName::AesGcmSiv, |bits, case| match bits {
        128 => {
            check::<AesGcmSiv<Aes128>>(case);
            check::<aes_gcm_siv::AesGcmSiv<Aes128>>(case);
        }
        _ => {
            check::<AesGcmSiv<Aes256>>(case);
            check::<aes_gcm_siv::AesGcmSiv<Aes256>>(case);
        }
    });
    assert!(count > 150, "{count}");
}

/// By the `cmac` crate's mode.
#[test]
fn aes_cmac_does_what_its_vectors_say() {
    fn verifies<C: Mac + KeyInit>(case: &mac::Test) -> bool {
        let mut mac = <C as KeyInit>::new_from_slice(&case.key).unwrap();
        mac.update(&case.msg);
        mac.verify_truncated_left(&case.tag).is_ok()
    }
    let mut count = 0;
    for group in mac::TestSet::load(mac::TestName::AesCmac).unwrap().test_groups {
        for case in &group.tests {
            let is_valid = match case.key.len() {
                16 => verifies::<Cmac<Aes128>>(case),
                24 => verifies::<Cmac<Aes192>>(case),
                32 => verifies::<Cmac<Aes256>>(case),
                _ => continue,
            };
            assert_eq!(is_valid, case.result == TestResult::Valid, "{}", case.tc_id);
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

/// Of the selection that the keysets' crate has: the dependency has none with one component of associated data.
#[derive(Deserialize)]
struct Case {
    algorithm: String,
    id: u32,
    key: String,
    aad: String,
    msg: String,
    ct: String,
    valid: bool,
}

#[test]
fn aes_siv_does_what_its_vectors_say() {
    let unhex = |hex: &str| -> Vec<u8> {
        let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
        digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
    };
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../tink/testdata/wycheproof.json")).unwrap();
    let mut counts = [0, 0];
    for case in cases.iter().filter(|case| case.algorithm == "aes-siv") {
        let [key, aad, msg, ct] = [&case.key, &case.aad, &case.msg, &case.ct].map(|hex| unhex(hex));
        let siv = AesSiv::<Aes256>::new(&key).unwrap();
        let (iv, ct) = ct.split_first_chunk().unwrap();
        let mut opened = ct.to_vec();
        let is_open = siv.decrypt_inout_detached(&aad, opened.as_mut_slice().into(), iv).is_ok();
        assert_eq!(is_open, case.valid, "{}", case.id);
        if is_open {
            assert_eq!(opened, msg, "{}", case.id);
            let made = siv.encrypt_inout_detached(&aad, opened.as_mut_slice().into());
            assert_eq!((made, opened.as_slice()), (*iv, ct), "{}", case.id);
        }
        counts[usize::from(case.valid)] += 1;
    }
    assert_eq!(counts, [12, 24]);
}
