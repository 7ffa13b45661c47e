//! Walks UPDATE, and the assignments of ON CONFLICT DO UPDATE.

use sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, ObjectName, TableAlias, TableFactor, Update, UpdateTableFromKind,
};

use crate::{
    catalog::{Column, Relation},
    refusal::Refusal,
    resolve::{
        outputs::Outputs,
        protected::Protected,
        scope::{Range, Scope},
    },
    walk::{Walker, query::from::Item, write::insert::refuse_generated},
};

impl<'c> Walker<'_, 'c> {
    /// Walks an UPDATE, and returns the columns of its RETURNING.
    pub fn update(&mut self, update: &Update) -> Result<Outputs<'c>, Refusal> {
        if self.is_mysql() {
            return self.update_mysql(update);
        }
        let Update {
            update_token: _,
            optimizer_hints: _,
            table,
            assignments,
            from,
            selection,
            returning,
            output: None,
            or: None,
            order_by,
            limit: None,
        } = update
        else {
            return Err(not_understood());
        };
        if !order_by.is_empty() {
            return Err(not_understood());
        }
        let target = self.one_table((&table.relation, &table.joins))?;
        let relation = target.source.relation();
        relation.map_or(Ok(()), refuse_generated)?;
        let mut scope = Scope { ranges: vec![target], ..Scope::default() };
        match from {
            None => {}
            Some(UpdateTableFromKind::AfterSet(from)) => self.from(from, &mut scope)?,
            Some(UpdateTableFromKind::BeforeSet(_)) => return Err(not_understood()),
        }
        for assignment in assignments {
            self.assignment(relation, assignment, &scope)?;
        }
        selection.iter().try_for_each(|selection| self.expr(selection, &scope))?;
        self.returning(returning.as_ref(), scope)
    }

    /// Returns the target of an UPDATE or DELETE, which is one table with or without an alias.
    pub fn one_table(&mut self, (relation, joins): Item<'_>) -> Result<Range<'c>, Refusal> {
        let TableFactor::Table {
            name,
            alias,
            args: None,
            with_hints,
            version: None,
            with_ordinality: false,
            partitions,
            json_path: None,
            sample: None,
            index_hints,
        } = relation
        else {
            return Err(not_understood());
        };
        if !(joins.is_empty() && with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty()) {
            return Err(not_understood());
        }
        match alias {
            None => self.target(name, None),
            Some(TableAlias { explicit: _, name: alias, columns, at: None }) if columns.is_empty() => {
                self.target(name, Some(alias))
            }
            Some(_) => Err(not_understood()),
        }
    }

    /// Walks `column = value`. `relation` is the target if it is protected.
    pub fn assignment(
        &mut self,
        relation: Option<&'c Relation>,
        assignment: &Assignment,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let Assignment { target, value } = assignment;
        match (target, value) {
            (AssignmentTarget::ColumnName(name), value) => self.assign(relation, name, value, scope),
            (AssignmentTarget::Tuple(names), Expr::Tuple(values)) if names.len() == values.len() => names
                .iter()
                .zip(values)
                .try_for_each(|(name, value)| self.assign(relation, name, value, scope)),
            (AssignmentTarget::Tuple(names), value) => {
                for name in names {
                    let Some(relation) = relation else {
                        self.names.read_parts(name)?;
                        continue;
                    };
                    if let Some(protected) = Protected::of(self.target_column(relation, name)?) {
                        return Err(Refusal::on(
                            protected.field,
                            "a row is assigned to several columns at once",
                            "assign each column a value of its own",
                        ));
                    }
                }
                self.expr(value, scope)
            }
        }
    }

    fn assign(
        &mut self,
        relation: Option<&'c Relation>,
        name: &ObjectName,
        value: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let Some(relation) = relation else {
            self.names.read_parts(name)?;
            return self.expr(value, scope);
        };
        let column = self.target_column(relation, name)?;
        self.overwrite(column);
        self.store(column, value, scope)
    }

    /// Notes that the column loses its old value, which also DEFAULT replaces.
    pub fn overwrite(&mut self, column: &Column) {
        self.fields.writes.extend(column.field.as_ref().map(|field| field.id));
        self.fields.overwrites.extend(column.field.as_ref().map(|field| field.id));
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the UPDATE isn't understood")
}
