//! Finds where the parts of a statement's tree stand in its text.

use sqlparser::{
    ast::{DataType, Expr},
    tokenizer::Span,
};

use crate::{
    dialect::Dialect,
    lex::{self, Token},
    parse::position::Positions,
    segment::Segment,
};

/// A statement's text beside its tree. A token is named by its index, and a part by its first and last token.
#[derive(Clone, Copy)]
pub(crate) struct StatementText<'a> {
    pub segment: &'a Segment<'a>,
    positions: &'a Positions,
}

impl<'a> StatementText<'a> {
    pub fn new(segment: &'a Segment<'a>, positions: &'a Positions) -> Self {
        Self { segment, positions }
    }

    /// Returns the token at a place of the parser's.
    pub fn token_at(&self, span: Span) -> Option<usize> {
        self.positions.token_at(span)
    }

    /// Returns the tokens `first..=last` as they stand in the text.
    pub fn source(&self, (first, last): (usize, usize)) -> String {
        let range = |index: usize| self.segment.tokens.get(index).map(|token| token.range.clone());
        let source = range(first).zip(range(last)).and_then(|(f, l)| self.segment.text.get(f.start..l.end));
        source.unwrap_or_default().to_owned()
    }

    /// Returns the first and last token of a column's name.
    pub fn name_tokens(&self, at: &Expr) -> Option<(usize, usize)> {
        match at {
            Expr::Nested(inside) => self.name_tokens(inside),
            Expr::Identifier(ident) => {
                let index = self.token_at(ident.span)?;
                Some((index, index))
            }
            Expr::CompoundIdentifier(parts) => {
                let first = self.token_at(parts.first()?.span)?;
                let last = self.token_at(parts.last()?.span)?;
                Some((first, last))
            }
            _ => None,
        }
    }

    /// Returns the first and last token of a column's name with the brackets around it.
    pub fn bracketed(&self, at: &Expr) -> Option<(usize, usize)> {
        let Expr::Nested(inside) = at else { return self.name_tokens(at) };
        let (first, last) = self.bracketed(inside)?;
        let (open, close) = (first.checked_sub(1)?, last.checked_add(1)?);
        (self.segment.is_symbol(open, "(") && self.segment.is_symbol(close, ")")).then_some((open, close))
    }

    /// Returns the tokens of `::type` behind a name.
    pub fn cast_behind(&self, name: &Expr, data_type: &DataType) -> Option<(usize, usize)> {
        let (_, last) = self.name_tokens(name)?;
        let (_, end) = self.double_colon((last, last), data_type)?;
        Some((last.checked_add(1)?, end))
    }

    /// Returns a CASE, which may stand in brackets, and the tokens of `::type` behind it.
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
                let end = self.token_at(end_token.0.span)?;
                self.segment.is_word(end, "end").then_some((expr, end))
            }
            _ => None,
        }
    }

    /// Returns true if a replacement of the tokens can't run together with the words around it.
    pub fn stands_alone(&self, (first, last): (usize, usize)) -> bool {
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

    /// Widens the tokens by the symbols `open` and `close`, if these stand directly around them.
    pub fn around(&self, (first, last): (usize, usize), open: &str, close: &str) -> Option<(usize, usize)> {
        let (first, last) = (first.checked_sub(1)?, last.checked_add(1)?);
        (self.segment.is_symbol(first, open) && self.segment.is_symbol(last, close)).then_some((first, last))
    }

    /// Returns the tokens of `value::type`.
    pub fn double_colon(
        &self,
        (first, last): (usize, usize),
        data_type: &DataType,
    ) -> Option<(usize, usize)> {
        let words = type_tokens(data_type, self.segment.dialect);
        let colons = last.checked_add(1)?;
        let end = colons.checked_add(words.len())?;
        (self.segment.is_symbol(colons, "::") && self.is_type(colons.checked_add(1)?, &words))
            .then_some((first, end))
    }

    /// Returns the tokens of `CAST(value AS type)`.
    pub fn cast_as(&self, (first, last): (usize, usize), data_type: &DataType) -> Option<(usize, usize)> {
        let words = type_tokens(data_type, self.segment.dialect);
        let (cast, as_) = (first.checked_sub(2)?, last.checked_add(1)?);
        let close = as_.checked_add(words.len())?.checked_add(1)?;
        (self.segment.is_word(cast, "cast")
            && self.segment.is_symbol(cast.checked_add(1)?, "(")
            && self.segment.is_word(as_, "as")
            && self.is_type(as_.checked_add(1)?, &words)
            && self.segment.is_symbol(close, ")"))
        .then_some((cast, close))
    }

    /// Returns the tokens of `type 'value'`.
    pub fn type_before(&self, (index, last): (usize, usize), data_type: &DataType) -> Option<(usize, usize)> {
        let words = type_tokens(data_type, self.segment.dialect);
        let first = index.checked_sub(words.len())?;
        self.is_type(first, &words).then_some((first, last))
    }

    /// Returns true if the token is this word, bracket, comma or number of a type.
    fn is_part(&self, index: usize, part: &str) -> bool {
        let token = self.segment.tokens.get(index);
        self.segment.is_word(index, part) || token.is_some_and(|t| t.source(self.segment.text) == part)
    }

    /// Returns true if the tokens from an index on are these words, and no more of a type follows.
    fn is_type(&self, index: usize, words: &[String]) -> bool {
        let all = words
            .iter()
            .enumerate()
            .all(|(i, word)| index.checked_add(i).is_some_and(|index| self.is_part(index, word)));
        let next = index.saturating_add(words.len());
        all && !words.is_empty()
            && !["(", "[", ".", "%"].iter().any(|symbol| self.segment.is_symbol(next, symbol))
    }
}

/// Returns the words and brackets of a type as the parser would write it.
fn type_tokens(data_type: &DataType, dialect: Dialect) -> Vec<String> {
    let written = data_type.to_string();
    let tokens = lex::lex(&written, dialect).unwrap_or_default();
    let part = |token: &Token| token.name().unwrap_or_else(|| token.source(&written)).to_owned();
    tokens.iter().map(part).collect()
}
