//! Walks FROM: which relations' columns are in reach, and what joins compare.

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableAliasColumnDef,
    TableFactor, TableFunctionArgs, TableWithJoins,
};

use crate::{
    names,
    refusal::Refusal,
    resolve::scope::{Range, Scope, Source},
    walk::Walker,
};

/// An item of FROM: a table, or a query in its place, with the tables that are joined to it.
pub(crate) type Item<'t> = (&'t TableFactor, &'t [Join]);

impl<'c> Walker<'_, 'c> {
    /// Brings the tables of a FROM or USING into reach.
    pub fn from<'s>(&mut self, tables: &[TableWithJoins], scope: &mut Scope<'s, 'c>) -> Result<(), Refusal> {
        self.tables(tables.iter().map(|table| (&table.relation, table.joins.as_slice())), scope)
    }

    /// Does the same for items that the tree doesn't hold as a FROM.
    pub fn tables<'s, 't>(
        &mut self,
        items: impl Iterator<Item = Item<'t>>,
        scope: &mut Scope<'s, 'c>,
    ) -> Result<(), Refusal> {
        for item in items {
            let joined = self.joined(item, scope)?;
            scope.extend(joined.ranges)?;
            scope.merged.extend(joined.merged);
        }
        scope.check_names()
    }

    /// Walks one item of FROM with its joins. `before` are the items before it, which ON can't see, and arguments of
    /// functions can.
    fn joined<'s>(
        &mut self,
        (relation, joins): Item<'_>,
        before: &Scope<'s, 'c>,
    ) -> Result<Scope<'s, 'c>, Refusal> {
        let mut scope = Scope::within(before.outer);
        self.factor(relation, &mut scope, before)?;
        for Join { relation, global, join_operator } in joins {
            if *global {
                return Err(not_understood());
            }
            let left = scope.ranges.len();
            self.factor(relation, &mut scope, before)?;
            match constraint(join_operator, self.is_mysql())? {
                JoinConstraint::On(condition) => self.expr(condition, &scope)?,
                JoinConstraint::Using(columns) => {
                    let full = matches!(join_operator, JoinOperator::FullOuter(_));
                    self.using(columns, left, full, &mut scope)?;
                }
                JoinConstraint::Natural => refuse_natural(&scope)?,
                JoinConstraint::None => {}
            }
        }
        Ok(scope)
    }

    fn factor<'s>(
        &mut self,
        factor: &TableFactor,
        scope: &mut Scope<'s, 'c>,
        before: &Scope<'s, 'c>,
    ) -> Result<(), Refusal> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version: None,
                with_ordinality,
                partitions,
                json_path: None,
                sample,
                index_hints,
            } if with_hints.is_empty()
                && (self.is_mysql() || (partitions.is_empty() && index_hints.is_empty())) =>
            {
                match args {
                    None => {
                        self.partitions_and_hints(partitions, index_hints)?;
                        if sample.is_some() || *with_ordinality {
                            return Err(not_understood());
                        }
                        let range = self.range(name, alias.as_ref().map(|alias| &alias.name))?;
                        self.push(range, alias.as_ref(), scope)
                    }
                    Some(TableFunctionArgs { args, settings: None }) => {
                        self.table_function(name)?;
                        self.in_lateral_scope(scope, before, |walker, lateral| {
                            walker.arguments(args, lateral)
                        })?;
                        self.push_unknown(alias.as_ref(), name.0.last().and_then(|p| p.as_ident()), scope)
                    }
                    Some(_) => Err(not_understood()),
                }
            }
            TableFactor::Derived { lateral, subquery, alias, sample: None } => {
                let outputs = if *lateral {
                    self.in_lateral_scope(scope, before, |walker, lateral| {
                        walker.query(subquery, Some(lateral))
                    })?
                } else {
                    self.query(subquery, scope.outer)?
                };
                let name = alias.as_ref().map(|alias| self.names.read_plain(&alias.name)).transpose()?;
                let range = Range { name, schema: None, source: Source::Derived(outputs) };
                self.note_row(&range);
                self.push(range, alias.as_ref(), scope)
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.table_function(name)?;
                self.in_lateral_scope(scope, before, |walker, lateral| walker.arguments(args, lateral))?;
                self.push_unknown(alias.as_ref(), name.0.last().and_then(|p| p.as_ident()), scope)
            }
            TableFactor::UNNEST {
                alias,
                array_exprs,
                with_offset: false,
                with_offset_alias: None,
                with_ordinality: _,
            } => {
                self.in_lateral_scope(scope, before, |walker, lateral| {
                    array_exprs.iter().try_for_each(|array| walker.opaque(array, lateral))
                })?;
                self.push_unknown(alias.as_ref(), None, scope)
            }
            TableFactor::JsonTable { json_expr, json_path: _, columns: _, alias } if self.is_mysql() => {
                self.in_lateral_scope(scope, before, |walker, lateral| walker.opaque(json_expr, lateral))?;
                self.push_unknown(alias.as_ref(), None, scope)
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                let inside = self.joined((&table_with_joins.relation, &table_with_joins.joins), before)?;
                scope.merged.extend(inside.merged);
                scope.extend(inside.ranges)
            }
            _ => Err(not_understood()),
        }
    }

    /// Reads the name of a function in FROM. `ONLY (customer)` also looks like a function.
    fn table_function(&mut self, name: &ObjectName) -> Result<(), Refusal> {
        if name
            .0
            .iter()
            .any(|part| part.as_ident().is_none_or(|ident| names::is_reserved(ident, self.catalog.dialect)))
        {
            return Err(not_understood());
        }
        self.names.read_parts(name).map(|_| ())
    }

    /// Runs with the scope of a lateral item of FROM: the items to its left, then those around.
    fn in_lateral_scope<'s, T>(
        &mut self,
        scope: &mut Scope<'s, 'c>,
        before: &Scope<'s, 'c>,
        run: impl FnOnce(&mut Self, &Scope<'_, 'c>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut lateral = Scope::within(Some(before));
        std::mem::swap(&mut lateral.ranges, &mut scope.ranges);
        std::mem::swap(&mut lateral.merged, &mut scope.merged);
        let result = run(self, &lateral);
        scope.ranges = lateral.ranges;
        scope.merged = lateral.merged;
        result
    }

    fn push(
        &mut self,
        range: Range<'c>,
        alias: Option<&TableAlias>,
        scope: &mut Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let mut range = range;
        if let Some(TableAlias { explicit: _, name: _, columns, at }) = alias {
            if at.is_some() {
                return Err(not_understood());
            }
            let mut names = Vec::with_capacity(columns.len());
            for TableAliasColumnDef { name, data_type: _ } in columns {
                names.push(self.names.read(name)?);
            }
            if !names.is_empty() {
                let outputs = self.outputs(&range)?;
                range.source = Source::Derived(self.renamed(outputs, names)?);
            }
        }
        scope.push(range)
    }

    /// Brings an item into reach that holds nothing protected. The rows of a function without an alias have the function's
    /// name.
    fn push_unknown(
        &mut self,
        alias: Option<&TableAlias>,
        function: Option<&Ident>,
        scope: &mut Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let name = match (alias, function) {
            (Some(alias), _) => Some(self.names.read_plain(&alias.name)?),
            (None, Some(function)) => Some(self.names.read(function)?),
            (None, None) => None,
        };
        self.push(Range { name, schema: None, source: Source::Unknown }, alias, scope)
    }

    /// Walks `JOIN … USING (name, …)`. The ranges from `left` on are the right side.
    fn using(
        &mut self,
        columns: &[ObjectName],
        left: usize,
        full: bool,
        scope: &mut Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let mut sides = (Scope::default(), Scope::default());
        let mut ranges = std::mem::take(&mut scope.ranges);
        sides.1.ranges = ranges.split_off(left.min(ranges.len()));
        sides.0.ranges = ranges;
        std::mem::swap(&mut sides.0.merged, &mut scope.merged);
        for column in columns {
            let name = self.names.read_one(column)?;
            self.using_one(&name, full, &sides)?;
            sides.0.merged.insert(name);
        }
        scope.ranges = sides.0.ranges;
        scope.ranges.append(&mut sides.1.ranges);
        scope.merged = sides.0.merged;
        Ok(())
    }

    /// Walks one column that the two sides of a join are compared by.
    fn using_one(
        &mut self,
        name: &str,
        full: bool,
        (left, right): &(Scope<'_, 'c>, Scope<'_, 'c>),
    ) -> Result<(), Refusal> {
        let quote = if self.is_mysql() { '`' } else { '"' };
        let expr = Expr::Identifier(Ident::with_quote(quote, name));
        match (self.column(&expr, left)?, self.column(&expr, right)?) {
            (None, None) => Ok(()),
            // The merged column then takes its values from either side, and to the server it belongs to no table.
            (Some(left), Some(_)) if full => Err(Refusal::on(
                left.field,
                "FULL JOIN … USING merges a sealed column of two tables",
                "write FULL JOIN … ON, and select the columns that are meant",
            )),
            (Some(left), Some(right)) => self.equate(left, right),
            (Some(column), None) | (None, Some(column)) => Err(Refusal::on(
                column.field,
                "JOIN … USING compares a sealed column with what isn't sealed under the same label",
                "join on columns of the same label",
            )),
        }
    }
}

fn constraint(operator: &JoinOperator, mysql: bool) -> Result<&JoinConstraint, Refusal> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint @ JoinConstraint::None) => Ok(constraint),
        JoinOperator::CrossJoin(constraint) | JoinOperator::StraightJoin(constraint) if mysql => {
            Ok(constraint)
        }
        _ => Err(not_understood()),
    }
}

fn refuse_natural(scope: &Scope<'_, '_>) -> Result<(), Refusal> {
    if scope.ranges.iter().any(Range::bears) {
        return Err(Refusal::unsupported(
            "NATURAL JOIN with a table with sealed columns may compare them",
            "name the columns: JOIN … ON or JOIN … USING",
        ));
    }
    Ok(())
}

fn not_understood() -> Refusal {
    Refusal::unparsable("an item of FROM isn't understood")
}
