//! Why bytes are not an envelope.

use thiserror::Error;

use crate::Version;

/// Why bytes are not an envelope. [`EnvelopeError::NotAnEnvelope`] and [`EnvelopeError::NotArmored`] mean that they never
/// were one (a plaintext that slipped in, perhaps); the others, that they were meant to be one and are damaged, or come
/// from a newer release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The first byte is not the magic byte.
    #[error("not an envelope: the magic byte is missing")]
    NotAnEnvelope,
    /// The text does not begin with `fv1.`.
    #[error("not an armored envelope: the prefix \"fv1.\" is missing")]
    NotArmored,
    /// What follows `fv1.` is no unpadded base64url.
    #[error("damaged armored envelope: not unpadded base64url after the prefix")]
    MalformedArmor,
    /// A version that this release does not know.
    #[error("envelope version {0} is not known to this release: upgrade the one that reads")]
    UnknownVersion(u8),
    /// Ends before the shortest thing that Tink could have written.
    #[error("damaged envelope: {len} bytes, and the shortest of {version} has {}", version.min_len())]
    Truncated {
        /// The version that the second byte names.
        version: Version,
        /// How many bytes there are.
        len: usize,
    },
    /// Too short to have a version and a label tag.
    #[error("damaged envelope: {len} bytes, too short for its header")]
    TruncatedHeader {
        /// How many bytes there are.
        len: usize,
    },
    /// The body is no Tink ciphertext with a key id.
    #[error("damaged envelope: the body is not a Tink ciphertext of output prefix TINK")]
    NotTink,
    /// Labels are set apart by NUL bytes in the associated data, so they can hold none.
    #[error("a label can not hold a NUL byte: rename it in the catalog")]
    NulInLabel,
    /// In the input of an index the plaintext follows the tenant after a NUL byte.
    #[error("a tenant can not hold a NUL byte: rename it in the catalog")]
    NulInTenant,
}
