//! UPDATE, and the assignments of ON CONFLICT DO UPDATE.

use sqlparser::ast::{
    Assignment, AssignmentTarget, CaseWhen, CastKind, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, ObjectNamePart, TableAlias, TableFactor,
    Update, UpdateTableFromKind,
};

use crate::{
    analysis::{ParameterUse, Replacement},
    catalog::{Column, Relation},
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs},
        protected::Protected,
        scope::{Range, Scope},
    },
    walk::{
        Walker,
        query::{
            from::Item,
            items::{is_written, refuse_mixed, refuse_untyped},
        },
        value::cast,
        write::insert::refuse_generated,
    },
};

impl<'c> Walker<'_, 'c> {
    /// UPDATE, and what it returns.
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

    /// The target of an UPDATE or DELETE: one table, perhaps with an alias.
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

    /// `column = value`, where `relation` is the target if it is protected.
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

    /// What is assigned, DEFAULT too, takes the place of what was there.
    pub fn overwrite(&mut self, column: &Column) {
        self.fields.writes.extend(column.field.as_ref().map(|field| field.id));
        self.fields.overwrites.extend(column.field.as_ref().map(|field| field.id));
    }

    /// What is stored in a protected column: a written value, what is sealed under the same label, or a choice among
    /// such.
    pub fn assigned(
        &mut self,
        target: Protected<'c>,
        expr: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        match expr {
            Expr::Nested(inside) if !is_written(inside) => self.assigned(target, inside, scope),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match self.column(expr, scope)? {
                Some(source) => self.copy(target, source),
                None => self.value(target, ParameterUse::Store, expr),
            },
            Expr::Subquery(query) => {
                let outputs = self.query(query, Some(scope))?;
                match outputs.columns() {
                    [OutputColumn { protected: Some(source), .. }] if !outputs.open => {
                        self.copy(target, *source)
                    }
                    _ => self.value(target, ParameterUse::Store, expr),
                }
            }
            Expr::Function(function) => match coalesced(function) {
                _ if self.is_mysql() => self.chosen(target, expr, function, scope),
                Some(choices) => {
                    function
                        .name
                        .0
                        .iter()
                        .filter_map(|part| part.as_ident())
                        .try_for_each(|ident| self.names.read(ident).map(|_| ()))?;
                    refuse_untyped(target, choices.iter().copied())?;
                    self.choices(target, choices, scope)
                }
                None => self.value(target, ParameterUse::Store, expr),
            },
            Expr::Case { .. } => {
                let choices = self.case(expr, scope)?;
                if !self.is_mysql() {
                    refuse_untyped(target, choices.iter().copied())?;
                }
                self.choices(target, choices, scope)
            }
            // As Django's `bulk_update` writes it. What is sealed has another type than the declared.
            Expr::Cast { kind: CastKind::DoubleColon, expr: inside, data_type, format: None }
                if cast::is_declared(data_type, target.field.declared, &target.field.type_name) =>
            {
                match self.text.cast_behind_case(inside, data_type) {
                    Some((case, cast)) => {
                        self.splices.replace(cast, Replacement::Text(String::new()));
                        let choices = self.case(case, scope)?;
                        self.choices(target, choices, scope)
                    }
                    None => self.value(target, ParameterUse::Store, expr),
                }
            }
            _ => self.value(target, ParameterUse::Store, expr),
        }
    }

    /// What a CASE may give.
    fn case<'e>(&mut self, case: &'e Expr, scope: &Scope<'_, 'c>) -> Result<Vec<&'e Expr>, Refusal> {
        let Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } = case else {
            return Err(not_understood());
        };
        self.conditions(operand.as_deref(), conditions, scope)?;
        let results = conditions.iter().map(|CaseWhen { condition: _, result }| result);
        Ok(results.chain(else_result.as_deref()).collect())
    }

    /// One of these is stored. The server gives them one type, which numbers decide.
    pub fn choices(
        &mut self,
        target: Protected<'c>,
        choices: Vec<&Expr>,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        refuse_mixed(target, &choices)?;
        self.untyped(|walker| {
            choices.into_iter().try_for_each(|choice| walker.assigned(target, choice, scope))
        })
    }

    /// What is sealed under one label may be copied as it is.
    pub fn copy(&mut self, target: Protected<'c>, source: Protected<'c>) -> Result<(), Refusal> {
        if !target.is_interchangeable_with(source) {
            return Err(Refusal::on(
                target.field,
                "a value sealed under one label can't be copied to another",
                "read the value, and write it as a literal or a parameter",
            ));
        }
        self.fields.writes.insert(target.field.id);
        Ok(())
    }
}

/// The arguments of `COALESCE(…)`: the first that is not NULL, and NULL is stored as NULL.
fn coalesced(function: &Function) -> Option<Vec<&Expr>> {
    let (name, args) = plain_call(function)?;
    name.eq_ignore_ascii_case("coalesce").then_some(args)
}

/// The name and the arguments of a call with nothing around them.
pub(crate) fn plain_call(function: &Function) -> Option<(&str, Vec<&Expr>)> {
    let Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses }),
        within_group,
        filter: None,
        null_treatment: None,
        over: None,
    } = function
    else {
        return None;
    };
    let [ObjectNamePart::Identifier(Ident { value, quote_style: None, span: _ })] = name.0.as_slice() else {
        return None;
    };
    if !(within_group.is_empty() && clauses.is_empty()) {
        return None;
    }
    let args = args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    Some((value, args.collect::<Option<Vec<_>>>()?))
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the UPDATE isn't understood")
}
