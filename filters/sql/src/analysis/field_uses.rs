//! What a statement does with which fields.

use std::collections::BTreeSet;

/// The fields that a statement uses, by what it does with them. In an analysis they are sorted, and each is there once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldUses<Fields = Vec<usize>> {
    /// Fields whose values may come back in rows.
    pub reads: Fields,
    /// Fields compared with a value, with each other, or with NULL, also as keys of DISTINCT, GROUP BY and
    /// ON CONFLICT.
    pub searches: Fields,
    /// Those of them whose ciphertexts or blind indexes are compared with each other, or tell rows apart: right only
    /// while equal values have equal ones, and a search for whoever may write a value of the label.
    pub compares: Fields,
    /// Fields written.
    pub writes: Fields,
    /// Those of them that may hold a value already, which is then lost: what UPDATE, ON CONFLICT DO UPDATE and MERGE
    /// assign.
    pub overwrites: Fields,
    /// Those of these that a written NULL may go to.
    pub empties: Fields,
    /// Fields whose envelopes are copied, as they are, to where nothing is protected.
    pub copies: Fields,
}

impl FieldUses {
    /// How many there are, each counted for each use.
    pub fn count(&self) -> usize {
        let Self { reads, searches, compares, writes, overwrites, empties, copies } = self;
        let all = [reads, searches, compares, writes, overwrites, empties, copies];
        all.into_iter().map(Vec::len).fold(0, usize::saturating_add)
    }
}

impl From<FieldUses<BTreeSet<usize>>> for FieldUses {
    /// Of what was collected, where `empties` are all fields that a written NULL is stored in.
    fn from(found: FieldUses<BTreeSet<usize>>) -> Self {
        let sorted = |fields: BTreeSet<usize>| fields.into_iter().collect();
        Self {
            reads: sorted(found.reads),
            searches: sorted(found.searches),
            compares: sorted(found.compares),
            writes: sorted(found.writes),
            empties: found.overwrites.intersection(&found.empties).copied().collect(),
            overwrites: sorted(found.overwrites),
            copies: sorted(found.copies),
        }
    }
}
