//! From a value's canonical text to what is stored, and back, by the field's protection.

use fieldveil_envelope::{self as envelope, Envelope, EnvelopeError, INDEX_LEN, Version};
use fieldveil_ff1::{Ff1, KEY_LEN};
use fieldveil_plan::Protection;
use fieldveil_sql::Envelopes;
use fieldveil_tink::{Aead, DeterministicAead, Prf, Random};
use fieldveil_values::Purpose;
use zeroize::Zeroizing;

use super::{FieldError, FieldPlan, Stored};
use crate::keyring::{Keyring, NamedKeys};

/// Why a stored value is not an envelope.
fn envelope_reason(error: &EnvelopeError) -> String {
    format!("it is not an envelope ({error})")
}

/// An envelope as a column holds it.
fn as_stored(sealed: Vec<u8>, stored: Stored) -> Vec<u8> {
    match stored {
        Stored::Armored => envelope::armor(&sealed).into_bytes(),
        Stored::Raw | Stored::Formatted => sealed,
    }
}

/// The keys that a protection needs.
enum Keys<'a> {
    Randomized(&'a Aead),
    Deterministic(&'a DeterministicAead),
    Indexed(&'a Aead, &'a Prf),
    FormatPreserving(&'a Prf),
}

impl FieldPlan {
    fn named_keys<'a>(&self, keyring: &'a Keyring) -> Result<Keys<'a>, String> {
        let name = &self.spec.keyset;
        let NamedKeys { aead, deterministic, prf, .. } =
            keyring.named(name).ok_or_else(|| keyring.absence(name))?;
        let lacks = |purpose| move || format!("keyset {name} has no keys for purpose {purpose}");
        let aead = aead.as_ref().ok_or_else(lacks("aead"));
        let prf = prf.as_ref().ok_or_else(lacks("prf"));
        Ok(match self.spec.protection {
            Protection::Randomized => Keys::Randomized(aead?),
            Protection::Deterministic => {
                Keys::Deterministic(deterministic.as_ref().ok_or_else(lacks("deterministic"))?)
            }
            Protection::Indexed => Keys::Indexed(aead?, prf?),
            Protection::FormatPreserving => Keys::FormatPreserving(prf?),
        })
    }

    /// Whether the keys are there that the field needs; the error says which are not.
    pub fn check_keys(&self, keyring: &Keyring) -> Result<(), String> {
        self.named_keys(keyring).map(|_| ())
    }

    /// The keys that decide what a value is sealed to: of a deterministic label all enabled ones, the primary first, for
    /// some rows may be sealed under another than that; of others the one that seals. What a PRF makes is its primary
    /// key's alone, which never changes.
    pub fn sealing_keys(&self, keyring: &Keyring) -> Vec<u32> {
        match self.named_keys(keyring) {
            Ok(Keys::Deterministic(keys)) => keys.key_ids().collect(),
            Ok(Keys::Randomized(aead) | Keys::Indexed(aead, _)) => aead.key_ids().take(1).collect(),
            Ok(Keys::FormatPreserving(_)) | Err(_) => Vec::new(),
        }
    }

    /// How many ciphertexts a value has where equal values are looked for by theirs, under these keys.
    pub fn envelopes(&self, keys: &[u32]) -> Envelopes {
        match (self.spec.protection, keys) {
            (Protection::Deterministic, [_, _, ..]) => Envelopes::Several,
            (Protection::Deterministic, _) => Envelopes::OneNow,
            _ => Envelopes::One,
        }
    }

    /// As [`Self::check_keys`], with an error that a client can be told.
    pub fn require_keys(&self, keyring: &Keyring) -> Result<(), FieldError> {
        self.keys(keyring).map(|_| ())
    }

    fn keys<'a>(&self, keyring: &'a Keyring) -> Result<Keys<'a>, FieldError> {
        self.named_keys(keyring).map_err(FieldError::NoKeyset)
    }

    /// Seals a value given as text in any form that the declared type takes, for a column that stores it as `stored`
    /// says. For a search, gives what the column is compared with.
    pub fn seal(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        purpose: Purpose,
        text: &[u8],
        stored: Stored,
    ) -> Result<Vec<u8>, FieldError> {
        let canonical = self.to_be_sealed(purpose, text, stored)?;
        self.seal_canonical(keyring, random, purpose, &canonical, stored)
    }

    /// What the value may be stored as, one for each enabled key, the primary's first. For a deterministic label.
    pub fn seal_with_each(
        &self,
        keyring: &Keyring,
        purpose: Purpose,
        text: &[u8],
        stored: Stored,
    ) -> Result<Vec<Vec<u8>>, FieldError> {
        let canonical = self.to_be_sealed(purpose, text, stored)?;
        let Keys::Deterministic(daead) = self.keys(keyring)? else {
            return Err(FieldError::Misused("a value of this label is not looked for by its ciphertexts"));
        };
        let bodies = daead.encrypt_with_each(&canonical, &self.associated_data);
        let bodies = bodies.map_err(|error| self.not_sealed(&error.to_string()))?;
        Ok(bodies.iter().map(|body| self.written(Version::V1, body, stored)).collect())
    }

    /// The canonical text of a value that is not sealed yet.
    fn to_be_sealed(
        &self,
        purpose: Purpose,
        text: &[u8],
        stored: Stored,
    ) -> Result<Zeroizing<Vec<u8>>, FieldError> {
        if stored != Stored::Formatted && envelope::looks_sealed(text) {
            return Err(self.not_sealed("it is sealed already"));
        }
        let canonical = self.declared.canonicalize_for(purpose, text);
        canonical.map(Zeroizing::new).map_err(|error| self.bad_value(&error))
    }

    pub(super) fn not_sealed(&self, reason: &str) -> FieldError {
        FieldError::BadValue {
            label: self.spec.label.clone(),
            reason: reason.to_owned(),
            declared: self.declared.name().to_owned(),
        }
    }

    /// The envelope of a ciphertext, as a column holds it.
    fn written(&self, version: Version, body: &[u8], stored: Stored) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(envelope::HEADER_LEN.saturating_add(body.len()));
        Envelope { version, label_tag: self.tag, body }.write(&mut sealed);
        as_stored(sealed, stored)
    }

    fn seal_canonical(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        purpose: Purpose,
        canonical: &[u8],
        stored: Stored,
    ) -> Result<Vec<u8>, FieldError> {
        let failed = |reason: String| self.not_sealed(&reason);
        let whole = |body: Result<Vec<u8>, _>| -> Result<Vec<u8>, FieldError> {
            let body = body.map_err(|e: fieldveil_tink::CryptError| failed(e.to_string()))?;
            Ok(self.written(Version::V1, &body, stored))
        };
        match self.keys(keyring)? {
            Keys::Randomized(aead) => whole(aead.encrypt(random, canonical, &self.associated_data)),
            Keys::Deterministic(daead) => whole(daead.encrypt(canonical, &self.associated_data)),
            Keys::Indexed(aead, prf) => {
                let index = self.index(prf, canonical)?;
                if purpose == Purpose::Search {
                    return Ok(match stored {
                        Stored::Raw => envelope::index_prefix_raw(self.tag, &index).to_vec(),
                        _ => envelope::index_prefix_armored(self.tag, &index).into_bytes(),
                    });
                }
                let body = aead
                    .encrypt(random, canonical, &self.associated_data)
                    .map_err(|e| failed(e.to_string()))?;
                let mut sealed = Vec::new();
                envelope::write_indexed_header(&mut sealed, self.tag, &index);
                sealed.extend_from_slice(&body);
                Ok(as_stored(sealed, stored))
            }
            Keys::FormatPreserving(prf) => {
                let text = std::str::from_utf8(canonical).map_err(|e| failed(e.to_string()))?;
                let sealed = self.ff1(prf)?.encrypt(b"", text).map_err(|e| failed(e.to_string()))?;
                Ok(sealed.into_bytes())
            }
        }
    }

    fn index(&self, prf: &Prf, canonical: &[u8]) -> Result<[u8; INDEX_LEN], FieldError> {
        let failed = || self.not_sealed("it has no index");
        let input =
            envelope::index_input(&self.spec.label, &self.spec.tenant, canonical).map_err(|_| failed())?;
        let index = prf.compute_primary(&input, INDEX_LEN).map_err(|_| failed())?;
        index.as_slice().try_into().map_err(|_| failed())
    }

    fn ff1(&self, prf: &Prf) -> Result<Ff1, FieldError> {
        let failed = FieldError::UnfitKey;
        let alphabet = self.alphabet.ok_or_else(|| failed("the policy names no alphabet".into()))?;
        let input = fieldveil_ff1::key_input(&self.spec.label, &self.spec.tenant)
            .map_err(|e| failed(e.to_string()))?;
        let key = prf.compute_primary(&input, KEY_LEN).map_err(|e| failed(e.to_string()))?;
        let key: &[u8; KEY_LEN] = key.as_slice().try_into().map_err(|_| failed("it is too short".into()))?;
        Ff1::new(key, alphabet).map_err(|e| failed(e.to_string()))
    }

    /// Whether what is stored is no envelope at all, but what somebody wrote past the filter, or before it.
    pub(super) fn is_plaintext(&self, stored: &[u8], how: Stored) -> bool {
        match how {
            Stored::Armored => !stored.starts_with(envelope::ARMOR_PREFIX.as_bytes()),
            Stored::Raw => stored.first() != Some(&envelope::MAGIC),
            Stored::Formatted => false,
        }
    }

    /// Opens what is stored and gives the value's canonical text.
    pub(super) fn open(
        &self,
        keyring: &Keyring,
        stored: &[u8],
        how: Stored,
    ) -> Result<Zeroizing<Vec<u8>>, FieldError> {
        let unreadable = |reason: &str| self.unreadable(reason);
        let keys = self.keys(keyring)?;
        if let Keys::FormatPreserving(prf) = keys {
            // A `char(n)` comes back filled up with spaces.
            let text = std::str::from_utf8(stored).map_err(|_| unreadable("it is not UTF-8"))?;
            let opened = self.ff1(prf)?.decrypt(b"", text.trim_end_matches(' '));
            let opened = opened.map_err(|e| unreadable(&e.to_string()))?;
            return Ok(Zeroizing::new(opened.as_bytes().to_vec()));
        }
        let unarmored;
        let raw = match how {
            Stored::Armored => {
                unarmored = envelope::unarmor(stored).map_err(|e| unreadable(&envelope_reason(&e)))?;
                unarmored.as_slice()
            }
            Stored::Raw | Stored::Formatted => stored,
        };
        let envelope = Envelope::parse(raw).map_err(|e| unreadable(&envelope_reason(&e)))?;
        let version = if matches!(keys, Keys::Indexed(..)) { Version::V2 } else { Version::V1 };
        if envelope.version != version {
            return Err(unreadable("its envelope version is not that of the label's protection"));
        }
        if envelope.label_tag != self.tag {
            return Err(unreadable("it was sealed under another label"));
        }
        let body = envelope.tink_ciphertext();
        let opened = match keys {
            Keys::Randomized(aead) | Keys::Indexed(aead, _) => aead.decrypt(body, &self.associated_data),
            Keys::Deterministic(daead) => daead.decrypt(body, &self.associated_data),
            Keys::FormatPreserving(_) => return Err(unreadable("it is no envelope")),
        };
        let opened = opened.map_err(|e| unreadable(&e.to_string()))?;
        // Nothing else binds the index to the value: a row that was given another's is found under a wrong value.
        if let Keys::Indexed(_, prf) = keys
            && envelope.index() != Some(&self.index(prf, &opened)?)
        {
            return Err(unreadable("its index is not that of its value"));
        }
        Ok(opened)
    }

    /// Characters, or bytes in a column of bytes, that the longest value takes when it is stored; None where values have no
    /// longest.
    pub fn longest_stored(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        stored: Stored,
    ) -> Option<usize> {
        if stored == Stored::Formatted {
            // As many characters as the value, which the type's modifier tells, with VARHDRSZ added.
            return usize::try_from(self.declared.modifier().checked_sub(4)?).ok();
        }
        let longest = self.declared.max_text_bytes()?;
        let empty = self.seal_canonical(keyring, random, Purpose::Store, b"", Stored::Raw).ok()?;
        let raw = empty.len().saturating_add(longest);
        Some(match stored {
            Stored::Armored => envelope::ARMOR_PREFIX.len().saturating_add(raw.saturating_mul(4).div_ceil(3)),
            Stored::Raw | Stored::Formatted => raw,
        })
    }
}
