//! The armored envelope, as it stands in a text column or a JSON string: `fv1.` and unpadded base64url.

use base64_simd::URL_SAFE_NO_PAD as BASE64URL;

use crate::{Envelope, EnvelopeError, MIN_LEN};

/// What every armored envelope starts with.
pub const ARMOR_PREFIX: &str = "fv1.";

/// The shortest armored envelope, in bytes.
pub const MIN_ARMORED_LEN: usize = armored_len(MIN_LEN);

/// Armors an envelope's bytes.
pub fn armor(envelope: &[u8]) -> String {
    let mut out = String::with_capacity(armored_len(envelope.len()));
    out.push_str(ARMOR_PREFIX);
    BASE64URL.encode_append(envelope, &mut out);
    out
}

/// Appends the armored form of an envelope's bytes.
pub fn armor_to(envelope: &[u8], out: &mut Vec<u8>) {
    out.reserve(armored_len(envelope.len()));
    out.extend_from_slice(ARMOR_PREFIX.as_bytes());
    BASE64URL.encode_append(envelope, out);
}

/// The bytes that were armored. They need not be an envelope: [`Envelope::parse`] says that.
///
/// # Errors
/// [`EnvelopeError::NotArmored`] without the prefix; [`EnvelopeError::MalformedArmor`] when the rest is anything else than
/// the one right base64url of its bytes (padding, white space, the other alphabet, stray bits at the end).
pub fn unarmor(text: &[u8]) -> Result<Vec<u8>, EnvelopeError> {
    let mut out = Vec::new();
    unarmor_into(text, &mut out)?;
    Ok(out)
}

/// As [`unarmor`], into a buffer that is used again and again; what it held is gone.
///
/// # Errors
/// As [`unarmor`]; the buffer is empty then.
pub fn unarmor_into(text: &[u8], out: &mut Vec<u8>) -> Result<(), EnvelopeError> {
    out.clear();
    unarmor_to(text, out)
}

/// As [`unarmor`], appended.
///
/// # Errors
/// As [`unarmor`]; nothing is appended then.
pub fn unarmor_to(text: &[u8], out: &mut Vec<u8>) -> Result<(), EnvelopeError> {
    let encoded = text.strip_prefix(ARMOR_PREFIX.as_bytes()).ok_or(EnvelopeError::NotArmored)?;
    let before = out.len();
    BASE64URL.decode_append(encoded, out).map_err(|_| {
        out.truncate(before);
        EnvelopeError::MalformedArmor
    })
}

/// Whether this is an armored envelope: the prefix, and what it armors parses.
pub fn is_armored(text: &[u8]) -> bool {
    text.len() >= MIN_ARMORED_LEN && unarmor(text).is_ok_and(|bytes| Envelope::parse(&bytes).is_ok())
}

/// Whether this is an envelope, raw or armored. Says nothing about who made it.
pub fn looks_sealed(value: &[u8]) -> bool {
    Envelope::parse(value).is_ok() || is_armored(value)
}

/// The bytes that an envelope of so many takes when it is armored.
pub const fn armored_len(envelope_len: usize) -> usize {
    ARMOR_PREFIX.len().saturating_add(envelope_len.saturating_mul(4).div_ceil(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armor_is_the_prefix_and_unpadded_base64url() {
        assert_eq!(armor(&[0xF7, 0x01, 0xFF, 0xFE]), "fv1.9wH__g");
        let mut out = b"before ".to_vec();
        armor_to(&[0xF7, 0x01, 0xFF, 0xFE], &mut out);
        assert_eq!(out, b"before fv1.9wH__g");
    }

    #[test]
    fn text_without_the_prefix_is_not_armored() {
        for text in [&b""[..], b"fv1", b"FV1.9wH__g", b"fv2.9wH__g", b" fv1.9wH__g", b"\xF7\x01"] {
            assert_eq!(unarmor(text), Err(EnvelopeError::NotArmored));
        }
    }

    #[test]
    fn only_the_one_right_encoding_is_taken() {
        for text in [
            "fv1.9wH__g==",
            "fv1.9wH//g",
            "fv1.9wH__h",
            "fv1.9wH__",
            "fv1.9wH__g ",
            "fv1.9wH\n__g",
            "fv1.9wé__g",
        ] {
            assert_eq!(unarmor(text.as_bytes()), Err(EnvelopeError::MalformedArmor), "{text}");
        }
    }

    #[test]
    fn a_used_buffer_keeps_nothing_of_the_last_value() {
        let mut out = b"left over".to_vec();
        assert_eq!(unarmor_into(b"fv1.9wH__g", &mut out), Ok(()));
        assert_eq!(out, [0xF7, 0x01, 0xFF, 0xFE]);
        assert_eq!(unarmor_into(b"fv1.9wH__g=", &mut out), Err(EnvelopeError::MalformedArmor));
        assert!(out.is_empty());
    }

    #[test]
    fn bytes_are_appended_or_not_at_all() {
        let mut out = b"before ".to_vec();
        assert_eq!(unarmor_to(b"fv1.9wH__g=", &mut out), Err(EnvelopeError::MalformedArmor));
        assert_eq!(out, b"before ");
        assert_eq!(unarmor_to(b"fv1.9wH__g", &mut out), Ok(()));
        assert_eq!(out, b"before \xF7\x01\xFF\xFE");
    }

    #[test]
    fn armored_bytes_that_are_no_envelope_do_not_look_sealed() {
        assert!(!looks_sealed(armor(b"078-05-1120 and then some more bytes").as_bytes()));
        assert!(!looks_sealed(b"fv1."));
        assert!(!looks_sealed(b""));
    }
}
