//! Values that can be sealed: literals and parameters, with casts around them.

pub(crate) mod cast;
pub(super) mod parameter;

use sqlparser::ast::{
    ArrayElemTypeDef, CastKind, DataType, Expr, TypedString, UnaryOperator, Value, ValueWithSpan,
};
use zeroize::Zeroizing;

use self::cast::TextShape;
use crate::{
    analysis::{Form, Operand, ParameterUse, Replacement},
    catalog::Stored,
    dialect::Dialect,
    field::Declared,
    lex::{self, Kind, Style, Token},
    refusal::Refusal,
    resolve::protected::Protected,
    walk::{Walker, mysql::literal::is_date},
};

/// A value as written.
pub(crate) struct Written {
    pub content: Content,
    /// The first and last token of all of it.
    pub outer: (usize, usize),
    /// The same without the parentheses around it.
    pub inner: (usize, usize),
    /// Whether there is a cast within.
    cast: bool,
}

pub(crate) enum Content {
    Null,
    Literal {
        value: Zeroizing<String>,
        number: bool,
    },
    /// `operand`: as what its value is read where it is looked for.
    Parameter {
        token: usize,
        number: u16,
        operand: Operand,
    },
}

/// What is known of the place a value is written in.
#[derive(Clone, Copy)]
pub(crate) struct ValueContext<'f> {
    pub declared: Declared,
    pub type_name: &'f str,
    /// Whether it is an array of values.
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
const SPACE: Fault = Fault("the value touches a word", "put a space between them");

impl Written {
    /// Without anything around it.
    pub fn alone(content: Content, tokens: (usize, usize)) -> Self {
        Self { content, outer: tokens, inner: tokens, cast: false }
    }
}

impl<'c> Walker<'_, 'c> {
    /// A value that is stored in a protected column, or searched for in it.
    pub fn value(&mut self, at: Protected<'c>, use_: ParameterUse, expr: &Expr) -> Result<(), Refusal> {
        self.sealed(at, use_, expr, Form::Value)
    }

    /// An array of values that a protected column is searched for: a literal or a parameter.
    pub fn array_value(&mut self, at: Protected<'c>, expr: &Expr) -> Result<(), Refusal> {
        self.sealed(at, ParameterUse::Search, expr, Form::Array)
    }

    /// Arrays of values that are stored, one in each row.
    pub fn arrays_of_values(&mut self, at: Protected<'c>, expr: &Expr) -> Result<(), Refusal> {
        self.sealed(at, ParameterUse::Store, expr, Form::Array)
    }

    /// The tokens of `::type` behind a name.
    pub fn cast_behind(&self, name: &Expr, data_type: &DataType) -> Option<(usize, usize)> {
        let (_, last) = self.name_tokens(name)?;
        let (_, end) = self.double_colon((last, last), data_type)?;
        Some((last.checked_add(1)?, end))
    }

    /// A CASE, perhaps in brackets, and the tokens of `::type` behind it.
    pub fn cast_behind_case<'e>(
        &self,
        expr: &'e Expr,
        data_type: &DataType,
    ) -> Option<(&'e Expr, (usize, usize))> {
        let (case, last) = self.end_of_case(expr)?;
        let (_, end) = self.double_colon((last, last), data_type)?;
        Some((case, (last.checked_add(1)?, end)))
    }

    fn end_of_case<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, usize)> {
        match expr {
            Expr::Nested(inside) => {
                let (case, last) = self.end_of_case(inside)?;
                let close = last.checked_add(1)?;
                self.segment.is_symbol(close, ")").then_some((case, close))
            }
            Expr::Case { end_token, .. } => {
                let end = self.positions.token_at(end_token.0.span)?;
                self.segment.is_word(end, "end").then_some((expr, end))
            }
            _ => None,
        }
    }

    /// Refuses a value in whose place nothing can be put, for it touches a word.
    pub fn replaceable(&self, at: Protected<'c>, tokens: (usize, usize)) -> Result<(), Refusal> {
        let Fault(reason, remedy) = SPACE;
        if self.stands_alone(tokens) { Ok(()) } else { Err(Refusal::on(at.field, reason, remedy)) }
    }

    /// A value in a protected place, in the form that is asked for.
    pub fn sealed(
        &mut self,
        at: Protected<'c>,
        use_: ParameterUse,
        expr: &Expr,
        form: Form,
    ) -> Result<(), Refusal> {
        let array = form == Form::Array;
        let fault = |Fault(reason, remedy)| Refusal::on(at.field, reason, remedy);
        let Written { content, outer: _, inner, cast } = self.read_value(at, use_, expr, array)?;
        match use_ {
            ParameterUse::Store => self.writes.insert(at.field.id),
            ParameterUse::Search => self.searches.insert(at.field.id),
        };
        let replaces = cast || matches!(content, Content::Literal { .. });
        if replaces {
            self.replaceable(at, inner)?;
        }
        if use_ == ParameterUse::Store && matches!(content, Content::Null) {
            self.nulls.insert(at.field.id);
        }
        match content {
            Content::Null if cast => self.splice(inner, Replacement::Text("NULL".to_owned())),
            Content::Null => {}
            Content::Literal { value: _, number: true } if array => return Err(fault(FORM)),
            Content::Literal { value, number: _ } => {
                self.seal(at, use_, inner, form, value);
                if let Some(type_) = self.given_type(at, array).filter(|_| array) {
                    self.insert_behind(inner.1, type_.to_owned());
                }
            }
            Content::Parameter { token, number, operand } => {
                self.parameter(at, use_, form, (token, number, operand))?;
                let type_ = self.given_type(at, array);
                let text = (cast || type_.is_some()).then(|| match self.is_mysql() {
                    true => "?".to_owned(),
                    false => format!("${number}{}", type_.unwrap_or_default()),
                });
                if use_ == ParameterUse::Store && !array {
                    self.stored_at(inner, number, text);
                } else if let Some(text) = text {
                    self.splice(inner, Replacement::Text(text));
                }
            }
        }
        Ok(())
    }

    /// The type that a sealed value must be given, where the column doesn't.
    fn given_type(&self, at: Protected<'c>, array: bool) -> Option<&'static str> {
        match (self.untyped && !self.is_mysql(), array, at.column.stored) {
            (true, true, Stored::Bytes) => Some("::bytea[]"),
            (true, true, _) => Some("::text[]"),
            (true, false, Stored::Bytes) => Some("::bytea"),
            _ => None,
        }
    }

    /// Whether what replaces the tokens can't run together with the words around it.
    fn stands_alone(&self, (first, last): (usize, usize)) -> bool {
        let range = |index: usize| self.segment.tokens.get(index).map(|t| t.range.clone());
        let (Some(first), Some(last)) = (range(first), range(last)) else { return false };
        let bytes = self.segment.text.as_bytes();
        let runs_on = |byte: Option<&u8>| {
            byte.is_some_and(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'\'' | b'"') || *b >= 0x80
            })
        };
        let before = first.start.checked_sub(1).and_then(|at| bytes.get(at));
        !runs_on(before) && !runs_on(bytes.get(last.end))
    }

    /// What an expression says, and where it stands.
    pub fn written(&self, expr: &Expr, reading: ValueContext<'_>) -> Result<Written, Fault> {
        match expr {
            Expr::Value(value) if self.is_mysql() => self.bare_mysql(value, reading),
            Expr::Value(value) => self.bare(value),
            Expr::Prefixed { prefix, value } if self.is_mysql() => self.introduced(prefix, value, reading),
            Expr::Nested(inside) => {
                let written = self.written(inside, reading)?;
                let outer = self.around(written.outer, "(", ")").ok_or(PLACE)?;
                Ok(Written { outer, ..written })
            }
            Expr::UnaryOp { op: op @ (UnaryOperator::Minus | UnaryOperator::Plus), expr } => {
                self.signed(*op == UnaryOperator::Minus, self.written(expr, reading)?)
            }
            Expr::Cast { kind, expr, data_type, format: None } => {
                let written = self.written(expr, reading)?;
                let outer = match kind {
                    CastKind::DoubleColon => self.double_colon(written.outer, data_type),
                    CastKind::Cast => self.cast_as(written.outer, data_type),
                    CastKind::TryCast | CastKind::SafeCast => None,
                };
                self.cast(written.content, data_type, outer.ok_or(PLACE)?, reading)
            }
            // `text[] '…'` is no grammar of PostgreSQL's.
            Expr::TypedString(TypedString { data_type: DataType::Array(_), .. }) => Err(FORM),
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }) => {
                let written = match self.is_mysql() {
                    // `DATE '…'` takes no time of day, which a cast would cut off.
                    true => match self.bare_mysql(value, reading)? {
                        Written { content: Content::Literal { value, .. }, .. }
                            if *data_type == DataType::Date && !is_date(&value) =>
                        {
                            return Err(CAST);
                        }
                        written => written,
                    },
                    false => self.bare(value)?,
                };
                let (index, last) = written.outer;
                let words = type_tokens(data_type, self.catalog.dialect);
                let first = index.checked_sub(words.len()).ok_or(PLACE)?;
                if !self.reads(first, &words) {
                    return Err(PLACE);
                }
                self.cast(written.content, data_type, (first, last), reading)
            }
            _ => Err(FORM),
        }
    }

    /// A literal or a parameter, alone.
    fn bare(&self, ValueWithSpan { value, span }: &ValueWithSpan) -> Result<Written, Fault> {
        let index = self.positions.token_at(*span).ok_or(PLACE)?;
        let token = self.segment.tokens.get(index).ok_or(PLACE)?;
        let source = token.source(self.segment.text);
        let literal =
            |value: &str, number| Content::Literal { value: Zeroizing::new(value.to_owned()), number };
        let content = match (value, &token.kind) {
            // The tree holds no string's value (see `position`): ours counts.
            (Value::SingleQuotedString(_), Kind::Text { value, style: Style::Plain })
            | (Value::DollarQuotedString(_), Kind::Text { value, style: Style::Dollar })
            | (Value::EscapedStringLiteral(_), Kind::Text { value, style: Style::Escape }) => {
                literal(value, false)
            }
            (_, Kind::Text { .. }) => return Err(STYLE),
            (Value::Number(theirs, false), Kind::Number) if theirs == source => {
                if !cast::is_plain_number(source) {
                    return Err(NUMBER);
                }
                literal(source, true)
            }
            (Value::Boolean(true), _) if token.is_word("true") => literal("true", false),
            (Value::Boolean(false), _) if token.is_word("false") => literal("false", false),
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
        if !self.segment.is_symbol(sign, if minus { "-" } else { "+" }) || value.starts_with('-') {
            return Err(PLACE);
        }
        // Minus zero is zero.
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

    /// The content, if the cast surely leaves it as it is.
    fn cast(
        &self,
        content: Content,
        data_type: &DataType,
        outer: (usize, usize),
        reading: ValueContext<'_>,
    ) -> Result<Written, Fault> {
        if self.is_mysql() {
            let value = match &content {
                Content::Literal { value, .. } => Some(value.as_str()),
                Content::Null | Content::Parameter { .. } => None,
            };
            if !matches!(content, Content::Null) && !reading.survives_cast(data_type, value) {
                return Err(CAST);
            }
            return Ok(Written { content, outer, inner: outer, cast: true });
        }
        let data_type = match (reading.array, data_type) {
            (false, data_type) => data_type,
            (true, DataType::Array(ArrayElemTypeDef::SquareBracket(of, None))) => of.as_ref(),
            (true, _) => return Err(CAST),
        };
        let shape = TextShape::of(data_type);
        let keeps = match (&content, shape) {
            _ if cast::is_declared(data_type, reading.declared, reading.type_name) => true,
            (_, None) => false,
            (Content::Null, _) => true,
            // What its elements are isn't known here.
            (Content::Literal { value, .. }, Some(shape)) if !reading.array => shape.keeps(value),
            // Its value isn't known yet: only what keeps every text.
            (_, Some(_)) => cast::is_text(data_type),
        };
        if !keeps {
            return Err(CAST);
        }
        Ok(Written { content, outer, inner: outer, cast: true })
    }

    fn around(&self, (first, last): (usize, usize), open: &str, close: &str) -> Option<(usize, usize)> {
        let (first, last) = (first.checked_sub(1)?, last.checked_add(1)?);
        (self.segment.is_symbol(first, open) && self.segment.is_symbol(last, close)).then_some((first, last))
    }

    /// `value::type`
    fn double_colon(&self, (first, last): (usize, usize), data_type: &DataType) -> Option<(usize, usize)> {
        let words = type_tokens(data_type, self.catalog.dialect);
        let colons = last.checked_add(1)?;
        let end = colons.checked_add(words.len())?;
        (self.segment.is_symbol(colons, "::") && self.reads(colons.checked_add(1)?, &words))
            .then_some((first, end))
    }

    /// `CAST(value AS type)`
    fn cast_as(&self, (first, last): (usize, usize), data_type: &DataType) -> Option<(usize, usize)> {
        let words = type_tokens(data_type, self.catalog.dialect);
        let (cast, as_) = (first.checked_sub(2)?, last.checked_add(1)?);
        let close = as_.checked_add(words.len())?.checked_add(1)?;
        (self.segment.is_word(cast, "cast")
            && self.segment.is_symbol(cast.checked_add(1)?, "(")
            && self.segment.is_word(as_, "as")
            && self.reads(as_.checked_add(1)?, &words)
            && self.segment.is_symbol(close, ")"))
        .then_some((cast, close))
    }

    /// Whether the token is this word, bracket, comma or number of a type.
    fn is_part(&self, index: usize, part: &str) -> bool {
        let token = self.segment.tokens.get(index);
        self.segment.is_word(index, part) || token.is_some_and(|t| t.source(self.segment.text) == part)
    }

    /// Whether the tokens from an index on are these words, and no more of a type follows them.
    fn reads(&self, index: usize, words: &[String]) -> bool {
        let all = words
            .iter()
            .enumerate()
            .all(|(i, word)| index.checked_add(i).is_some_and(|index| self.is_part(index, word)));
        let next = index.saturating_add(words.len());
        all && !words.is_empty()
            && !["(", "[", ".", "%"].iter().any(|symbol| self.segment.is_symbol(next, symbol))
    }
}

/// The words and brackets of a type as the parser would write it.
fn type_tokens(data_type: &DataType, dialect: Dialect) -> Vec<String> {
    let written = data_type.to_string();
    let tokens = lex::lex(&written, dialect).unwrap_or_default();
    let part = |token: &Token| token.name().unwrap_or_else(|| token.source(&written)).to_owned();
    tokens.iter().map(part).collect()
}
