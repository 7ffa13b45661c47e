//! Expressions: where a protected column may stand in one, and that it stands nowhere else.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, CaseWhen, Expr, Ident, Query, UnaryOperator, Visit, Visitor};

use crate::{
    names,
    refusal::Refusal,
    scope::{Meaning, Protected, Scope},
    walker::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// The protected column that an expression is, when it is nothing but a reference to one.
    pub fn column(&mut self, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<Option<Protected<'c>>, Refusal> {
        match expr {
            Expr::Nested(inside) => self.column(inside, scope),
            Expr::Identifier(ident) => self.unqualified(ident, scope),
            Expr::CompoundIdentifier(parts) => {
                let mut parts = parts.iter().map(|part| self.name(part)).collect::<Result<Vec<_>, _>>()?;
                let name = parts.pop().unwrap_or_default();
                scope.qualified(&parts, &name)
            }
            _ => Ok(None),
        }
    }

    fn unqualified(
        &mut self,
        ident: &Ident,
        scope: &Scope<'_, 'c>,
    ) -> Result<Option<Protected<'c>>, Refusal> {
        let Some(name) = names::fold(ident) else {
            return Err(Refusal::unparsable("a name is written as a string"));
        };
        let found = match scope.unqualified(&name)? {
            // Not accounted for: if the name is a protected one, it is so in a way that isn't understood.
            Meaning::Nothing => return Ok(None),
            Meaning::Plain => None,
            Meaning::Protected(protected) => Some(protected),
        };
        self.name(ident)?;
        if let Some(protected) = found.filter(|_| names::is_reserved(ident)) {
            return Err(Refusal::on(
                protected.field,
                "the column's name is a keyword where it stands",
                "write the name in double quotes",
            ));
        }
        Ok(found)
    }

    /// An expression that yields no protected value. Predicates that hold for sealed values may stand wherever
    /// nothing binds them but AND, OR, NOT and brackets: there no disagreement about the precedence of
    /// operators can change what they compare.
    pub fn expr(&mut self, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match self.column(expr, scope)? {
                None => Ok(()),
                Some(protected) => Err(in_expression(protected)),
            },
            Expr::Nested(inside) => self.expr(inside, scope),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => self.expr(expr, scope),
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                self.expr(left, scope)?;
                self.expr(right, scope)
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right } => {
                self.comparison(left, right, scope)
            }
            Expr::IsNull(inside) | Expr::IsNotNull(inside) => self.null_test(inside, scope),
            Expr::InList { expr, list, negated: _ } => self.in_list(expr, list, scope),
            Expr::InSubquery { expr, subquery, negated: _ } => self.in_subquery(expr, subquery, scope),
            Expr::Exists { subquery, negated: _ } => self.query(subquery, Some(scope)).map(|_| ()),
            Expr::Subquery(query) => self.unprotected_query(query, Some(scope)),
            Expr::Function(function) => self.function(function, scope),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                for CaseWhen { condition, result } in conditions {
                    match operand {
                        // An operand is compared with each.
                        Some(_) => self.opaque(condition, scope)?,
                        None => self.expr(condition, scope)?,
                    }
                    self.expr(result, scope)?;
                }
                operand.iter().try_for_each(|operand| self.opaque(operand.as_ref(), scope))?;
                else_result.iter().try_for_each(|result| self.expr(result, scope))
            }
            other => self.opaque(other, scope),
        }
    }

    /// A sub-select whose rows are used as values.
    pub fn unprotected_query(&mut self, query: &Query, outer: Option<&Scope<'_, 'c>>) -> Result<(), Refusal> {
        match self.query(query, outer)?.protected().next() {
            None => Ok(()),
            Some(protected) => Err(Refusal::on(
                protected.field,
                "a sub-select's sealed values are used in an expression",
                "select the column in the outermost SELECT, or compare it there",
            )),
        }
    }

    /// Any piece of the tree, in which no protected column may stand but within brackets, by the rules of
    /// [`Self::expr`].
    pub fn opaque<T: Visit>(&mut self, node: &T, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let mut visitor = Opaque { walker: self, scope, inside_expr: 0, inside_query: 0 };
        match node.visit(&mut visitor) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(refusal) => Err(refusal),
        }
    }
}

/// Visits a piece of the tree; hands what stands in brackets back to the walker and passes over it.
struct Opaque<'v, 'w, 'a, 's, 'c> {
    walker: &'v mut Walker<'a, 'c>,
    scope: &'w Scope<'s, 'c>,
    /// How deep within an expression that was handed back; 0 when not.
    inside_expr: usize,
    /// How deep within a query that was handed back; 0 when not.
    inside_query: usize,
}

impl Visitor for Opaque<'_, '_, '_, '_, '_> {
    type Break = Refusal;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Refusal> {
        if self.inside_expr > 0 {
            self.inside_expr = self.inside_expr.saturating_add(1);
            return ControlFlow::Continue(());
        }
        if self.inside_query > 0 {
            return ControlFlow::Continue(());
        }
        let result = match expr {
            Expr::Nested(_)
            | Expr::Function(_)
            | Expr::Case { .. }
            | Expr::Subquery(_)
            | Expr::Exists { .. }
            | Expr::Identifier(_)
            | Expr::CompoundIdentifier(_) => {
                self.inside_expr = 1;
                self.walker.expr(expr, self.scope)
            }
            Expr::Wildcard(_) | Expr::QualifiedWildcard(..) => {
                Err(Refusal::unsupported("all columns are used as one value", "name the columns one by one"))
            }
            _ => Ok(()),
        };
        flow(result)
    }

    fn post_visit_expr(&mut self, _expr: &Expr) -> ControlFlow<Refusal> {
        self.inside_expr = self.inside_expr.saturating_sub(1);
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Refusal> {
        if self.inside_expr > 0 {
            return ControlFlow::Continue(());
        }
        self.inside_query = self.inside_query.saturating_add(1);
        if self.inside_query > 1 {
            return ControlFlow::Continue(());
        }
        flow(self.walker.unprotected_query(query, Some(self.scope)))
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<Refusal> {
        if self.inside_expr == 0 {
            self.inside_query = self.inside_query.saturating_sub(1);
        }
        ControlFlow::Continue(())
    }
}

fn flow(result: Result<(), Refusal>) -> ControlFlow<Refusal> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(refusal) => ControlFlow::Break(refusal),
    }
}

fn in_expression(protected: Protected<'_>) -> Refusal {
    Refusal::on(
        protected.field,
        "a sealed column can't be used in this expression",
        "select the column as it is, and compute in the application",
    )
}
