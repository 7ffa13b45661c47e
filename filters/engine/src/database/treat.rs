//! Treats the protected values of one row, and spends what the row costs of budgets.

use std::collections::HashMap;
use std::sync::Arc;

use fieldveil_plan::Column;
use zeroize::Zeroizing;

use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::field::{Budget, CompiledField, FieldValue, ReadTreatment};
use crate::keyring::Keyring;
use crate::value_buffers::{Buffers, restart};
use crate::value_counts::ValueOutcome;

/// What the treatment of rows needs of the session.
pub trait Tally {
    /// Counts a value of the field with this outcome.
    fn count(&mut self, plan: &Arc<CompiledPlan>, field: &CompiledField, outcome: ValueOutcome);

    /// Spends so many rows of the budget, and returns whether the row is revealed. If it is not, its values get what the budget
    /// says; an error means that the row is refused.
    fn spend(&mut self, plan: &Arc<CompiledPlan>, budget: &Budget, rows: u32) -> Result<bool, ClientError>;

    /// Counts the bytes that were written for an unsealed value, whose text may be much longer than what is stored. An error means
    /// that this callback may write no more.
    fn charge_output(&mut self, bytes: usize) -> Result<(), ClientError>;

    /// Lends the buffers in which one value after the other is treated.
    fn buffers(&mut self) -> &mut Buffers;
}

/// How many rows of each budget a row of a result costs: as many rows of a table as can stand in it side by side.
pub struct Costs<'p>(HashMap<&'p str, u32>);

impl<'p> Costs<'p> {
    /// Returns the costs for a result with these fields, each as often as it has columns. A column that stands in the result
    /// n times may come from n rows of its table, which is joined with itself. The tables under one label add up.
    pub fn of(plan: &'p CompiledPlan, fields: impl Iterator<Item = usize>) -> Self {
        if plan.fields.iter().all(|field| field.budget.is_none()) {
            return Self(HashMap::new());
        }
        let mut times: HashMap<usize, u32> = HashMap::new();
        for field in fields {
            let times = times.entry(field).or_default();
            *times = times.saturating_add(1);
        }
        let mut tables: HashMap<(&str, &str, &str), u32> = HashMap::new();
        for (field, times) in times {
            let Some(field) = plan.fields.get(field).filter(|field| field.budget.is_some()) else { continue };
            let Column { schema, table, .. } = field.spec.column();
            let cost = tables.entry((field.spec.label.as_str(), schema, table)).or_default();
            *cost = times.max(*cost);
        }
        let mut costs: HashMap<&str, u32> = HashMap::new();
        for ((label, ..), times) in tables {
            let cost = costs.entry(label).or_default();
            *cost = cost.saturating_add(times);
        }
        Self(costs)
    }

    /// Returns the cost of a row with a value of this field.
    pub fn of_row(&self, plan: &CompiledPlan, field: usize) -> u32 {
        let label = plan.fields.get(field).map_or("", |field| field.spec.label.as_str());
        self.0.get(label).copied().unwrap_or(1)
    }
}

/// What a value became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treated {
    /// It stays as it was.
    AsStored,
    /// It became NULL.
    Null,
    /// It became the bytes that were appended.
    Written,
}

/// The form in which a client gets values. An error says why a value cannot be had in it.
pub trait ClientForm {
    /// Reads a stored value that is no envelope, as text.
    fn plaintext(&self, field: &CompiledField, stored: FieldValue<'_>) -> Result<Zeroizing<Vec<u8>>, String>;

    /// Whether the form is the canonical text itself.
    fn is_canonical(&self, field: &CompiledField) -> bool;

    /// Checks a canonical text that a client gets as it is.
    fn check_canonical(&self, _canonical: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Appends a canonical text of the declared type in this form.
    fn encode(&self, field: &CompiledField, canonical: &[u8], out: &mut Vec<u8>) -> Result<(), String>;
}

/// Why a row cannot be forwarded.
pub enum RowError {
    /// The principal may not have a value.
    Treatment(ClientError),
    /// The server broke the protocol.
    Server(&'static str),
}

impl From<ClientError> for RowError {
    fn from(error: ClientError) -> Self {
        Self::Treatment(error)
    }
}

/// The treatment of one row. Each label's budget is asked once, so that all values of a label in the row are treated alike.
pub struct RowTreatment<'r> {
    plan: &'r Arc<CompiledPlan>,
    keyring: &'r Keyring,
    tally: &'r mut dyn Tally,
    decided: Vec<(Arc<str>, bool)>,
}

impl<'r> RowTreatment<'r> {
    /// Begins a row of a statement under this plan.
    pub fn new(plan: &'r Arc<CompiledPlan>, keyring: &'r Keyring, tally: &'r mut dyn Tally) -> Self {
        Self { plan, keyring, tally, decided: Vec::new() }
    }

    /// Returns a field of the plan.
    pub fn field(&self, field: usize) -> Result<&'r CompiledField, ClientError> {
        self.plan.fields.get(field).ok_or_else(|| ClientError::protocol("a field without a plan"))
    }

    /// Appends, in this form, what the reader gets for a stored value. `row_cost` is the number of rows that this row costs of the
    /// label's budget. On an error a part may have been appended.
    pub fn treat(
        &mut self,
        field: usize,
        row_cost: u32,
        stored: FieldValue<'_>,
        form: &dyn ClientForm,
        out: &mut Vec<u8>,
    ) -> Result<Treated, ClientError> {
        let field = self.field(field)?;
        let before = out.len();
        let read = self.treatment_of(field, row_cost, stored)?;
        let shown = match read {
            ReadTreatment::Conceal => match field.conceal(stored.bytes, stored.how)? {
                Some(shown) => shown,
                None => {
                    self.tally.count(self.plan, field, ValueOutcome::of(read));
                    return Ok(Treated::AsStored);
                }
            },
            _ => {
                let buffers = self.tally.buffers();
                let plaintext = || form.plaintext(field, stored);
                let is_canonical = form.is_canonical(field);
                let canonical: &mut Vec<u8> = if is_canonical { &mut *out } else { &mut buffers.canonical };
                if !is_canonical {
                    restart(canonical);
                }
                let scratch = &mut buffers.scratch;
                let shown = field.read_text(read, self.keyring, stored, plaintext, scratch, canonical)?;
                if !shown.is_null {
                    let written = match is_canonical {
                        true => form.check_canonical(out.get(before..).unwrap_or_default()),
                        false => form.encode(field, &buffers.canonical, out),
                    };
                    written.map_err(|reason| ClientError::unreadable(&field.spec.label, &reason))?;
                }
                shown
            }
        };
        self.tally.count(self.plan, field, ValueOutcome::of(read));
        if shown.was_plaintext {
            self.tally.charge_output(out.len().saturating_sub(before))?;
            self.tally.count(self.plan, field, ValueOutcome::Plaintext);
        }
        Ok(if shown.is_null { Treated::Null } else { Treated::Written })
    }

    fn treatment_of<'f>(
        &mut self,
        field: &'f CompiledField,
        row_cost: u32,
        stored: FieldValue<'_>,
    ) -> Result<&'f ReadTreatment, ClientError> {
        let Some(budget) = &field.budget else { return Ok(&field.read) };
        // Of what comes back as NULL nothing is revealed.
        if field.nulls(stored.bytes, stored.how) {
            return Ok(&field.read);
        }
        let known =
            self.decided.iter().find(|(label, _)| *label == budget.label).map(|(_, reveals)| *reveals);
        let reveals = match known {
            Some(reveals) => reveals,
            None => {
                let reveals = self.tally.spend(self.plan, budget, row_cost)?;
                self.decided.push((Arc::clone(&budget.label), reveals));
                reveals
            }
        };
        Ok(if reveals { &field.read } else { &budget.then })
    }
}
