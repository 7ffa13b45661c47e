//! The policy's answer.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::treatment::RawTreatment;
use crate::{PlanError, Treatment, keyset, relation};

/// Bytes of an answer that are read at most: 4,096 fields take about 1 MB.
pub const MAX_PLAN_BYTES: usize = 4 << 20;
/// Fields of a plan.
pub const MAX_FIELDS: usize = 4096;
/// Seconds that a plan may live without being asked for anew.
const MAX_TTL_SECONDS: u32 = 3600;
/// Seconds that a plan may be used while OPA does not answer.
const MAX_STALE_SECONDS: u32 = 86_400;

/// Bytes of a subject: many are held for their budgets.
const MAX_SUBJECT_BYTES: usize = 512;

/// How a label is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// AEAD.
    Randomized,
    /// AES-SIV: equal values have equal ciphertexts.
    Deterministic,
    /// AEAD with a blind index.
    Indexed,
    /// FF1.
    FormatPreserving,
}

/// Whether a principal may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteRule {
    /// Yes; the value is sealed.
    Seal,
    /// No.
    Refuse,
}

/// What reading a stored value that is no envelope, though it should be one, yields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnPlaintext {
    /// An error: somebody wrote past the filter.
    #[default]
    Refuse,
    /// The value, treated as if it had been opened: for columns that are not all sealed yet.
    Reveal,
    /// NULL.
    Null,
}

/// One field of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanField {
    /// The schema's name, as the server's catalog has it.
    pub schema: String,
    /// The table's name, as the server's catalog has it.
    pub table: String,
    /// The column's name, as the server's catalog has it.
    pub column: String,
    /// The data class.
    pub label: String,
    /// The keyset's name: `NAME`, or `NAME/TENANT` for one that is the tenant's own.
    pub keyset: String,
    /// Part of the associated data; empty for none.
    pub tenant: String,
    /// How it is stored.
    pub protection: Protection,
    /// The alphabet's name; there for `format_preserving` and for nothing else.
    pub alphabet: Option<String>,
    /// The type that clients see.
    pub type_name: String,
    /// What reading it yields.
    pub read: Treatment,
    /// What reading a plaintext among envelopes yields.
    pub on_plaintext: OnPlaintext,
    /// Whether it may be written.
    pub write: WriteRule,
}

impl PlanField {
    /// Whether its keyset is a tenant's own, which the key agent opens when it is asked for.
    pub fn has_tenant_keyset(&self) -> bool {
        self.keyset.contains('/')
    }
}

/// OPA's answer for one principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Changes whenever the plan does.
    pub revision: String,
    /// Revisions of the bundles that OPA made it of, joined by commas; empty for none.
    pub bundle: String,
    /// Who it is for budgets and audit, never chosen by the client; empty where the policy does not say.
    pub subject: String,
    /// Unix seconds from which on it must not be used, however young it is.
    pub expires_at: Option<u64>,
    /// Why everything is refused, to be told to the client.
    pub denied: Option<String>,
    /// Break-glass rules in use, each as `RULE: REASON`.
    pub break_glass: Vec<String>,
    /// Whether a comment of a statement may say purpose or token.
    pub reads_comments: bool,
    /// Age, in seconds, at which it is asked for anew.
    pub ttl_seconds: u32,
    /// Age, in seconds, past which it is not used.
    pub max_stale_seconds: u32,
    /// What is protected; no column twice.
    pub fields: Vec<PlanField>,
}

#[derive(Deserialize)]
struct Answer {
    result: Option<RawPlan>,
}

#[derive(Deserialize)]
struct RawPlan {
    revision: String,
    #[serde(default)]
    bundle: String,
    #[serde(default)]
    subject: String,
    expires_at: Option<u64>,
    denied: Option<String>,
    #[serde(default)]
    break_glass: Vec<String>,
    #[serde(default)]
    reads_comments: bool,
    ttl_seconds: u32,
    #[serde(default = "default_stale")]
    max_stale_seconds: u32,
    fields: Vec<serde_json::Value>,
}

fn default_stale() -> u32 {
    300
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawField {
    relation: String,
    column: String,
    label: Option<String>,
    keyset: String,
    #[serde(default)]
    tenant: String,
    protection: Protection,
    alphabet: Option<String>,
    #[serde(rename = "type")]
    type_name: String,
    read: RawTreatment,
    #[serde(default)]
    on_plaintext: OnPlaintext,
    write: WriteRule,
}

impl Plan {
    /// Reads OPA's answer, `{"result": …}`.
    pub fn from_json(json: &[u8]) -> Result<Self, PlanError> {
        if json.len() > MAX_PLAN_BYTES {
            return Err(PlanError::TooLong(json.len()));
        }
        let answer: Answer = serde_json::from_slice(json).map_err(|e| PlanError::Shape(e.to_string()))?;
        let raw = answer.result.ok_or(PlanError::Undefined)?;
        if raw.fields.len() > MAX_FIELDS {
            return Err(PlanError::TooManyFields(raw.fields.len()));
        }
        within("ttl_seconds", raw.ttl_seconds, MAX_TTL_SECONDS)?;
        within("max_stale_seconds", raw.max_stale_seconds, MAX_STALE_SECONDS)?;
        let mut fields = Vec::with_capacity(raw.fields.len());
        for (index, value) in raw.fields.into_iter().enumerate() {
            fields.push(read_field(index, value)?);
        }
        check_columns(&fields)?;
        check_labels(&fields)?;
        check_subject(&raw.subject, &fields)?;
        check_denied(raw.denied.as_deref())?;
        Ok(Self {
            revision: raw.revision,
            bundle: raw.bundle,
            subject: raw.subject,
            expires_at: raw.expires_at,
            denied: raw.denied,
            break_glass: raw.break_glass,
            reads_comments: raw.reads_comments,
            ttl_seconds: raw.ttl_seconds,
            max_stale_seconds: raw.max_stale_seconds,
            fields,
        })
    }
}

pub(crate) fn wrong(place: impl Into<String>, reason: impl Into<String>) -> PlanError {
    PlanError::Value { place: place.into(), reason: reason.into() }
}

pub(crate) fn within(place: &str, value: u32, limit: u32) -> Result<(), PlanError> {
    match value {
        1.. if value <= limit => Ok(()),
        _ => Err(wrong(place, format!("{value} is not between 1 and {limit}"))),
    }
}

fn read_field(index: usize, value: serde_json::Value) -> Result<PlanField, PlanError> {
    let place = format!("fields[{index}]");
    let raw: RawField = serde_json::from_value(value).map_err(|e| wrong(place.as_str(), e.to_string()))?;
    let (schema, table) = relation::split(&raw.relation).ok_or_else(|| {
        wrong(
            format!("{place}.relation"),
            "it is not schema.table; put a part that is not plain lower case in double quotes",
        )
    })?;
    for (name, text) in [("column", &raw.column), ("type", &raw.type_name)] {
        if text.is_empty() {
            return Err(wrong(format!("{place}.{name}"), "it is empty"));
        }
    }
    let label = raw.label.unwrap_or_else(|| format!("{schema}.{table}.{}", raw.column));
    if label.is_empty() || label.contains('\0') || raw.tenant.contains('\0') {
        return Err(wrong(
            format!("{place}.label"),
            "label and tenant may hold no NUL, and a label is never empty",
        ));
    }
    check_keyset(&place, &raw.keyset, &raw.tenant)?;
    check_alphabet(&place, raw.protection, raw.alphabet.as_deref())?;
    check_on_plaintext(&place, raw.protection, raw.on_plaintext)?;
    let read = raw.read.check(&format!("{place}.read"))?;
    Ok(PlanField {
        schema,
        table,
        column: raw.column,
        label,
        keyset: raw.keyset,
        tenant: raw.tenant,
        protection: raw.protection,
        alphabet: raw.alphabet,
        type_name: raw.type_name,
        read,
        on_plaintext: raw.on_plaintext,
        write: raw.write,
    })
}

/// A tenant's own keyset seals for no other tenant: what is sealed under it is bound to its tenant, too.
fn check_keyset(place: &str, name: &str, tenant: &str) -> Result<(), PlanError> {
    match keyset::split(name) {
        None => Err(wrong(
            format!("{place}.keyset"),
            "it is neither NAME nor NAME/TENANT, each 1 to 63 of a-z 0-9 _ - that begin with a letter or digit",
        )),
        Some((_, Some(own))) if own != tenant => Err(wrong(
            format!("{place}.tenant"),
            format!("keyset {name} is that of tenant {own} alone; name that tenant, or another keyset"),
        )),
        Some(_) => Ok(()),
    }
}

/// That an alphabet has the name is for the crate that knows them to say.
fn check_alphabet(place: &str, protection: Protection, alphabet: Option<&str>) -> Result<(), PlanError> {
    let reason = match (protection, alphabet) {
        (Protection::FormatPreserving, Some(name)) if !name.is_empty() => return Ok(()),
        (Protection::FormatPreserving, _) => {
            "format_preserving needs one; name the characters of its values, such as \"digits\""
        }
        (_, None) => return Ok(()),
        (_, Some(_)) => "only format_preserving has one; leave it out",
    };
    Err(wrong(format!("{place}.alphabet"), reason))
}

/// A format-preserving value looks like any other: nothing tells a plaintext from it.
fn check_on_plaintext(place: &str, protection: Protection, rule: OnPlaintext) -> Result<(), PlanError> {
    if protection == Protection::FormatPreserving && rule != OnPlaintext::Refuse {
        return Err(wrong(
            format!("{place}.on_plaintext"),
            "nothing tells a plaintext from a format_preserving value; leave it out, or use another protection",
        ));
    }
    Ok(())
}

/// A budget is somebody's: those whom nobody names would share one.
fn check_subject(subject: &str, fields: &[PlanField]) -> Result<(), PlanError> {
    if subject.len() > MAX_SUBJECT_BYTES {
        let reason =
            format!("it has {} bytes, more than {MAX_SUBJECT_BYTES}; give it a shorter name", subject.len());
        return Err(wrong("subject", reason));
    }
    // It stands in lines of the log, and may be what somebody called themselves.
    if subject.contains(char::is_control) {
        return Err(wrong("subject", "it has control characters; name it without"));
    }
    let budgeted = |field: &PlanField| matches!(field.read, Treatment::Reveal { budget: Some(_) });
    match fields.iter().position(budgeted) {
        Some(index) if subject.is_empty() => Err(wrong(
            format!("fields[{index}].read.budget"),
            "the plan does not say whose it is; give the plan a subject",
        )),
        _ => Ok(()),
    }
}

/// It is told to the client, in a text that ends at a NUL.
fn check_denied(reason: Option<&str>) -> Result<(), PlanError> {
    match reason {
        Some(text) if text.trim().is_empty() || text.contains(char::is_control) => {
            Err(wrong("denied", "it is blank or has control characters; say in one line why all is refused"))
        }
        _ => Ok(()),
    }
}

fn check_columns(fields: &[PlanField]) -> Result<(), PlanError> {
    let mut seen = HashSet::new();
    for (index, field) in fields.iter().enumerate() {
        if !seen.insert((&field.schema, &field.table, &field.column)) {
            return Err(wrong(format!("fields[{index}]"), "the column is named twice; name it once"));
        }
    }
    Ok(())
}

/// Fields of one label are stored alike, so that their values can be compared and copied.
fn check_labels(fields: &[PlanField]) -> Result<(), PlanError> {
    let mut first: HashMap<&str, &PlanField> = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        let known = first.entry(&field.label).or_insert(field);
        let alike = known.protection == field.protection
            && known.keyset == field.keyset
            && known.alphabet == field.alphabet
            && known.type_name == field.type_name
            && known.tenant == field.tenant;
        if !alike {
            return Err(wrong(
                format!("fields[{index}]"),
                format!(
                    "label {} has another protection, alphabet, keyset, type or tenant before; give this field a label of its own",
                    field.label
                ),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
