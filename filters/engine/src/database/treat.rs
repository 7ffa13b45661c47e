//! One row's protected values: what each becomes, and what the row spends of budgets.

use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_plan::Column;
use zeroize::Zeroizing;

use crate::client_error::ClientError;
use crate::field::{Budget, CompiledPlan, FieldPlan, Read, Stored};
use crate::keyring::Keyring;

/// What the treatment of rows tells the session, and asks it.
pub trait Tally {
    /// A value of the label got this treatment under the plan.
    fn count(&mut self, plan: &Rc<CompiledPlan>, label: &str, treatment: &'static str);

    /// Whether a row is revealed that costs so many of the budget; if not, it gets what the budget says. The error says
    /// that it gets nothing.
    fn spend(&mut self, plan: &Rc<CompiledPlan>, budget: &Budget, rows: u32) -> Result<bool, ClientError>;
}

/// What a row of a result costs of budgets: as many rows of a table as can stand in it, side by side.
pub struct Costs<'p>(HashMap<&'p str, u32>);

impl<'p> Costs<'p> {
    /// For a result with these fields, each as often as it has columns. What stands once in a row of the table stands as
    /// often as the table is joined with itself; and another table under the label has rows of its own.
    pub fn of(plan: &'p CompiledPlan, fields: impl Iterator<Item = usize>) -> Self {
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

    /// That of a row with a value of this field.
    pub fn rows(&self, plan: &CompiledPlan, field: usize) -> u32 {
        let label = plan.fields.get(field).map_or("", |field| field.spec.label.as_str());
        self.0.get(label).copied().unwrap_or(1)
    }
}

/// What becomes of a value. It may hold it: no `Debug`.
pub enum Treated {
    /// It stays.
    AsStored,
    /// NULL.
    Null,
    /// This.
    Value(Zeroizing<Vec<u8>>),
}

/// The form in which a client gets values. The errors say why it can't have one.
pub trait ClientForm {
    /// The text of what is stored that is no envelope.
    fn plaintext(&self, field: &FieldPlan, stored: &[u8], how: Stored) -> Result<Zeroizing<Vec<u8>>, String>;

    /// What stands for a canonical text of the declared type.
    fn encode(&self, field: &FieldPlan, canonical: &[u8]) -> Result<Zeroizing<Vec<u8>>, String>;
}

/// A row while it is treated. What a label's budget says is asked once, so that all its values in the row fare alike.
pub struct Row<'r> {
    plan: &'r Rc<CompiledPlan>,
    keyring: &'r Keyring,
    tally: &'r mut dyn Tally,
    decided: Vec<(Rc<str>, bool)>,
}

impl<'r> Row<'r> {
    /// Of a statement under this plan.
    pub fn new(plan: &'r Rc<CompiledPlan>, keyring: &'r Keyring, tally: &'r mut dyn Tally) -> Self {
        Self { plan, keyring, tally, decided: Vec::new() }
    }

    /// A field that is treated.
    pub fn field(&self, field: usize) -> Result<&'r FieldPlan, ClientError> {
        self.plan.fields.get(field).ok_or_else(|| ClientError::protocol("a field without a plan"))
    }

    /// What a reader gets for a value as it stands in the column, in this form. `rows` is what the row costs of the label's
    /// budget.
    pub fn treat(
        &mut self,
        field: usize,
        how: Stored,
        rows: u32,
        stored: &[u8],
        form: &dyn ClientForm,
    ) -> Result<Treated, ClientError> {
        let field = self.field(field)?;
        let label = &field.spec.label;
        let read = self.read_of(field, rows, stored, how)?;
        let shown = match read {
            Read::Conceal => match field.conceal(stored, how)? {
                Some(shown) => shown,
                None => {
                    self.tally.count(self.plan, label, read.name());
                    return Ok(Treated::AsStored);
                }
            },
            _ => field.read_text(read, self.keyring, stored, how, || form.plaintext(field, stored, how))?,
        };
        let encode = |text: Zeroizing<Vec<u8>>| form.encode(field, &text);
        let value = shown.value.map(encode).transpose();
        let value = value.map_err(|reason| ClientError::unreadable(label, &reason))?;
        self.tally.count(self.plan, label, read.name());
        if shown.was_plaintext {
            self.tally.count(self.plan, label, "plaintext");
        }
        Ok(value.map_or(Treated::Null, Treated::Value))
    }

    fn read_of<'f>(
        &mut self,
        field: &'f FieldPlan,
        rows: u32,
        stored: &[u8],
        how: Stored,
    ) -> Result<&'f Read, ClientError> {
        let Some(budget) = &field.budget else { return Ok(&field.read) };
        // Of what comes back as NULL nothing is revealed.
        if field.nulls(stored, how) {
            return Ok(&field.read);
        }
        let known =
            self.decided.iter().find(|(label, _)| *label == budget.label).map(|(_, reveals)| *reveals);
        let reveals = match known {
            Some(reveals) => reveals,
            None => {
                let reveals = self.tally.spend(self.plan, budget, rows)?;
                self.decided.push((Rc::clone(&budget.label), reveals));
                reveals
            }
        };
        Ok(if reveals { &field.read } else { &budget.then })
    }
}
