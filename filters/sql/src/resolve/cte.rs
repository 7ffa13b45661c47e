//! WITH: common table expressions, also recursive ones.

use std::collections::HashMap;

use sqlparser::ast::{
    Cte, Query, SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, With,
};

use crate::{
    refusal::Refusal,
    resolve::{
        outputs::{Outputs, STEPS_A_COLUMN},
        scope::Scope,
    },
    walk::Walker,
};

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

    fn settle(&mut self, place: usize, outputs: Outputs<'c>) {
        if let Some(cte) = self.all.get_mut(place) {
            cte.outputs = Some(outputs);
        }
    }
}

impl<'c> Walker<'_, 'c> {
    /// Brings the common table expressions into reach, one after the other.
    pub fn with(&mut self, with: &With, outer: Option<&Scope<'_, 'c>>) -> Result<(), Refusal> {
        let With { with_token: _, recursive, cte_tables } = with;
        let first = self.ctes.len();
        if *recursive {
            for cte in cte_tables {
                let name = self.name(&cte.alias.name)?;
                self.ctes.push(CteRange { name, outputs: None });
            }
        }
        for (index, cte) in cte_tables.iter().enumerate() {
            let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = cte;
            let TableAlias { explicit: _, name, columns, at } = alias;
            if from.is_some() || at.is_some() {
                return Err(not_understood());
            }
            let name = self.name(name)?;
            let mut names = Vec::with_capacity(columns.len());
            for TableAliasColumnDef { name, data_type } in columns {
                if data_type.is_some() {
                    return Err(not_understood());
                }
                names.push(self.name(name)?);
            }
            if *recursive {
                let at = first.saturating_add(index);
                let outputs = self.recursive(query, outer, at, names)?;
                self.ctes.settle(at, outputs);
            } else {
                let outputs = self.query(query, outer)?;
                let outputs = self.renamed(outputs, names)?;
                self.ctes.push(CteRange { name, outputs: Some(outputs) });
            }
        }
        Ok(())
    }

    /// One of WITH RECURSIVE: its first part, without itself in reach, says what the second finds under its name.
    fn recursive(
        &mut self,
        query: &Query,
        outer: Option<&Scope<'_, 'c>>,
        at: usize,
        names: Vec<String>,
    ) -> Result<Outputs<'c>, Refusal> {
        let (
            Query { with: None, body, order_by: None, limit_clause: None, fetch: None, locks, .. },
            SetExpr::SetOperation { left, op: SetOperator::Union, set_quantifier, right },
        ) = (query, query.body.as_ref())
        else {
            let outputs = self.query(query, outer)?;
            return self.renamed(outputs, names);
        };
        let compares = match set_quantifier {
            SetQuantifier::All => false,
            SetQuantifier::None | SetQuantifier::Distinct => true,
            _ => return Err(not_understood()),
        };
        let plain = matches!(body.as_ref(), SetExpr::SetOperation { .. }) && locks.is_empty();
        if !plain || !query.pipe_operators.is_empty() || query.for_clause.is_some() {
            return Err(not_understood());
        }
        let start = self.part(left, outer)?;
        let start = self.renamed(start, names.clone())?;
        self.ctes.settle(at, start.clone());
        let step = self.part(right, outer)?;
        let outputs = self.combine(start, step, compares)?;
        self.renamed(outputs, names)
    }

    /// What a query yields under the names that an alias with a list gives.
    pub fn renamed(&self, outputs: Outputs<'c>, names: Vec<String>) -> Result<Outputs<'c>, Refusal> {
        if !names.is_empty() {
            self.spend(outputs.len().saturating_mul(STEPS_A_COLUMN))?;
        }
        outputs.renamed(names)
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a common table expression isn't understood")
}
