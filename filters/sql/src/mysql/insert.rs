//! INSERT and REPLACE.

use std::rc::Rc;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Ident, Insert, InsertAliases, ObjectName, OnInsert, Query, Select, SetExpr,
    TableAlias, TableFactor, TableObject, TableWithJoins,
};

use crate::{
    catalog::{Column, Relation},
    insert::{refuse_defaults, refuse_generated},
    refusal::Refusal,
    scope::{Output, Outputs, Protected, Range, Scope, Source},
    walker::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// INSERT or REPLACE, and what it returns.
    pub fn insert_mysql(&mut self, insert: &Insert) -> Result<Outputs<'c>, Refusal> {
        let Insert {
            insert_token: _,
            optimizer_hints: _,
            or: None,
            ignore,
            into: _,
            table: TableObject::TableName(table),
            table_alias: None,
            columns,
            overwrite: false,
            source,
            assignments,
            partitioned: None,
            after_columns,
            has_table_keyword: false,
            on,
            returning,
            output: None,
            replace_into,
            priority: None,
            insert_alias,
            settings: None,
            format_clause: None,
            multi_table_insert_type: None,
            multi_table_into_clauses,
            multi_table_when_clauses,
            multi_table_else_clause: None,
        } = insert
        else {
            return Err(not_understood());
        };
        if !(after_columns.is_empty()
            && multi_table_into_clauses.is_empty()
            && multi_table_when_clauses.is_empty())
        {
            return Err(not_understood());
        }
        let target = self.target(table, None)?;
        let targets = match &target.source {
            Source::Relation(relation) if !assignments.is_empty() => {
                Some(self.assigned_row(relation, assignments)?)
            }
            Source::Relation(relation) => {
                let last = table.0.last().and_then(|part| part.as_ident());
                let behind = last.and_then(|ident| self.positions.token_at(ident.span));
                let behind = self.behind_partitions(behind.ok_or_else(not_understood)?);
                Some(self.rows_mysql(relation, columns, source.as_deref(), behind)?)
            }
            Source::Derived(_) | Source::Unknown => {
                columns.iter().try_for_each(|column| self.parts(column).map(|_| ()))?;
                for source in source.iter() {
                    let outputs = self.query(source, None)?;
                    self.copied(&outputs);
                }
                assignments.iter().try_for_each(|a| self.assignment(None, a, &Scope::default()))?;
                None
            }
        };
        if let Source::Relation(relation) = &target.source {
            // Any unique index may be the one that says which rows are there already.
            if *ignore || *replace_into || on.is_some() {
                self.any_unique(relation)?;
            }
            if *replace_into {
                // What the row held before is lost, also in the columns that get no value.
                let fields = relation.columns.iter().filter_map(Protected::of).map(|column| column.field.id);
                self.overwrites.extend(fields.clone());
                self.writes.extend(fields);
            }
        }
        match on {
            None => {}
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => {
                let new = self.row_alias(insert_alias.as_ref(), &target, targets.as_deref())?;
                let mut ranges = vec![target.clone()];
                ranges.extend(new);
                if let Some(source) = source {
                    ranges.extend(self.selected_from(source)?);
                }
                self.on_duplicate_key(&target, assignments, Scope { ranges, ..Scope::default() })?;
            }
            Some(_) => return Err(not_understood()),
        }
        self.returning(returning.as_ref(), Scope { ranges: vec![target], ..Scope::default() })
    }

    fn rows_mysql(
        &mut self,
        relation: &'c Relation,
        columns: &[ObjectName],
        source: Option<&Query>,
        behind: usize,
    ) -> Result<Vec<&'c Column>, Refusal> {
        // `INSERT INTO t () VALUES ()`
        let values = source.and_then(|source| crate::insert::values(source, true));
        if columns.is_empty() && values.is_some_and(|rows| rows.iter().all(|row| row.is_empty())) {
            refuse_generated(relation)?;
            refuse_defaults(relation, &[])?;
            return Ok(Vec::new());
        }
        self.rows(relation, columns, source, behind)
    }

    /// `INSERT … SET column = value, …`
    fn assigned_row(
        &mut self,
        relation: &'c Relation,
        assignments: &[Assignment],
    ) -> Result<Vec<&'c Column>, Refusal> {
        refuse_generated(relation)?;
        let mut targets = Vec::with_capacity(assignments.len());
        for Assignment { target, value } in assignments {
            let AssignmentTarget::ColumnName(name) = target else { return Err(not_understood()) };
            let column = self.target_column(relation, name)?;
            // The columns assigned before are not in reach: what names a protected one is refused.
            self.store(column, value, &Scope::default())?;
            targets.push(column);
        }
        refuse_defaults(relation, &targets)?;
        Ok(targets)
    }

    /// A row that has the same value in a unique index is taken for the one that is inserted.
    pub fn any_unique(&mut self, relation: &'c Relation) -> Result<(), Refusal> {
        let columns = relation.columns.iter().filter_map(Protected::of);
        columns.filter(|column| column.field.equality).try_for_each(|column| self.compared(column))
    }

    /// `AS new [(a, b)]`: the row that would have been inserted.
    fn row_alias(
        &mut self,
        alias: Option<&InsertAliases>,
        target: &Range<'c>,
        targets: Option<&[&'c Column]>,
    ) -> Result<Option<Range<'c>>, Refusal> {
        let Some(InsertAliases { row_alias, col_aliases }) = alias else { return Ok(None) };
        let name = self.one_part(row_alias)?;
        let columns: &[Ident] = col_aliases.as_deref().unwrap_or_default();
        let names = columns.iter().map(|ident| self.name(ident)).collect::<Result<Vec<_>, _>>()?;
        let source = match targets {
            Some(targets) if !names.is_empty() => {
                if names.len() != targets.len() {
                    return Err(not_understood());
                }
                let output = |(name, column): (String, &&'c Column)| {
                    Output::new(Some(name), Protected::of(column).map(Protected::lost))
                };
                let columns = names.into_iter().zip(targets).map(output).collect();
                Source::Derived(Rc::new(Outputs { columns, open: false }))
            }
            _ => target.source.clone(),
        };
        let range = Range { name: Some(name), schema: None, source };
        self.note_row(&range);
        Ok(Some(range))
    }

    /// The last token of `table [PARTITION (…)]`.
    fn behind_partitions(&self, table: usize) -> usize {
        let partition = table.saturating_add(1);
        let close =
            || (partition..self.segment.tokens.len()).find(|index| self.segment.is_symbol(*index, ")"));
        if self.segment.is_word(partition, "partition") { close().unwrap_or(table) } else { table }
    }

    /// The tables of `INSERT … SELECT … FROM`, whose columns ON DUPLICATE KEY UPDATE sees as well.
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

    /// `ON DUPLICATE KEY UPDATE column = value, …`
    fn on_duplicate_key(
        &mut self,
        target: &Range<'c>,
        assignments: &[Assignment],
        scope: Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let relation = match &target.source {
            Source::Relation(relation) => Some(*relation),
            Source::Derived(_) | Source::Unknown => None,
        };
        self.inserted = relation;
        for Assignment { target: assigned, value } in assignments {
            let AssignmentTarget::ColumnName(name) = assigned else { return Err(not_understood()) };
            let Some(relation) = relation else {
                self.parts(name)?;
                self.expr(value, &scope)?;
                continue;
            };
            let column = self.column_of_target(relation, target, name)?;
            self.overwrite(column);
            self.store(column, value, &scope)?;
        }
        self.inserted = None;
        Ok(())
    }

    /// A column that is written, alone or behind its table's name.
    fn column_of_target(
        &mut self,
        relation: &'c Relation,
        target: &Range<'c>,
        name: &ObjectName,
    ) -> Result<&'c Column, Refusal> {
        let mut parts = self.parts(name)?;
        let column = parts.pop().unwrap_or_default();
        if !(parts.is_empty() || target.is(&parts)) {
            return Err(not_understood());
        }
        relation.columns.iter().find(|known| known.name == column).ok_or_else(|| {
            Refusal::unsupported(
                "a column that is written isn't known in a table with sealed columns",
                "check its name; after a change of the table, try again",
            )
        })
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
