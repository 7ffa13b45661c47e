//! Walks the parts of INSERT and REPLACE that only MySQL and MariaDB have.

use sqlparser::ast::{
    Assignment, AssignmentTarget, Ident, Insert, InsertAliases, Query, Select, SetExpr, TableAlias,
    TableFactor, TableWithJoins,
};

use crate::{
    catalog::{Column, Relation},
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs},
        protected::Protected,
        scope::{Range, Scope, Source},
    },
    walk::{
        Walker,
        write::insert::{refuse_defaults, refuse_generated, refuse_twice, written_column},
    },
};

impl<'c> Walker<'_, 'c> {
    /// Walks the assignments of `INSERT … SET column = value, …`.
    pub fn assigned_row(
        &mut self,
        relation: &'c Relation,
        assignments: &[Assignment],
    ) -> Result<Vec<&'c Column>, Refusal> {
        refuse_generated(relation)?;
        refuse_twice(relation, assignments.len())?;
        let mut targets = Vec::with_capacity(assignments.len());
        for Assignment { target, value } in assignments {
            let AssignmentTarget::ColumnName(name) = target else { return Err(not_understood()) };
            let column = self.target_column(relation, name)?;
            // The columns that were assigned before are not in reach here, so a value that names a protected one is
            // refused.
            self.store(column, value, &Scope::default())?;
            targets.push(column);
        }
        refuse_defaults(relation, &targets)?;
        Ok(targets)
    }

    /// Brings the row that would have been inserted into reach: `AS new [(a, b)]`.
    fn row_alias(
        &mut self,
        alias: Option<&InsertAliases>,
        target: &Range<'c>,
        targets: Option<&[&'c Column]>,
    ) -> Result<Option<Range<'c>>, Refusal> {
        let Some(InsertAliases { row_alias, col_aliases }) = alias else { return Ok(None) };
        let name = self.names.read_one(row_alias)?;
        let columns: &[Ident] = col_aliases.as_deref().unwrap_or_default();
        let names = columns.iter().map(|ident| self.names.read(ident)).collect::<Result<Vec<_>, _>>()?;
        let source = match targets {
            Some(targets) if !names.is_empty() => {
                if names.len() != targets.len() {
                    return Err(not_understood());
                }
                let output = |(name, column): (String, &&'c Column)| {
                    OutputColumn::new(Some(name.into()), Protected::of(column).map(Protected::lost))
                };
                Source::Derived(Outputs::of(names.into_iter().zip(targets).map(output).collect()))
            }
            _ => target.source.clone(),
        };
        let range = Range { name: Some(name), schema: None, source };
        self.note_row(&range);
        Ok(Some(range))
    }

    /// Returns the last token of `table [PARTITION (…)]`.
    pub fn behind_partitions(&self, table: usize) -> usize {
        let partition = table.saturating_add(1);
        let close = || {
            (partition..self.text.segment.tokens.len()).find(|index| self.text.segment.is_symbol(*index, ")"))
        };
        let is_partition = self.is_mysql() && self.text.segment.is_word(partition, "partition");
        if is_partition { close().unwrap_or(table) } else { table }
    }

    /// Returns the tables of `INSERT … SELECT … FROM`, whose columns ON DUPLICATE KEY UPDATE also sees.
    fn selected_from(&mut self, source: &Query) -> Result<Vec<Range<'c>>, Refusal> {
        let SetExpr::Select(select) = source.body.as_ref() else { return Ok(Vec::new()) };
        if source.with.is_some() {
            return Err(not_only_tables());
        }
        let Select { from, .. } = select.as_ref();
        let mut ranges = Vec::new();
        for TableWithJoins { relation, joins } in from {
            for factor in std::iter::once(relation).chain(joins.iter().map(|join| &join.relation)) {
                let TableFactor::Table { name, alias, args: None, .. } = factor else {
                    return Err(not_only_tables());
                };
                let alias: Option<&TableAlias> = alias.as_ref();
                ranges.push(self.range(name, alias.map(|alias| &alias.name))?);
            }
        }
        Ok(ranges)
    }

    /// Walks `ON DUPLICATE KEY UPDATE column = value, …`.
    pub fn on_duplicate_key(
        &mut self,
        insert: &Insert,
        assignments: &[Assignment],
        target: &Range<'c>,
        targets: Option<&[&'c Column]>,
    ) -> Result<(), Refusal> {
        let mut scope = Scope::default();
        scope.push(target.clone())?;
        scope.extend(Vec::from_iter(self.row_alias(insert.insert_alias.as_ref(), target, targets)?))?;
        if let Some(source) = &insert.source {
            scope.extend(self.selected_from(source)?)?;
        }
        self.inserted = target.source.relation();
        for Assignment { target: assigned, value } in assignments {
            let AssignmentTarget::ColumnName(name) = assigned else { return Err(not_understood()) };
            let mut parts = self.names.read_parts(name)?;
            let column = parts.pop().unwrap_or_default();
            let Some(relation) = self.inserted else {
                self.expr(value, &scope)?;
                continue;
            };
            if !(parts.is_empty() || target.is(&parts)) {
                return Err(not_understood());
            }
            let column = written_column(relation, &column)?;
            self.overwrite(column);
            self.store(column, value, &scope)?;
        }
        self.inserted = None;
        Ok(())
    }
}

fn not_only_tables() -> Refusal {
    Refusal::unsupported(
        "ON DUPLICATE KEY UPDATE behind a SELECT of more than tables",
        "select from tables by their names",
    )
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the INSERT isn't understood")
}
