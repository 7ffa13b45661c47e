//! The common table expressions in reach.

use std::collections::HashMap;

use crate::resolve::outputs::Outputs;

/// A common table expression in reach.
pub(crate) struct CteRange<'c> {
    pub name: String,
    /// What it yields; None while that is not known, in WITH RECURSIVE.
    pub outputs: Option<Outputs<'c>>,
}

/// The common table expressions in reach, the nearest last.
#[derive(Default)]
pub(crate) struct Ctes<'c> {
    all: Vec<CteRange<'c>>,
    /// The places of those of a name.
    by_name: HashMap<String, Vec<usize>>,
}

impl<'c> Ctes<'c> {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn push(&mut self, cte: CteRange<'c>) {
        self.by_name.entry(cte.name.clone()).or_default().push(self.all.len());
        self.all.push(cte);
    }

    /// Leaves the first ones in reach.
    pub fn truncate(&mut self, length: usize) {
        for CteRange { name, outputs: _ } in self.all.drain(length.min(self.all.len())..) {
            if let Some(places) = self.by_name.get_mut(&name) {
                places.pop();
            }
        }
    }

    /// The nearest one of this name.
    pub fn named(&self, name: &str) -> Option<&CteRange<'c>> {
        self.all.get(*self.by_name.get(name)?.last()?)
    }

    /// Says what one yields, once it is known.
    pub fn settle(&mut self, place: usize, outputs: Outputs<'c>) {
        if let Some(cte) = self.all.get_mut(place) {
            cte.outputs = Some(outputs);
        }
    }
}
