//! Walks queries: set operations, and the clauses around a SELECT.

pub(super) mod from;
pub(super) mod items;
mod ordinal;
pub(super) mod select;
mod with;

use sqlparser::ast::{
    Expr, Fetch, LimitClause, LockClause, OrderBy, Query, SetExpr, SetOperator, SetQuantifier, Values,
};

use crate::{
    catalog::Column,
    names,
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs, STEPS_A_COLUMN},
        protected::Protected,
        scope::Scope,
    },
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Walks a query, and returns the columns that it yields.
    pub fn query(&mut self, query: &Query, outer: Option<&Scope<'_, 'c>>) -> Result<Outputs<'c>, Refusal> {
        self.query_for(query, outer, &[])
    }

    /// Does the same for a query whose rows are inserted into these columns.
    pub fn query_for(
        &mut self,
        query: &Query,
        outer: Option<&Scope<'_, 'c>>,
        targets: &[&'c Column],
    ) -> Result<Outputs<'c>, Refusal> {
        self.text.segment.budget.descend()?;
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators,
        } = query
        else {
            return Err(not_understood());
        };
        if !pipe_operators.is_empty() {
            return Err(not_understood());
        }
        let ctes_before = self.reach.ctes.len();
        if let Some(with) = with {
            self.with(with, outer)?;
        }
        let outputs = self.body(body, outer, order_by.as_ref(), targets)?;
        self.limits(limit_clause.as_ref(), fetch.as_ref(), outer)?;
        for LockClause { lock_type: _, of, nonblock: _ } in locks {
            of.iter().try_for_each(|of| self.names.read_parts(of).map(|_| ()))?;
        }
        self.reach.ctes.truncate(ctes_before);
        Ok(outputs)
    }

    fn body(
        &mut self,
        body: &SetExpr,
        outer: Option<&Scope<'_, 'c>>,
        order_by: Option<&OrderBy>,
        targets: &[&'c Column],
    ) -> Result<Outputs<'c>, Refusal> {
        let outputs = match body {
            SetExpr::Select(select) => return self.select(select, outer, order_by, targets),
            SetExpr::Query(query) => self.query_for(query, outer, targets)?,
            SetExpr::SetOperation { .. } => self.set_operation(body, outer, targets)?,
            SetExpr::Values(Values { explicit_row, value_keyword, rows })
                if self.is_mysql() || !(*explicit_row || *value_keyword) =>
            {
                self.values(rows.iter().map(|row| row.content.as_slice()), outer, targets)?
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement)
                if order_by.is_none() =>
            {
                return self.statement(statement);
            }
            // The parser drops the quotes here, so the name can't be resolved.
            SetExpr::Table(table) => {
                let name = table.table_name.as_deref().unwrap_or_default();
                if self.catalog.relations.iter().any(|r| r.name.eq_ignore_ascii_case(names::cut(name))) {
                    return Err(Refusal::unsupported(
                        "TABLE isn't supported for a table with sealed columns",
                        "write SELECT * FROM instead",
                    ));
                }
                Outputs::unknown()
            }
            _ => return Err(not_understood()),
        };
        self.order_by(order_by, &outputs, &Scope::within(None))?;
        Ok(outputs)
    }

    /// Walks `VALUES (…), (…)`.
    fn values<'e>(
        &mut self,
        rows: impl Iterator<Item = &'e [Expr]>,
        outer: Option<&Scope<'_, 'c>>,
        targets: &[&'c Column],
    ) -> Result<Outputs<'c>, Refusal> {
        if targets.iter().any(|target| target.field.is_some()) {
            return Err(Refusal::unsupported(
                "VALUES stands within a query whose rows are inserted into a table with sealed columns",
                "insert the rows with INSERT … VALUES alone",
            ));
        }
        let scope = Scope::within(outer);
        let mut columns = 0;
        for row in rows {
            columns = row.len();
            self.check_columns(columns)?;
            row.iter().try_for_each(|expr| self.expr(expr, &scope))?;
        }
        let first = if self.is_mysql() { 0 } else { 1 };
        let name =
            |number: usize| if first == 0 { format!("column_{number}") } else { format!("column{number}") };
        let column = |number: usize| OutputColumn::new(Some(name(number).into()), None);
        let columns = columns.saturating_add(first);
        Ok(Outputs::of((first..columns).map(column).collect()))
    }

    /// Walks `… UNION … EXCEPT …`, along its left side without recursion.
    fn set_operation(
        &mut self,
        body: &SetExpr,
        outer: Option<&Scope<'_, 'c>>,
        targets: &[&'c Column],
    ) -> Result<Outputs<'c>, Refusal> {
        let mut rights = Vec::new();
        let mut leftmost = body;
        while let SetExpr::SetOperation { left, op, set_quantifier, right } = leftmost {
            rights.push((*op, *set_quantifier, right.as_ref()));
            leftmost = left;
        }
        let mut outputs = self.body(leftmost, outer, None, targets)?;
        for (op, quantifier, right) in rights.into_iter().rev() {
            let compares = match (op, quantifier) {
                (SetOperator::Union, SetQuantifier::All) => false,
                (
                    SetOperator::Union | SetOperator::Intersect | SetOperator::Except,
                    SetQuantifier::None | SetQuantifier::Distinct | SetQuantifier::All,
                ) => true,
                _ => return Err(not_understood()),
            };
            let right = self.body(right, outer, None, targets)?;
            outputs = self.combine(outputs, right, compares)?;
        }
        Ok(outputs)
    }

    /// Unites the columns of two queries. Each position then holds the values of one label, or no protected values.
    pub fn combine(
        &mut self,
        left: Outputs<'c>,
        right: Outputs<'c>,
        compares: bool,
    ) -> Result<Outputs<'c>, Refusal> {
        let known = !(left.open || right.open) && left.len() == right.len();
        let protected = left.first_protected().or_else(|| right.first_protected());
        let Some(any) = protected else {
            return Ok(if known { left } else { Outputs::unknown() });
        };
        if !known {
            return Err(Refusal::on(
                any.field,
                "UNION, INTERSECT or EXCEPT has sealed columns, and not all columns are known",
                "name the columns in each select list",
            ));
        }
        self.spend(left.len().saturating_mul(STEPS_A_COLUMN))?;
        let mut columns = Vec::with_capacity(left.len());
        for (left, right) in left.columns().iter().zip(right.columns()) {
            if let Some(column) = left.protected.or(right.protected).filter(|_| left.number != right.number) {
                return Err(items::mixed(column));
            }
            let protected = match (left.protected, right.protected) {
                (Some(left), Some(right)) if compares => {
                    self.equate(left, right)?;
                    Some(Protected { cast: left.cast || right.cast, ..left })
                }
                (Some(left), Some(right)) if left.is_interchangeable_with(right) => {
                    Some(Protected { cast: left.cast || right.cast, ..left })
                }
                (Some(column), None) if right.null => self.beside_null(column, compares)?,
                (None, Some(column)) if left.null => self.beside_null(column, compares)?,
                (None, None) => None,
                (Some(column), _) | (None, Some(column)) => {
                    return Err(Refusal::on(
                        column.field,
                        "UNION, INTERSECT or EXCEPT puts a sealed column together with what isn't sealed under the same label",
                        "combine columns of the same label, or the rows in the application",
                    ));
                }
            };
            let protected = protected.map(Protected::lost);
            columns.push(OutputColumn { protected, null: left.null && right.null, ..left.clone() });
        }
        Ok(Outputs::of(columns))
    }

    fn beside_null(
        &mut self,
        column: Protected<'c>,
        compares: bool,
    ) -> Result<Option<Protected<'c>>, Refusal> {
        if compares {
            self.compared(column)?;
        }
        Ok(Some(column))
    }

    /// Walks one side of a set operation.
    pub fn part(&mut self, side: &SetExpr, outer: Option<&Scope<'_, 'c>>) -> Result<Outputs<'c>, Refusal> {
        self.body(side, outer, None, &[])
    }

    fn limits(
        &mut self,
        limit: Option<&LimitClause>,
        fetch: Option<&Fetch>,
        outer: Option<&Scope<'_, 'c>>,
    ) -> Result<(), Refusal> {
        let scope = Scope::within(outer);
        match limit {
            None => {}
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                let offset = offset.as_ref().map(|offset| &offset.value);
                let exprs: [Option<&Expr>; 2] = [limit.as_ref(), offset];
                exprs.into_iter().flatten().try_for_each(|expr| self.expr(expr, &scope))?;
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) if self.is_mysql() => {
                [offset, limit].into_iter().try_for_each(|expr| self.expr(expr, &scope))?;
            }
            Some(_) => return Err(not_understood()),
        }
        match fetch {
            None => Ok(()),
            Some(Fetch { with_ties: _, percent: false, quantity }) => {
                quantity.iter().try_for_each(|quantity| self.expr(quantity, &scope))
            }
            Some(_) => Err(not_understood()),
        }
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the query isn't understood")
}
