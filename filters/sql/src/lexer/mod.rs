//! PostgreSQL's lexical rules (`src/backend/parser/scan.l`), with `standard_conforming_strings` on.
//!
//! The parser has a tokenizer of its own; this one says where tokens are and what they hold, and a text that
//! the two read differently is not believed (see [`crate::position`]).

mod comment;
mod number;
mod operator;
mod string;
mod word;

use std::ops::Range;

use zeroize::Zeroizing;

pub(crate) use comment::{Comment, comments};

use crate::dialect::Dialect;

/// A token that is neither whitespace nor a comment.
pub(crate) struct Token {
    /// Its bytes in the text.
    pub range: Range<usize>,
    pub kind: Kind,
}

/// What a token is. It holds literals: no `Debug`.
pub(crate) enum Kind {
    /// An identifier or a keyword, folded and cut as the server does.
    Word { value: String, quoted: bool },
    /// A string of any style.
    Text { value: Zeroizing<String>, style: Style },
    /// A number, without a sign.
    Number,
    /// `$n`; None when `n` is beyond what the protocol can carry.
    Parameter(Option<u16>),
    /// An operator or punctuation.
    Symbol,
}

/// How a string was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `'…'`
    Plain,
    /// `E'…'`
    Escape,
    /// `$tag$…$tag$`
    Dollar,
    /// `U&'…'`, `N'…'`, `B'…'`, `X'…'`; its value is left as written.
    Other,
}

/// The text can't be read with certainty.
#[derive(Debug)]
pub(crate) struct Doubt;

/// Why a text has no tokens.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It can't be read with certainty.
    Doubt,
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
        Dialect::Postgres => postgres(text),
        Dialect::MySql(_) => Err(Unread::Doubt),
    }
}

fn postgres(text: &str) -> Result<Vec<Token>, Unread> {
    let mut cursor = Cursor { text, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        operator::skip_blank(&mut cursor)?;
        let start = cursor.at;
        let Some(first) = cursor.peek(0) else { break };
        if tokens.len() >= MAX_TOKENS {
            return Err(Unread::TooLong);
        }
        let kind = next(&mut cursor, first)?;
        if let Some(previous) = tokens.last() {
            check_neighbours(previous, &kind)?;
        }
        tokens.push(Token { range: start..cursor.at, kind });
    }
    Ok(tokens)
}

fn next(cursor: &mut Cursor<'_>, first: u8) -> Result<Kind, Doubt> {
    if let Some(kind) = string::prefixed(cursor)? {
        return Ok(kind);
    }
    match first {
        b'\'' => string::plain(cursor),
        b'"' => word::quoted(cursor),
        b'$' => string::dollar_or_parameter(cursor),
        b'0'..=b'9' => number::number(cursor),
        b'.' if cursor.peek(1).is_some_and(|b| b.is_ascii_digit()) => number::number(cursor),
        _ if word::is_start(first) => word::plain(cursor),
        _ => operator::symbol(cursor),
    }
}

/// `E'a'⏎'b\'c'` is one string whose second part is read with escapes too, and `U&"…" UESCAPE '!'` changes
/// what its first token means: neither is worth guessing.
fn check_neighbours(previous: &Token, kind: &Kind) -> Result<(), Doubt> {
    match (&previous.kind, kind) {
        (Kind::Text { style: Style::Escape, .. }, Kind::Text { style: Style::Plain, .. }) => Err(Doubt),
        (Kind::Word { quoted: true, .. }, Kind::Word { value, quoted: false }) if value == "uescape" => {
            Err(Doubt)
        }
        _ => Ok(()),
    }
}

/// A place in the text.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
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

#[cfg(test)]
mod tests {
    use super::Kind;
    use crate::dialect::Dialect;

    fn lex(text: &str) -> Result<Vec<super::Token>, super::Unread> {
        super::lex(text, Dialect::Postgres)
    }

    fn read(text: &str) -> Vec<String> {
        let describe = |kind: &Kind| match kind {
            Kind::Word { value, quoted } => format!("{}{value}", if *quoted { "Q:" } else { "" }),
            Kind::Text { value, .. } => format!("'{}", value.as_str()),
            Kind::Number => "#".to_owned(),
            Kind::Parameter(number) => format!("${}", number.map_or("?".to_owned(), |n| n.to_string())),
            Kind::Symbol => "S".to_owned(),
        };
        let tokens = lex(text).unwrap_or_else(|_| panic!("in doubt: {text}"));
        let symbol = |t: &super::Token| match t.kind {
            Kind::Symbol | Kind::Number => t.source(text).to_owned(),
            _ => describe(&t.kind),
        };
        tokens.iter().map(symbol).collect()
    }

    #[test]
    fn tokens_are_those_of_the_server() {
        for (text, expected) in [
            ("Select \"A\"\"b\" É$1", vec!["select", "Q:A\"b", "É$1"]),
            ("a--b\nc/*d/*e*/f*/g", vec!["a", "c", "g"]),
            ("a--b\rc", vec!["a", "c"]),
            ("'a''b' E'\\'' $$'$$ $a$$$$a$", vec!["'a'b", "''", "''", "'$$"]),
            ("'a\\' b", vec!["'a\\", "b"]),
            ("x'1' B'0' n'a' u&'b'", vec!["'1", "'0", "'a", "'b"]),
            ("U&\"\\0061\\\\\\+000062\"", vec!["Q:a\\b"]),
            ("$1 $2,$70000", vec!["$1", "$2", ",", "$?"]),
            (
                "1 1.5 .5 1e5 1.e-5 1..2 0x1F 1_0",
                vec!["1", "1.5", ".5", "1e5", "1.e-5", "1", "..", "2", "0x1F", "1_0"],
            ),
            (
                "a=-1 a<>-1 a@-1 a*-1 a->>b a||-1",
                vec![
                    "a", "=", "-", "1", "a", "<>", "-", "1", "a", "@-", "1", "a", "*", "-", "1", "a", "->>",
                    "b", "a", "||-", "1",
                ],
            ),
            ("a::b:=c:d[1]", vec!["a", "::", "b", ":=", "c", ":", "d", "[", "1", "]"]),
            ("E'\\x41\\101\\u0042\\U00000043\\n\\q'", vec!["'AABC\nq"]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_certain_is_in_doubt() {
        for text in [
            "'a",
            "E'a\\'",
            "\"a",
            "\"\"",
            "/* a",
            "/* /* */",
            "$a$ b",
            "$a",
            "$",
            "1a",
            "$1a",
            "\\",
            "{",
            "E'\\0'",
            "E'\\xff'",
            "E'\\u12'",
            "E'\\ud83d\\ude00'",
            "U&\"\\00\"",
            "U&\"!0061\" UESCAPE '!'",
            "E'a'\n'b'",
            "é' ",
        ] {
            assert!(lex(text).is_err(), "{text}");
        }
    }
}
