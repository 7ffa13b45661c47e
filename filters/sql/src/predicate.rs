//! Predicates that hold for sealed values: equality, IN, and tests for NULL.

use sqlparser::ast::{Expr, Query};

use crate::{
    analysis::ParameterUse,
    refusal::Refusal,
    scope::{Protected, Scope},
    walker::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// `left = right`, `left <> right`
    pub fn comparison(&mut self, left: &Expr, right: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match (self.column(left, scope)?, self.column(right, scope)?) {
            (Some(left), Some(right)) => self.equate(left, right),
            (Some(column), None) => self.search(column, right),
            (None, Some(column)) => self.search(column, left),
            (None, None) => {
                self.opaque(left, scope)?;
                self.opaque(right, scope)
            }
        }
    }

    /// `inside IS [NOT] NULL`: NULL is stored as NULL.
    pub fn null_test(&mut self, inside: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match self.column(inside, scope)? {
            Some(column) => {
                self.searches.insert(column.field.id);
                Ok(())
            }
            None => self.opaque(inside, scope),
        }
    }

    /// `left [NOT] IN (…)`
    pub fn in_list(&mut self, left: &Expr, list: &[Expr], scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match self.column(left, scope)? {
            Some(column) => list.iter().try_for_each(|value| self.search(column, value)),
            None => {
                self.opaque(left, scope)?;
                list.iter().try_for_each(|value| self.opaque(value, scope))
            }
        }
    }

    /// `left [NOT] IN (SELECT …)`
    pub fn in_subquery(&mut self, left: &Expr, query: &Query, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let outputs = self.query(query, Some(scope))?;
        let column = self.column(left, scope)?;
        match (column, outputs.columns.as_slice()) {
            (Some(left), [output]) if !outputs.open => match output.protected {
                Some(right) => self.equate(left, right),
                None => Err(unlike(left)),
            },
            (Some(left), _) => Err(unlike(left)),
            (None, _) => match outputs.protected().next() {
                Some(right) => Err(unlike(right)),
                None => self.opaque(left, scope),
            },
        }
    }

    /// `left = ANY (…)`, `left <> ALL (…)`: the values are in one array, which can't be sealed yet.
    pub fn quantified(&mut self, left: &Expr, whole: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match self.column(left, scope)? {
            None => self.opaque(whole, scope),
            Some(column) => Err(Refusal::on(
                column.field,
                "a sealed column can't be compared with an array",
                "write IN with one literal or parameter for each value",
            )),
        }
    }

    /// Two columns compared with each other.
    pub fn equate(&mut self, left: Protected<'c>, right: Protected<'c>) -> Result<(), Refusal> {
        for side in [left, right] {
            self.compared(side)?;
        }
        if left.is_comparable_with(right) { Ok(()) } else { Err(unlike(left)) }
    }

    /// A column whose ciphertexts the server compares for equality.
    pub fn compared(&mut self, column: Protected<'c>) -> Result<(), Refusal> {
        require_equality(column)?;
        self.searches.insert(column.field.id);
        Ok(())
    }

    fn search(&mut self, column: Protected<'c>, value: &Expr) -> Result<(), Refusal> {
        self.compared(column)?;
        self.value(column, ParameterUse::Search, value)
    }
}

/// Refuses what compares values of a column whose equal values have unequal ciphertexts.
pub(crate) fn require_equality(column: Protected<'_>) -> Result<(), Refusal> {
    if column.field.equality {
        return Ok(());
    }
    Err(Refusal::on(
        column.field,
        "equal values of this column have different ciphertexts, so it can't be compared",
        "make the label deterministic, or compare in the application",
    ))
}

fn unlike(column: Protected<'_>) -> Refusal {
    Refusal::on(
        column.field,
        "a sealed column is compared with what isn't sealed under the same label",
        "compare it with a literal, a parameter, or a column of the same label",
    )
}
