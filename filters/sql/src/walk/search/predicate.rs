//! Walks the predicates that hold for sealed values: equality, IN, and tests for NULL.

use sqlparser::ast::{Array, ArrayElemTypeDef, BinaryOperator, DataType, Expr, Query, SelectItem, SetExpr};

use crate::{
    analysis::ParameterUse,
    catalog::{Relation, StorageType},
    field::Declared,
    refusal::Refusal,
    resolve::{outputs::OutputColumn, protected::Protected, scope::Scope},
    walk::{
        Walker,
        query::items::refuse_untyped,
        search::{multi_key::refuse_each, operand::refuse_mixed_types},
        value::cast,
    },
};

/// A value's blind index alone decides so many characters of an armored envelope.
pub const ARMORED_INDEX_PREFIX: usize = 33;
/// A value's blind index alone decides so many bytes of a raw envelope.
pub const RAW_INDEX_PREFIX: usize = 22;

/// How two sides are compared.
#[derive(Clone, Copy)]
pub(crate) enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `IS [NOT] DISTINCT FROM`; MySQL's `<=>`
    Distinct,
}

/// How many elements of an array the comparison must hold for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    /// `ANY`, `SOME`
    Any,
    /// `ALL`
    All,
}

impl<'c> Walker<'_, 'c> {
    /// Walks `left = right` and `left <> right`.
    pub fn comparison(
        &mut self,
        left: &Expr,
        comparison: Comparison,
        right: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        match (self.compared_column(left, scope)?, self.compared_column(right, scope)?) {
            (Some(a), Some(b)) => self.equate_at(a, left, b, right),
            (Some(column), None) => self.search(column, (left, true), comparison, right),
            (None, Some(column)) => self.search(column, (right, false), comparison, left),
            (None, None) => {
                self.opaque(left, scope)?;
                self.opaque(right, scope)
            }
        }
    }

    /// Walks `left IS [NOT] DISTINCT FROM right`, an equality in which NULL equals NULL. The parser takes what follows with
    /// AND and OR for a part of the right side, so that part is returned.
    pub fn distinct_from<'e>(
        &mut self,
        left: &Expr,
        right: &'e Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<Vec<&'e Expr>, Refusal> {
        let mut rest = Vec::new();
        let mut value = right;
        while let Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } = value {
            rest.push(right.as_ref());
            value = left;
        }
        self.comparison(left, Comparison::Distinct, value, scope)?;
        Ok(rest)
    }

    /// Returns the protected column if the expression is one, or one cast to `text` or `varchar`, which leaves values
    /// stored in such a type unchanged.
    fn compared_column(
        &mut self,
        expr: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<Option<Protected<'c>>, Refusal> {
        match self.column(expr, scope)? {
            None => self.cast_column(expr, scope),
            column => Ok(column),
        }
    }

    /// Walks `inside IS [NOT] NULL`. The test is right for sealed columns, because NULL is stored as NULL.
    pub fn null_test(&mut self, inside: &Expr, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        match self.column(inside, scope)? {
            Some(column) => {
                self.fields.searches.insert(column.field.id);
                Ok(())
            }
            None => self.opaque(inside, scope),
        }
    }

    /// Walks `left [NOT] IN (…)`.
    pub fn in_list(
        &mut self,
        left: &Expr,
        list: &[Expr],
        negated: bool,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let column = self.compared_column(left, scope)?;
        if let Some(column) = column.filter(|_| !self.is_mysql()) {
            refuse_mixed_types(column, list, false)?;
        }
        match column {
            Some(column) if self.is_mysql() => self.in_list_mysql(column, left, list, negated),
            Some(column) if self.has_several_ciphertexts(column) => {
                self.in_list_several(column, list, negated)
            }
            Some(column) => {
                self.index_part(column, left)?;
                list.iter().try_for_each(|value| self.searched(column, value))
            }
            None => {
                self.opaque(left, scope)?;
                list.iter().try_for_each(|value| self.opaque(value, scope))
            }
        }
    }

    /// Walks `left [NOT] IN (SELECT …)`.
    pub fn in_subquery(&mut self, left: &Expr, query: &Query, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let outputs = self.query(query, Some(scope))?;
        let column = self.compared_column(left, scope)?;
        match (column, outputs.columns()) {
            (Some(column), [OutputColumn { protected: Some(right), .. }])
                if column.field.indexed && !outputs.open =>
            {
                let selected = only_item(query).filter(|_| !right.lost).ok_or_else(|| unlike(column))?;
                self.equate_at(column, left, *right, selected)
            }
            (Some(left), [output]) if !outputs.open => match output.protected {
                Some(right) => self.equate(left, right),
                None if output.null => self.compared(left),
                None => Err(unlike(left)),
            },
            (Some(left), _) => Err(unlike(left)),
            (None, _) => match outputs.first_protected() {
                Some(right) => Err(unlike(right)),
                None => self.opaque(left, scope),
            },
        }
    }

    /// Walks `left = ANY (…)` and `left <> ALL (…)`, whose values are the rows of a sub-select or the elements of an array.
    pub fn quantified(
        &mut self,
        left: &Expr,
        (op, quantifier): (&BinaryOperator, Quantifier),
        right: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let subquery = match right {
            Expr::Subquery(query) => Some(query),
            _ => None,
        };
        let Some(column) = self.compared_column(left, scope)? else {
            self.opaque(left, scope)?;
            return self.opaque(right, scope);
        };
        if !matches!(op, BinaryOperator::Eq | BinaryOperator::NotEq) {
            return Err(Refusal::on(
                column.field,
                "sealed values have no order and no patterns",
                "compare with = ANY or <> ALL, or in the application",
            ));
        }
        match subquery {
            Some(query) => self.in_subquery(left, query, scope),
            None if self.is_mysql() => {
                Err(Refusal::unparsable("a comparison with an array isn't understood"))
            }
            None if column.field.type_name.ends_with("[]") => Err(Refusal::on(
                column.field,
                "a column of arrays is compared with the elements of an array, for which the server has no operator",
                "compare it by = or IN with whole arrays",
            )),
            None => {
                let found = (op == &BinaryOperator::Eq) == (quantifier == Quantifier::Any);
                if !found && self.has_several_ciphertexts(column) {
                    return Err(refuse_each(column));
                }
                self.index_part(column, left)?;
                self.array(column, right)
            }
        }
    }

    /// Walks an array that a column is searched for in. It has elements, or is one parameter or literal.
    fn array(&mut self, column: Protected<'c>, array: &Expr) -> Result<(), Refusal> {
        if !column.field.indexed {
            require_equality(column)?;
            self.fields.searches.insert(column.field.id);
        }
        match array {
            Expr::Nested(inside) => self.array(column, inside),
            Expr::Array(Array { elem, named: true }) => {
                refuse_untyped(column, elem.iter())?;
                refuse_mixed_types(column, elem, true)?;
                if self.has_several_ciphertexts(column) {
                    return self.elements_several(column, elem);
                }
                self.untyped(|walker| elem.iter().try_for_each(|value| walker.searched(column, value)))
            }
            Expr::Cast {
                expr,
                data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(of, None)),
                ..
            } if is_constructor(expr) && is_stored_as(column, of) => self.array(column, expr),
            other => self.array_value(column, other),
        }
    }

    /// Checks that two columns can be compared with each other.
    pub fn equate(&mut self, left: Protected<'c>, right: Protected<'c>) -> Result<(), Refusal> {
        for side in [left, right] {
            self.compared(side)?;
        }
        if left.is_comparable_with(right) { Ok(()) } else { Err(unlike(left)) }
    }

    /// Walks the comparison of two columns with each other. If they have a blind index, the indexes are compared.
    fn equate_at(
        &mut self,
        left: Protected<'c>,
        left_at: &Expr,
        right: Protected<'c>,
        right_at: &Expr,
    ) -> Result<(), Refusal> {
        if !(left.field.indexed && right.field.indexed && left.is_interchangeable_with(right)) {
            return self.equate(left, right);
        }
        self.fields.compares.extend([left.field.id, right.field.id]);
        self.index_part(left, left_at)?;
        self.index_part(right, right_at)
    }

    /// Notes a column whose ciphertexts the server compares with each other.
    pub fn compared(&mut self, column: Protected<'c>) -> Result<(), Refusal> {
        require_equality(column)?;
        self.fields.compares.insert(column.field.id);
        self.fields.searches.insert(column.field.id);
        Ok(())
    }

    /// Notes that the columns of all unique indexes are compared: a row that has the same value in any of these indexes is
    /// taken for the row that is inserted. A column that is given no value is NULL, which equals nothing.
    pub fn any_unique(&mut self, relation: Option<&'c Relation>) {
        let fields = relation.iter().flat_map(|relation| &relation.columns).filter_map(|c| c.field.as_ref());
        for field in fields.filter(|field| field.equality || field.indexed) {
            if self.fields.writes.contains(&field.id) {
                self.fields.compares.insert(field.id);
                self.fields.searches.insert(field.id);
            }
        }
    }

    fn search(
        &mut self,
        column: Protected<'c>,
        (at, left): (&Expr, bool),
        comparison: Comparison,
        value: &Expr,
    ) -> Result<(), Refusal> {
        if self.is_mysql() {
            return self.search_mysql(column, (at, left), comparison, value);
        }
        if self.has_several_ciphertexts(column) {
            return self.search_several(column, (at, left), comparison, value);
        }
        self.index_part(column, at)?;
        self.searched(column, value)
    }

    fn searched(&mut self, column: Protected<'c>, value: &Expr) -> Result<(), Refusal> {
        if !column.field.indexed {
            require_equality(column)?;
        }
        self.value(column, ParameterUse::Search, value)
    }

    /// Writes, in the place of a column with a blind index, the part that equal values have in common, so that this part is
    /// compared.
    pub fn index_part(&mut self, column: Protected<'c>, at: &Expr) -> Result<(), Refusal> {
        if !column.field.indexed {
            return Ok(());
        }
        self.fields.searches.insert(column.field.id);
        let (open, close) = match column.column.stored {
            StorageType::Text if self.is_mysql() => ("LEFT(", format!(", {ARMORED_INDEX_PREFIX})")),
            StorageType::Bytes if self.is_mysql() => ("LEFT(", format!(", {RAW_INDEX_PREFIX})")),
            StorageType::Text => ("pg_catalog.left(", format!(", {ARMORED_INDEX_PREFIX})")),
            StorageType::Bytes => ("pg_catalog.substr(", format!(", 1, {RAW_INDEX_PREFIX})")),
            StorageType::Other => return Err(unlike(column)),
        };
        let (first, last) = self.text.name_tokens(at).ok_or_else(|| {
            Refusal::on(
                column.field,
                "the place of the column in the text is in doubt",
                "write the column's name without a cast or brackets",
            )
        })?;
        self.splices.insert_before(first, open);
        self.splices.insert_behind(last, close);
        Ok(())
    }
}

/// Returns the only item of a sub-select's list.
fn only_item(query: &Query) -> Option<&Expr> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ }] => Some(expr),
        _ => None,
    }
}

/// Returns true for `ARRAY[…]`.
fn is_constructor(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inside) => is_constructor(inside),
        Expr::Array(_) => true,
        _ => false,
    }
}

/// Returns true if a cast to the type changes neither the sealed values nor the values themselves.
fn is_stored_as(column: Protected<'_>, data_type: &DataType) -> bool {
    match (column.column.stored, column.field.declared) {
        (StorageType::Text, Declared::Characters) => cast::is_text(data_type),
        (StorageType::Bytes, Declared::Bytea) => matches!(data_type, DataType::Bytea),
        _ => false,
    }
}

/// Refuses to compare values of a column whose equal values have unequal ciphertexts.
pub(crate) fn require_equality(column: Protected<'_>) -> Result<(), Refusal> {
    if column.field.equality {
        return Ok(());
    }
    if column.field.indexed {
        return Err(Refusal::on(
            column.field,
            "a label with a blind index can be compared only by =, <>, IN and ANY, as a condition of its own",
            "write it as a condition of its own, or make the label deterministic",
        ));
    }
    Err(Refusal::on(
        column.field,
        "equal values of this column have different ciphertexts, so it can't be compared",
        "make the label deterministic, or compare in the application",
    ))
}

fn unlike(column: Protected<'_>) -> Refusal {
    Refusal::on(
        column.field,
        "a sealed column is compared with what isn't sealed under the same label",
        "compare it with a literal, a parameter, or a column of the same label",
    )
}
