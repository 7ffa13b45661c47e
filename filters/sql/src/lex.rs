//! The tokens of a text, by the lexical rules of each dialect.
//!
//! The parser has a tokenizer of its own; this one says where tokens are and what they hold, and a text that
//! the two read differently is not believed (see [`crate::parse::position`]).

pub(crate) mod mysql;
pub(crate) mod postgres;

use std::ops::Range;

use zeroize::Zeroizing;

use crate::dialect::Dialect;

/// A token that is neither whitespace nor a comment.
#[derive(Clone)]
pub(crate) struct Token {
    /// Its bytes in the text.
    pub range: Range<usize>,
    pub kind: Kind,
}

/// What a token is. It holds literals: no `Debug`.
#[derive(Clone)]
pub(crate) enum Kind {
    /// An identifier or a keyword, folded and cut as PostgreSQL does; in MySQL in lower case, also in quotes.
    Word { value: String, quoted: bool },
    /// A string of any style.
    Text { value: Zeroizing<String>, style: Style },
    /// A number, without a sign.
    Number,
    /// `$n`, or the n-th `?` of the text; None when `n` is beyond what the protocol can carry.
    Parameter(Option<u16>),
    /// MySQL's `@name`, and `@@name` (of `@@scope.name` the first part), in lower case.
    Variable { name: String, system: bool },
    /// An operator or punctuation.
    Symbol,
}

/// How a string was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `'…'`; in MySQL also `"…"`, and escapes are decoded.
    Plain,
    /// `E'…'`
    Escape,
    /// `U&'…'`, also with `UESCAPE '…'`
    Unicode,
    /// `$tag$…$tag$`
    Dollar,
    /// MySQL's `x'…'` and `0x…`: an even number of hexadecimal digits.
    Hex,
    /// MySQL's `b'…'` and `0b…`: the digits.
    Bits,
    /// PostgreSQL's `N'…'`, `B'…'`, `X'…'`, and `U&'…'` that is not certain, whose value is left as written; MySQL's `N'…'`.
    Other,
}

/// The gaps between the tokens of a text, which hold whitespace and comments alone.
fn gaps<'t>(text: &'t str, tokens: &'t [Token]) -> impl Iterator<Item = Range<usize>> + 't {
    let starts = std::iter::once(0).chain(tokens.iter().map(|token| token.range.end));
    let ends = tokens.iter().map(|token| token.range.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| start..end)
}

/// The text can't be read with certainty.
#[derive(Debug)]
pub(crate) struct Doubt;

/// Why a text has no tokens.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It can't be read with certainty.
    Doubt,
    /// A server may execute a part of it that is written as a comment.
    Executed,
    /// It has more than [`MAX_TOKENS`].
    TooLong,
}

impl From<Doubt> for Unread {
    fn from(Doubt: Doubt) -> Self {
        Self::Doubt
    }
}

impl Token {
    /// Whether it is this keyword (given in lower case), unquoted.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word { value, quoted: false } if value == word)
    }

    /// The name, folded as the server does.
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The name of MySQL's `@name`, in lower case.
    pub fn user_variable(&self) -> Option<&str> {
        match &self.kind {
            Kind::Variable { name, system: false } => Some(name),
            _ => None,
        }
    }

    /// The token as written.
    pub fn source<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or_default()
    }

    /// Whether it is this operator or punctuation.
    pub fn is_symbol(&self, text: &str, symbol: &str) -> bool {
        matches!(self.kind, Kind::Symbol) && self.source(text) == symbol
    }
}

/// Tokens of a text that are told apart: each takes some 60 bytes, and a text may be as long as a message. A
/// statement of that many is made by a program, which can use parameters.
const MAX_TOKENS: usize = 65_536;

/// All tokens of a text, unless there are more than [`MAX_TOKENS`].
pub(crate) fn lex(text: &str, dialect: Dialect) -> Result<Vec<Token>, Unread> {
    match dialect {
        Dialect::Postgres => postgres::lex(text),
        Dialect::MySql(mysql) => mysql::lex(text, mysql),
    }
}

/// A comment.
pub(crate) struct CommentToken {
    /// What it says, without its marks.
    pub inner: Range<usize>,
    /// Whether it is `/* … */`.
    pub block: bool,
}

/// All comments of a text that has these tokens: they stand between its tokens.
pub(crate) fn comments(text: &str, tokens: &[Token], dialect: Dialect) -> Vec<CommentToken> {
    match dialect {
        Dialect::Postgres => postgres::comments(text, tokens),
        Dialect::MySql(_) => mysql::comments(text, tokens),
    }
}

/// Comments of a MySQL text that a server may execute, which are the same with and without.
pub(crate) fn executed_comments(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    mysql::executed(&mysql::comments(text, tokens), text)
}

/// A place in the text.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// PostgreSQL: up to where there is nothing but `+` and `-`, each an operator of its own.
    signs_end: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at.checked_add(ahead)?).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Advances while the byte satisfies the test.
    fn skip_while(&mut self, test: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&test) {
            self.advance(1);
        }
    }
}
