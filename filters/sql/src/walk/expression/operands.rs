//! Lists the operands of the expressions that PostgreSQL has.

use sqlparser::ast::{AccessExpr, Array, CeilFloorKind, Expr, Interval, Subscript, TypedString};

/// Returns the operands of an operator and the like. Returns None for an expression that has rules of its own, or isn't
/// understood.
pub(crate) fn operands(expr: &Expr) -> Option<Vec<&Expr>> {
    let operands = match expr {
        Expr::Value(_) | Expr::TypedString(TypedString { uses_odbc_syntax: false, .. }) => Vec::new(),
        Expr::IsFalse(a)
        | Expr::IsNotFalse(a)
        | Expr::IsTrue(a)
        | Expr::IsNotTrue(a)
        | Expr::IsNull(a)
        | Expr::IsNotNull(a)
        | Expr::IsUnknown(a)
        | Expr::IsNotUnknown(a)
        | Expr::IsJson { expr: a, kind: _, unique_keys: _, negated: _ }
        | Expr::IsNormalized { expr: a, form: _, negated: _ }
        | Expr::UnaryOp { op: _, expr: a }
        | Expr::Cast { kind: _, expr: a, data_type: _, format: None }
        | Expr::Extract { field: _, syntax: _, expr: a }
        | Expr::Ceil { expr: a, field: CeilFloorKind::Scale(_) }
        | Expr::Floor { expr: a, field: CeilFloorKind::Scale(_) }
        | Expr::Collate { expr: a, collation: _ } => vec![a.as_ref()],
        Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(_) }
        | Expr::Floor { expr, field: CeilFloorKind::DateTimeField(_) } => vec![expr.as_ref()],
        Expr::IsDistinctFrom(a, b)
        | Expr::IsNotDistinctFrom(a, b)
        | Expr::BinaryOp { left: a, op: _, right: b }
        | Expr::AnyOp { left: a, compare_op: _, right: b, is_some: _ }
        | Expr::AllOp { left: a, compare_op: _, right: b }
        | Expr::AtTimeZone { timestamp: a, time_zone: b }
        | Expr::Position { expr: a, r#in: b } => vec![a.as_ref(), b.as_ref()],
        Expr::Between { expr, negated: _, low, high } => vec![expr.as_ref(), low, high],
        Expr::Like { negated: _, any: false, expr, pattern, escape_char }
        | Expr::ILike { negated: _, any: false, expr, pattern, escape_char }
        | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
            some([Some(expr), Some(pattern), escape_char.as_deref()])
        }
        Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
            some([Some(expr), substring_from.as_deref(), substring_for.as_deref()])
        }
        Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
            let mut operands = some([Some(expr), trim_what.as_deref()]);
            operands.extend(trim_characters.iter().flatten());
            operands
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            some([Some(expr), Some(overlay_what), Some(overlay_from), overlay_for.as_deref()])
        }
        Expr::InList { expr, list, negated: _ } => {
            let mut operands = vec![expr.as_ref()];
            operands.extend(list);
            operands
        }
        Expr::Tuple(elements) | Expr::Array(Array { elem: elements, named: _ }) => elements.iter().collect(),
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => sets.iter().flatten().collect(),
        Expr::Interval(Interval {
            value,
            leading_field: _,
            leading_precision: _,
            last_field: _,
            fractional_seconds_precision: _,
        }) => vec![value.as_ref()],
        Expr::CompoundFieldAccess { root, access_chain } => {
            let mut operands = vec![root.as_ref()];
            for access in access_chain {
                match access {
                    // This is the name of a field, not of a column.
                    AccessExpr::Dot(Expr::Identifier(_)) => {}
                    AccessExpr::Dot(field) => operands.push(field),
                    AccessExpr::Subscript(Subscript::Index { index }) => operands.push(index),
                    AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride }) => {
                        operands.extend([lower_bound, upper_bound, stride].into_iter().flatten());
                    }
                }
            }
            operands
        }
        _ => return None,
    };
    Some(operands)
}

fn some<const N: usize>(operands: [Option<&Expr>; N]) -> Vec<&Expr> {
    operands.into_iter().flatten().collect()
}
