//! Reads the values that can be sealed: literals and parameters, with casts around them.

use sqlparser::ast::{
    ArrayElemTypeDef, CastKind, DataType, Expr, TypedString, UnaryOperator, Value, ValueWithSpan,
};
use zeroize::Zeroizing;

use super::cast::{self, TextShape};
use crate::{
    analysis::Operand,
    field::Declared,
    lex::{Kind, Style},
    walk::{mysql::literal::is_date, text::StatementText},
};

/// A value as it is written.
pub(crate) struct Written {
    pub content: Content,
    /// The first and last token of the whole value.
    pub outer: (usize, usize),
    /// The first and last token without the parentheses around the value.
    pub inner: (usize, usize),
    /// True if the value has a cast.
    pub cast: bool,
}

pub(crate) enum Content {
    Null,
    Literal {
        value: Zeroizing<String>,
        number: bool,
    },
    /// A parameter. `operand` says as what its value is read where it is searched for.
    Parameter {
        token: usize,
        number: u16,
        operand: Operand,
    },
}

/// What is known of the place that a value is written in.
#[derive(Clone, Copy)]
pub(crate) struct ValuePlace<'f> {
    pub declared: Declared,
    pub type_name: &'f str,
    /// True if the place takes an array of values.
    pub array: bool,
}

/// Why a value can't be sealed.
#[derive(PartialEq, Eq)]
pub(crate) struct Fault(pub &'static str, pub &'static str);

pub(crate) const FORM: Fault = Fault(
    "the value is neither a literal nor a parameter",
    "compute the value in the application, and send it as a literal or a parameter",
);
pub(crate) const PLACE: Fault =
    Fault("the value's place in the text is in doubt", "write the value without a cast");
const CAST: Fault =
    Fault("the cast may change the value", "send the value as the column keeps it, without a cast");
const STYLE: Fault = Fault("the literal's style isn't supported", "write it as '…', E'…' or $$…$$");
pub(crate) const NUMBER: Fault =
    Fault("the number is in a form that the server would rewrite", "write its digits, without an exponent");

impl Written {
    /// Makes a value without anything around it.
    pub fn alone(content: Content, tokens: (usize, usize)) -> Self {
        Self { content, outer: tokens, inner: tokens, cast: false }
    }
}

/// Reads values that are written in one place.
pub(crate) struct ValueReader<'a, 'f> {
    pub text: StatementText<'a>,
    pub place: ValuePlace<'f>,
}

impl ValueReader<'_, '_> {
    /// Reads what an expression says, and where it stands.
    pub fn read(&self, expr: &Expr) -> Result<Written, Fault> {
        match expr {
            Expr::Value(value) if self.is_mysql() => self.literal_mysql(value),
            Expr::Value(value) => self.literal(value),
            Expr::Prefixed { prefix, value } if self.is_mysql() => self.introduced(prefix, value),
            Expr::Nested(inside) => {
                let written = self.read(inside)?;
                let outer = self.text.around(written.outer, "(", ")").ok_or(PLACE)?;
                Ok(Written { outer, ..written })
            }
            Expr::UnaryOp { op: op @ (UnaryOperator::Minus | UnaryOperator::Plus), expr } => {
                self.signed(*op == UnaryOperator::Minus, self.read(expr)?)
            }
            Expr::Cast { kind, expr, data_type, format: None } => {
                let written = self.read(expr)?;
                let outer = match kind {
                    CastKind::DoubleColon => self.text.double_colon(written.outer, data_type),
                    CastKind::Cast => self.text.cast_as(written.outer, data_type),
                    CastKind::TryCast | CastKind::SafeCast => None,
                };
                self.cast(written.content, data_type, outer.ok_or(PLACE)?)
            }
            // PostgreSQL's grammar has no `text[] '…'`.
            Expr::TypedString(TypedString { data_type: DataType::Array(_), .. }) => Err(FORM),
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }) => {
                let written = match self.is_mysql() {
                    // `DATE '…'` takes no time of day, which a cast would cut off.
                    true => match self.literal_mysql(value)? {
                        Written { content: Content::Literal { value, .. }, .. }
                            if *data_type == DataType::Date && !is_date(&value) =>
                        {
                            return Err(CAST);
                        }
                        written => written,
                    },
                    false => self.literal(value)?,
                };
                let outer = self.text.type_before(written.outer, data_type).ok_or(PLACE)?;
                self.cast(written.content, data_type, outer)
            }
            _ => Err(FORM),
        }
    }

    /// Reads a literal or a parameter without a cast around it.
    fn literal(&self, ValueWithSpan { value, span }: &ValueWithSpan) -> Result<Written, Fault> {
        let index = self.text.token_at(*span).ok_or(PLACE)?;
        let token = self.text.segment.tokens.get(index).ok_or(PLACE)?;
        let source = token.source(self.text.segment.text);
        let content_of =
            |value: &str, number| Content::Literal { value: Zeroizing::new(value.to_owned()), number };
        let content = match (value, &token.kind) {
            // The parser's tree holds no values of strings (see `position`), so the token's value is taken.
            (Value::SingleQuotedString(_), Kind::Text { value, style: Style::Plain })
            | (Value::DollarQuotedString(_), Kind::Text { value, style: Style::Dollar })
            | (Value::UnicodeStringLiteral(_), Kind::Text { value, style: Style::Unicode })
            | (Value::EscapedStringLiteral(_), Kind::Text { value, style: Style::Escape }) => {
                content_of(value, false)
            }
            (_, Kind::Text { .. }) => return Err(STYLE),
            (Value::Number(theirs, false), Kind::Number) if theirs == source => {
                if !cast::is_plain_number(source) {
                    return Err(NUMBER);
                }
                content_of(source, true)
            }
            (Value::Boolean(true), _) if token.is_word("true") => content_of("true", false),
            (Value::Boolean(false), _) if token.is_word("false") => content_of("false", false),
            (Value::Null, _) if token.is_word("null") => Content::Null,
            (Value::Placeholder(theirs), Kind::Parameter(Some(number))) if theirs == source => {
                Content::Parameter { token: index, number: *number, operand: Operand::Declared }
            }
            _ => return Err(FORM),
        };
        Ok(Written::alone(content, (index, index)))
    }

    fn signed(&self, minus: bool, written: Written) -> Result<Written, Fault> {
        let Content::Literal { value, number: true } = written.content else { return Err(FORM) };
        let (first, last) = written.outer;
        let sign = first.checked_sub(1).ok_or(PLACE)?;
        if !self.text.segment.is_symbol(sign, if minus { "-" } else { "+" }) || value.starts_with('-') {
            return Err(PLACE);
        }
        // Minus zero means zero.
        let minus = minus && value.bytes().any(|b| matches!(b, b'1'..=b'9'));
        let value = if minus { Zeroizing::new(format!("-{}", value.as_str())) } else { value };
        let outer = (sign, last);
        Ok(Written {
            content: Content::Literal { value, number: true },
            outer,
            inner: outer,
            cast: written.cast,
        })
    }

    /// Returns the content if the cast surely leaves it unchanged.
    fn cast(&self, content: Content, data_type: &DataType, outer: (usize, usize)) -> Result<Written, Fault> {
        if self.is_mysql() {
            let value = match &content {
                Content::Literal { value, .. } => Some(value.as_str()),
                Content::Null | Content::Parameter { .. } => None,
            };
            if !matches!(content, Content::Null) && !self.place.survives_cast(data_type, value) {
                return Err(CAST);
            }
            return Ok(Written { content, outer, inner: outer, cast: true });
        }
        let data_type = match (self.place.array, data_type) {
            (false, data_type) => data_type,
            (true, DataType::Array(ArrayElemTypeDef::SquareBracket(of, None))) => of.as_ref(),
            (true, _) => return Err(CAST),
        };
        let shape = TextShape::of(data_type);
        let keeps = match (&content, shape) {
            _ if cast::is_declared(data_type, self.place.declared, self.place.type_name) => true,
            (_, None) => false,
            (Content::Null, _) => true,
            // The elements of an array aren't known here.
            (Content::Literal { value, .. }, Some(shape)) if !self.place.array => shape.keeps(value),
            // The value isn't known yet, so only a cast that keeps every text is allowed.
            (_, Some(_)) => cast::is_text(data_type),
        };
        if !keeps {
            return Err(CAST);
        }
        Ok(Written { content, outer, inner: outer, cast: true })
    }

    fn is_mysql(&self) -> bool {
        self.text.segment.dialect.is_mysql()
    }
}
