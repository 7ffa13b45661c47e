//! Finds the keys of GROUP BY and ORDER BY that stand for a column of the select list by its position.

use sqlparser::ast::{Expr, UnaryOperator, Value, ValueWithSpan};

use crate::walk::expression::operands::operands;

/// How the server reads a key.
pub(crate) enum Ordinal {
    /// It reads the key as an expression.
    No,
    /// It reads the key as this position, counted from 1.
    At(usize),
    /// It may read the key as a position or as an expression.
    InDoubt,
}

/// Says how the server reads a key. A server may drop a sign (`+2` in MySQL) or apply it (`- -2` in PostgreSQL), and
/// MariaDB takes TRUE, NOT FALSE and the value of a parameter for positions.
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

/// Returns the keys within the brackets of a key: `(1, 2)` holds two, and so do ROLLUP, CUBE and GROUPING SETS. Returns
/// None for a key without others in it.
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
