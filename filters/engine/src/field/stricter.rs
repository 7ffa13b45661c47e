//! What several routes allow of one label, when a request fits all of them: what every one of them does.

use std::cmp::Ordering;
use std::sync::Arc;

use fieldveil_plan::{OnPlaintext, WriteRule};

use super::{Budget, CompiledField, ReadTreatment};

impl CompiledField {
    /// This field with as much as both it and `other`, of the same label, allow.
    pub(crate) fn no_looser_than(self: &Arc<Self>, other: &Self) -> Arc<Self> {
        let read = stricter_read(&self.read, &other.read, ReadTreatment::Conceal);
        let budget = match read {
            ReadTreatment::Reveal => stricter_budget(self.budget.as_ref(), other.budget.as_ref()),
            _ => None,
        };
        let write = stricter_write(self.spec.write, other.spec.write);
        let on_plaintext = stricter_on_plaintext(self.spec.on_plaintext, other.spec.on_plaintext);
        let own = (&self.read, &self.budget, self.spec.write, self.spec.on_plaintext);
        if own == (&read, &budget, write, on_plaintext) {
            return Arc::clone(self);
        }
        let mut field = Self::clone(self);
        (field.read, field.budget) = (read, budget);
        (field.spec.write, field.spec.on_plaintext) = (write, on_plaintext);
        Arc::new(field)
    }
}

/// The less it shows, the higher.
fn strictness(read: &ReadTreatment) -> u8 {
    match read {
        ReadTreatment::Reveal => 0,
        ReadTreatment::Mask(_) => 1,
        ReadTreatment::Conceal => 2,
        ReadTreatment::Null => 3,
        ReadTreatment::Refuse => 4,
    }
}

/// For two masks that are not the same it is `instead`: what each of them shows may be what the other hides.
fn stricter_read(one: &ReadTreatment, other: &ReadTreatment, instead: ReadTreatment) -> ReadTreatment {
    match (one, other) {
        (ReadTreatment::Mask(mask), ReadTreatment::Mask(another)) if mask != another => instead,
        _ if strictness(one) < strictness(other) => other.clone(),
        _ => one.clone(),
    }
}

/// The one with fewer rows for its time; what comes after it is what both allow.
fn stricter_budget(one: Option<&Budget>, other: Option<&Budget>) -> Option<Budget> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other).cloned() };
    let rate = |of: &Budget, by: &Budget| {
        u64::from(of.allowance.rows).saturating_mul(u64::from(by.allowance.per_seconds))
    };
    let fewer = match rate(one, other).cmp(&rate(other, one)) {
        Ordering::Less => one,
        Ordering::Greater => other,
        Ordering::Equal if one.allowance.rows <= other.allowance.rows => one,
        Ordering::Equal => other,
    };
    // What is stored is of another type than what is revealed, so it does not come after it.
    Some(Budget { then: stricter_read(&one.then, &other.then, ReadTreatment::Null), ..fewer.clone() })
}

fn stricter_write(one: WriteRule, other: WriteRule) -> WriteRule {
    if one == WriteRule::Refuse { one } else { other }
}

fn stricter_on_plaintext(one: OnPlaintext, other: OnPlaintext) -> OnPlaintext {
    let rank = |rule| match rule {
        OnPlaintext::Reveal => 0,
        OnPlaintext::Null => 1,
        OnPlaintext::Refuse => 2,
    };
    if rank(one) < rank(other) { other } else { one }
}
