//! Walks expressions. It finds the places where a protected column may stand, and refuses it everywhere else.

mod function;
pub(super) mod operands;

use sqlparser::ast::{BinaryOperator, CaseWhen, CastKind, Expr, Ident, Query, UnaryOperator};

use self::operands::operands;
use crate::{
    catalog::StorageType,
    field::Declared,
    names,
    refusal::Refusal,
    resolve::{
        protected::Protected,
        scope::{Meaning, Scope},
    },
    walk::{
        Walker, mysql,
        search::predicate::{Comparison, Quantifier},
        value::cast,
    },
};

impl<'c> Walker<'_, 'c> {
    /// Returns the protected column if the expression is nothing but a reference to one.
    pub fn column(&mut self, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<Option<Protected<'c>>, Refusal> {
        match expr {
            Expr::Nested(inside) => self.column(inside, scope),
            Expr::Identifier(ident) => self.unqualified(ident, scope),
            // This is a variable, such as `@@session.sql_mode`.
            Expr::CompoundIdentifier(parts) if self.is_mysql() && parts.first().is_some_and(is_variable) => {
                parts.iter().try_for_each(|part| self.names.read(part).map(|_| ()))?;
                Ok(None)
            }
            Expr::CompoundIdentifier(parts) => {
                let mut parts =
                    parts.iter().map(|part| self.names.read(part)).collect::<Result<Vec<_>, _>>()?;
                let name = parts.pop().unwrap_or_default();
                self.spend(scope.reach())?;
                scope.qualified(&parts, &name)
            }
            Expr::Function(function) => self.inserted_value(function),
            _ => Ok(None),
        }
    }

    /// Returns the protected column if the expression is a column cast to `text` or `varchar` that is stored as such a
    /// type.
    pub fn cast_column(
        &mut self,
        expr: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<Option<Protected<'c>>, Refusal> {
        let (kind, inside, data_type) = match expr {
            Expr::Nested(inside) => return self.cast_column(inside, scope),
            Expr::Cast { kind, expr, data_type, format: None } => (kind, expr, data_type),
            _ => return Ok(None),
        };
        if !(matches!(kind, CastKind::Cast | CastKind::DoubleColon) && cast::is_text(data_type)) {
            return Ok(None);
        }
        let column = self.column(inside, scope)?;
        // A value of any other type is written differently than it is sealed: `true` is sealed as `t`.
        Ok(column
            .filter(|c| c.column.stored == StorageType::Text && c.field.declared == Declared::Characters))
    }

    fn unqualified(
        &mut self,
        ident: &Ident,
        scope: &Scope<'_, 'c>,
    ) -> Result<Option<Protected<'c>>, Refusal> {
        let Some(name) = names::fold(ident, self.catalog.dialect) else {
            return Err(Refusal::unparsable("a name is written as a string"));
        };
        self.spend(scope.reach())?;
        let found = match scope.unqualified(&name)? {
            // The name stays unread. If it is a protected one, it is used in a way that isn't understood.
            Meaning::Nothing => return Ok(None),
            // In MySQL a sub-select sees the output names of the select list around it.
            Meaning::Plain
                if scope.outer.is_some() && self.may_name_protected(&name) && !scope.knows(&name) =>
            {
                return Err(Refusal::unsupported(
                    "an unqualified name may mean a sealed column of the select list around it",
                    "qualify the column with its table's name or alias",
                ));
            }
            Meaning::Plain => None,
            Meaning::Protected(protected) => Some(protected),
        };
        self.names.read(ident)?;
        if let Some(protected) = found.filter(|_| names::is_reserved(ident, self.catalog.dialect)) {
            return Err(Refusal::on(
                protected.field,
                "the column's name is a keyword where it stands",
                "write the name in quotes",
            ));
        }
        Ok(found)
    }

    /// Walks an expression that yields no protected value. Predicates that hold for sealed values may stand where only AND,
    /// OR, NOT and brackets bind them. There the parser and the server can't disagree about the precedence of operators in
    /// a way that changes what they compare.
    ///
    /// Chains of operators are walked without recursion, because they may be long.
    pub fn expr(&mut self, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            self.text.segment.budget.descend()?;
            match expr {
                Expr::Nested(inside) => pending.push(inside),
                Expr::UnaryOp { op: UnaryOperator::Not, expr } => pending.push(expr),
                Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                    pending.push(right);
                    pending.push(left);
                }
                Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                    self.comparison(left, Comparison::Equal, right, scope)?;
                }
                Expr::BinaryOp { left, op: BinaryOperator::NotEq, right } => {
                    self.comparison(left, Comparison::NotEqual, right, scope)?;
                }
                Expr::BinaryOp { left, op: BinaryOperator::Spaceship, right } if self.is_mysql() => {
                    self.comparison(left, Comparison::Distinct, right, scope)?;
                }
                Expr::IsNull(inside) | Expr::IsNotNull(inside) => self.null_test(inside, scope)?,
                Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated, scope)?,
                Expr::InSubquery { expr, subquery, negated: _ } => self.in_subquery(expr, subquery, scope)?,
                Expr::AnyOp { left, compare_op, right, is_some: _ } => {
                    self.quantified(left, (compare_op, Quantifier::Any), right, scope)?;
                }
                Expr::AllOp { left, compare_op, right } => {
                    self.quantified(left, (compare_op, Quantifier::All), right, scope)?;
                }
                Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                    pending.extend(self.distinct_from(left, right, scope)?);
                }
                other => self.opaque(other, scope)?,
            }
        }
        Ok(())
    }

    /// Walks an expression that has brackets of its own, or is a name.
    fn closed(&mut self, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match self.column(expr, scope)? {
                None => Ok(()),
                Some(protected) => Err(in_expression(protected)),
            },
            Expr::Exists { subquery, negated: _ } => self.query(subquery, Some(scope)).map(|_| ()),
            Expr::Subquery(query) => self.unprotected_query(query, Some(scope)),
            Expr::Function(function) => self.function(function, scope),
            Expr::MatchAgainst { columns, match_value: _, opt_search_modifier: _ } if self.is_mysql() => {
                columns.iter().try_for_each(|name| self.matched(name, scope))
            }
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.conditions(operand.as_deref(), conditions, scope)?;
                conditions.iter().try_for_each(|when| self.expr(&when.result, scope))?;
                else_result.iter().try_for_each(|result| self.expr(result, scope))
            }
            _ => Err(Refusal::unparsable("an expression isn't understood")),
        }
    }

    /// Walks the conditions of a CASE.
    pub fn conditions(
        &mut self,
        operand: Option<&Expr>,
        conditions: &[CaseWhen],
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let mut conditions = conditions.iter().map(|when| &when.condition);
        match operand {
            None => conditions.try_for_each(|condition| self.expr(condition, scope)),
            // The operand is compared with each condition.
            Some(operand) => {
                self.opaque(operand, scope)?;
                conditions.try_for_each(|condition| self.opaque(condition, scope))
            }
        }
    }

    /// Walks a sub-select whose rows are used as values.
    pub fn unprotected_query(&mut self, query: &Query, outer: Option<&Scope<'_, 'c>>) -> Result<(), Refusal> {
        match self.query(query, outer)?.first_protected() {
            None => Ok(()),
            Some(protected) => Err(Refusal::on(
                protected.field,
                "a sub-select's sealed values are used in an expression",
                "select the column in the outermost SELECT, or compare it there",
            )),
        }
    }

    /// Walks an expression in which a protected column may stand only within brackets, where [`Self::expr`] decides.
    /// Outside of them an operator would apply to it.
    pub fn opaque(&mut self, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            self.text.segment.budget.descend()?;
            if let Expr::Nested(_) = expr {
                self.expr(expr, scope)?;
            } else if let Expr::InSubquery { expr, subquery, negated: _ } = expr {
                self.unprotected_query(subquery, Some(scope))?;
                pending.push(expr);
            } else {
                let mysql = self.is_mysql().then(|| mysql::operands::operands(expr)).flatten();
                match mysql.or_else(|| operands(expr)) {
                    Some(operands) => pending.extend(operands),
                    None => self.closed(expr, scope)?,
                }
            }
        }
        Ok(())
    }
}

/// Returns true for a variable of the session or of the server.
fn is_variable(ident: &Ident) -> bool {
    ident.quote_style.is_none() && ident.value.starts_with('@')
}

pub(crate) fn in_expression(protected: Protected<'_>) -> Refusal {
    Refusal::on(
        protected.field,
        "a sealed column can't be used in this expression",
        "select the column as it is, and compute in the application",
    )
}
