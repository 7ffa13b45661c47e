//! Walks an INSERT of many rows as object mappers write it: from VALUES with an alias, or from arrays by UNNEST. Such a
//! SELECT yields these columns unchanged, so that each cell, or each array, is stored in one column.

use sqlparser::ast::{
    Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, TableAlias, TableAliasColumnDef, TableFactor,
    TableWithJoins, Values,
};

use crate::{
    analysis::{ParameterUse, Replacement},
    catalog::Column,
    dialect::Dialect,
    names,
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs},
        protected::Protected,
        scope::{Range, Scope, Source},
    },
    walk::{Walker, query::items::refuse_mixed, value::cast},
};

impl<'c> Walker<'_, 'c> {
    /// Walks the rows of such a source for these columns. Returns None if the source has another shape.
    pub fn bulk(&mut self, source: &Query, targets: &[&'c Column]) -> Result<Option<Outputs<'c>>, Refusal> {
        let Query { with: None, body, limit_clause: None, fetch: None, .. } = source else { return Ok(None) };
        let SetExpr::Select(select) = body.as_ref() else { return Ok(None) };
        let [TableWithJoins { relation, joins }] = select.from.as_slice() else { return Ok(None) };
        let plain = select.selection.is_none()
            && select.distinct.is_none()
            && select.having.is_none()
            && matches!(&select.group_by, GroupByExpr::Expressions(keys, modifiers) if keys.is_empty() && modifiers.is_empty())
            && select.into.is_none()
            && select.named_window.is_empty();
        if !(plain && joins.is_empty() && targets.iter().any(|target| target.field.is_some())) {
            return Ok(None);
        }
        match relation {
            TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None } => {
                match (subquery.body.as_ref(), subquery.order_by.as_ref(), subquery.limit_clause.as_ref()) {
                    (SetExpr::Values(values), None, None) => {
                        self.values_with_alias(source, select, values, alias, targets)
                    }
                    _ => Ok(None),
                }
            }
            TableFactor::UNNEST {
                alias: None,
                array_exprs,
                with_offset: false,
                with_offset_alias: None,
                with_ordinality: false,
            } if matches!(select.projection.as_slice(), [SelectItem::Wildcard(_)])
                && source.order_by.is_none() =>
            {
                self.unnested(array_exprs, targets).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Walks `SELECT * FROM UNNEST($1::text[], …)`.
    fn unnested(&mut self, arrays: &[Expr], targets: &[&'c Column]) -> Result<Outputs<'c>, Refusal> {
        let mut outputs = Outputs::default();
        for (index, array) in arrays.iter().enumerate() {
            let target = targets.get(index).and_then(|column| Protected::of(column));
            match target {
                Some(target) => self.untyped(|walker| walker.stored_array(target, array))?,
                None => self.opaque(array, &Scope::default())?,
            }
            outputs.push(OutputColumn::new(None, target.map(Protected::lost)));
        }
        Ok(outputs)
    }

    /// Walks `SELECT a, b::int FROM (VALUES (…), (…)) AS v (a, b, n) ORDER BY n`.
    fn values_with_alias(
        &mut self,
        source: &Query,
        select: &Select,
        values: &Values,
        alias: &TableAlias,
        targets: &[&'c Column],
    ) -> Result<Option<Outputs<'c>>, Refusal> {
        self.check_columns(alias.columns.len())?;
        let columns: Vec<String> = alias
            .columns
            .iter()
            .filter_map(|TableAliasColumnDef { name, data_type: _ }| names::fold(name, self.catalog.dialect))
            .collect();
        let mut sealed: Vec<Option<Protected<'c>>> = vec![None; columns.len()];
        let mut outputs = Outputs::default();
        for (index, item) in select.projection.iter().enumerate() {
            let target = targets.get(index).and_then(|column| Protected::of(column));
            let SelectItem::UnnamedExpr(expr) = item else { return Ok(None) };
            let Some(target) = target else {
                outputs.push(OutputColumn::new(None, None));
                continue;
            };
            let column = column_of(expr, self.catalog.dialect)
                .and_then(|name| columns.iter().position(|column| *column == name));
            match column.and_then(|column| sealed.get_mut(column)) {
                Some(slot @ None) => *slot = Some(target),
                _ => return Ok(None),
            }
            outputs.push(OutputColumn::new(None, Some(target.lost())));
        }
        // A sealed column must stand in the select list once, and nowhere else.
        let name = self.names.read_plain(&alias.name)?;
        for column in &alias.columns {
            self.names.read(&column.name)?;
        }
        let mut scope = Scope::default();
        let left: Vec<OutputColumn<'c>> = columns
            .iter()
            .zip(&sealed)
            .map(|(name, sealed)| OutputColumn::new(Some(name.as_str().into()), *sealed))
            .collect();
        let outputs_of_values = Outputs::of(left);
        scope.ranges.push(Range {
            name: Some(name),
            schema: None,
            source: Source::Derived(outputs_of_values),
        });
        for (index, item) in select.projection.iter().enumerate() {
            let SelectItem::UnnamedExpr(expr) = item else { continue };
            match targets.get(index).and_then(|column| Protected::of(column)) {
                Some(target) => self.uncast(expr, target)?,
                None => self.expr(expr, &scope)?,
            }
        }
        self.order_by(source.order_by.as_ref(), &outputs, &scope)?;
        for (index, target) in sealed.iter().enumerate() {
            let cells: Vec<&Expr> = values.rows.iter().filter_map(|row| row.content.get(index)).collect();
            target.map_or(Ok(()), |target| refuse_mixed(target, &cells))?;
        }
        let around = Scope::default();
        for row in &values.rows {
            if row.content.len() != columns.len() {
                return Err(Refusal::unsupported(
                    "the rows of VALUES differ in length from its alias",
                    "name each column of VALUES in the alias",
                ));
            }
            for (cell, sealed) in row.content.iter().zip(&sealed) {
                match sealed {
                    Some(target) => {
                        self.untyped(|walker| walker.value(*target, ParameterUse::Store, cell))?
                    }
                    None => self.expr(cell, &around)?,
                }
            }
        }
        Ok(Some(outputs))
    }

    /// Walks the name of a column of VALUES in the select list, and removes its cast to the declared type, because the
    /// values of the column are sealed.
    fn uncast(&mut self, expr: &Expr, target: Protected<'c>) -> Result<(), Refusal> {
        match expr {
            Expr::Nested(inside) => self.uncast(inside, target),
            Expr::Identifier(ident) => self.names.read(ident).map(|_| ()),
            Expr::CompoundIdentifier(parts) => {
                parts.iter().try_for_each(|part| self.names.read(part).map(|_| ()))
            }
            Expr::Cast { expr: inside, data_type, .. } => {
                self.uncast(inside, target)?;
                if !cast::is_declared(data_type, target.field.declared, &target.field.type_name) {
                    return Err(Refusal::on(
                        target.field,
                        "a cast to another type than the declared may change the value",
                        "cast it to the declared type",
                    ));
                }
                let cast = self.text.cast_behind(inside, data_type).ok_or_else(|| {
                    Refusal::on(
                        target.field,
                        "the cast's place in the text is in doubt",
                        "write it as value::type",
                    )
                })?;
                self.splices.replace(cast, Replacement::Text(String::new()));
                Ok(())
            }
            _ => Err(Refusal::unparsable("an item of the select list isn't understood")),
        }
    }
}

/// Returns the column that an item names, with or without a cast.
fn column_of(expr: &Expr, dialect: Dialect) -> Option<String> {
    match expr {
        Expr::Nested(inside) | Expr::Cast { expr: inside, .. } => column_of(inside, dialect),
        Expr::Identifier(ident) => names::fold(ident, dialect),
        Expr::CompoundIdentifier(parts) => parts.last().and_then(|ident| names::fold(ident, dialect)),
        _ => None,
    }
}
