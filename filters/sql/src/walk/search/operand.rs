//! Finds the type as which the server compares a column with a typed value.
//!
//! The types of both sides choose the operator. It may compare as another type than the column's, in which other values are
//! equal, or there may be no operator. A sealed column is compared only as its own type, so a value is allowed only if this
//! finds the same rows.
//!
//! # What PostgreSQL does
//! - `text` and `varchar` beside each other are compared as `text`; `bpchar` beside `varchar` as `bpchar`, and beside
//!   `text` as `text`: then the column has lost its trailing spaces, and the value keeps its own.
//! - Integers and `numeric` are compared exactly, but the cast of a value to a narrower integer may fail; beside a
//!   float, `numeric` is compared as `float8`.
//! - A `date` beside a `timestamp` is its midnight. Beside a `timestamptz`, both depend on the session's zone.
//! - All others have operators for their own type only.

use sqlparser::ast::{ArrayElemTypeDef, DataType, Expr, TypedString, UnaryOperator, Value, ValueWithSpan};

use crate::{
    analysis::Operand,
    field::{Declared, Field},
    refusal::Refusal,
    resolve::protected::Protected,
    walk::{
        query::items::is_null,
        value::{
            cast::{self, TextShape},
            reader::{Content, Fault},
        },
    },
};

const NO_OPERATOR: Fault = Fault(
    "the server compares the column with a value of this type in another way, or not at all",
    "send the value without a cast, or cast it to the declared type",
);
const LITERAL: Fault = Fault(
    "the column is compared with a number or a boolean that is no string, for which the server has no operator",
    "write the value as a string",
);
const TRAILING_SPACES: Fault = Fault(
    "the value ends with spaces, which count where char(n) is compared with text, so that no row is equal to it",
    "send the value without a cast, or cast it to the declared char(n)",
);
const TIME_OF_DAY: Fault = Fault(
    "the value has a time of day, so that no date is equal to it",
    "compare with a date, or cast the value to date",
);
const OUT_OF_RANGE: Fault = Fault(
    "the value may not fit in the integer that it is cast to",
    "send the value without a cast, or cast it to the declared type",
);
const MIXED: Fault = Fault(
    "the values of a list are of several types, one of which decides how all of them are compared",
    "cast all of them to the declared type, or none; and write all as literals or all as parameters",
);

/// Where the type of a value comes from.
enum Typed<'e> {
    /// It has none of its own: a string or a parameter takes the column's type.
    Not,
    Cast(&'e DataType),
    Number,
    Boolean,
}

impl Typed<'_> {
    fn of(expr: &Expr) -> Typed<'_> {
        match expr {
            Expr::Nested(inside)
            | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inside } => {
                Typed::of(inside)
            }
            Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => {
                Typed::Cast(data_type)
            }
            Expr::Value(ValueWithSpan { value: Value::Number(..), .. }) => Typed::Number,
            Expr::Value(ValueWithSpan { value: Value::Boolean(_), .. }) => Typed::Boolean,
            _ => Typed::Not,
        }
    }
}

/// Checks that the column's own comparison finds the rows that the server's would, and sets the type as which the value of
/// a parameter is read.
pub(crate) fn check(field: &Field, expr: &Expr, array: bool, content: &mut Content) -> Result<(), Fault> {
    let data_type = match (Typed::of(expr), field.declared) {
        (Typed::Cast(data_type), _) => data_type,
        (Typed::Not, _)
        | (Typed::Number, Declared::Integer | Declared::Numeric | Declared::Float)
        | (Typed::Boolean, Declared::Boolean) => return Ok(()),
        (Typed::Number | Typed::Boolean, _) => return Err(LITERAL),
    };
    let literal = match &*content {
        Content::Literal { value, number: _ } => Some(value.as_str()),
        Content::Null | Content::Parameter { .. } => None,
    };
    let operand = of_type(field, data_type, array)?.max(casts_before(field, expr, array, literal)?);
    match content {
        Content::Null => Ok(()),
        Content::Parameter { operand: read_as, .. } => {
            *read_as = operand;
            Ok(())
        }
        Content::Literal { value, number: _ } if array => check_array(operand, value),
        Content::Literal { value, number: _ } => check_literal(field, operand, data_type, value),
    }
}

/// Says what the casts before the last one demand of a value. Not every type can be cast to the next one. The casts that
/// remain are to characters and to the declared type, and from a type with a known text to characters.
fn casts_before(
    field: &Field,
    mut expr: &Expr,
    array: bool,
    literal: Option<&str>,
) -> Result<Operand, Fault> {
    let (mut narrowest, mut next): (Operand, Option<&DataType>) = (Operand::Declared, None);
    loop {
        let (data_type, inside) = match expr {
            Expr::Nested(inside) | Expr::UnaryOp { op: _, expr: inside } => {
                expr = inside;
                continue;
            }
            Expr::Cast { expr: inside, data_type, .. } => (data_type, Some(inside)),
            Expr::TypedString(TypedString { data_type, .. }) => (data_type, None),
            _ => return Ok(narrowest),
        };
        if let Some(next) = next {
            narrowest = match (of_type(field, data_type, array), TextShape::of(data_type)) {
                _ if cast::is_text(data_type) => narrowest,
                (Ok(operand), _) if cast::is_declared(data_type, field.declared, &field.type_name) => {
                    narrowest.max(operand)
                }
                (_, Some(TextShape::Integer))
                    if literal.is_some_and(|text| !is_within(text, bits(data_type))) =>
                {
                    return Err(OUT_OF_RANGE);
                }
                // The type takes nothing but JSON.
                (_, Some(shape)) if cast::is_text(next) && !matches!(shape, TextShape::Any) => narrowest,
                _ => return Err(NO_OPERATOR),
            };
        }
        next = Some(data_type);
        let Some(inside) = inside else { return Ok(narrowest) };
        expr = inside;
    }
}

/// Returns as what a parameter of a type is read beside the column.
pub(crate) fn of_type(field: &Field, data_type: &DataType, array: bool) -> Result<Operand, Fault> {
    let data_type = match (array, data_type) {
        (false, data_type) => data_type,
        (true, DataType::Array(ArrayElemTypeDef::SquareBracket(of, None))) => of.as_ref(),
        (true, _) => return Err(NO_OPERATOR),
    };
    match (field.declared, TextShape::of(data_type)) {
        (Declared::Integer, Some(TextShape::Integer)) => Ok(match bits(data_type) {
            bits if bits >= declared_bits(&field.type_name) => Operand::Declared,
            16 => Operand::Int2,
            _ => Operand::Int4,
        }),
        _ if cast::is_declared(data_type, field.declared, &field.type_name) => Ok(Operand::Declared),
        (Declared::Padded, _) if matches!(data_type, DataType::Text) => Ok(Operand::Text),
        (Declared::Padded, _) if cast::is_text(data_type) => Ok(Operand::Declared),
        (Declared::Integer, Some(TextShape::Decimal | TextShape::Float))
        | (Declared::Numeric, Some(TextShape::Integer))
        | (Declared::Date, Some(TextShape::Timestamp))
        | (Declared::Timestamp, Some(TextShape::Date)) => Ok(Operand::Declared),
        _ => Err(NO_OPERATOR),
    }
}

/// Returns the same for a parameter whose type PREPARE names.
pub(crate) fn of_parameter(field: &Field, data_type: &DataType, array: bool) -> Result<Operand, Fault> {
    match (field.declared, of_type(field, data_type, array)?) {
        (Declared::Date, _) if !matches!(TextShape::of(data_type), Some(TextShape::Date)) => Err(TIME_OF_DAY),
        (_, operand) => Ok(operand),
    }
}

/// Checks a value that EXECUTE assigns to a parameter.
pub(crate) fn check_assigned(operand: Operand, content: &Content, array: bool) -> Result<(), Fault> {
    match content {
        Content::Literal { value, number: _ } if array => check_array(operand, value),
        Content::Literal { value, number: _ } => check_value(operand, value),
        Content::Null | Content::Parameter { .. } => Ok(()),
    }
}

fn check_value(operand: Operand, value: &str) -> Result<(), Fault> {
    let bits = match operand {
        Operand::Declared => return Ok(()),
        Operand::Text if value.ends_with(' ') => return Err(TRAILING_SPACES),
        Operand::Text => return Ok(()),
        Operand::Int2 => 16,
        Operand::Int4 => 32,
    };
    if is_within(value, bits) { Ok(()) } else { Err(OUT_OF_RANGE) }
}

fn check_literal(field: &Field, operand: Operand, data_type: &DataType, value: &str) -> Result<(), Fault> {
    check_value(operand, value)?;
    match (field.declared, TextShape::of(data_type)) {
        (Declared::Numeric, Some(TextShape::Integer)) if !is_within(value, bits(data_type)) => {
            Err(OUT_OF_RANGE)
        }
        (Declared::Date, Some(TextShape::Timestamp)) if !value.ends_with(" 00:00:00") => Err(TIME_OF_DAY),
        _ => Ok(()),
    }
}

/// Checks the elements of an array as far as this is possible without their types: plain numbers only.
fn check_array(operand: Operand, array: &str) -> Result<(), Fault> {
    let elements = || array.split(',').map(|element| element.trim_matches(['{', '}', ' ']));
    let all_within = |bits| elements().all(|e| e.eq_ignore_ascii_case("null") || is_within(e, bits));
    match operand {
        Operand::Declared => Ok(()),
        // Spaces around an element count only within quotes.
        Operand::Text if array.contains(" \"") || array.contains('\\') => Err(TRAILING_SPACES),
        Operand::Text => Ok(()),
        Operand::Int2 if array == "{}" || all_within(16) => Ok(()),
        Operand::Int4 if array == "{}" || all_within(32) => Ok(()),
        Operand::Int2 | Operand::Int4 => Err(OUT_OF_RANGE),
    }
}

/// Returns true if the text is an integer of that many bits.
pub(crate) fn is_within(value: &str, bits: u32) -> bool {
    let value = value.trim();
    match bits {
        16 => value.parse::<i16>().is_ok(),
        32 => value.parse::<i32>().is_ok(),
        _ => value.parse::<i64>().is_ok(),
    }
}

fn bits(data_type: &DataType) -> u32 {
    match data_type {
        DataType::Int2(_) | DataType::SmallInt(_) => 16,
        DataType::Int8(_) | DataType::BigInt(_) => 64,
        _ => 32,
    }
}

fn declared_bits(type_name: &str) -> u32 {
    match type_name {
        "int2" | "smallint" => 16,
        "int8" | "bigint" => 64,
        _ => 32,
    }
}

/// Refuses lists in which one value's type changes what the others mean. A string beside a `text`, for example, is a `text`
/// too, and keeps its trailing spaces.
///
/// The column's own type counts among the types of an `IN`, and not among those of an `ARRAY[…]`.
pub(crate) fn refuse_mixed_types(column: Protected<'_>, list: &[Expr], array: bool) -> Result<(), Refusal> {
    let field = column.field;
    let is_number = match field.declared {
        Declared::Padded | Declared::Date | Declared::Timestamp => false,
        Declared::Integer | Declared::Numeric if array => true,
        _ => return Ok(()),
    };
    let is_foreign = |data_type: &DataType| match (field.declared, TextShape::of(data_type)) {
        (Declared::Integer, _) => of_type(field, data_type, false) != Ok(Operand::Declared),
        (Declared::Padded, Some(TextShape::Any)) => matches!(data_type, DataType::Text),
        _ => !cast::is_declared(data_type, field.declared, &field.type_name),
    };
    // A number is an `int4` if it fits.
    let is_narrow = field.declared == Declared::Numeric || declared_bits(&field.type_name) > 32;
    let (mut foreign, mut strings, mut parameters) = (false, false, false);
    for value in list.iter().filter(|value| !is_null(value)) {
        match Typed::of(value) {
            Typed::Cast(data_type) => foreign |= is_foreign(data_type),
            Typed::Number if is_number => foreign |= is_narrow,
            _ if is_placeholder(value) => parameters = true,
            _ => strings = true,
        }
    }
    // The type of a parameter is known only when it is bound.
    let is_bound = parameters && matches!(field.declared, Declared::Padded | Declared::Date);
    let may_be_foreign = foreign || is_bound;
    if (foreign && parameters) || (may_be_foreign && strings) {
        let Fault(reason, remedy) = MIXED;
        return Err(Refusal::on(field, reason, remedy));
    }
    Ok(())
}

fn is_placeholder(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inside) => is_placeholder(inside),
        Expr::Value(value) => matches!(value.value, Value::Placeholder(_)),
        _ => false,
    }
}
