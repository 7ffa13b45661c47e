//! That values opened or sealed together come out as each does alone, whatever key it is of and whatever stands beside it.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fieldveil_tink::{Aead, CryptError, DeterministicAead, Keyset, Opened, Random, Sealed};
use proptest::prelude::*;
use serde_json::{Value, json};

/// For tests only.
struct Counting(u8);

impl Random for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 = self.0.wrapping_add(1);
        bytes.fill(self.0);
    }
}

/// A key of 32 bytes, or for AES-SIV of 64, whose bytes are the message's field of this tag.
fn key(id: u32, name: &str, field: u8) -> Value {
    let len: u8 = if name == "AesSivKey" { 64 } else { 32 };
    let bytes: Vec<u8> = (0..len).map(|at| at ^ id as u8).collect();
    let value = STANDARD.encode([&[field, len][..], &bytes].concat());
    let type_url = format!("type.googleapis.com/google.crypto.tink.{name}");
    json!({"keyData": {"typeUrl": type_url, "value": value, "keyMaterialType": "SYMMETRIC"},
        "status": "ENABLED", "keyId": id, "outputPrefixType": "TINK"})
}

fn keyset(primary: u32, keys: &[Value]) -> Keyset {
    Keyset::from_json(json!({"primaryKeyId": primary, "key": keys}).to_string().as_bytes()).unwrap()
}

fn aead_keys() -> Vec<Value> {
    vec![
        key(1, "AesGcmKey", 0x1a),
        key(2, "AesGcmKey", 0x1a),
        key(3, "AesGcmSivKey", 0x1a),
        key(4, "XChaCha20Poly1305Key", 0x1a),
        key(5, "ChaCha20Poly1305Key", 0x12),
    ]
}

const DATA: [&[u8]; 2] = [b"associated data of a column", b"another"];

/// A value: its length, its key, its associated data, and what is done to its ciphertext.
#[derive(Debug, Clone, Copy)]
struct Shape {
    len: usize,
    key: usize,
    data: usize,
    harm: Harm,
}

#[derive(Debug, Clone, Copy)]
enum Harm {
    None,
    Turned(usize),
    Cut(usize),
    Moved,
}

impl Harm {
    fn apply(self, ciphertext: &mut Vec<u8>) {
        match self {
            Self::None | Self::Moved => {}
            Self::Turned(bit) => {
                let at = bit / 8 % ciphertext.len();
                ciphertext[at] ^= 1 << (bit % 8);
            }
            Self::Cut(len) => ciphertext.truncate(len % ciphertext.len()),
        }
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    let harm = prop_oneof![
        8 => Just(Harm::None),
        1 => (0..2000_usize).prop_map(Harm::Turned),
        1 => (0..200_usize).prop_map(Harm::Cut),
        1 => Just(Harm::Moved),
    ];
    // Most are of the first key, as in a keyset that is rotated.
    let key = prop_oneof![3 => Just(0_usize), 2 => 0..5_usize];
    (0..150_usize, key, 0..2_usize, harm).prop_map(|(len, key, data, harm)| Shape { len, key, data, harm })
}

/// That the batch gives what each gives, in a buffer that had something in it.
fn same_as_alone(
    shapes: &[Shape],
    seal: impl Fn(&Shape, &[u8]) -> Vec<u8>,
    alone: impl Fn(&Sealed<'_>) -> Result<Vec<u8>, CryptError>,
    batch: impl Fn(&[Sealed<'_>], &mut Vec<u8>, &mut Vec<Opened>),
) {
    let mut ciphertexts: Vec<Vec<u8>> =
        shapes.iter().map(|shape| seal(shape, &vec![shape.len as u8; shape.len])).collect();
    shapes.iter().zip(&mut ciphertexts).for_each(|(shape, ciphertext)| shape.harm.apply(ciphertext));
    let values: Vec<Sealed<'_>> = shapes
        .iter()
        .zip(&ciphertexts)
        .map(|(shape, ciphertext)| {
            let data = shape.data ^ usize::from(matches!(shape.harm, Harm::Moved));
            Sealed { ciphertext, associated_data: DATA[data] }
        })
        .collect();
    let (mut out, mut opened) = (b"before".to_vec(), vec![Err(CryptError::TooLong)]);
    batch(&values, &mut out, &mut opened);
    assert_eq!(opened.len(), values.len() + 1);
    assert!(out.starts_with(b"before"));
    for ((value, opened), shape) in values.iter().zip(&opened[1..]).zip(shapes) {
        let opened = opened.clone().map(|range| out[range].to_vec());
        assert_eq!(opened, alone(value), "{shape:?}");
        assert_eq!(opened.is_ok(), matches!(shape.harm, Harm::None), "{shape:?}");
    }
}

fn aead_batch_is_the_same(shapes: &[Shape]) {
    let ids = [1, 2, 3, 4, 5];
    let sealing = ids.map(|id| Aead::new(&keyset(id, &aead_keys())).unwrap());
    same_as_alone(
        shapes,
        |shape, text| sealing[shape.key].encrypt(&mut Counting(9), text, DATA[shape.data]).unwrap(),
        |value| sealing[0].decrypt(value.ciphertext, value.associated_data).map(|text| text.to_vec()),
        |values, out, opened| sealing[0].decrypt_batch(values.iter().copied(), out, opened),
    );
}

fn deterministic_batch_is_the_same(shapes: &[Shape]) {
    let keys = [1, 2, 3, 4, 5].map(|id| key(id, "AesSivKey", 0x12));
    let sealing = [1, 2, 3, 4, 5].map(|id| DeterministicAead::new(&keyset(id, &keys)).unwrap());
    same_as_alone(
        shapes,
        |shape, text| sealing[shape.key].encrypt(text, DATA[shape.data]).unwrap(),
        |value| sealing[0].decrypt(value.ciphertext, value.associated_data).map(|text| text.to_vec()),
        |values, out, opened| sealing[0].decrypt_batch(values.iter().copied(), out, opened),
    );
}

/// Seals values together, and appends to both buffers.
type SealBatch<'a> = &'a dyn Fn(&mut Vec<u8>, &mut Vec<Range<usize>>);

/// That values are sealed together to what each is sealed to, behind its header, in a buffer that had something in it.
fn sealed_batch_is_the_same(lengths: &[usize]) {
    let texts: Vec<Vec<u8>> = lengths.iter().map(|len| vec![*len as u8; *len]).collect();
    let (header, data) = (b"header", DATA[0]);
    let plaintexts = || texts.iter().map(Vec::as_slice);
    let check = |batch: SealBatch<'_>, alone: &mut dyn FnMut(&[u8]) -> Vec<u8>| {
        let (mut out, mut sealed) = (b"before".to_vec(), Vec::from_iter(std::iter::once(0..6)));
        batch(&mut out, &mut sealed);
        let expected = plaintexts().map(|text| [&header[..], &alone(text)].concat());
        let expected: Vec<Vec<u8>> = std::iter::once(b"before".to_vec()).chain(expected).collect();
        let sealed: Vec<Vec<u8>> = sealed.into_iter().map(|range| out[range].to_vec()).collect();
        assert_eq!(sealed, expected);
        assert_eq!(sealed.concat(), out);
    };
    for primary in [1, 2, 3, 4, 5] {
        let aead = Aead::new(&keyset(primary, &aead_keys())).unwrap();
        let mut random = Counting(9);
        check(
            &|out, sealed| {
                aead.encrypt_batch(&mut Counting(9), plaintexts(), (header, data), out, sealed).unwrap();
            },
            &mut |text| aead.encrypt(&mut random, text, data).unwrap(),
        );
        let keys = [1, 2, 3, 4, 5].map(|id| key(id, "AesSivKey", 0x12));
        let daead = DeterministicAead::new(&keyset(primary, &keys)).unwrap();
        check(
            &|out, sealed| daead.encrypt_batch(plaintexts(), (header, data), out, sealed).unwrap(),
            &mut |text| daead.encrypt(text, data).unwrap(),
        );
    }
}

#[test]
fn any_number_of_values_are_sealed_together_as_alone() {
    for count in 0..40 {
        sealed_batch_is_the_same(&vec![count; count]);
    }
}

#[test]
fn value_that_fails_fails_by_itself_wherever_it_stands() {
    let whole = Shape { len: 20, key: 0, data: 0, harm: Harm::None };
    for at in 0..40 {
        for harm in [Harm::Turned(at), Harm::Turned(200), Harm::Cut(3), Harm::Cut(20), Harm::Moved] {
            let mut shapes = [whole; 40];
            shapes[at].harm = harm;
            aead_batch_is_the_same(&shapes);
            deterministic_batch_is_the_same(&shapes);
        }
    }
    aead_batch_is_the_same(&[]);
    deterministic_batch_is_the_same(&[]);
}

/// More than are kept, so that what was kept for one is never taken for another.
#[test]
fn values_of_many_associated_data_open_under_their_own_alone() {
    let daead = DeterministicAead::new(&keyset(1, &[key(1, "AesSivKey", 0x12)])).unwrap();
    let data: Vec<Vec<u8>> = (0..50_u8).map(|at| vec![at; usize::from(at % 5) + 1]).collect();
    let fresh = |data: &[u8]| {
        let daead = DeterministicAead::new(&keyset(1, &[key(1, "AesSivKey", 0x12)])).unwrap();
        daead.encrypt(b"a value", data).unwrap()
    };
    for _ in 0..2 {
        for (at, own) in data.iter().enumerate() {
            let sealed = daead.encrypt(b"a value", own).unwrap();
            assert_eq!(sealed, fresh(own));
            assert_eq!(daead.decrypt(&sealed, own).unwrap().as_slice(), b"a value");
            let other = &data[(at + 1) % data.len()];
            assert_eq!(daead.decrypt(&sealed, other).err(), Some(CryptError::NotAuthentic));
        }
    }
}

proptest! {
    #[test]
    fn values_sealed_together_come_out_as_alone(lengths in prop::collection::vec(0..150_usize, 0..50)) {
        sealed_batch_is_the_same(&lengths);
    }

    #[test]
    fn values_opened_together_come_out_as_alone(shapes in prop::collection::vec(shape(), 0..50)) {
        aead_batch_is_the_same(&shapes);
        deterministic_batch_is_the_same(&shapes);
    }
}
