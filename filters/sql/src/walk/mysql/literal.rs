//! Reads literals of MySQL, and says which casts leave them unchanged.

use sqlparser::ast::{DataType, ExactNumberInfo, Expr, Ident, TimezoneInfo, Value, ValueWithSpan};
use zeroize::Zeroizing;

use crate::{
    analysis::Operand,
    dialect::{Dialect, MySqlDialect},
    field::Declared,
    lex::{Kind, Style},
    parse::mysql::end_of_strings,
    walk::value::{
        cast::is_plain_number,
        reader::{Content, FORM, Fault, NUMBER, PLACE, ValuePlace, ValueReader, Written},
    },
};

const STYLE: Fault = Fault("the literal's style isn't supported", "write it as '…' or x'…'");
const CHARSET: Fault = Fault(
    "the literal is in another character set",
    "write it in the client's character set, without the name of another before it",
);
const BYTES: Fault =
    Fault("a string stands for bytes, and the client's character set is not UTF-8", "write it as x'…'");

impl ValueReader<'_, '_> {
    /// Reads a literal or a parameter without a cast around it.
    pub fn literal_mysql(&self, ValueWithSpan { value, span }: &ValueWithSpan) -> Result<Written, Fault> {
        let index = self.text.token_at(*span).ok_or(PLACE)?;
        let token = self.text.segment.tokens.get(index).ok_or(PLACE)?;
        let source = token.source(self.text.segment.text);
        let mut last = index;
        let content = match (value, &token.kind) {
            (
                Value::SingleQuotedString(_) | Value::DoubleQuotedString(_) | Value::NationalStringLiteral(_),
                Kind::Text { style: Style::Plain | Style::Other, .. },
            ) => {
                last = end_of_strings(&self.text.segment.tokens, index);
                let string = self.one_string(index, last)?;
                if self.is_decoded() && self.place.declared == Declared::Bytea && !string.is_ascii() {
                    return Err(BYTES);
                }
                self.place.text(&string)
            }
            (Value::HexStringLiteral(_), Kind::Text { value, style: Style::Hex }) => self.place.hex(value)?,
            (_, Kind::Text { .. }) => return Err(STYLE),
            (Value::Number(theirs, false), Kind::Number) if theirs == source => {
                let value = self.place.number(source).ok_or(NUMBER)?;
                match self.place.declared {
                    Declared::Bytea => self.place.text(&value),
                    _ => Content::Literal { value, number: true },
                }
            }
            (Value::Boolean(true), _) if token.is_word("true") => self.place.text("1"),
            (Value::Boolean(false), _) if token.is_word("false") => self.place.text("0"),
            (Value::Null, _) if token.is_word("null") => Content::Null,
            (Value::Placeholder(_), Kind::Parameter(Some(number))) => {
                Content::Parameter { token: index, number: *number, operand: Operand::Declared }
            }
            _ => return Err(FORM),
        };
        Ok(Written::alone(content, (index, last)))
    }

    /// Reads a string with a character set before it, such as `_utf8mb4'…'`.
    pub fn introduced(&self, prefix: &Ident, value: &Expr) -> Result<Written, Fault> {
        let first = self.text.token_at(prefix.span).ok_or(PLACE)?;
        let Expr::Value(literal) = value else { return Err(FORM) };
        let Written { content, outer: (begin, last), .. } = self.literal_mysql(literal)?;
        if begin != first.saturating_add(1) {
            return Err(PLACE);
        }
        let any = match prefix.value.to_ascii_lowercase().as_str() {
            // The string holds the client's own bytes, which were read as characters of another set.
            "_utf8mb4" | "_utf8mb3" | "_utf8" | "_binary" if self.is_decoded() => false,
            "_utf8mb4" | "_utf8mb3" | "_utf8" => true,
            // The string is bytes. They are the text's own characters only if the column holds characters or bytes.
            "_binary" => matches!(self.place.declared, Declared::Bytea | Declared::Characters),
            "_latin1" | "_ascii" => false,
            _ => return Err(CHARSET),
        };
        let tokens = self.text.segment.tokens.get(begin..=last).unwrap_or_default();
        if !any
            && !tokens.iter().all(|token| matches!(&token.kind, Kind::Text { value, .. } if value.is_ascii()))
        {
            return Err(CHARSET);
        }
        Ok(Written::alone(content, (first, last)))
    }

    /// Returns true if the text was decoded from another character set than UTF-8.
    fn is_decoded(&self) -> bool {
        matches!(self.text.segment.dialect, Dialect::MySql(MySqlDialect { decoded: true, .. }))
    }

    /// Joins strings that stand one behind the other.
    fn one_string(&self, first: usize, last: usize) -> Result<Zeroizing<String>, Fault> {
        let mut joined = Zeroizing::new(String::new());
        for token in self.text.segment.tokens.get(first..=last).unwrap_or_default() {
            match &token.kind {
                Kind::Text { value, style: Style::Plain } => joined.push_str(value),
                Kind::Text { value, style: Style::Other } if first == last => joined.push_str(value),
                _ => return Err(STYLE),
            }
        }
        Ok(joined)
    }
}

impl ValuePlace<'_> {
    /// Returns a number without its sign, as the server reads it. A column of characters gets it as the server writes it,
    /// which equals the text only if the number is written plainly.
    fn number(self, source: &str) -> Option<Zeroizing<String>> {
        if is_plain_number(source) {
            return Some(Zeroizing::new(source.to_owned()));
        }
        if !matches!(self.declared, Declared::Float | Declared::Numeric | Declared::Integer) {
            return None;
        }
        if source.contains(['e', 'E']) {
            // It is a double, whose shortest digits the server writes.
            let value: f64 = source.parse().ok()?;
            return value.is_finite().then(|| Zeroizing::new(value.to_string()));
        }
        let (whole, fraction) = source.split_once('.').unwrap_or((source, ""));
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let point = if fraction.is_empty() { "" } else { "." };
        Some(Zeroizing::new(format!("{whole}{point}{fraction}")))
    }

    /// Returns the content of a string: its characters, or the hexadecimal digits for a declared type of bytes.
    fn text(self, text: &str) -> Content {
        let value = match self.declared {
            Declared::Bytea => {
                let mut hex =
                    Zeroizing::new(String::with_capacity(text.len().saturating_mul(2).saturating_add(2)));
                hex.push_str("\\x");
                for byte in text.bytes() {
                    for digit in [byte >> 4, byte & 0xF] {
                        hex.extend(char::from_digit(u32::from(digit), 16));
                    }
                }
                hex
            }
            _ => Zeroizing::new(text.to_owned()),
        };
        Content::Literal { value, number: false }
    }

    /// Reads the digits of `x'…'` or `0x…`. They are bytes, but a number beside numbers.
    fn hex(self, digits: &str) -> Result<Content, Fault> {
        let digits = digits.to_ascii_lowercase();
        // `0xABC` means `0x0ABC`.
        let digits =
            Zeroizing::new(if digits.len().is_multiple_of(2) { digits } else { format!("0{digits}") });
        match self.declared {
            Declared::Bytea => Ok(Content::Literal {
                value: Zeroizing::new(format!("\\x{}", digits.as_str())),
                number: false,
            }),
            Declared::Characters => {
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let byte = |pair: &[u8]| match pair {
                    [high, low] => Some(digit(*high)?.checked_mul(16)?.checked_add(digit(*low)?)?),
                    _ => None,
                };
                let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
                let value = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(STYLE)?;
                Ok(Content::Literal { value: Zeroizing::new(value), number: false })
            }
            _ => Err(STYLE),
        }
    }

    /// Returns true if a cast to the type surely leaves a value unchanged. `value` is that of a literal; it is None for a
    /// parameter.
    pub fn survives_cast(self, data_type: &DataType, value: Option<&str>) -> bool {
        let declared = self.declared;
        match data_type {
            DataType::Char(None) => declared != Declared::Bytea,
            DataType::Binary(None) => matches!(declared, Declared::Characters | Declared::Bytea),
            // The cast takes only the digits that a string begins with, such as the 1 of `1e3`.
            DataType::Signed | DataType::SignedInteger => {
                let digits = |text: &str| text.strip_prefix('-').is_some_and(is_digits) || is_digits(text);
                declared == Declared::Integer && value.is_none_or(digits)
            }
            DataType::Unsigned | DataType::UnsignedInteger => {
                declared == Declared::Integer && value.is_some_and(is_digits)
            }
            DataType::Date => {
                declared == Declared::Date || (declared == Declared::Timestamp && value.is_some_and(is_date))
            }
            // This is a literal with its type, because MySQL has no such cast.
            DataType::Timestamp(None, TimezoneInfo::None) => declared == Declared::Timestamp,
            // These casts cut off fractions of a second.
            DataType::Datetime(None) => {
                declared == Declared::Timestamp && value.is_some_and(|value| !value.contains('.'))
            }
            DataType::Time(None, TimezoneInfo::None) => {
                declared == Declared::Time && value.is_some_and(|value| !value.contains('.'))
            }
            DataType::JSON => matches!(declared, Declared::Json | Declared::Jsonb),
            DataType::Double(ExactNumberInfo::None) => declared == Declared::Float,
            DataType::Decimal(_) => {
                let written = data_type.to_string().to_ascii_lowercase().replace(' ', "");
                declared == Declared::Numeric && written.replace("decimal", "numeric") == self.type_name
            }
            _ => false,
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if the text has no time of day, which a cast to a date would cut off.
pub(crate) fn is_date(text: &str) -> bool {
    const LONGEST: usize = "2020-01-31".len();
    text.len() <= LONGEST
        && text.contains('-')
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}
