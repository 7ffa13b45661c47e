//! That messages opened or sealed together come out as each does alone, whatever stands beside it.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadInOut, KeyInit};
use fieldveil_aes_simd::{AeadBatch, Aes256Gcm, Aes256Siv, Message, SivMessage};

/// A sealed text: which of two associated data, its length, and whether a bit of it is turned.
#[derive(Clone, Copy, Debug)]
struct Shape {
    other_data: bool,
    len: usize,
    damage: Option<usize>,
}

const DATA: [&[u8]; 2] = [b"associated data of a column", b""];

impl Shape {
    fn data(&self) -> &'static [u8] {
        DATA[usize::from(self.other_data)]
    }

    fn text(&self, at: usize) -> Vec<u8> {
        (0..self.len).map(|byte| (byte * 7 + at) as u8).collect()
    }

    /// Turns a bit of the text or of what authenticates it.
    fn damage(&self, text: &mut [u8], tag: &mut [u8; 16]) {
        if let Some(damage) = self.damage {
            let at = damage / 8 % (text.len() + 16);
            let byte = if at < text.len() { &mut text[at] } else { &mut tag[at - text.len()] };
            *byte ^= 1 << (damage % 8);
        }
    }
}

fn gcm_opens<C: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit + AeadBatch>(shapes: &[Shape]) {
    let cipher = C::new_from_slice(&vec![5; C::key_size()]).unwrap();
    let mut sealed = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        let (nonce, mut text) = ([at as u8; 12], shape.text(at));
        let tag = cipher.encrypt_inout_detached(&nonce.into(), shape.data(), text.as_mut_slice().into());
        let mut tag = tag.unwrap().0;
        shape.damage(&mut text, &mut tag);
        sealed.push((nonce, text, tag));
    }
    assert_eq!(gcm_sealed(&cipher, shapes), sealed_alone(&cipher, shapes));
    let before = sealed.clone();
    let mut messages: Vec<Message<'_>> = sealed
        .iter_mut()
        .zip(shapes)
        .map(|((nonce, text, tag), shape)| Message::new(*nonce, shape.data(), text, *tag))
        .collect();
    cipher.open_batch(&mut messages);
    let opened: Vec<bool> = messages.iter().map(Message::is_done).collect();
    for (at, shape) in shapes.iter().enumerate() {
        assert_eq!(opened[at], shape.damage.is_none(), "{at}: {shape:?}");
        match opened[at] {
            true => assert_eq!(sealed[at].1, shape.text(at), "{at}: {shape:?}"),
            false => assert_eq!(sealed[at], before[at], "{at}: {shape:?} stays as it was"),
        }
    }
}

/// Ciphertexts and tags, sealed one by one.
fn sealed_alone(
    cipher: &impl AeadInOut<NonceSize = U12, TagSize = U16>,
    shapes: &[Shape],
) -> Vec<(Vec<u8>, [u8; 16])> {
    let seal = |(at, shape): (usize, &Shape)| {
        let (nonce, mut text) = ([at as u8; 12], shape.text(at));
        let tag = cipher.encrypt_inout_detached(&nonce.into(), shape.data(), text.as_mut_slice().into());
        (text, tag.unwrap().0)
    };
    shapes.iter().enumerate().map(seal).collect()
}

/// The same, sealed together.
fn gcm_sealed(cipher: &impl AeadBatch, shapes: &[Shape]) -> Vec<(Vec<u8>, [u8; 16])> {
    let mut texts: Vec<_> = shapes.iter().enumerate().map(|(at, shape)| shape.text(at)).collect();
    let mut messages: Vec<Message<'_>> = texts
        .iter_mut()
        .zip(shapes)
        .enumerate()
        .map(|(at, (text, shape))| Message::to_be_sealed([at as u8; 12], shape.data(), text))
        .collect();
    cipher.seal_batch(&mut messages);
    assert!(messages.iter().all(Message::is_done));
    let tags: Vec<_> = messages.iter().map(|message| *message.tag()).collect();
    texts.into_iter().zip(tags).collect()
}

fn siv_seals(shapes: &[Shape]) {
    let cipher = Aes256Siv::new(&[9; 64]).unwrap();
    let mut texts: Vec<_> = shapes.iter().enumerate().map(|(at, shape)| shape.text(at)).collect();
    let mut messages: Vec<SivMessage<'_>> = texts
        .iter_mut()
        .zip(shapes)
        .map(|(text, shape)| SivMessage::to_be_sealed(cipher.associate(shape.data()), text))
        .collect();
    cipher.seal_batch(&mut messages);
    let ivs: Vec<_> = messages.iter().map(|message| *message.iv()).collect();
    for (at, ((sealed, iv), shape)) in texts.iter().zip(ivs).zip(shapes).enumerate() {
        let mut text = shape.text(at);
        let alone = cipher.encrypt_inout_detached(shape.data(), text.as_mut_slice().into());
        assert_eq!((sealed, iv), (&text, alone), "{at}: {shape:?}");
    }
}

fn siv_opens(shapes: &[Shape]) {
    let cipher = Aes256Siv::new(&[9; 64]).unwrap();
    let mut sealed = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        let mut text = shape.text(at);
        let mut iv = cipher.encrypt_inout_detached(shape.data(), text.as_mut_slice().into());
        shape.damage(&mut text, &mut iv);
        sealed.push((text, iv));
    }
    let mut messages: Vec<SivMessage<'_>> = sealed
        .iter_mut()
        .zip(shapes)
        .map(|((text, iv), shape)| SivMessage::new(cipher.associate(shape.data()), text, *iv))
        .collect();
    cipher.open_batch(&mut messages);
    let opened: Vec<bool> = messages.iter().map(SivMessage::is_open).collect();
    for (at, shape) in shapes.iter().enumerate() {
        assert_eq!(opened[at], shape.damage.is_none(), "{at}: {shape:?}");
        match opened[at] {
            true => assert_eq!(sealed[at].0, shape.text(at), "{at}: {shape:?}"),
            false => assert!(sealed[at].0.iter().all(|byte| *byte == 0), "{at}: {shape:?} is wiped"),
        }
    }
}

fn all_come_out(shapes: &[Shape]) {
    gcm_opens::<Aes256Gcm>(shapes);
    #[cfg(target_arch = "x86_64")]
    {
        use fieldveil_aes_simd::simd::{Aes128, Aes256, AesGcm};
        gcm_opens::<AesGcm<Aes128>>(shapes);
        gcm_opens::<AesGcm<Aes256>>(shapes);
    }
    siv_seals(shapes);
    siv_opens(shapes);
}

#[test]
fn every_length_comes_out_among_messages_of_its_own_and_of_other_lengths() {
    for len in 0..=150 {
        let shape = |len| Shape { other_data: false, len, damage: None };
        all_come_out(&[shape(len); 17]);
        all_come_out(&[shape(16), shape(len), shape(3), shape(len), shape(200), shape(len)]);
    }
    all_come_out(&[]);
}

#[test]
fn a_damaged_message_fails_by_itself_wherever_it_stands() {
    for len in [0, 1, 15, 16, 17, 40, 64, 113, 300] {
        for damaged in 0..10_usize {
            let shape =
                |at| Shape { other_data: at % 3 == 0, len, damage: (at == damaged).then_some(at * 31) };
            all_come_out(&(0..10).map(shape).collect::<Vec<_>>());
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod properties {
    use proptest::prelude::*;

    use super::*;

    fn shape() -> impl Strategy<Value = Shape> {
        (any::<bool>(), 0..130_usize, prop::option::weighted(0.2, 0..2000_usize))
            .prop_map(|(other_data, len, damage)| Shape { other_data, len, damage })
    }

    proptest! {
        #[test]
        fn whatever_is_done_together_comes_out_as_it_does_alone(shapes in prop::collection::vec(shape(), 0..40)) {
            all_come_out(&shapes);
        }
    }
}
