//! What holds for all bytes.

use fieldveil_envelope::{
    Envelope, LabelTag, Version, armor, associated_data, index_input, is_armored, looks_sealed, unarmor,
    write_header,
};
use proptest::prelude::*;

prop_compose! {
    fn envelope_bytes()(
        version in prop_oneof![Just(Version::V1), Just(Version::V2)],
        tag in any::<[u8; 4]>(),
        index in any::<[u8; 16]>(),
        ciphertext in prop::collection::vec(any::<u8>(), 32..300),
    ) -> Vec<u8> {
        let mut out = Vec::new();
        write_header(&mut out, version, LabelTag(tag));
        if version == Version::V2 {
            out.extend_from_slice(&index);
        }
        out.push(1);
        out.extend_from_slice(&ciphertext);
        out
    }
}

/// Arbitrary bytes, often with a head that looks right.
fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
    let heads = prop::sample::select(vec![&b""[..], b"\xF7", b"\xF7\x01", b"\xF7\x02", b"fv1.", b"fv1.9w"]);
    (heads, prop::collection::vec(any::<u8>(), 0..80)).prop_map(|(head, tail)| [head, &tail].concat())
}

proptest! {
    #[test]
    fn written_is_parsed_and_parsed_is_written(bytes in envelope_bytes()) {
        let mut again = Vec::new();
        Envelope::parse(&bytes).unwrap().write(&mut again);
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn armored_is_unarmored(bytes in envelope_bytes()) {
        let text = armor(&bytes);
        prop_assert!(is_armored(text.as_bytes()));
        prop_assert_eq!(unarmor(text.as_bytes()).unwrap(), bytes);
    }

    #[test]
    fn a_text_has_one_armored_form(text in "fv1\\.[A-Za-z0-9_=+/-]{0,60}") {
        if let Ok(bytes) = unarmor(text.as_bytes()) {
            prop_assert_eq!(armor(&bytes), text);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_look_sealed_only_when_they_parse(bytes in hostile_bytes()) {
        let raw = Envelope::parse(&bytes).is_ok();
        let armored = unarmor(&bytes).is_ok_and(|inner| Envelope::parse(&inner).is_ok());
        prop_assert_eq!(is_armored(&bytes), armored);
        prop_assert_eq!(looks_sealed(&bytes), raw || armored);
    }

    #[test]
    fn different_labels_tenants_or_values_never_share_an_index_input(
        a in ("[^\0]{0,4}", "[^\0]{0,4}", prop::collection::vec(0u8..3, 0..6)),
        b in ("[^\0]{0,4}", "[^\0]{0,4}", prop::collection::vec(0u8..3, 0..6)),
    ) {
        let same = index_input(&a.0, &a.1, &a.2).unwrap() == index_input(&b.0, &b.1, &b.2).unwrap();
        prop_assert_eq!(same, a == b);
    }

    #[test]
    fn different_labels_or_tenants_never_share_associated_data(
        a in ("[^\0]{0,6}", ".{0,6}"), b in ("[^\0]{0,6}", ".{0,6}"),
    ) {
        let same = associated_data(&a.0, &a.1).unwrap() == associated_data(&b.0, &b.1).unwrap();
        prop_assert_eq!(same, a == b);
    }
}
