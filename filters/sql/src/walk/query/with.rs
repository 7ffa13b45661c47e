//! Walks WITH: common table expressions, also recursive ones.

use sqlparser::ast::{
    Cte, Query, SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, With,
};

use crate::{
    refusal::Refusal,
    resolve::{
        cte::CteRange,
        outputs::{Outputs, STEPS_A_COLUMN},
        scope::Scope,
    },
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Brings the common table expressions into reach, one after the other.
    pub fn with(&mut self, with: &With, outer: Option<&Scope<'_, 'c>>) -> Result<(), Refusal> {
        let With { with_token: _, recursive, cte_tables } = with;
        let first = self.reach.ctes.len();
        if *recursive {
            for cte in cte_tables {
                let name = self.names.read(&cte.alias.name)?;
                self.reach.ctes.push(CteRange { name, outputs: None });
            }
        }
        for (index, cte) in cte_tables.iter().enumerate() {
            let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = cte;
            let TableAlias { explicit: _, name, columns, at } = alias;
            if from.is_some() || at.is_some() {
                return Err(not_understood());
            }
            let name = self.names.read(name)?;
            let mut names = Vec::with_capacity(columns.len());
            for TableAliasColumnDef { name, data_type } in columns {
                if data_type.is_some() {
                    return Err(not_understood());
                }
                names.push(self.names.read(name)?);
            }
            if *recursive {
                let at = first.saturating_add(index);
                let outputs = self.recursive(query, outer, at, names)?;
                self.reach.ctes.settle(at, outputs);
            } else {
                let outputs = self.query(query, outer)?;
                let outputs = self.renamed(outputs, names)?;
                self.reach.ctes.push(CteRange { name, outputs: Some(outputs) });
            }
        }
        Ok(())
    }

    /// Walks one expression of WITH RECURSIVE. Its first part can't see the expression itself, and says what the second
    /// part finds under its name.
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
        self.reach.ctes.settle(at, start.clone());
        let step = self.part(right, outer)?;
        let outputs = self.combine(start, step, compares)?;
        self.renamed(outputs, names)
    }

    /// Gives the columns of a query the names of an alias with a list.
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
