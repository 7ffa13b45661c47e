//! The raw envelope, as it stands in a `bytea` or `BLOB` column.

use core::fmt;

use crate::EnvelopeError;
use crate::label::LabelTag;
use crate::layout::{HEADER_LEN, INDEX_LEN, Version};

/// The first byte of every envelope. No UTF-8 text holds it.
pub const MAGIC: u8 = 0xF7;

/// The first byte of a Tink ciphertext of output prefix TINK.
const TINK_START: u8 = 0x01;

/// A parsed envelope, borrowed from the bytes it was read from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// How the body is laid out.
    pub version: Version,
    /// Which label the value was sealed under.
    pub label_tag: LabelTag,
    /// Everything after the label tag.
    pub body: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads an envelope; `bytes` is all of it and nothing else.
    ///
    /// # Errors
    /// [`EnvelopeError::NotAnEnvelope`] without the magic byte; else what is wrong with it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        let len = bytes.len();
        match bytes.first() {
            Some(&MAGIC) => {}
            _ => return Err(EnvelopeError::NotAnEnvelope),
        }
        let &version = bytes.get(1).ok_or(EnvelopeError::TruncatedHeader { len })?;
        let version = Version::of(version).ok_or(EnvelopeError::UnknownVersion(version))?;
        let Some(([_, _, tag @ ..], body)) = bytes.split_first_chunk::<HEADER_LEN>() else {
            return Err(EnvelopeError::TruncatedHeader { len });
        };
        if len < version.min_len() {
            return Err(EnvelopeError::Truncated { version, len });
        }
        let envelope = Self { version, label_tag: LabelTag(*tag), body };
        match envelope.tink_ciphertext().first() {
            Some(&TINK_START) => Ok(envelope),
            _ => Err(EnvelopeError::NotTink),
        }
    }

    /// The blind index of a version 2 envelope. Nothing binds it to the ciphertext: who relies on it computes it anew from
    /// the opened value and compares.
    pub fn index(&self) -> Option<&'a [u8; INDEX_LEN]> {
        match self.version {
            Version::V1 => None,
            Version::V2 => self.body.first_chunk(),
        }
    }

    /// What a Tink library opens, given the associated data.
    pub fn tink_ciphertext(&self) -> &'a [u8] {
        match self.version {
            Version::V1 => self.body,
            Version::V2 => self.body.get(INDEX_LEN..).unwrap_or_default(),
        }
    }

    /// Appends the envelope's bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_header(out, self.version, self.label_tag);
        out.extend_from_slice(self.body);
    }
}

/// Only the framing: a ciphertext is no secret, but a log is no place for one either.
impl fmt::Debug for Envelope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("version", &self.version)
            .field("label_tag", &self.label_tag)
            .field("body_len", &self.body.len())
            .finish()
    }
}

/// Appends magic, version and label tag; the caller appends the body, straight from the cipher and without a copy.
pub fn write_header(out: &mut Vec<u8>, version: Version, label_tag: LabelTag) {
    out.extend_from_slice(&[MAGIC, version.byte()]);
    out.extend_from_slice(&label_tag.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortest(version: Version) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_header(&mut bytes, version, LabelTag([1, 2, 3, 4]));
        if version == Version::V2 {
            bytes.extend_from_slice(&[9; INDEX_LEN]);
        }
        bytes.push(TINK_START);
        bytes.resize(version.min_len(), 0);
        bytes
    }

    #[test]
    fn version_1_has_a_label_tag_and_a_tink_ciphertext() {
        let bytes = shortest(Version::V1);
        let envelope = Envelope::parse(&bytes).unwrap();
        assert_eq!(envelope.version, Version::V1);
        assert_eq!(envelope.label_tag, LabelTag([1, 2, 3, 4]));
        assert_eq!(envelope.index(), None);
        assert_eq!(envelope.tink_ciphertext(), &bytes[HEADER_LEN..]);
    }

    #[test]
    fn version_2_has_an_index_before_the_tink_ciphertext() {
        let bytes = shortest(Version::V2);
        let envelope = Envelope::parse(&bytes).unwrap();
        assert_eq!(envelope.index(), Some(&[9; INDEX_LEN]));
        assert_eq!(envelope.tink_ciphertext(), &bytes[HEADER_LEN + INDEX_LEN..]);
        assert_eq!(envelope.body, &bytes[HEADER_LEN..]);
    }

    #[test]
    fn anything_without_the_magic_byte_is_not_an_envelope() {
        for bytes in [&b""[..], b"078-05-1120", b"fv1.9wE", &[0xF6, 1]] {
            assert_eq!(Envelope::parse(bytes), Err(EnvelopeError::NotAnEnvelope));
        }
    }

    #[test]
    fn every_truncation_names_what_is_missing() {
        for version in [Version::V1, Version::V2] {
            let bytes = shortest(version);
            for len in 1..bytes.len() {
                let expected = match len {
                    ..HEADER_LEN => EnvelopeError::TruncatedHeader { len },
                    _ => EnvelopeError::Truncated { version, len },
                };
                assert_eq!(Envelope::parse(&bytes[..len]), Err(expected));
            }
        }
    }

    #[test]
    fn unknown_version_is_named() {
        let mut bytes = shortest(Version::V1);
        for version in [0, 3, 255] {
            bytes[1] = version;
            assert_eq!(Envelope::parse(&bytes), Err(EnvelopeError::UnknownVersion(version)));
        }
    }

    #[test]
    fn body_without_the_tink_prefix_is_damaged() {
        for (version, at) in [(Version::V1, HEADER_LEN), (Version::V2, HEADER_LEN + INDEX_LEN)] {
            let mut bytes = shortest(version);
            bytes[at] = 0;
            assert_eq!(Envelope::parse(&bytes), Err(EnvelopeError::NotTink));
        }
    }

    #[test]
    fn debug_shows_no_byte_of_the_body() {
        let mut bytes = shortest(Version::V1);
        bytes[20] = 213;
        assert!(!format!("{:?}", Envelope::parse(&bytes).unwrap()).contains("213"));
    }

    #[test]
    fn truncated_names_both_lengths() {
        let error = EnvelopeError::Truncated { version: Version::V1, len: 20 };
        assert_eq!(error.to_string(), "damaged envelope: 20 bytes, and the shortest of version 1 has 27");
    }
}
