//! What is wrong with a keyset, or with a value. No error carries key bytes, plaintext or ciphertext.

/// A keyset that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeysetError {
    /// Not Tink's JSON form.
    #[error("it is not a Tink keyset in JSON (line {line}, column {column})")]
    MalformedJson {
        /// Line of the first fault.
        line: usize,
        /// Column of the first fault.
        column: usize,
    },
    /// Not Tink's binary form.
    #[error("it is not a Tink keyset in protobuf form")]
    MalformedProtobuf,
    /// No keys.
    #[error("it holds no key")]
    Empty,
    /// More keys than are held.
    #[error("it holds {0} keys, more than {max}; remove old ones", max = crate::limits::MAX_KEYS)]
    TooManyKeys(usize),
    /// Two keys of one id.
    #[error("key id {0} stands twice")]
    DuplicateKeyId(u32),
    /// The primary key is not among the keys.
    #[error("the primary key {0} is not in the keyset")]
    NoPrimary(u32),
    /// The primary key can't be used.
    #[error("the primary key {0} is not enabled; promote another one")]
    PrimaryNotEnabled(u32),
    /// Only prefix TINK tells the keys of a ciphertext apart; what a PRF gives has none (RAW).
    #[error("key {key_id} does not have the output prefix {expected}; create it from a template that has")]
    UnsupportedPrefix {
        /// The key.
        key_id: u32,
        /// The prefix that its purpose asks for.
        expected: &'static str,
    },
    /// An algorithm that is not known here, or not for this purpose.
    #[error("key {key_id} is of type {type_url}, which is not usable for {purpose}")]
    UnsupportedType {
        /// The key.
        key_id: u32,
        /// Its type.
        type_url: String,
        /// What it was to be used for.
        purpose: &'static str,
    },
    /// A key of the right type with wrong content.
    #[error("key {key_id} is not a valid {algorithm} key")]
    MalformedKey {
        /// The key.
        key_id: u32,
        /// Its algorithm.
        algorithm: &'static str,
    },
    /// A status that Tink does not know.
    #[error("key {0} has an unknown status")]
    UnknownStatus(u32),
}

/// A value that cannot be sealed, opened or put through a PRF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CryptError {
    /// Too short, or not of prefix TINK.
    #[error("the ciphertext is truncated or not Tink's")]
    Malformed,
    /// Sealed with a key that is not (any more) in the keyset.
    #[error("it was sealed with key {0}, which the keyset does not hold or has disabled")]
    UnknownKey(u32),
    /// Changed, or sealed under another key, label or tenant.
    #[error("it was changed, or sealed under another key, label or tenant")]
    NotAuthentic,
    /// The plaintext is longer than the algorithm takes.
    #[error("the value is too long to be sealed")]
    TooLong,
    /// A PRF was asked for more bytes than its algorithm gives.
    #[error("the PRF gives at most {0} bytes; create its keyset from a template that gives more")]
    OutputTooLong(usize),
}
