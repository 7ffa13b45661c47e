//! One field of a plan, ready for use: its parsed type, mask and associated data, and what is done to its values.
//! [`CompiledField::seal_into`] seals a value, and [`CompiledField::read_text`] opens and treats one.

mod batch;
mod cipher;
mod clear;
mod error;
mod keys;
mod open;
mod postgres;
mod seal_batch;
mod stricter;
mod treatment;
mod unusable;
mod uses;

use std::sync::Arc;

use fieldveil_envelope::{self as envelope, LabelTag};
use fieldveil_ff1::Alphabet;
use fieldveil_plan::{OnPlaintext, PlanField, Protection, WriteRule};
use fieldveil_sql::{Declared, Dialect};
use fieldveil_tink::reserve_wiping;
use fieldveil_values::{DeclaredType, ValueError, oid};
use zeroize::{Zeroize, Zeroizing};

pub use self::batch::OpenedBatch;
pub use self::clear::Clear;
pub use self::error::FieldError;
use self::keys::LookedUp;
pub use self::open::{FieldValue, Scratch};
pub use self::seal_batch::SealBatch;
pub use self::treatment::{Budget, ReadTreatment};
pub use self::unusable::UnusablePlan;
use crate::keyring::Keyring;

/// How the server's column holds an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredForm {
    /// `fv1.…` in a text column.
    Armored,
    /// The bytes themselves in a column of bytes: `bytea`, `VARBINARY`.
    Raw,
    /// No envelope, but a text of the value's own format.
    Formatted,
}

/// What a server's column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text, as it was sent.
    Text,
    /// Text that comes back padded with spaces: PostgreSQL's `char(n)`.
    Padded,
    /// Bytes, which a text is not compared with: PostgreSQL's `bytea`.
    Bytes,
    /// Bytes that a text is sent to, and compared with, as it is: MySQL's `VARBINARY` and `BLOB`.
    Binary,
    /// Neither.
    Other,
}

/// One field of a plan, ready for use.
///
/// Large: all that is done to a value depends on its field: each protection, form and treatment has its methods.
#[derive(Debug, Clone)]
pub struct CompiledField {
    /// As the policy said it.
    pub spec: PlanField,
    /// The label, to be held where it is counted.
    pub label: Arc<str>,
    /// The type that clients see and values are checked against.
    pub declared: DeclaredType,
    /// What reading it yields; of what is revealed, within the budget.
    pub read: ReadTreatment,
    /// How many rows are revealed.
    pub budget: Option<Budget>,
    tag: LabelTag,
    associated_data: Vec<u8>,
    /// What the blind index of a value is computed over, up to the value; None where names have a NUL.
    index_prefix: Option<Vec<u8>>,
    alphabet: Option<Alphabet>,
    looked_up: LookedUp,
}

/// What a reader gets of one stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// NULL, in place of a text.
    pub is_null: bool,
    /// Whether it stood there unsealed, and the policy lets it through.
    pub was_plaintext: bool,
}

impl CompiledField {
    /// Whether a value is what its sender may have read in place of the one that is stored. Clients write objects back whole
    /// as they read them; then a mask would be sealed over the value that it hides.
    pub fn shows_instead(&self, text: Option<&[u8]>) -> bool {
        let treatments = [Some(&self.read), self.budget.as_ref().map(|budget| &budget.then)];
        if !treatments
            .iter()
            .flatten()
            .any(|read| matches!(read, ReadTreatment::Mask(_) | ReadTreatment::Null))
        {
            return false;
        }
        let canonical = text.map(|text| self.declared.canonicalize(text).map(Zeroizing::new));
        let canonical = match &canonical {
            None => None,
            Some(Ok(text)) => std::str::from_utf8(text).ok(),
            Some(Err(_)) => return false,
        };
        // A value that is not UTF-8 can not be a masked one.
        canonical.is_some() == text.is_some()
            && treatments.iter().flatten().any(|read| read.shows_instead(&self.declared, canonical))
    }

    /// Checks what only the engine can check: the type, masks, what the protection can do. The error says where and why.
    pub(crate) fn new(spec: PlanField) -> Result<Self, String> {
        let declared: DeclaredType =
            spec.type_name.parse().map_err(|e| format!("type {:?}: {e}", spec.type_name))?;
        let (read, budget) = ReadTreatment::of(&spec, &declared)?;
        let alphabet = match &spec.alphabet {
            None => None,
            Some(name) => Some(name.parse().map_err(|e| format!("alphabet {name:?}: {e}"))?),
        };
        if spec.protection == Protection::FormatPreserving && !is_characters(&declared) {
            return Err(format!(
                "type {} cannot be format_preserving; use text, varchar(n) or bpchar(n)",
                declared.name()
            ));
        }
        let tag = LabelTag::of(&spec.label);
        let associated_data = envelope::associated_data(&spec.label, &spec.tenant)
            .map_err(|e| format!("label or tenant: {e}"))?;
        let index_prefix = envelope::index_input(&spec.label, &spec.tenant, b"").ok();
        let index_prefix = index_prefix.map(|prefix| prefix.to_vec());
        let looked_up = LookedUp::default();
        let label = Arc::from(spec.label.as_str());
        Ok(Self {
            label,
            declared,
            read,
            budget,
            tag,
            associated_data,
            index_prefix,
            alphabet,
            looked_up,
            spec,
        })
    }

    /// How it is stored, whoever reads it.
    pub fn storage(&self) -> impl PartialEq + std::hash::Hash + '_ {
        let PlanField { place, label, keyset, tenant, .. } = &self.spec;
        let names = (place, label, keyset, tenant);
        (names, self.spec.protection, &self.spec.alphabet, &self.spec.type_name)
    }

    /// Whether values that the server holds equal are stored equal.
    pub fn equality(&self) -> bool {
        matches!(self.spec.protection, Protection::Deterministic | Protection::FormatPreserving)
            && self.declared.has_one_text()
    }

    /// How much longer it takes to seal or open a text of so many bytes than an ordinary value.
    pub fn cost(&self, bytes: usize) -> usize {
        self.alphabet.map_or(1, |alphabet| fieldveil_ff1::cost(alphabet, bytes))
    }

    /// Whether what two values are stored as may differ in letter case alone. No alphabet has a space, and envelopes differ
    /// in more.
    pub fn tells_apart_by_case(&self) -> bool {
        let has =
            |is: fn(&char) -> bool| self.alphabet.is_some_and(|a| a.characters().chars().any(|c| is(&c)));
        has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase)
    }

    /// Whether values that the server holds equal have equal blind indexes.
    pub fn indexed(&self) -> bool {
        self.spec.protection == Protection::Indexed && self.declared.has_one_text()
    }

    /// The declared type, as far as SQL analysis asks.
    pub fn declared_kind(&self) -> Declared {
        match self.declared.oid() {
            oid::TEXT | oid::VARCHAR => Declared::Characters,
            oid::BPCHAR => Declared::Padded,
            oid::INT2 | oid::INT4 | oid::INT8 => Declared::Integer,
            oid::NUMERIC => Declared::Numeric,
            oid::FLOAT8 => Declared::Float,
            oid::BOOL => Declared::Boolean,
            oid::DATE => Declared::Date,
            oid::TIME => Declared::Time,
            oid::TIMESTAMP => Declared::Timestamp,
            oid::TIMESTAMPTZ => Declared::TimestampTz,
            oid::UUID => Declared::Uuid,
            oid::JSON => Declared::Json,
            oid::JSONB => Declared::Jsonb,
            oid::BYTEA => Declared::Bytea,
            _ => Declared::Other,
        }
    }

    /// How a column holds the field's values; None if it can't.
    pub fn stored_in(&self, column: ColumnKind) -> Option<StoredForm> {
        use ColumnKind::{Binary, Bytes, Padded, Text};
        match (self.spec.protection, column) {
            (Protection::FormatPreserving, Text | Padded | Binary) => Some(StoredForm::Formatted),
            (Protection::FormatPreserving, _) => None,
            (_, Text) => Some(StoredForm::Armored),
            (_, Bytes | Binary) => Some(StoredForm::Raw),
            _ => None,
        }
    }

    /// What a column must be to hold the field's values.
    pub fn wanted_column(&self, dialect: Dialect) -> &'static str {
        match (self.spec.protection, dialect) {
            (Protection::FormatPreserving, Dialect::Postgres) => "text, varchar or char",
            (_, Dialect::Postgres) => "text or bytea",
            (_, Dialect::MySql(_)) => "CHAR, VARCHAR, TEXT, VARBINARY or BLOB",
        }
    }

    /// A value that is not of the declared type.
    fn bad_value(&self, error: &ValueError) -> FieldError {
        match error {
            ValueError::LongText(limit) => {
                FieldError::LongValue { label: self.spec.label.clone(), limit: *limit }
            }
            error => self.not_sealed(&error.to_string()),
        }
    }

    fn unreadable(&self, reason: impl Into<String>) -> FieldError {
        FieldError::Unreadable { label: self.spec.label.clone(), reason: reason.into() }
    }

    /// Whether values of this field may be looked for.
    pub fn searchable(&self) -> bool {
        self.read.searchable()
    }

    /// Whether anything is sealed or opened for this principal.
    pub fn needs_keys(&self) -> bool {
        self.searchable() || self.writable()
    }

    /// Whether values of this field may be written.
    pub fn writable(&self) -> bool {
        self.spec.write == WriteRule::Seal
    }

    /// Whether the reader gets values as they are stored, if these are envelopes.
    pub fn is_concealed(&self) -> bool {
        matches!(self.read, ReadTreatment::Conceal) && self.budget.is_none()
    }

    /// Whether a reader who sees envelopes gets the stored value as it is.
    pub fn stays_as_stored(&self, stored: &[u8], how: StoredForm) -> bool {
        matches!(self.conceal(stored, how), Ok(None))
    }

    /// What a reader who sees envelopes gets for the stored value: None if it passes as it is, else what comes in its
    /// place. A plaintext among envelopes is not shown.
    pub fn conceal(&self, stored: &[u8], how: StoredForm) -> Result<Option<Shown>, FieldError> {
        if !self.is_plaintext(stored, how) {
            return Ok(None);
        }
        match self.spec.on_plaintext {
            OnPlaintext::Refuse => Err(self.unreadable("it is not an envelope")),
            OnPlaintext::Reveal | OnPlaintext::Null => Ok(Some(Shown { is_null: true, was_plaintext: true })),
        }
    }

    /// Whether the stored value comes back as NULL because it is no envelope.
    pub fn nulls(&self, stored: &[u8], how: StoredForm) -> bool {
        self.spec.on_plaintext == OnPlaintext::Null && self.is_plaintext(stored, how)
    }

    /// Appends what a reader with the treatment `read` gets for a stored value, as canonical text of the declared type. The
    /// treatment is the field's, or that of its budget for rows past it. `plaintext` gives the text of what is stored if that
    /// is no envelope and the policy lets it through; its error says why it is no value of the type.
    ///
    /// Not for [`ReadTreatment::Conceal`]: see [`Self::conceal`].
    pub fn read_text(
        &self,
        read: &ReadTreatment,
        keyring: &Keyring,
        stored: FieldValue<'_>,
        plaintext: impl FnOnce() -> Result<Zeroizing<Vec<u8>>, String>,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Shown, FieldError> {
        if matches!(read, ReadTreatment::Null) {
            return Ok(Shown { is_null: true, was_plaintext: false });
        }
        if matches!(read, ReadTreatment::Refuse | ReadTreatment::Conceal) {
            return Err(FieldError::Denied { label: self.spec.label.clone(), action: "read" });
        }
        let was_plaintext = self.is_plaintext(stored.bytes, stored.how);
        if was_plaintext && self.spec.on_plaintext == OnPlaintext::Null {
            return Ok(Shown { is_null: true, was_plaintext });
        }
        let Scratch { opening, text: opened } = scratch;
        opened.as_mut_slice().zeroize();
        opened.clear();
        let canonical: &mut Vec<u8> = if matches!(read, ReadTreatment::Mask(_)) { opened } else { &mut *out };
        if was_plaintext && self.spec.on_plaintext == OnPlaintext::Reveal {
            let text = plaintext().map_err(|reason| self.unreadable(reason))?;
            let text = self.declared.canonicalize(&text).map(Zeroizing::new);
            append(canonical, &text.map_err(|e| self.unreadable(e.to_string()))?);
        } else {
            self.open(keyring, stored, opening, canonical)?;
        }
        if let ReadTreatment::Mask(mask) = read {
            let text = std::str::from_utf8(opened).map_err(|_| self.unreadable("it is not UTF-8"))?;
            append(out, Zeroizing::new(mask.apply(&self.declared, text)).as_bytes());
        }
        Ok(Shown { is_null: false, was_plaintext })
    }
}

/// Appends a text of a value.
pub(crate) fn append(out: &mut Vec<u8>, text: &[u8]) {
    reserve_wiping(out, text.len());
    out.extend_from_slice(text);
}

fn is_characters(declared: &DeclaredType) -> bool {
    matches!(declared.oid(), oid::TEXT | oid::VARCHAR | oid::BPCHAR)
}
