//! Walks select lists and RETURNING lists.

use std::rc::Rc;

use sqlparser::ast::{
    Expr, Ident, SelectItem, SelectItemQualifiedWildcardKind, UnaryOperator, Value, WildcardAdditionalOptions,
};

use crate::{
    analysis::ParameterUse,
    catalog::Column,
    dialect::Dialect,
    field::Declared,
    names,
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs, STEPS_A_COLUMN},
        protected::Protected,
        scope::{Range, Scope, Source},
    },
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Returns the columns of a range, for which `*` stands.
    pub fn outputs(&mut self, range: &Range<'c>) -> Result<Outputs<'c>, Refusal> {
        let relation = match &range.source {
            Source::Relation(relation) => *relation,
            Source::Derived(outputs) => return Ok(outputs.clone()),
            Source::Unknown => return Ok(Outputs::unknown()),
        };
        if let Some((_, outputs)) = self.reach.whole.iter().find(|(known, _)| std::ptr::eq(*known, relation))
        {
            return Ok(outputs.clone());
        }
        self.spend(relation.columns.len().saturating_mul(STEPS_A_COLUMN))?;
        let output = |c: &'c Column| OutputColumn::new(Some(c.name.as_str().into()), Protected::of(c));
        let outputs = Outputs::of(relation.columns.in_order().into_iter().map(output).collect());
        self.reach.whole.push((relation, outputs.clone()));
        Ok(outputs)
    }

    /// Walks the items of a select list, and returns the columns that they yield.
    pub fn items(&mut self, items: &[SelectItem], scope: &Scope<'_, 'c>) -> Result<Outputs<'c>, Refusal> {
        self.items_for(items, scope, &[])
    }

    /// Does the same for a query whose rows are inserted into these columns.
    pub fn items_for(
        &mut self,
        items: &[SelectItem],
        scope: &Scope<'_, 'c>,
        targets: &[&'c Column],
    ) -> Result<Outputs<'c>, Refusal> {
        let mut outputs = Outputs::default();
        for item in items {
            let target = targets.get(outputs.len()).filter(|_| !outputs.open).copied();
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let name = own_name(expr, self.catalog.dialect).map(Rc::from);
                    let output = OutputColumn { name, ..self.item(expr, scope, target)? };
                    outputs.push(output);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let name = self.output_alias(alias)?.map(Rc::from);
                    let output = OutputColumn { name, ..self.item(expr, scope, target)? };
                    if output.protected.is_some() {
                        self.note_alias(output.name.as_deref());
                    }
                    outputs.push(output);
                }
                SelectItem::Wildcard(options) => {
                    plain_wildcard(options)?;
                    for range in &scope.ranges {
                        self.append(&mut outputs, range)?;
                    }
                    // Merged columns stand once, before the others.
                    outputs.open |= !scope.merged.is_empty();
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    plain_wildcard(options)?;
                    let qualifier = self.names.read_parts(name)?;
                    self.spend(scope.reach())?;
                    self.append(&mut outputs, scope.range(&qualifier)?)?;
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(_), _)
                | SelectItem::ExprWithAliases { .. } => {
                    return Err(Refusal::unparsable("an item of the select list isn't understood"));
                }
            }
            self.check_columns(outputs.len())?;
        }
        Ok(outputs)
    }

    /// Appends all columns of a range.
    fn append(&mut self, outputs: &mut Outputs<'c>, range: &Range<'c>) -> Result<(), Refusal> {
        let more = self.outputs(range)?;
        if outputs.len() > 0 {
            // The new columns are copied, and the first ones may be, if another query yields them too.
            self.spend(outputs.len().saturating_add(more.len()).saturating_mul(STEPS_A_COLUMN))?;
        }
        outputs.append(&more);
        self.check_columns(outputs.len())
    }

    /// Refuses more columns than the server takes.
    pub fn check_columns(&self, columns: usize) -> Result<(), Refusal> {
        let most = if self.is_mysql() { MAX_COLUMNS_MYSQL } else { MAX_COLUMNS };
        if columns > most {
            return Err(Refusal::unparsable("a select list has more columns than the server takes"));
        }
        Ok(())
    }

    /// Returns the column that an item yields, without its name.
    fn item(
        &mut self,
        expr: &Expr,
        scope: &Scope<'_, 'c>,
        target: Option<&'c Column>,
    ) -> Result<OutputColumn<'c>, Refusal> {
        if let Some(protected) = self.column(expr, scope)? {
            return Ok(OutputColumn::new(None, Some(protected)));
        }
        if let Some(protected) = self.cast_column(expr, scope)? {
            return Ok(OutputColumn::new(None, Some(protected.cast())));
        }
        let null = is_null(expr);
        match target.and_then(Protected::of) {
            // The value is sealed for the target's column, and the rows carry it there unchanged.
            Some(target) if null || is_written(expr) => {
                self.untyped(|walker| walker.value(target, ParameterUse::Store, expr))?;
                let number = is_number(expr);
                Ok(OutputColumn { null, number, ..OutputColumn::new(None, Some(target.lost())) })
            }
            _ => {
                self.expr(expr, scope)?;
                Ok(OutputColumn { null, ..OutputColumn::new(None, None) })
            }
        }
    }

    /// Walks the RETURNING of a statement on the target, whose row PostgreSQL 18 also calls `old` and `new`.
    pub fn returning(
        &mut self,
        items: Option<&Vec<SelectItem>>,
        mut scope: Scope<'_, 'c>,
    ) -> Result<Outputs<'c>, Refusal> {
        let Some(items) = items else { return Ok(Outputs::default()) };
        // A `*` doesn't stand for the columns of these two, so they belong to the scope around.
        let mut around = Scope::within(None);
        if let Some(Range { source: Source::Relation(relation), .. }) =
            scope.ranges.first().filter(|_| !self.is_mysql())
        {
            for name in ["old", "new"] {
                let source = Source::Relation(relation);
                let range = Range { name: Some(name.to_owned()), schema: None, source };
                self.note_row(&range);
                around.ranges.push(range);
            }
        }
        let scope = Scope { ranges: std::mem::take(&mut scope.ranges), merged: scope.merged, outer: None };
        let either = Scope { ranges: scope.ranges, merged: scope.merged, outer: Some(&around) };
        self.items(items, &either)
    }
}

/// The most columns of a select list in PostgreSQL: `MaxTupleAttributeNumber`.
const MAX_COLUMNS: usize = 1664;
/// The most columns of a select list in MySQL: `MAX_FIELDS`.
const MAX_COLUMNS_MYSQL: usize = 4096;

/// Returns true if the expression is NULL.
pub(crate) fn is_null(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inside) | Expr::Cast { expr: inside, .. } => is_null(inside),
        Expr::Value(value) => value.value == Value::Null,
        _ => false,
    }
}

/// Returns true for a number or a boolean, which has a type of its own, unlike a string.
pub(crate) fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inside)
        | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inside } => is_number(inside),
        Expr::Value(value) => matches!(value.value, Value::Number(..) | Value::Boolean(_)),
        _ => false,
    }
}

/// Returns true if the expression has a type by itself. A string or a parameter without a cast has none.
fn is_typed(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inside) => is_typed(inside),
        Expr::Value(_) => is_number(expr),
        _ => true,
    }
}

/// Refuses strings and parameters that nothing gives a type. The server takes all of them for text, and would neither put
/// text in a column of another type nor compare it with one.
pub(crate) fn refuse_untyped<'e>(
    column: Protected<'_>,
    mut together: impl Iterator<Item = &'e Expr>,
) -> Result<(), Refusal> {
    if column.field.declared == Declared::Characters || together.any(is_typed) {
        return Ok(());
    }
    Err(Refusal::on(
        column.field,
        "the server would take the values for text, which the column is not",
        "cast one of them to the declared type",
    ))
}

/// Refuses numbers beside anything but numbers and NULL.
pub(crate) fn refuse_mixed(column: Protected<'_>, together: &[&Expr]) -> Result<(), Refusal> {
    let mut others = together.iter().filter(|expr| !is_null(expr));
    let first = others.next().map(|expr| is_number(expr));
    if others.all(|expr| Some(is_number(expr)) == first) { Ok(()) } else { Err(mixed(column)) }
}

/// Returns the refusal of strings beside a number. The number's type makes the server read the strings as numbers, so that
/// `'007'` is 7.
pub(crate) fn mixed(column: Protected<'_>) -> Refusal {
    Refusal::on(
        column.field,
        "a number stands where a string, a parameter or a column may stand too, and would decide the type of all",
        "write the number as a string",
    )
}

/// Returns true for a literal or a parameter, with or without a cast.
pub(crate) fn is_written(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inside)
        | Expr::Cast { expr: inside, .. }
        | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inside } => {
            is_written(inside)
        }
        Expr::Value(_) | Expr::TypedString(_) => true,
        _ => false,
    }
}

/// Returns the name that the server gives an item without an alias, if the item refers to a column.
fn own_name(expr: &Expr, dialect: Dialect) -> Option<String> {
    let ident: Option<&Ident> = match expr {
        // In MySQL the name of such an item is its text.
        Expr::Nested(_) | Expr::Cast { .. } if dialect.is_mysql() => None,
        Expr::Nested(inside) | Expr::Cast { expr: inside, .. } => return own_name(inside, dialect),
        Expr::Identifier(ident) => Some(ident),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    ident.and_then(|ident| names::fold(ident, dialect))
}

fn plain_wildcard(options: &WildcardAdditionalOptions) -> Result<(), Refusal> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike: None,
        opt_exclude: None,
        opt_except: None,
        opt_replace: None,
        opt_rename: None,
        opt_alias: None,
    } = options
    else {
        return Err(Refusal::unparsable("a wildcard of the select list isn't understood"));
    };
    Ok(())
}
