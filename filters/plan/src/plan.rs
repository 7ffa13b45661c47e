//! The policy's answer.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use crate::error::{check_range, wrong};
use crate::limits::{MAX_FIELDS, MAX_PLAN_BYTES};
use crate::{PlanError, PlanField, ServicePlan, Treatment, field, service};

/// Seconds that a plan may live without being asked for anew.
const MAX_TTL_SECONDS: u32 = 3600;
/// Seconds that a plan may be used while OPA does not answer.
const MAX_STALE_SECONDS: u32 = 86_400;

/// Bytes of a subject: many are held for their budgets.
const MAX_SUBJECT_BYTES: usize = 512;

/// OPA's answer for one principal.
///
/// Large: it has the members of the policy's answer.
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
    /// What is protected of a database; no column twice.
    pub fields: Vec<PlanField>,
    /// What is protected of a service; None where the policy speaks of none.
    pub service: Option<ServicePlan>,
}

#[derive(Deserialize)]
struct PolicyResponse {
    result: Option<RawPlan>,
}

/// Large: it has the members of the policy's answer.
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
    fields: Vec<Value>,
    service: Option<Value>,
}

fn default_stale() -> u32 {
    300
}

impl Plan {
    /// Reads OPA's answer, `{"result": …}`.
    // Inlined into its only caller, it would be built for speed as that is.
    #[inline(never)]
    pub fn from_json(json: &[u8]) -> Result<Self, PlanError> {
        if json.len() > MAX_PLAN_BYTES {
            return Err(PlanError::TooLong(json.len()));
        }
        let answer: PolicyResponse =
            serde_json::from_slice(json).map_err(|e| PlanError::Shape(e.to_string()))?;
        let raw = answer.result.ok_or(PlanError::Undefined)?;
        if raw.fields.len() > MAX_FIELDS {
            return Err(PlanError::TooManyFields(raw.fields.len()));
        }
        check_range("ttl_seconds", raw.ttl_seconds, MAX_TTL_SECONDS)?;
        check_range("max_stale_seconds", raw.max_stale_seconds, MAX_STALE_SECONDS)?;
        let mut fields = Vec::with_capacity(raw.fields.len());
        for (index, value) in raw.fields.into_iter().enumerate() {
            fields.push(field::read_column(&format!("fields[{index}]"), value)?);
        }
        check_columns(&fields)?;
        let service = raw.service.map(|value| service::read(value, fields.len())).transpose()?;
        check_labels(all(&fields, service.as_ref()))?;
        check_subject(&raw.subject, all(&fields, service.as_ref()))?;
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
            service,
        })
    }
}

/// Every field with its place in the plan.
fn all<'p>(
    columns: &'p [PlanField],
    service: Option<&'p ServicePlan>,
) -> impl Iterator<Item = (String, &'p PlanField)> {
    let columns = columns.iter().enumerate().map(|(index, field)| (format!("fields[{index}]"), field));
    columns.chain(service.into_iter().flat_map(ServicePlan::fields))
}

/// A budget is somebody's: those whom nobody names would share one.
fn check_subject<'p>(
    subject: &str,
    mut fields: impl Iterator<Item = (String, &'p PlanField)>,
) -> Result<(), PlanError> {
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
    match fields.find(|(_, field)| budgeted(field)) {
        Some((place, _)) if subject.is_empty() => Err(wrong(
            format!("{place}.read.budget"),
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
        if !seen.insert(&field.place) {
            return Err(wrong(format!("fields[{index}]"), "the column is named twice; name it once"));
        }
    }
    Ok(())
}

/// Fields of one label are stored alike, so that their values can be compared and copied.
fn check_labels<'p>(fields: impl Iterator<Item = (String, &'p PlanField)>) -> Result<(), PlanError> {
    let mut first: HashMap<&str, &PlanField> = HashMap::new();
    for (place, field) in fields {
        let known = first.entry(&field.label).or_insert(field);
        if !known.is_stored_as(field) {
            return Err(wrong(
                place,
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
