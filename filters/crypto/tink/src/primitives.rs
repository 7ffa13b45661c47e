//! What the primitives share: the prefix that names the key, and the search for that key.

use crate::error::{CryptError, KeysetError};
use crate::keyset::{Keyset, RawKey};
use crate::proto;

/// First byte of a ciphertext with output prefix TINK.
const START: u8 = 1;
/// That byte and the key id.
pub(crate) const PREFIX_LEN: usize = 5;

/// What stands before an output, by purpose.
#[derive(Clone, Copy)]
pub(crate) enum Prefix {
    /// The key's id.
    Tink,
    /// Nothing.
    Raw,
}

impl Prefix {
    fn number(self) -> i32 {
        match self {
            Self::Tink => proto::TINK,
            Self::Raw => proto::RAW,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tink => "TINK",
            Self::Raw => "RAW",
        }
    }
}

/// The keys of one purpose, ready for use; the primary first.
pub(crate) struct Keys<T> {
    keys: Vec<(u32, T)>,
}

impl<T> Keys<T> {
    /// Reads every enabled key of the keyset; all have the prefix that the purpose asks for.
    pub(crate) fn new(
        keyset: &Keyset,
        prefix: Prefix,
        read: impl Fn(&RawKey) -> Result<T, KeysetError>,
    ) -> Result<Self, KeysetError> {
        let mut keys = Vec::with_capacity(keyset.keys.len());
        for raw in &keyset.keys {
            if raw.prefix != prefix.number() {
                return Err(KeysetError::UnsupportedPrefix { key_id: raw.id, expected: prefix.name() });
            }
            let key = (raw.id, read(raw)?);
            let at = if raw.id == keyset.primary { 0 } else { keys.len() };
            keys.insert(at, key);
        }
        Ok(Self { keys })
    }

    /// The key that computes where the output names no key.
    pub(crate) fn primary_key(&self) -> Result<&T, CryptError> {
        self.keys.first().map(|(_, key)| key).ok_or(CryptError::Malformed)
    }

    /// The key that seals, with the prefix that names it.
    pub(crate) fn primary(&self) -> Result<([u8; PREFIX_LEN], &T), CryptError> {
        self.each().next().ok_or(CryptError::Malformed)
    }

    /// Every key with the prefix that names it, the primary first.
    pub(crate) fn each(&self) -> impl Iterator<Item = ([u8; PREFIX_LEN], &T)> {
        self.keys.iter().map(|(id, key)| {
            let [a, b, c, d] = id.to_be_bytes();
            ([START, a, b, c, d], key)
        })
    }

    /// The key that a ciphertext names, and what follows its prefix.
    pub(crate) fn of<'c>(&self, ciphertext: &'c [u8]) -> Result<(&T, &'c [u8]), CryptError> {
        let Some((&[START, a, b, c, d], rest)) = ciphertext.split_first_chunk::<PREFIX_LEN>() else {
            return Err(CryptError::Malformed);
        };
        let id = u32::from_be_bytes([a, b, c, d]);
        let (_, key) = self.keys.iter().find(|(known, _)| *known == id).ok_or(CryptError::UnknownKey(id))?;
        Ok((key, rest))
    }

    /// The key ids, the primary's first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.keys.iter().map(|(id, _)| *id)
    }
}
