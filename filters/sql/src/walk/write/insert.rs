//! Walks INSERT, and MySQL's REPLACE.

use sqlparser::ast::{
    AssignmentTarget, ConflictTarget, DoUpdate, Expr, Insert, ObjectName, OnConflict, OnConflictAction,
    OnInsert, Query, SetExpr, TableAliasWithoutColumns, TableObject, Values,
};

use crate::{
    catalog::{Column, Relation},
    names,
    refusal::Refusal,
    resolve::{
        outputs::Outputs,
        protected::Protected,
        scope::{Range, Scope, Source},
    },
    walk::{Walker, query::select::is_default},
};

impl<'c> Walker<'_, 'c> {
    /// Walks an INSERT, and returns the columns of its RETURNING.
    pub fn insert(&mut self, insert: &Insert) -> Result<Outputs<'c>, Refusal> {
        let Insert {
            insert_token: _,
            optimizer_hints: _,
            or: None,
            ignore,
            into,
            table: TableObject::TableName(table),
            table_alias,
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
        let only_mysqls =
            *ignore || !*into || *replace_into || !assignments.is_empty() || insert_alias.is_some();
        if !(after_columns.is_empty()
            && multi_table_into_clauses.is_empty()
            && multi_table_when_clauses.is_empty())
            || if self.is_mysql() { table_alias.is_some() } else { only_mysqls }
        {
            return Err(not_understood());
        }
        let alias = table_alias.as_ref().map(|TableAliasWithoutColumns { explicit: _, alias }| alias);
        let target = self.target(table, alias)?;
        let targets = match target.source.relation() {
            Some(relation) if !assignments.is_empty() => Some(self.assigned_row(relation, assignments)?),
            Some(relation) => {
                let last_name = alias.or_else(|| table.0.last().and_then(|part| part.as_ident()));
                let behind = last_name.and_then(|ident| self.text.token_at(ident.span));
                let behind = self.behind_partitions(behind.ok_or_else(not_understood)?);
                Some(self.rows(relation, columns, source.as_deref(), behind)?)
            }
            None => {
                columns.iter().try_for_each(|column| self.names.read_parts(column).map(|_| ()))?;
                for source in source.iter() {
                    let outputs = self.query(source, None)?;
                    self.copied(&outputs);
                }
                assignments.iter().try_for_each(|a| self.assignment(None, a, &Scope::default()))?;
                None
            }
        };
        // In MySQL any unique index may decide that a row exists already.
        if *ignore || *replace_into || (self.is_mysql() && on.is_some()) {
            self.any_unique(target.source.relation());
        }
        if *replace_into && let Some(relation) = target.source.relation() {
            // The row loses its old values, also in the columns that get no new value.
            relation.columns.iter().for_each(|column| self.overwrite(column));
        }
        let target = match on {
            None => target,
            Some(OnInsert::OnConflict(OnConflict { conflict_target, action })) if !self.is_mysql() => {
                self.on_conflict(conflict_target.as_ref(), action, target)?
            }
            Some(OnInsert::DuplicateKeyUpdate(assignments)) if self.is_mysql() => {
                self.on_duplicate_key(insert, assignments, &target, targets.as_deref())?;
                target
            }
            Some(_) => return Err(not_understood()),
        };
        self.returning(returning.as_ref(), Scope { ranges: vec![target], ..Scope::default() })
    }

    /// Walks the rows of an INSERT into a protected table, and the columns that they go to. `behind` is the last token of
    /// the table's name or alias.
    pub fn rows(
        &mut self,
        relation: &'c Relation,
        columns: &[ObjectName],
        source: Option<&Query>,
        behind: usize,
    ) -> Result<Vec<&'c Column>, Refusal> {
        refuse_generated(relation)?;
        let Some(source) = source else {
            refuse_defaults(relation, &[])?;
            return Ok(Vec::new());
        };
        let Some(rows) = values(source, self.is_mysql()) else {
            return self.selected_rows(relation, columns, source, behind);
        };
        // This is MySQL's `INSERT INTO t () VALUES ()`.
        if columns.is_empty() && rows.iter().all(|row| row.is_empty()) {
            refuse_defaults(relation, &[])?;
            return Ok(Vec::new());
        }
        let arity = rows.first().map_or(0, |row| row.len());
        if rows.iter().any(|row| row.len() != arity) {
            return Err(Refusal::unsupported(
                "the rows of VALUES differ in length",
                "give each row one value for each column",
            ));
        }
        let targets = if columns.is_empty() {
            self.implied_columns(relation, arity, behind)?
        } else {
            self.listed_columns(relation, columns)?
        };
        if arity != targets.len() {
            return Err(Refusal::unsupported(
                "VALUES and the list of columns differ in length",
                "give each row one value for each column",
            ));
        }
        refuse_defaults(relation, &targets)?;
        let scope = Scope::default();
        for row in rows {
            for (column, expr) in targets.iter().zip(row) {
                self.store(column, expr, &scope)?;
            }
        }
        Ok(targets)
    }

    fn listed_columns(
        &mut self,
        relation: &'c Relation,
        columns: &[ObjectName],
    ) -> Result<Vec<&'c Column>, Refusal> {
        refuse_twice(relation, columns.len())?;
        columns.iter().map(|column| self.target_column(relation, column)).collect()
    }

    /// Walks `INSERT … SELECT`. A protected column takes a column that is sealed under its label, a value that is written
    /// in the select list, or NULL.
    fn selected_rows(
        &mut self,
        relation: &'c Relation,
        columns: &[ObjectName],
        source: &Query,
        behind: usize,
    ) -> Result<Vec<&'c Column>, Refusal> {
        let mut targets = if columns.is_empty() {
            relation.columns.in_order()
        } else {
            self.listed_columns(relation, columns)?
        };
        let outputs = match self.bulk(source, &targets)? {
            Some(outputs) => outputs,
            None => self.query_for(source, None, &targets)?,
        };
        if columns.is_empty() && !outputs.open {
            targets = self.implied_columns(relation, outputs.len(), behind)?;
        }
        if outputs.open {
            return Err(Refusal::unsupported(
                "INSERT … SELECT into a table with sealed columns, and not all columns that are selected are known",
                "name the columns in the select list",
            ));
        }
        if outputs.len() != targets.len() {
            return Err(Refusal::unsupported(
                "INSERT … SELECT into a table with sealed columns, and the select list and the columns differ in length",
                "name as many columns as are selected",
            ));
        }
        refuse_defaults(relation, &targets)?;
        for (target, output) in targets.iter().zip(outputs.columns()) {
            match (Protected::of(target), output.protected) {
                (None, None) => {}
                (None, Some(source)) => drop(self.fields.copies.insert(source.field.id)),
                (Some(target), Some(source)) if target.is_interchangeable_with(source) => {
                    self.fields.writes.insert(target.field.id);
                }
                (Some(target), None) if output.null => {
                    self.fields.writes.insert(target.field.id);
                    self.fields.empties.insert(target.field.id);
                }
                (Some(target), _) => {
                    return Err(Refusal::on(
                        target.field,
                        "what is selected for the column is neither sealed under its label nor written in the select list",
                        "select a column of the same label, a literal or a parameter",
                    ));
                }
            }
        }
        Ok(targets)
    }

    /// Returns the columns that values go to if the statement lists none: all columns in the server's order, also computed
    /// ones. The list is written into the statement, so that a column that is added meanwhile can't shift a value.
    fn implied_columns(
        &mut self,
        relation: &'c Relation,
        arity: usize,
        behind: usize,
    ) -> Result<Vec<&'c Column>, Refusal> {
        let mut columns = relation.columns.in_order();
        if self.is_mysql() && columns.len() != arity {
            return Err(Refusal::unsupported(
                "the rows have another number of values than the table has columns",
                "give each row one value for each column, or name the columns",
            ));
        }
        columns.truncate(arity);
        let list: Vec<String> =
            columns.iter().map(|column| names::quote(&column.name, self.catalog.dialect)).collect();
        self.splices.insert_behind(behind, format!(" ({}) ", list.join(", ")));
        Ok(columns)
    }

    /// Returns the column that a plain name in the list of columns means.
    pub fn target_column(
        &mut self,
        relation: &'c Relation,
        name: &ObjectName,
    ) -> Result<&'c Column, Refusal> {
        let name = self.names.read_one(name)?;
        written_column(relation, &name)
    }

    /// Walks a value, or DEFAULT, that goes to a column of a protected table.
    pub fn store(&mut self, column: &'c Column, expr: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match Protected::of(column) {
            None if is_default(expr) => Ok(()),
            None => self.expr(expr, scope),
            Some(_) if is_default(expr) => refuse_default(column),
            Some(protected) => self.assigned(protected, expr, scope),
        }
    }

    fn on_conflict(
        &mut self,
        target: Option<&ConflictTarget>,
        action: &OnConflictAction,
        range: Range<'c>,
    ) -> Result<Range<'c>, Refusal> {
        let relation = range.source.relation();
        match target {
            None => self.any_unique(relation),
            Some(ConflictTarget::Columns(columns)) => {
                for ident in columns {
                    let name = self.names.read(ident)?;
                    let column = relation.and_then(|relation| relation.columns.named(&name));
                    let column = column.and_then(Protected::of);
                    column.map_or(Ok(()), |column| self.compared(column))?;
                }
            }
            Some(ConflictTarget::OnConstraint(name)) => {
                self.names.read_parts(name)?;
                for column in relation.iter().flat_map(|r| &r.columns).filter_map(Protected::of) {
                    if !column.field.equality {
                        return Err(Refusal::on(
                            column.field,
                            "the constraint may be on this column, whose equal values have different ciphertexts",
                            "name the columns: ON CONFLICT (…)",
                        ));
                    }
                    self.compared(column)?;
                }
            }
        }
        let OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) = action else {
            return Ok(range);
        };
        let source = relation.map_or(Source::Unknown, Source::Relation);
        let excluded = Range { name: Some("excluded".to_owned()), schema: None, source };
        self.note_row(&excluded);
        let scope = Scope { ranges: vec![range, excluded], ..Scope::default() };
        scope.check_names()?;
        for assignment in assignments {
            if matches!(assignment.target, AssignmentTarget::Tuple(_)) && relation.is_some() {
                return Err(not_understood());
            }
            self.assignment(relation, assignment, &scope)?;
        }
        selection.iter().try_for_each(|selection| self.expr(selection, &scope))?;
        scope.ranges.into_iter().next().ok_or_else(not_understood)
    }
}

/// Returns the rows of a source that is nothing but VALUES.
pub(crate) fn values(source: &Query, mysql: bool) -> Option<Vec<&Vec<Expr>>> {
    let Query {
        with: None,
        body,
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks,
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators,
    } = source
    else {
        return None;
    };
    // Only MySQL has `VALUE (…)` and `VALUES ROW (…)`.
    let SetExpr::Values(Values { explicit_row, value_keyword, rows }) = body.as_ref() else {
        return None;
    };
    if (*explicit_row || *value_keyword) && !mysql {
        return None;
    }
    (locks.is_empty() && pipe_operators.is_empty()).then(|| rows.iter().map(|row| &row.content).collect())
}

/// Refuses to give a protected column its default, which the server would store unsealed.
pub(crate) fn refuse_default(column: &Column) -> Result<(), Refusal> {
    match Protected::of(column) {
        Some(protected) if column.has_default => Err(Refusal::on(
            protected.field,
            "the column would get its default, which the server would store unsealed",
            "give a value for the column, or drop its default",
        )),
        _ => Ok(()),
    }
}

/// Returns the column of a relation that is written.
pub(crate) fn written_column<'c>(relation: &'c Relation, name: &str) -> Result<&'c Column, Refusal> {
    relation.columns.named(name).ok_or_else(unknown_column)
}

/// Refuses a list of more columns than there are.
pub(crate) fn refuse_twice(relation: &Relation, listed: usize) -> Result<(), Refusal> {
    if listed <= relation.columns.len() {
        return Ok(());
    }
    Err(Refusal::unsupported("a column is listed twice", "list each column once"))
}

pub(crate) fn unknown_column() -> Refusal {
    Refusal::unsupported(
        "a column that is written isn't known in a table with sealed columns",
        "check its name; after a change of the table, try again",
    )
}

/// Refuses the defaults of protected columns that get no value.
pub(crate) fn refuse_defaults(relation: &Relation, given: &[&Column]) -> Result<(), Refusal> {
    let mut stored = relation.columns.iter().filter(|c| c.has_default && c.field.is_some());
    match stored.find(|column| !given.iter().any(|given| std::ptr::eq(*given, *column))) {
        None => Ok(()),
        Some(column) => refuse_default(column),
    }
}

/// Refuses to write to a table with a protected column that the server computes, because it is stored unsealed.
pub(crate) fn refuse_generated(relation: &Relation) -> Result<(), Refusal> {
    let computed = || relation.columns.iter().filter(|column| column.generated).find_map(Protected::of);
    match relation.columns.generate_protected().then(computed).flatten() {
        None => Ok(()),
        Some(protected) => Err(Refusal::on(
            protected.field,
            "the server computes the column, and would store it unsealed",
            "make it an ordinary column, or take it out of the policy",
        )),
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the INSERT isn't understood")
}
