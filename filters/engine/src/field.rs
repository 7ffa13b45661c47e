//! The plan made ready for use: every field with its parsed type, mask and associated data, and the two
//! things that are done to its values, [`FieldPlan::seal`] and [`FieldPlan::read`].

use fieldveil_envelope::{self as envelope, Envelope, LabelTag, Version};
use fieldveil_plan::{Plan, PlanField, Protection, Treatment, WriteRule};
use fieldveil_tink::Random;
use fieldveil_values::{DeclaredType, Mask, Purpose, ValueError};
use zeroize::Zeroizing;

use crate::client_error::{ClientError, envelope_reason};
use crate::keyring::{Keyring, NamedKeys};

/// A plan that cannot be used, with the place in it and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct UnusablePlan {
    place: String,
    reason: String,
}

/// How the server's column holds an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// `fv1.…` in a text column.
    Armored,
    /// The bytes themselves in a `bytea` column.
    Raw,
}

/// What a principal gets of one field, with the mask parsed.
#[derive(Debug, Clone)]
pub enum Read {
    /// The value.
    Reveal,
    /// The value under a mask.
    Mask(Mask),
    /// What is stored.
    Conceal,
    /// NULL.
    Null,
    /// Nothing: the statement is refused.
    Refuse,
}

/// One field of a plan, ready for use.
#[derive(Debug)]
pub struct FieldPlan {
    /// As the policy said it.
    pub spec: PlanField,
    /// The type that clients see and values are checked against.
    pub declared: DeclaredType,
    /// What reading it yields.
    pub read: Read,
    tag: LabelTag,
    associated_data: Vec<u8>,
}

/// A plan, ready for use.
#[derive(Debug)]
pub struct CompiledPlan {
    /// Changes whenever the plan does.
    pub revision: String,
    /// In the plan's order; SQL analysis refers to them by index.
    pub fields: Vec<FieldPlan>,
    /// Milliseconds after which the plan is asked for anew.
    pub ttl_ms: u64,
    /// Milliseconds after which the plan is not used any more.
    pub max_stale_ms: u64,
}

impl CompiledPlan {
    /// Checks what only the engine can check: types, masks, protections that it can do.
    pub fn new(plan: Plan) -> Result<Self, UnusablePlan> {
        let fields = plan
            .fields
            .into_iter()
            .enumerate()
            .map(|(index, spec)| {
                let label = spec.label.clone();
                FieldPlan::new(spec).map_err(|reason| UnusablePlan {
                    place: format!("fields[{index}] (label {label})"),
                    reason,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let ms = |seconds: u32| u64::from(seconds).saturating_mul(1000);
        Ok(Self {
            revision: plan.revision,
            fields,
            ttl_ms: ms(plan.ttl_seconds),
            max_stale_ms: ms(plan.max_stale_seconds),
        })
    }

    /// The first keyset or purpose that the plan names and `keyring` lacks, as a sentence.
    pub fn missing_keys(&self, keyring: &Keyring) -> Option<String> {
        self.fields.iter().find_map(|field| field.keys(keyring).err())
    }
}

/// A key of the right purpose.
enum Keys<'a> {
    Randomized(&'a fieldveil_tink::Aead),
    Deterministic(&'a fieldveil_tink::DeterministicAead),
}

impl FieldPlan {
    fn new(spec: PlanField) -> Result<Self, String> {
        let declared: DeclaredType =
            spec.type_name.parse().map_err(|e| format!("type {:?}: {e}", spec.type_name))?;
        let read = match &spec.read {
            Treatment::Reveal => Read::Reveal,
            Treatment::Conceal => Read::Conceal,
            Treatment::Null => Read::Null,
            Treatment::Refuse => Read::Refuse,
            Treatment::Mask { format } => {
                let mask: Mask = format.parse().map_err(|e| format!("read.format {format:?}: {e}"))?;
                if !mask.applies_to(&declared) {
                    return Err(format!("read.format {format:?} does not apply to type {}", declared.name()));
                }
                Read::Mask(mask)
            }
        };
        match spec.protection {
            Protection::Randomized | Protection::Deterministic => {}
            Protection::Indexed | Protection::FormatPreserving => {
                return Err("this protection is not supported yet; use randomized or deterministic".into());
            }
        }
        let tag = LabelTag::of(&spec.label);
        let associated_data = envelope::associated_data(&spec.label, &spec.tenant)
            .map_err(|e| format!("label or tenant: {e}"))?;
        Ok(Self { declared, read, tag, associated_data, spec })
    }

    /// Whether values are sealed deterministically.
    fn is_deterministic(&self) -> bool {
        self.spec.protection == Protection::Deterministic
    }

    /// Whether values that the server holds equal have equal envelopes.
    pub fn equality(&self) -> bool {
        self.is_deterministic() && self.declared.has_one_text()
    }

    /// A value that is not of the declared type.
    fn bad_value(&self, error: &ValueError) -> ClientError {
        ClientError::bad_value(&self.spec.label, &error.to_string(), self.declared.name())
    }

    /// The text of a bound value, as the server would assign it to a column of the declared type or compare it
    /// with one. `client_oid` is the type that the client named in Parse, 0 for none.
    pub fn read_parameter(
        &self,
        purpose: Purpose,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ClientError> {
        self.declared
            .read_parameter(purpose, client_oid, binary, bytes)
            .map(Zeroizing::new)
            .map_err(|error| self.bad_value(&error))
    }

    /// Whether values of this field may be looked for: who may test guesses may learn values, so only who
    /// sees at least a part of them.
    pub fn searchable(&self) -> bool {
        matches!(self.read, Read::Reveal | Read::Mask(_))
    }

    /// Whether values of this field may be written.
    pub fn writable(&self) -> bool {
        self.spec.write == WriteRule::Seal
    }

    fn keys<'a>(&self, keyring: &'a Keyring) -> Result<Keys<'a>, String> {
        let name = &self.spec.keyset;
        let NamedKeys { aead, deterministic, .. } =
            keyring.named(name).ok_or_else(|| format!("keyset {name} is not served by the key agent"))?;
        let found = if self.is_deterministic() {
            deterministic.as_ref().map(Keys::Deterministic)
        } else {
            aead.as_ref().map(Keys::Randomized)
        };
        let purpose = if self.is_deterministic() { "deterministic" } else { "aead" };
        found.ok_or_else(|| format!("keyset {name} has no keys for purpose {purpose}"))
    }

    /// Whether a value can have one envelope only, so that looking for it finds every row: a keyset with a
    /// second enabled key may have sealed some rows with that.
    pub fn has_one_envelope_per_value(&self, keyring: &Keyring) -> bool {
        matches!(self.keys(keyring), Ok(Keys::Deterministic(keys)) if keys.key_ids().count() == 1)
    }

    fn keys_or_error<'a>(&self, keyring: &'a Keyring) -> Result<Keys<'a>, ClientError> {
        self.keys(keyring).map_err(|reason| {
            ClientError::unavailable(
                "a keyset",
                &reason,
                "Create the keyset, or mend the policy's keyset name.",
            )
        })
    }

    /// Seals a value given as text in any form that the declared type takes, for a column that stores
    /// envelopes as `stored` says.
    pub fn seal(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        purpose: Purpose,
        text: &[u8],
        stored: Stored,
    ) -> Result<Vec<u8>, ClientError> {
        let label = &self.spec.label;
        if envelope::looks_sealed(text) {
            return Err(ClientError::bad_value(label, "it is sealed already", self.declared.name()));
        }
        let canonical = Zeroizing::new(
            self.declared.canonicalize_for(purpose, text).map_err(|error| self.bad_value(&error))?,
        );
        let body = match self.keys_or_error(keyring)? {
            Keys::Randomized(aead) => aead.encrypt(random, &canonical, &self.associated_data),
            Keys::Deterministic(daead) => daead.encrypt(&canonical, &self.associated_data),
        }
        .map_err(|e| ClientError::bad_value(label, &e.to_string(), self.declared.name()))?;
        let mut sealed = Vec::new();
        Envelope { version: Version::V1, label_tag: self.tag, body: &body }.write(&mut sealed);
        Ok(match stored {
            Stored::Raw => sealed,
            Stored::Armored => envelope::armor(&sealed).into_bytes(),
        })
    }

    /// Opens what is stored and gives the value's canonical text.
    fn open(&self, keyring: &Keyring, stored: &[u8], how: Stored) -> Result<Zeroizing<Vec<u8>>, ClientError> {
        let unreadable = |reason: &str| ClientError::unreadable(&self.spec.label, reason);
        let unarmored;
        let raw = match how {
            Stored::Raw => stored,
            Stored::Armored => {
                unarmored = envelope::unarmor(stored).map_err(|e| unreadable(&envelope_reason(&e)))?;
                unarmored.as_slice()
            }
        };
        let envelope = Envelope::parse(raw).map_err(|e| unreadable(&envelope_reason(&e)))?;
        if envelope.version != Version::V1 {
            return Err(unreadable("its envelope version is not that of the label's protection"));
        }
        if envelope.label_tag != self.tag {
            return Err(unreadable("it was sealed under another label"));
        }
        match self.keys_or_error(keyring)? {
            Keys::Randomized(aead) => aead.decrypt(envelope.body, &self.associated_data),
            Keys::Deterministic(daead) => daead.decrypt(envelope.body, &self.associated_data),
        }
        .map_err(|e| unreadable(&e.to_string()))
    }

    /// What a reader gets for the stored value: text or binary form of the declared type, or None for NULL.
    ///
    /// Not for [`Read::Conceal`], where the stored value passes as it is.
    pub fn read(
        &self,
        keyring: &Keyring,
        stored: &[u8],
        how: Stored,
        binary: bool,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ClientError> {
        let opened = match &self.read {
            Read::Null => return Ok(None),
            Read::Refuse | Read::Conceal => return Err(ClientError::denied(&self.spec.label, "read")),
            Read::Reveal => self.open(keyring, stored, how)?,
            Read::Mask(mask) => {
                let value = self.open(keyring, stored, how)?;
                let text = std::str::from_utf8(&value)
                    .map_err(|_| ClientError::unreadable(&self.spec.label, "it is not UTF-8"))?;
                Zeroizing::new(mask.apply(text).into_bytes())
            }
        };
        let shown =
            if binary { self.declared.encode_binary(&opened) } else { self.declared.encode_text(&opened) };
        shown
            .map(|bytes| Some(Zeroizing::new(bytes)))
            .map_err(|e| ClientError::unreadable(&self.spec.label, &e.to_string()))
    }
}

impl Read {
    /// Its name in statistics and the audit line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reveal => "revealed",
            Self::Mask(_) => "masked",
            Self::Conceal => "concealed",
            Self::Null => "nulled",
            Self::Refuse => "refused",
        }
    }
}
