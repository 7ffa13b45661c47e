//! Queries: WITH, set operations, and what stands around a SELECT.

use sqlparser::ast::{
    Cte, Expr, Fetch, LimitClause, LockClause, OrderBy, Query, SetExpr, TableAlias, TableAliasColumnDef,
    Values, With,
};

use crate::{
    names,
    refusal::Refusal,
    scope::{Outputs, Scope},
    walker::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// A query, and what it yields.
    pub fn query(&mut self, query: &Query, outer: Option<&Scope<'_, 'c>>) -> Result<Outputs<'c>, Refusal> {
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
        let ctes_before = self.ctes.len();
        if let Some(with) = with {
            self.with(with, outer)?;
        }
        let outputs = self.body(body, outer, order_by.as_ref())?;
        self.limits(limit_clause.as_ref(), fetch.as_ref(), outer)?;
        for LockClause { lock_type: _, of, nonblock: _ } in locks {
            of.iter().try_for_each(|of| self.parts(of).map(|_| ()))?;
        }
        self.ctes.truncate(ctes_before);
        Ok(outputs)
    }

    /// Common table expressions, none of which may touch a protected table yet.
    fn with(&mut self, with: &With, outer: Option<&Scope<'_, 'c>>) -> Result<(), Refusal> {
        let With { with_token: _, recursive, cte_tables } = with;
        if *recursive {
            for cte in cte_tables {
                let name = self.name(&cte.alias.name)?;
                self.ctes.push(name);
            }
        }
        for Cte { alias, query, from, materialized: _, closing_paren_token: _ } in cte_tables {
            let TableAlias { explicit: _, name, columns, at } = alias;
            if from.is_some() || at.is_some() {
                return Err(not_understood());
            }
            for TableAliasColumnDef { name, data_type: _ } in columns {
                self.name(name)?;
            }
            let touched = std::mem::take(&mut self.touched);
            self.unprotected_query(query, outer)?;
            if !self.touched.is_empty() {
                return Err(Refusal::unsupported(
                    "a common table expression (WITH) uses a table with sealed columns",
                    "write it as a sub-select in FROM, or as a statement of its own",
                ));
            }
            self.touched = touched;
            let name = self.name(name)?;
            self.ctes.push(name);
        }
        Ok(())
    }

    fn body(
        &mut self,
        body: &SetExpr,
        outer: Option<&Scope<'_, 'c>>,
        order_by: Option<&OrderBy>,
    ) -> Result<Outputs<'c>, Refusal> {
        match body {
            SetExpr::Select(select) => self.select(select, outer, order_by),
            SetExpr::Query(query) => {
                let outputs = self.query(query, outer)?;
                self.order_by(order_by, &outputs, &Scope::within(None))?;
                Ok(outputs)
            }
            SetExpr::SetOperation { .. } => {
                self.set_operation(body, outer)?;
                let outputs = Outputs { columns: Vec::new(), open: true };
                self.order_by(order_by, &outputs, &Scope::within(None))?;
                Ok(outputs)
            }
            SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows }) => {
                let scope = Scope::within(outer);
                for expr in rows.iter().flat_map(|row| row.content.iter()) {
                    self.expr(expr, &scope)?;
                }
                let outputs = Outputs { columns: Vec::new(), open: true };
                self.order_by(order_by, &outputs, &Scope::within(None))?;
                Ok(outputs)
            }
            SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement)
                if order_by.is_none() =>
            {
                self.statement(statement)
            }
            // The parser keeps no quotes here, so the name can't be resolved.
            SetExpr::Table(table) => {
                let name = table.table_name.as_deref().unwrap_or_default();
                if self.catalog.relations.iter().any(|r| r.name.eq_ignore_ascii_case(names::cut(name))) {
                    return Err(Refusal::unsupported(
                        "TABLE isn't supported for a table with sealed columns",
                        "write SELECT * FROM instead",
                    ));
                }
                Ok(Outputs { columns: Vec::new(), open: true })
            }
            _ => Err(not_understood()),
        }
    }

    /// `… UNION … EXCEPT …`, walked along its left side without recursion.
    fn set_operation(&mut self, body: &SetExpr, outer: Option<&Scope<'_, 'c>>) -> Result<(), Refusal> {
        let mut body = body;
        loop {
            let (side, rest) = match body {
                SetExpr::SetOperation { left, op: _, set_quantifier: _, right } => {
                    (right.as_ref(), Some(left))
                }
                other => (other, None),
            };
            if let Some(column) = self.body(side, outer, None)?.protected().next() {
                return Err(Refusal::on(
                    column.field,
                    "UNION, INTERSECT and EXCEPT can't be done with sealed columns",
                    "run the queries one by one, and combine their rows in the application",
                ));
            }
            match rest {
                Some(left) => body = left,
                None => return Ok(()),
            }
        }
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
