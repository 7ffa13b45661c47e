//! What holds for all values, and what is refused.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use fieldveil_aes_simd::Aes256;
use fieldveil_ff1::{Alphabet, Ff1, Ff1Error, MAX_LEN, cost};
use fpe::ff1::{FF1, FlexibleNumeralString};
use proptest::prelude::*;

fn cipher(alphabet: Alphabet) -> Ff1 {
    Ff1::new(&[7; 32], alphabet).unwrap()
}

/// A value of an alphabet, as long as FF1 takes it.
fn value() -> impl Strategy<Value = (Alphabet, String)> {
    prop::sample::select(Alphabet::ALL.to_vec()).prop_flat_map(|alphabet| {
        let pattern = format!("[{}]{{{},60}}", alphabet.characters(), alphabet.min_len());
        (Just(alphabet), prop::string::string_regex(&pattern).unwrap())
    })
}

#[test]
fn characters_outside_the_alphabet_are_refused_with_their_position_and_no_character() {
    let cases = [
        (Alphabet::Digits, "078-05-1120", 4),
        (Alphabet::Digits, "07805 1120", 6),
        (Alphabet::Digits, "١٢٣٤٥٦", 1),
        (Alphabet::AlphanumericLower, "abcD", 4),
        (Alphabet::AlphanumericUpper, "ABCd", 4),
        (Alphabet::Alphanumeric, "straße", 5),
        // A value that is too short and of another alphabet: the character is what the user can mend.
        (Alphabet::Digits, "a", 1),
    ];
    for (alphabet, text, position) in cases {
        let expected = Ff1Error::OutsideAlphabet { alphabet, position };
        assert_eq!(cipher(alphabet).encrypt(b"", text), Err(expected), "{text}");
        assert_eq!(cipher(alphabet).decrypt(b"", text).err(), Some(expected), "{text}");
    }
    let error = cipher(Alphabet::Digits).encrypt(b"", "078-05-1120").unwrap_err().to_string();
    assert!(error.contains("character 4 is not of the alphabet digits (0-9)"), "{error}");
    assert!(!error.contains("078"), "{error}");
}

#[test]
fn values_of_which_there_are_fewer_than_a_million_are_refused_with_the_length_that_is_needed() {
    for alphabet in Alphabet::ALL {
        let shortest = "1".repeat(alphabet.min_len());
        assert!(cipher(alphabet).encrypt(b"", &shortest).is_ok(), "{alphabet}");
        for len in 0..alphabet.min_len() {
            let error = cipher(alphabet).encrypt(b"", &shortest[..len]).unwrap_err();
            assert_eq!(error, Ff1Error::TooShort { alphabet, len });
            let least = format!("at least {} are needed", alphabet.min_len());
            assert!(error.to_string().contains(&least), "{error}");
        }
    }
}

#[test]
fn values_that_are_too_long_are_refused() {
    for alphabet in Alphabet::ALL {
        let longer = "1".repeat(MAX_LEN + 1);
        let expected = Ff1Error::TooLong { len: MAX_LEN + 1 };
        assert_eq!(cipher(alphabet).encrypt(b"", &longer), Err(expected));
        assert_eq!(cipher(alphabet).decrypt(b"", &longer).err(), Some(expected));
    }
}

/// The library computes byte lengths in floating point: the greatest and the least number of every length show that
/// none comes out short, which would be a panic.
#[test]
fn every_length_round_trips_at_both_ends_of_its_numbers() {
    for alphabet in Alphabet::ALL {
        let ff1 = cipher(alphabet);
        let last = alphabet.characters().chars().last().unwrap().to_string();
        for len in alphabet.min_len()..=MAX_LEN {
            for text in ["0".repeat(len), last.repeat(len)] {
                let encrypted = ff1.encrypt(b"tweak", &text).unwrap();
                assert_eq!(*ff1.decrypt(b"tweak", &encrypted).unwrap(), text);
                ff1.decrypt(b"tweak", &text).unwrap();
            }
        }
    }
}

#[test]
fn key_tweak_and_alphabet_each_change_the_result() {
    let of = |key: u8, tweak: &[u8], alphabet| {
        Ff1::new(&[key; 32], alphabet).unwrap().encrypt(tweak, "0123456789").unwrap()
    };
    let one = of(1, b"", Alphabet::Digits);
    assert_eq!(one, of(1, b"", Alphabet::Digits));
    assert_ne!(one, of(2, b"", Alphabet::Digits));
    assert_ne!(one, of(1, b"x", Alphabet::Digits));
    assert_ne!(one, of(1, b"", Alphabet::Alphanumeric));
}

#[test]
fn debug_shows_no_key_material() {
    assert_eq!(format!("{:?}", cipher(Alphabet::Digits)), "Ff1 { alphabet: Digits, .. }");
}

/// What the library makes of it, for any length.
fn expected(alphabet: Alphabet, tweak: &[u8], text: &str) -> String {
    let characters: Vec<char> =
        ('0'..='z').filter(|c| cipher(alphabet).encrypt(b"", &c.to_string().repeat(6)).is_ok()).collect();
    let numeral = |c| u16::try_from(characters.iter().position(|known| *known == c).unwrap()).unwrap();
    let numerals: Vec<u16> = text.chars().map(numeral).collect();
    let ff1 = FF1::<Aes256>::new(&[7; 32], alphabet.radix().into()).unwrap();
    let made: Vec<u16> = ff1.encrypt(tweak, &FlexibleNumeralString::from(numerals)).unwrap().into();
    made.into_iter().map(|n| characters[usize::from(n)]).collect()
}

/// Lengths around the one from which on the library computes, and tweaks around whole blocks.
#[test]
fn every_length_and_length_of_tweak_gives_what_the_library_gives() {
    for alphabet in Alphabet::ALL {
        let ff1 = cipher(alphabet);
        let last = alphabet.characters().chars().last().unwrap();
        for len in alphabet.min_len()..=80 {
            let mixed: String = ["1", "0", &last.to_string()].into_iter().cycle().take(len).collect();
            for text in [mixed, last.to_string().repeat(len), "0".repeat(len)] {
                let tweak = vec![3; len % 37];
                assert_eq!(ff1.encrypt(&tweak, &text).unwrap(), expected(alphabet, &tweak, &text), "{len}");
            }
        }
    }
}

#[test]
fn values_are_appended_and_what_fails_is_not() {
    for (alphabet, text) in [(Alphabet::Digits, "0123456789"), (Alphabet::Alphanumeric, &"aB3".repeat(40))] {
        let (ff1, mut out) = (cipher(alphabet), b"before".to_vec());
        ff1.encrypt_into(b"", text, &mut out).unwrap();
        let encrypted = String::from_utf8(out.split_off(6)).unwrap();
        assert_eq!(ff1.encrypt(b"", text), Ok(encrypted.clone()));
        ff1.decrypt_into(b"", &encrypted, &mut out).unwrap();
        assert!(ff1.decrypt_into(b"", "1-2", &mut out).is_err());
        assert!(ff1.encrypt_into(b"", "", &mut out).is_err());
        assert_eq!(out, format!("before{text}").into_bytes());
    }
}

#[test]
fn value_costs_more_where_it_is_too_long_for_numbers_of_the_machine() {
    for (alphabet, longest) in
        [(Alphabet::Digits, 56), (Alphabet::AlphanumericLower, 36), (Alphabet::Alphanumeric, 32)]
    {
        assert!((0..=longest).all(|len| cost(alphabet, len) == 1), "{alphabet}");
        assert!((longest + 1..=MAX_LEN).all(|len| cost(alphabet, len) == len / 2), "{alphabet}");
        // It is refused.
        assert_eq!(cost(alphabet, MAX_LEN + 1), 1);
    }
}

proptest! {
    #[test]
    fn values_are_what_the_library_gives((alphabet, text) in value(), tweak in prop::collection::vec(any::<u8>(), 0..50)) {
        prop_assert_eq!(cipher(alphabet).encrypt(&tweak, &text).unwrap(), expected(alphabet, &tweak, &text));
    }

    #[test]
    fn values_keep_their_format_and_come_back((alphabet, text) in value(), tweak: Vec<u8>) {
        let ff1 = cipher(alphabet);
        let encrypted = ff1.encrypt(&tweak, &text).unwrap();
        prop_assert_eq!(encrypted.len(), text.len());
        let decrypted = ff1.decrypt(&tweak, &encrypted).unwrap();
        prop_assert_eq!(decrypted.as_str(), &text);
        // Of the same alphabet, too: it can be encrypted again.
        prop_assert!(ff1.encrypt(&tweak, &encrypted).is_ok());
    }

    #[test]
    fn no_text_panics(text: String, tweak: Vec<u8>) {
        for alphabet in Alphabet::ALL {
            let _ = cipher(alphabet).encrypt(&tweak, &text);
            let _ = cipher(alphabet).decrypt(&tweak, &text);
        }
    }
}
