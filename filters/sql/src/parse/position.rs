//! Agreement between the two readings of a text, and from the parser's lines and columns to our tokens.

use std::{borrow::Cow, collections::HashMap};

use sqlparser::{
    ast::DollarQuotedString,
    tokenizer::{Location, Span, Token as ParserToken, TokenWithSpan, Tokenizer, Whitespace, Word},
};

use zeroize::Zeroize;

use crate::{
    budget::Budget,
    dialect::Dialect,
    lex::{self, Doubt, Kind, Token},
    parse::dialect::with_parsed,
};

/// Which token starts at which of the parser's locations.
pub(crate) struct Positions {
    starts: HashMap<Location, usize>,
}

impl Positions {
    /// The index of the token that starts where the span starts.
    pub fn token_at(&self, span: Span) -> Option<usize> {
        self.starts.get(&span.start).copied()
    }
}

/// The parser's tokens of a text, once they are seen to be ours: as many, of the same kinds, each at the same
/// place and of the same extent. What strings hold is taken out: no value gets into the syntax tree, and none has
/// a say in how the text is understood.
pub(crate) fn agree(
    text: &str,
    tokens: &[Token],
    dialect: Dialect,
) -> Result<(Vec<TokenWithSpan>, Positions), Doubt> {
    let plain = without_executed(text, tokens, dialect);
    let theirs = with_parsed(dialect, Budget::new(), |parsed, _| {
        Tokenizer::new(parsed, &plain).tokenize_with_location().map_err(|_| Doubt)
    })?;
    let mut theirs = theirs.into_iter().filter(|t| !is_blank(&t.token));
    let mut read = Vec::with_capacity(tokens.len());
    let mut clock = Clock { text, at: 0, location: Location::new(1, 1) };
    let mut starts = HashMap::with_capacity(tokens.len());
    for (index, our) in tokens.iter().enumerate() {
        let start = clock.go_to(our.range.start);
        let end = clock.go_to(our.range.end);
        let mut their = theirs.next().ok_or(Doubt)?;
        if matches!(our.kind, Kind::Text { .. }) {
            while their.span.end < end {
                join(&mut their, theirs.next().ok_or(Doubt)?)?;
            }
        }
        if their.span.start != start || their.span.end != end || !same(text, our, &their.token) {
            return Err(Doubt);
        }
        starts.insert(start, index);
        empty(&mut their.token);
        read.push(their);
    }
    match theirs.next() {
        Some(_) => Err(Doubt),
        None => Ok((read, Positions { starts })),
    }
}

/// Takes as one string what the server takes as one: a string that goes on on the next line, and `UESCAPE '…'` behind one.
fn join(string: &mut TokenWithSpan, mut next: TokenWithSpan) -> Result<(), Doubt> {
    match &next.token {
        ParserToken::SingleQuotedString(_) => {}
        ParserToken::Word(word) if word.value.eq_ignore_ascii_case("uescape") => {}
        _ => return Err(Doubt),
    }
    string.span.end = next.span.end;
    empty(&mut next.token);
    Ok(())
}

/// The text with blanks in the place of comments that a MySQL may execute, and that are the same with and without: the
/// parser would read them as a part of the text.
fn without_executed<'t>(text: &'t str, tokens: &[Token], dialect: Dialect) -> Cow<'t, str> {
    let executed = match dialect {
        Dialect::MySql(_) if text.contains("/*!") => lex::executed_comments(text, tokens),
        _ => return Cow::Borrowed(text),
    };
    let mut read = text.to_owned();
    for range in executed {
        // They hold ASCII alone, on one line or several: each byte stays a byte.
        let blank = text.get(range.clone()).unwrap_or_default();
        let blank: String = blank.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        read.replace_range(range, &blank);
    }
    Cow::Owned(read)
}

/// Not every comment: a hint would be one that some server reads.
fn is_blank(token: &ParserToken) -> bool {
    matches!(
        token,
        ParserToken::Whitespace(
            Whitespace::Space
                | Whitespace::Newline
                | Whitespace::Tab
                | Whitespace::SingleLineComment { .. }
                | Whitespace::MultiLineComment(_)
        )
    )
}

fn same(text: &str, our: &Token, their: &ParserToken) -> bool {
    match (&our.kind, their) {
        (Kind::Word { quoted: true, .. }, ParserToken::Word(Word { quote_style: Some(quote), .. })) => {
            // `U&"…"` too ends with its quote.
            our.source(text).ends_with(*quote)
        }
        (Kind::Variable { .. }, ParserToken::Word(Word { quote_style: None, value, .. })) => {
            value == our.source(text)
        }
        (Kind::Word { quoted: false, .. }, ParserToken::Word(Word { quote_style: None, value, .. })) => {
            value == our.source(text)
        }
        (
            Kind::Text { .. },
            ParserToken::SingleQuotedString(_)
            | ParserToken::DoubleQuotedString(_)
            | ParserToken::DollarQuotedString(_)
            | ParserToken::EscapedStringLiteral(_)
            | ParserToken::UnicodeStringLiteral(_)
            | ParserToken::NationalStringLiteral(_)
            | ParserToken::SingleQuotedByteStringLiteral(_)
            | ParserToken::HexStringLiteral(_),
        ) => true,
        (Kind::Number, ParserToken::Number(_, false)) => true,
        (Kind::Parameter(_), ParserToken::Placeholder(name)) => name == our.source(text),
        (
            Kind::Symbol,
            ParserToken::Word(_)
            | ParserToken::Number(..)
            | ParserToken::SingleQuotedString(_)
            | ParserToken::EOF,
        ) => false,
        (Kind::Symbol, ParserToken::Neq) => matches!(our.source(text), "<>" | "!="),
        (Kind::Symbol, other) => other.to_string() == our.source(text),
        _ => false,
    }
}

/// Takes out what a string holds.
fn empty(token: &mut ParserToken) {
    match token {
        ParserToken::SingleQuotedString(value)
        | ParserToken::DoubleQuotedString(value)
        | ParserToken::DollarQuotedString(DollarQuotedString { value, tag: _ })
        | ParserToken::EscapedStringLiteral(value)
        | ParserToken::UnicodeStringLiteral(value)
        | ParserToken::NationalStringLiteral(value)
        | ParserToken::SingleQuotedByteStringLiteral(value)
        | ParserToken::HexStringLiteral(value) => value.zeroize(),
        _ => {}
    }
}

/// Walks the text once, counting lines and columns as the parser's tokenizer does: columns in characters from
/// 1, a new line after every `\n` and after nothing else.
struct Clock<'t> {
    text: &'t str,
    at: usize,
    location: Location,
}

impl Clock<'_> {
    fn go_to(&mut self, byte: usize) -> Location {
        for character in self.text.get(self.at..byte).unwrap_or_default().chars() {
            if character == '\n' {
                self.location.line = self.location.line.saturating_add(1);
                self.location.column = 1;
            } else {
                self.location.column = self.location.column.saturating_add(1);
            }
        }
        self.at = byte;
        self.location
    }
}
