//! The frozen envelopes: framing, label tags, associated data and armor of what stock Tink sealed.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use fieldveil_envelope::{
    ARMORED_INDEX_PREFIX_LEN, Envelope, LabelTag, RAW_INDEX_PREFIX_LEN, Version, armor, armor_to,
    associated_data, index_prefix_armored, index_prefix_raw, is_armored, looks_sealed, unarmor,
    write_indexed_header,
};
use serde_json::Value;

fn frozen(version: Version) -> Value {
    let text = match version {
        Version::V1 => include_str!("../../testdata/v1.json"),
        Version::V2 => include_str!("../../testdata/v2.json"),
    };
    serde_json::from_str(text).unwrap()
}

/// How many vectors there were when they were frozen: they may grow, never shrink.
fn at_least(version: Version) -> usize {
    match version {
        Version::V1 => 66,
        Version::V2 => 26,
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Runs over every frozen vector of a version, as (name, the vector, its envelope's bytes).
fn each_of(version: Version, check: impl Fn(&str, &dyn Fn(&str) -> String, &[u8])) {
    let frozen = frozen(version);
    let vectors = frozen["vectors"].as_array().unwrap();
    assert!(vectors.len() >= at_least(version), "{version}");
    for vector in vectors {
        let field = |name: &str| vector[name].as_str().unwrap().to_owned();
        check(&field("name"), &field, &hex(&field("envelope_hex")));
    }
}

/// Runs over the frozen vectors of every version.
fn each(check: impl Fn(&str, &dyn Fn(&str) -> String, &[u8])) {
    each_of(Version::V1, &check);
    each_of(Version::V2, &check);
}

#[test]
fn frozen_envelopes_parse_as_their_version_with_their_labels_tag() {
    for version in [Version::V1, Version::V2] {
        each_of(version, |name, field, bytes| {
            let envelope = Envelope::parse(bytes).unwrap();
            assert_eq!(envelope.version, version, "{name}");
            assert_eq!(envelope.label_tag, LabelTag::of(&field("label")), "{name}");
            let mut again = Vec::new();
            envelope.write(&mut again);
            assert_eq!(again, bytes, "{name}");
        });
    }
}

#[test]
fn frozen_envelopes_name_a_key_of_their_keyset() {
    for version in [Version::V1, Version::V2] {
        let frozen = frozen(version);
        each_of(version, |name, field, bytes| {
            let ciphertext = Envelope::parse(bytes).unwrap().tink_ciphertext();
            let key_id = u32::from_be_bytes(ciphertext[1..5].try_into().unwrap());
            let keyset = &frozen["keysets"][field("keyset")];
            let keyset = if version == Version::V1 { keyset } else { &keyset["aead"] };
            let keys = keyset["key"].as_array().unwrap();
            assert!(keys.iter().any(|key| key["keyId"].as_u64() == Some(key_id.into())), "{name}");
        });
    }
}

#[test]
fn frozen_version_2_envelopes_are_their_index_prefix_and_what_tink_wrote() {
    each_of(Version::V2, |name, field, bytes| {
        let envelope = Envelope::parse(bytes).unwrap();
        let index = envelope.index().unwrap();
        assert_eq!(index.as_slice(), hex(&field("index_hex")), "{name}");
        let mut again = Vec::new();
        write_indexed_header(&mut again, envelope.label_tag, index);
        assert_eq!(index_prefix_raw(envelope.label_tag, index), again.as_slice(), "{name}");
        assert_eq!(again, bytes[..RAW_INDEX_PREFIX_LEN], "{name}");
        again.extend_from_slice(envelope.tink_ciphertext());
        assert_eq!(again, bytes, "{name}");
        let armored = index_prefix_armored(envelope.label_tag, index);
        assert_eq!(armored, field("armored")[..ARMORED_INDEX_PREFIX_LEN], "{name}");
    });
}

/// What searching needs: one prefix for one value of one field, however often and under whichever key it was sealed.
#[test]
fn frozen_version_2_envelopes_share_their_prefix_exactly_when_field_value_and_keyset_are_the_same() {
    let mut seen = Vec::new();
    let frozen = frozen(Version::V2);
    for vector in frozen["vectors"].as_array().unwrap() {
        let field = |name: &str| vector[name].as_str().unwrap().to_owned();
        let value = ["keyset", "label", "tenant", "plaintext_hex"].map(field);
        seen.push((value, field("armored")[..ARMORED_INDEX_PREFIX_LEN].to_owned(), field("armored")));
    }
    for (at, one) in seen.iter().enumerate() {
        for two in &seen[at + 1..] {
            assert_eq!(one.0 == two.0, one.1 == two.1, "{:?} {:?}", one.0, two.0);
            assert_ne!(one.2, two.2, "the ciphertexts differ all the same");
        }
    }
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
