//! The plan made ready for use: every field with its parsed type, mask and associated data, and the two
//! things that are done to its values, [`FieldPlan::seal`] and [`FieldPlan::read`].

mod cipher;
mod error;
mod treatment;
mod uses;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use fieldveil_envelope::{self as envelope, LabelTag};
use fieldveil_ff1::Alphabet;
use fieldveil_plan::{OnPlaintext, Plan, PlanField, Protection, WriteRule};
use fieldveil_sql::Declared;
use fieldveil_values::{DeclaredType, Purpose, ValueError, oid};
use zeroize::Zeroizing;

pub use self::error::FieldError;
pub use self::treatment::{Budget, Read};
use crate::keyring::Keyring;

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
    /// No envelope, but a text of the value's own format.
    Formatted,
}

/// One field of a plan, ready for use.
#[derive(Debug)]
pub struct FieldPlan {
    /// As the policy said it.
    pub spec: PlanField,
    /// The type that clients see and values are checked against.
    pub declared: DeclaredType,
    /// What reading it yields; of what is revealed, within the budget.
    pub read: Read,
    /// How many rows are revealed.
    pub budget: Option<Budget>,
    tag: LabelTag,
    associated_data: Vec<u8>,
    alphabet: Option<Alphabet>,
}

/// What a reader gets of one stored value.
pub struct Shown {
    /// The value in text or binary form of the declared type; None for NULL.
    pub value: Option<Zeroizing<Vec<u8>>>,
    /// Whether it stood there unsealed, and the policy lets it through.
    pub was_plaintext: bool,
}

/// A plan, ready for use.
#[derive(Debug)]
pub struct CompiledPlan {
    /// Changes whenever the plan does.
    pub revision: String,
    /// Revisions of the bundles that it was made of; empty for none.
    pub bundle: String,
    /// Who it is for budgets and audit.
    pub subject: Rc<str>,
    /// Unix seconds from which on it must not be used.
    pub expires_at: Option<u64>,
    /// Why everything is refused, to be told to the client.
    pub denied: Option<String>,
    /// Break-glass rules in use.
    pub break_glass: Vec<String>,
    /// Whether a comment of a statement may say purpose or token.
    pub reads_comments: bool,
    /// In the plan's order; SQL analysis refers to them by index.
    pub fields: Vec<FieldPlan>,
    /// The tenants' keysets that the fields name, each once.
    pub tenant_keysets: BTreeSet<Rc<str>>,
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
        check_labels(&fields)?;
        let named = fields.iter().filter(|field| field.needs_keys() && field.spec.has_tenant_keyset());
        let tenant_keysets = named.map(|field| Rc::from(field.spec.keyset.as_str())).collect();
        let ms = |seconds: u32| u64::from(seconds).saturating_mul(1000);
        Ok(Self {
            revision: plan.revision,
            bundle: plan.bundle,
            subject: Rc::from(plan.subject),
            expires_at: plan.expires_at,
            denied: plan.denied,
            break_glass: plan.break_glass,
            reads_comments: plan.reads_comments,
            fields,
            tenant_keysets,
            ttl_ms: ms(plan.ttl_seconds),
            max_stale_ms: ms(plan.max_stale_seconds),
        })
    }

    /// Whether it was made of an answer that says the same as `plan`.
    pub fn says(&self, plan: &Plan) -> bool {
        self.revision == plan.revision
            && self.bundle == plan.bundle
            && *self.subject == *plan.subject
            && self.expires_at == plan.expires_at
            && self.denied == plan.denied
            && self.break_glass == plan.break_glass
            && self.reads_comments == plan.reads_comments
    }

    /// Whether it must not be used any more, at this time in milliseconds.
    pub fn has_expired(&self, now_ms: u64) -> bool {
        self.expires_at.is_some_and(|seconds| now_ms >= seconds.saturating_mul(1000))
    }

    /// Whether both store the same fields in the same way, in the same order: then what was read of the server's catalog,
    /// and what was said of statements, stays true, and only who gets what may differ.
    pub fn stores_as(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(one, other)| one.storage() == other.storage())
    }

    /// The first keyset or purpose that the plan needs and `keyring` lacks, as a sentence. Tenants' own keysets aside:
    /// where one is gone, the fields of the others go on.
    pub fn missing_keys(&self, keyring: &Keyring) -> Option<String> {
        let needed = self.fields.iter().filter(|f| f.needs_keys() && !f.spec.has_tenant_keyset());
        needed.filter_map(|field| field.check_keys(keyring).err()).next()
    }

    /// Whether `keyring` lacks a tenant's keyset that the plan needs.
    pub fn lacks_tenant_keys(&self, keyring: &Keyring) -> bool {
        self.tenant_keysets.iter().any(|name| keyring.named(name).is_none())
    }
}

/// Columns of one label can come back in one result column (UNION), so they are read alike.
fn check_labels(fields: &[FieldPlan]) -> Result<(), UnusablePlan> {
    let mut first: HashMap<&str, &FieldPlan> = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        let known = first.entry(&field.spec.label).or_insert(field);
        if (&known.read, &known.budget) != (&field.read, &field.budget) {
            return Err(UnusablePlan {
                place: format!("fields[{index}]"),
                reason: format!(
                    "label {} is read in another way before; give this field a label of its own",
                    field.spec.label
                ),
            });
        }
    }
    Ok(())
}

impl FieldPlan {
    fn new(spec: PlanField) -> Result<Self, String> {
        let declared: DeclaredType =
            spec.type_name.parse().map_err(|e| format!("type {:?}: {e}", spec.type_name))?;
        let (read, budget) = Read::of(&spec, &declared)?;
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
        Ok(Self { declared, read, budget, tag, associated_data, alphabet, spec })
    }

    /// How it is stored, whoever reads it.
    pub fn storage(&self) -> impl PartialEq + std::hash::Hash + '_ {
        let PlanField { schema, table, column, label, keyset, tenant, .. } = &self.spec;
        let names = (schema, table, column, label, keyset, tenant);
        (names, self.spec.protection, &self.spec.alphabet, &self.spec.type_name)
    }

    /// Whether values that the server holds equal are stored equal.
    pub fn equality(&self) -> bool {
        matches!(self.spec.protection, Protection::Deterministic | Protection::FormatPreserving)
            && self.declared.has_one_text()
    }

    /// Whether values that the server holds equal have equal blind indexes.
    pub fn indexed(&self) -> bool {
        self.spec.protection == Protection::Indexed && self.declared.has_one_text()
    }

    /// The declared type, as far as SQL analysis asks.
    pub fn declared_kind(&self) -> Declared {
        match self.declared.oid() {
            oid::TEXT | oid::VARCHAR => Declared::Characters,
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

    /// How a column of the type with this OID holds the field's values; None if it can't.
    pub fn stored_in(&self, type_oid: u32) -> Option<Stored> {
        match (self.spec.protection, type_oid) {
            (Protection::FormatPreserving, oid::TEXT | oid::VARCHAR | oid::BPCHAR) => Some(Stored::Formatted),
            (Protection::FormatPreserving, _) => None,
            (_, oid::TEXT | oid::VARCHAR) => Some(Stored::Armored),
            (_, oid::BYTEA) => Some(Stored::Raw),
            _ => None,
        }
    }

    /// What a column must be to hold the field's values.
    pub fn wanted_column(&self) -> &'static str {
        match self.spec.protection {
            Protection::FormatPreserving => "text, varchar or char",
            _ => "text or bytea",
        }
    }

    /// A value that is not of the declared type.
    fn bad_value(&self, error: &ValueError) -> FieldError {
        self.not_sealed(&error.to_string())
    }

    fn unreadable(&self, reason: impl Into<String>) -> FieldError {
        FieldError::Unreadable { label: self.spec.label.clone(), reason: reason.into() }
    }

    /// The text of a bound value, as the server would assign it to a column of the declared type or compare it
    /// with one. `client_oid` is the type that the client named in Parse, 0 for none.
    pub fn read_parameter(
        &self,
        purpose: Purpose,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, FieldError> {
        self.declared
            .read_parameter(purpose, client_oid, binary, bytes)
            .map(Zeroizing::new)
            .map_err(|error| self.bad_value(&error))
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

    /// The elements of a bound array, each as [`Self::read_parameter`] gives it.
    pub fn read_array(
        &self,
        purpose: Purpose,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Vec<Option<Zeroizing<Vec<u8>>>>, FieldError> {
        let elements = self
            .declared
            .read_array_parameter(purpose, client_oid, binary, bytes)
            .map_err(|error| self.bad_value(&error))?;
        Ok(elements.into_iter().map(|element| element.map(Zeroizing::new)).collect())
    }

    /// What a reader who sees envelopes gets for the stored value: None if it passes as it is, else what comes in its
    /// place. A plaintext among envelopes is not shown.
    pub fn conceal(&self, stored: &[u8], how: Stored) -> Result<Option<Shown>, FieldError> {
        if !self.is_plaintext(stored, how) {
            return Ok(None);
        }
        match self.spec.on_plaintext {
            OnPlaintext::Refuse => Err(self.unreadable("it is not an envelope")),
            OnPlaintext::Reveal | OnPlaintext::Null => Ok(Some(Shown { value: None, was_plaintext: true })),
        }
    }

    /// Whether the stored value comes back as NULL because it is no envelope.
    pub fn nulls(&self, stored: &[u8], how: Stored) -> bool {
        self.spec.on_plaintext == OnPlaintext::Null && self.is_plaintext(stored, how)
    }

    /// What a reader gets for the stored value who gets `read` of it: what the field says, or what its budget says of
    /// rows past it.
    ///
    /// Not for [`Read::Conceal`]: see [`Self::conceal`].
    pub fn read(
        &self,
        read: &Read,
        keyring: &Keyring,
        stored: &[u8],
        how: Stored,
        binary: bool,
    ) -> Result<Shown, FieldError> {
        let plaintext = || {
            // The bytes of a bytea value in a bytea column are the value; of any other type they are its text.
            let is_value = how == Stored::Raw && self.declared.oid() == oid::BYTEA;
            let text = self.declared.read_parameter(Purpose::Store, self.declared.oid(), is_value, stored);
            text.map(Zeroizing::new).map_err(|e| e.to_string())
        };
        let Shown { value, was_plaintext } = self.read_text(read, keyring, stored, how, plaintext)?;
        let encode = |text: Zeroizing<Vec<u8>>| {
            let shown =
                if binary { self.declared.encode_binary(&text) } else { self.declared.encode_text(&text) };
            shown.map(Zeroizing::new).map_err(|e| self.unreadable(e.to_string()))
        };
        Ok(Shown { value: value.map(encode).transpose()?, was_plaintext })
    }

    /// The same as canonical text of the declared type. `plaintext` gives the text of what is stored if that is no
    /// envelope and the policy lets it through; its error says why it is no value of the type.
    pub fn read_text(
        &self,
        read: &Read,
        keyring: &Keyring,
        stored: &[u8],
        how: Stored,
        plaintext: impl FnOnce() -> Result<Zeroizing<Vec<u8>>, String>,
    ) -> Result<Shown, FieldError> {
        let sealed = Shown { value: None, was_plaintext: false };
        if matches!(read, Read::Null) {
            return Ok(sealed);
        }
        if matches!(read, Read::Refuse | Read::Conceal) {
            return Err(FieldError::Denied { label: self.spec.label.clone(), action: "read" });
        }
        let was_plaintext = self.is_plaintext(stored, how);
        let opened = match (was_plaintext, self.spec.on_plaintext) {
            (true, OnPlaintext::Null) => return Ok(Shown { was_plaintext, ..sealed }),
            (true, OnPlaintext::Reveal) => {
                let text = plaintext().map_err(|reason| self.unreadable(reason))?;
                let canonical = self.declared.canonicalize(&text);
                Zeroizing::new(canonical.map_err(|e| self.unreadable(e.to_string()))?)
            }
            _ => self.open(keyring, stored, how)?,
        };
        let shown = match read {
            Read::Mask(mask) => {
                let text = std::str::from_utf8(&opened).map_err(|_| self.unreadable("it is not UTF-8"))?;
                Zeroizing::new(mask.apply(&self.declared, text).into_bytes())
            }
            _ => opened,
        };
        Ok(Shown { value: Some(shown), was_plaintext })
    }
}

fn is_characters(declared: &DeclaredType) -> bool {
    matches!(declared.oid(), oid::TEXT | oid::VARCHAR | oid::BPCHAR)
}
