//! Keys of GROUP BY and ORDER BY that stand for a column of the select list by its position.

use sqlparser::ast::{Expr, UnaryOperator, Value, ValueWithSpan};

use crate::walk::expression::operands::operands;

/// What a server may make of a key.
pub(crate) enum Ordinal {
    /// An expression.
    No,
    /// The position that stands there, counted from 1.
    At(usize),
    /// A position, or an expression.
    InDoubt,
}

/// What a key is. A sign may be dropped (`+2` in MySQL) or counted (`- -2` in PostgreSQL), and MariaDB takes TRUE, NOT
/// FALSE and what is bound to a parameter for positions.
pub(crate) fn ordinal(key: &Expr, is_mysql: bool) -> Ordinal {
    let (mut key, mut has_sign) = (key, false);
    loop {
        key = match key {
            Expr::Nested(inside) => inside,
            Expr::UnaryOp { op: UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not, expr } => {
                has_sign = true;
                expr
            }
            _ => break,
        };
    }
    let Expr::Value(ValueWithSpan { value, span: _ }) = key else { return Ordinal::No };
    match value {
        Value::Number(digits, _) => match digits.parse() {
            Ok(position) if !has_sign => Ordinal::At(position),
            _ => Ordinal::InDoubt,
        },
        Value::HexStringLiteral(_) => Ordinal::InDoubt,
        Value::Boolean(_) | Value::Placeholder(_) if is_mysql => Ordinal::InDoubt,
        _ => Ordinal::No,
    }
}

/// The keys that stand in the brackets of one: `(1, 2)` is two, as ROLLUP, CUBE and GROUPING SETS have theirs. None of one
/// that stands for itself.
pub(crate) fn keys_within(key: &Expr) -> Option<Vec<&Expr>> {
    let is_several =
        |key: &Expr| matches!(key, Expr::Tuple(_) | Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_));
    if !is_several(key) {
        return None;
    }
    let (mut pending, mut found) = (vec![key], Vec::new());
    while let Some(key) = pending.pop() {
        match key {
            Expr::Nested(inside) => pending.push(inside),
            key if is_several(key) => pending.extend(operands(key).unwrap_or_default()),
            key => found.push(key),
        }
    }
    Some(found)
}
