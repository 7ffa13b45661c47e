//! Walks a SELECT.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, NamedWindowDefinition, NamedWindowExpr, OrderBy,
    OrderByExpr, OrderByKind, Select, SelectFlavor, SelectInto,
};

use crate::{
    catalog::Column,
    names,
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs},
        protected::Protected,
        scope::Scope,
    },
    walk::{
        Walker,
        query::ordinal::{Ordinal, keys_within, ordinal},
    },
};

impl<'c> Walker<'_, 'c> {
    /// Walks a SELECT and the ORDER BY behind it, and returns the columns that it yields.
    pub fn select(
        &mut self,
        select: &Select,
        outer: Option<&Scope<'_, 'c>>,
        order_by: Option<&OrderBy>,
        targets: &[&'c Column],
    ) -> Result<Outputs<'c>, Refusal> {
        let Select {
            select_token: _,
            optimizer_hints: _,
            distinct,
            select_modifiers: None,
            top: None,
            top_before_distinct: _,
            projection,
            exclude: None,
            into,
            from,
            lateral_views,
            prewhere: None,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify: None,
            window_before_qualify: _,
            value_table_mode: None,
            flavor: SelectFlavor::Standard,
        } = select
        else {
            return Err(not_understood());
        };
        if !(lateral_views.is_empty()
            && connect_by.is_empty()
            && cluster_by.is_empty()
            && distribute_by.is_empty()
            && sort_by.is_empty())
        {
            return Err(not_understood());
        }
        let mut scope = Scope::within(outer);
        self.from(from, &mut scope)?;
        let outputs = self.items_for(projection, &scope, targets)?;
        if self.is_mysql() && into.is_some() {
            return Err(not_understood());
        }
        if let Some(SelectInto { temporary, unlogged: _, table: _, targets }) = into {
            let [Expr::Identifier(name)] = targets.as_slice() else { return Err(not_understood()) };
            self.read_created_table(name, *temporary)?;
            self.copied(&outputs);
        }
        selection.iter().try_for_each(|selection| self.expr(selection, &scope))?;
        self.group_by(group_by, &outputs, &scope)?;
        if let Some(having) = having {
            let named = self.with_aliases(&outputs, &scope)?;
            self.expr(having, &named)?;
        }
        for NamedWindowDefinition(name, window) in named_window {
            self.names.read(name)?;
            match window {
                NamedWindowExpr::WindowSpec(window) => self.window(window, &scope)?,
                NamedWindowExpr::NamedWindow(_) => return Err(not_understood()),
            }
        }
        match distinct {
            None | Some(Distinct::All) => {}
            Some(Distinct::Distinct) => self.all_compared(&outputs)?,
            Some(Distinct::On(keys)) => drop(self.grouping_keys(keys, &outputs, &scope)?),
        }
        self.order_by(order_by, &outputs, &scope)?;
        Ok(outputs)
    }

    /// Walks the columns of a SELECT DISTINCT, by all of which rows are told apart.
    fn all_compared(&mut self, outputs: &Outputs<'c>) -> Result<(), Refusal> {
        if outputs.first_protected().is_none() {
            return Ok(());
        }
        self.spend(outputs.len())?;
        outputs.protected().try_for_each(|column| self.compared(column))
    }

    fn group_by(
        &mut self,
        group_by: &GroupByExpr,
        outputs: &Outputs<'c>,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        match group_by {
            GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => {
                self.grouping_keys(keys, outputs, scope).map(drop)
            }
            GroupByExpr::Expressions(keys, modifiers)
                if self.is_mysql() && matches!(modifiers.as_slice(), [GroupByWithModifier::Rollup]) =>
            {
                if self.grouping_keys(keys, outputs, scope)? {
                    return Err(Refusal::unsupported(
                        "WITH ROLLUP over a sealed column",
                        "group without it, and add up in the application",
                    ));
                }
                Ok(())
            }
            _ => Err(not_understood()),
        }
    }

    /// Walks the keys that rows are told apart by. A key may be a column whose equal values have equal ciphertexts. Returns
    /// true if there is such a column among the keys.
    fn grouping_keys(
        &mut self,
        keys: &[Expr],
        outputs: &Outputs<'c>,
        scope: &Scope<'_, 'c>,
    ) -> Result<bool, Refusal> {
        let mut any = false;
        let mut named: Option<Scope<'_, 'c>> = None;
        for key in keys {
            let key = without_brackets(key);
            // The server prefers the input column to the output column. The analysis requires that either is fine.
            let output = self.output(key, outputs)?;
            if let Some(column) = output {
                self.compared(column)?;
                any = true;
            }
            if let Ordinal::At(_) = ordinal(key, self.is_mysql()) {
                continue;
            }
            for key in keys_within(key).into_iter().flatten() {
                if let Some(column) = self.output(key, outputs)? {
                    return Err(Refusal::on(
                        column.field,
                        "a sealed column is grouped by within brackets, ROLLUP, CUBE or GROUPING SETS",
                        "group by the column itself, without brackets",
                    ));
                }
            }
            match self.column(key, scope)? {
                Some(column) => {
                    self.compared(column)?;
                    any = true;
                }
                None if self.is_mysql() && output.is_some() => {}
                None => {
                    let named = match &named {
                        Some(named) => named,
                        None => &*named.insert(self.with_aliases(outputs, scope)?),
                    };
                    self.expr(key, named)?;
                }
            }
        }
        Ok(any)
    }

    /// Walks an ORDER BY, and refuses sealed columns in it, because ciphertexts have no useful order.
    pub fn order_by(
        &mut self,
        order_by: Option<&OrderBy>,
        outputs: &Outputs<'c>,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let Some(OrderBy { kind, interpolate: None }) = order_by else {
            return order_by.map_or(Ok(()), |_| Err(not_understood()));
        };
        let OrderByKind::Expressions(keys) = kind else { return Err(not_understood()) };
        self.order_keys(keys, outputs, scope)
    }

    /// Walks the keys of an ORDER BY.
    pub fn order_keys(
        &mut self,
        keys: &[OrderByExpr],
        outputs: &Outputs<'c>,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let mut named: Option<Scope<'_, 'c>> = None;
        for OrderByExpr { expr, options: _, with_fill } in keys {
            if with_fill.is_some() {
                return Err(not_understood());
            }
            let key = without_brackets(expr);
            let column = match self.output(key, outputs)? {
                None => self.column(key, scope)?,
                column => column,
            };
            if let Some(column) = column {
                return Err(Refusal::on(
                    column.field,
                    "sealed values have no order",
                    "order by another column, or in the application",
                ));
            }
            let named = match &named {
                Some(named) => named,
                None => &*named.insert(self.with_aliases(outputs, scope)?),
            };
            self.expr(key, named)?;
        }
        Ok(())
    }

    /// Returns the protected column of the select list that a key names by its output name or position.
    fn output(&mut self, key: &Expr, outputs: &Outputs<'c>) -> Result<Option<Protected<'c>>, Refusal> {
        if let Expr::Identifier(ident) = key {
            let name = names::fold(ident, self.catalog.dialect);
            let named = name.and_then(|name| outputs.named(&name));
            if named.is_some() {
                self.names.read(ident)?;
            }
            return Ok(named.and_then(|named| named.protected));
        }
        let position = match ordinal(key, self.is_mysql()) {
            Ordinal::No => return Ok(None),
            Ordinal::At(position) => Some(position),
            Ordinal::InDoubt => None,
        };
        let Some(any) = outputs.first_protected() else { return Ok(None) };
        let index = position.and_then(|position| position.checked_sub(1));
        let column: Option<&OutputColumn<'c>> = index.and_then(|index| outputs.columns().get(index));
        match column {
            Some(column) if !outputs.open => Ok(column.protected),
            _ => Err(Refusal::on(
                any.field,
                "a position in ORDER BY or GROUP BY may mean this column",
                "name the column instead of giving its position",
            )),
        }
    }
}

fn without_brackets(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Expr::Nested(inside) = expr {
        expr = inside;
    }
    expr
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the SELECT isn't understood")
}

/// Returns true if the expression is the keyword DEFAULT.
pub(crate) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}
