//! The frozen envelopes: framing, label tags, associated data and armor of what stock Tink sealed.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use fieldveil_envelope::{
    Envelope, LabelTag, Version, armor, armor_to, associated_data, is_armored, looks_sealed, unarmor,
};
use serde_json::Value;

fn frozen() -> Value {
    serde_json::from_str(include_str!("../testdata/v1.json")).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Runs over every frozen vector, as (name, the vector, its envelope's bytes).
fn each(check: impl Fn(&str, &dyn Fn(&str) -> String, &[u8])) {
    let frozen = frozen();
    let vectors = frozen["vectors"].as_array().unwrap();
    assert!(vectors.len() >= 66, "frozen vectors may grow, never shrink");
    for vector in vectors {
        let field = |name: &str| vector[name].as_str().unwrap().to_owned();
        check(&field("name"), &field, &hex(&field("envelope_hex")));
    }
}

#[test]
fn frozen_envelopes_parse_as_version_1_with_their_labels_tag() {
    each(|name, field, bytes| {
        let envelope = Envelope::parse(bytes).unwrap();
        assert_eq!(envelope.version, Version::V1, "{name}");
        assert_eq!(envelope.label_tag, LabelTag::of(&field("label")), "{name}");
        let mut again = Vec::new();
        envelope.write(&mut again);
        assert_eq!(again, bytes, "{name}");
    });
}

#[test]
fn frozen_envelopes_name_a_key_of_their_keyset() {
    let frozen = frozen();
    each(|name, field, bytes| {
        let ciphertext = Envelope::parse(bytes).unwrap().tink_ciphertext();
        let key_id = u32::from_be_bytes(ciphertext[1..5].try_into().unwrap());
        let keys = frozen["keysets"][field("keyset")]["key"].as_array().unwrap();
        assert!(keys.iter().any(|key| key["keyId"].as_u64() == Some(key_id.into())), "{name}");
    });
}

#[test]
fn frozen_envelopes_armor_to_the_same_text_and_back() {
    each(|name, field, bytes| {
        let armored = field("armored");
        assert_eq!(armor(bytes), armored, "{name}");
        let mut out = Vec::new();
        armor_to(bytes, &mut out);
        assert_eq!(out, armored.as_bytes(), "{name}");
        assert_eq!(unarmor(armored.as_bytes()).unwrap(), bytes, "{name}");
        assert!(is_armored(armored.as_bytes()) && !is_armored(bytes), "{name}");
        assert!(looks_sealed(armored.as_bytes()) && looks_sealed(bytes), "{name}");
    });
}

/// Associated data can't be read out of an envelope; that these are the ones that were used is proved where the envelopes are
/// opened, in the keyset crate's tests.
#[test]
fn associated_data_of_the_frozen_labels_is_made_of_label_and_tenant() {
    each(|name, field, _| {
        let (label, tenant) = (field("label"), field("tenant"));
        let expected = format!("fieldveil/v1\0{label}\0{tenant}");
        assert_eq!(associated_data(&label, &tenant).unwrap(), expected.as_bytes(), "{name}");
    });
}
