//! OPA's answer as a whole.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::PlanError;
use crate::field::PlanField;
use crate::names::MAX_NAME_BYTES;
use crate::reader::Reader;

/// Longest answer that is read, in bytes: [`MAX_FIELDS`] fields of 1 KiB each.
pub const MAX_PLAN_BYTES: usize = 4 << 20;
/// Most fields of one plan. One plan is held for every principal, so this bounds what one takes.
pub const MAX_FIELDS: usize = 4096;
/// Highest `ttl_seconds`: a changed policy is seen within the hour.
pub const MAX_TTL_SECONDS: u32 = 3600;
/// `ttl_seconds` where the policy says nothing.
pub const DEFAULT_TTL_SECONDS: u32 = 30;
/// Highest `max_stale_seconds`: no plan outlives a day without OPA.
pub const MAX_MAX_STALE_SECONDS: u32 = 86_400;
/// `max_stale_seconds` where the policy says nothing.
pub const DEFAULT_MAX_STALE_SECONDS: u32 = 300;

/// What one principal may do with every protected column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Changes whenever the plan does.
    pub revision: String,
    /// Age in seconds at which it is asked for anew; never above `max_stale_seconds`.
    pub ttl_seconds: u32,
    /// Age in seconds past which it is not used any more.
    pub max_stale_seconds: u32,
    /// The protected columns, in the answer's order.
    pub fields: Vec<PlanField>,
}

impl Plan {
    /// Reads the body of OPA's answer, `{"result": {…}}`.
    pub fn from_json(body: &[u8]) -> Result<Self, PlanError> {
        if body.len() > MAX_PLAN_BYTES {
            return Err(PlanError::TooLarge { len: body.len() });
        }
        let answer: Value = serde_json::from_slice(body)
            .map_err(|error| PlanError::NotJson { line: error.line(), column: error.column() })?;
        // OPA leaves `result` out when no rule defines the decision.
        let result = answer.get("result").ok_or(PlanError::Undefined)?;
        let top = Reader::new(String::new(), result)?;
        let max_stale_seconds =
            top.seconds("max_stale_seconds", MAX_MAX_STALE_SECONDS, DEFAULT_MAX_STALE_SECONDS)?;
        Ok(Self {
            revision: top.name("revision", MAX_NAME_BYTES)?.to_owned(),
            ttl_seconds: top
                .seconds("ttl_seconds", MAX_TTL_SECONDS, DEFAULT_TTL_SECONDS)?
                .min(max_stale_seconds),
            max_stale_seconds,
            fields: read_fields(top.array("fields")?)?,
        })
    }
}

fn read_fields(values: &[Value]) -> Result<Vec<PlanField>, PlanError> {
    if values.len() > MAX_FIELDS {
        return Err(PlanError::TooManyFields { count: values.len() });
    }
    let fields = values
        .iter()
        .enumerate()
        .map(|(index, value)| PlanField::read(&Reader::new(place(index), value)?))
        .collect::<Result<Vec<_>, _>>()?;
    check_columns(&fields)?;
    check_labels(&fields)?;
    Ok(fields)
}

fn place(index: usize) -> String {
    format!("fields[{index}]")
}

/// Each column once.
fn check_columns(fields: &[PlanField]) -> Result<(), PlanError> {
    let mut seen = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        if let Some(first) = seen.insert((&field.schema, &field.table, &field.column), index) {
            return Err(PlanError::DuplicateColumn { path: place(index), first: place(first) });
        }
    }
    Ok(())
}

/// Each label stored in one way: only then can its values be compared and copied.
fn check_labels(fields: &[PlanField]) -> Result<(), PlanError> {
    let mut seen = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        let (first, known) = *seen.entry(&field.label).or_insert((index, field));
        if let Some(what) = difference(field, known) {
            let (path, first, label) = (place(index), place(first), field.label.clone());
            return Err(PlanError::LabelConflict { path, first, label, what });
        }
    }
    Ok(())
}

fn difference(a: &PlanField, b: &PlanField) -> Option<&'static str> {
    let same = [
        ("protection", a.protection == b.protection),
        ("keyset", a.keyset == b.keyset),
        ("type", a.type_name == b.type_name),
        ("tenant", a.tenant == b.tenant),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
}
