//! Walks MySQL's UPDATE of one table or of several.

use sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Function, Join, JoinOperator, ObjectName, TableWithJoins, Update,
};

use crate::{
    analysis::ParameterUse,
    catalog::{Column, RelationKind},
    refusal::Refusal,
    resolve::{
        outputs::Outputs,
        protected::Protected,
        scope::{Range, Scope, Source},
    },
    walk::{
        Walker,
        query::from::Item,
        write::{
            assigned::plain_call,
            insert::{refuse_generated, unknown_column, written_column},
        },
    },
};

impl<'c> Walker<'_, 'c> {
    pub fn update_mysql(&mut self, update: &Update) -> Result<Outputs<'c>, Refusal> {
        let Update {
            update_token: _,
            optimizer_hints: _,
            table,
            assignments,
            from: None,
            selection,
            returning: None,
            output: None,
            or: None,
            order_by,
            limit,
        } = update
        else {
            return Err(not_understood());
        };
        let mut scope = Scope::default();
        self.tables(apart(table), &mut scope)?;
        for Assignment { target, value } in assignments {
            let AssignmentTarget::ColumnName(name) = target else { return Err(not_understood()) };
            match self.assigned_column(name, &scope)? {
                None => self.expr(value, &scope)?,
                Some(column) => {
                    self.overwrite(column);
                    self.store(column, value, &scope)?;
                }
            }
        }
        selection.iter().try_for_each(|selection| self.expr(selection, &scope))?;
        self.order_keys(order_by, &Outputs::default(), &scope)?;
        limit.iter().try_for_each(|limit| self.expr(limit, &scope))?;
        Ok(Outputs::default())
    }

    /// Walks a function whose result is stored in a protected column: a choice among values and columns, or the value that
    /// would have been inserted.
    pub fn chosen(
        &mut self,
        target: Protected<'c>,
        expr: &Expr,
        function: &Function,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        if let Some(source) = self.inserted_value(function)? {
            return self.copy(target, source);
        }
        let Some((name, mut choices)) = plain_call(function) else {
            return self.value(target, ParameterUse::Store, expr);
        };
        match (name.to_ascii_lowercase().as_str(), choices.len()) {
            ("coalesce", _) | ("ifnull" | "nvl", 2) => {}
            ("if", 3) => self.expr(choices.remove(0), scope)?,
            _ => return self.value(target, ParameterUse::Store, expr),
        }
        self.names.read_parts(&function.name)?;
        self.choices(target, choices, scope)
    }

    /// Returns the column that is assigned to, if its table has protected columns.
    fn assigned_column(
        &mut self,
        name: &ObjectName,
        scope: &Scope<'_, 'c>,
    ) -> Result<Option<&'c Column>, Refusal> {
        let mut parts = self.names.read_parts(name)?;
        let column = parts.pop().unwrap_or_default();
        if !parts.is_empty() {
            return match &scope.range(&parts)?.source {
                Source::Relation(relation) => {
                    self.writable(scope.range(&parts)?)?;
                    written_column(relation, &column).map(Some)
                }
                Source::Derived(_) => Err(derived()),
                Source::Unknown => Ok(None),
            };
        }
        let mut found = None;
        let mut elsewhere = false;
        for range in &scope.ranges {
            match &range.source {
                Source::Relation(relation) => {
                    if let Some(known) = relation.columns.named(&column) {
                        if found.replace(known).is_some() {
                            return Err(Refusal::unsupported(
                                "a column name means several columns",
                                "qualify the column with its table's name or alias",
                            ));
                        }
                        self.writable(range)?;
                    }
                }
                Source::Derived(_) => elsewhere |= range.bears(),
                Source::Unknown => elsewhere = true,
            }
        }
        match found {
            None if !elsewhere => Err(unknown_column()),
            found => Ok(found),
        }
    }

    /// Refuses to write to a view, and to a table whose protected column the server computes.
    pub fn writable(&self, range: &Range<'c>) -> Result<(), Refusal> {
        match &range.source {
            Source::Relation(relation) if relation.kind == RelationKind::View => {
                Err(self.view_write_refusal(relation))
            }
            Source::Relation(relation) => refuse_generated(relation),
            Source::Derived(_) => Err(derived()),
            Source::Unknown => Ok(()),
        }
    }
}

/// Returns the tables of `UPDATE a, b JOIN c …`. The parser was given `CROSS APPLY` in the place of the commas.
fn apart(table: &TableWithJoins) -> impl Iterator<Item = Item<'_>> {
    let is_comma = |join: &Join| {
        matches!(join, Join { relation: _, global: false, join_operator: JoinOperator::CrossApply })
    };
    let commas = table.joins.iter().filter(move |join| is_comma(join)).map(|join| &join.relation);
    std::iter::once(&table.relation).chain(commas).zip(table.joins.split(is_comma))
}

fn derived() -> Refusal {
    Refusal::unsupported(
        "rows of a sub-select or a common table expression are written",
        "write to the table itself",
    )
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the UPDATE isn't understood")
}
