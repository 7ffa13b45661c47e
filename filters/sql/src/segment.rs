//! A text cut into statements.

mod bounds;
mod compound;
pub(crate) mod reader;

use std::ops::Range;

use crate::{
    budget::Budget,
    dialect::Dialect,
    lex::{Kind, Token, Unread, lex},
};

/// One statement: a part of the text, and its tokens with ranges relative to the part.
pub(crate) struct Segment<'t> {
    /// Where the part starts in the whole text.
    pub offset: usize,
    /// The part, without the semicolon.
    pub text: &'t str,
    pub tokens: Vec<Token>,
    /// Whether it may be executed when the keysets have other keys than when it was read.
    pub outlives_keys: bool,
    pub dialect: Dialect,
    /// What the analysis of the text may still do.
    pub budget: &'t Budget,
}

impl<'t> Segment<'t> {
    /// Whether the token is this operator or punctuation.
    pub fn is_symbol(&self, index: usize, symbol: &str) -> bool {
        self.tokens.get(index).is_some_and(|t| t.is_symbol(self.text, symbol))
    }

    /// Whether the token is this keyword (given in lower case).
    pub fn is_word(&self, index: usize, word: &str) -> bool {
        self.tokens.get(index).is_some_and(|t| t.is_word(word))
    }

    /// The unquoted word at a place, folded; empty when there is none.
    pub fn word(&self, index: usize) -> &str {
        match self.tokens.get(index).map(|token| &token.kind) {
            Some(Kind::Word { value, quoted: false }) => value,
            _ => "",
        }
    }

    /// Whether the token is a word that the parser doesn't know, and without which the statement is the same to us: the
    /// ONLY before a table's name, for what is right for a table is right for its own rows; and what kind of lock
    /// `FOR NO KEY UPDATE` and `FOR KEY SHARE` take.
    pub fn is_passed_over(&self, index: usize) -> bool {
        self.dialect == Dialect::Postgres && (self.is_only(index) || self.is_kind_of_lock(index))
    }

    fn is_kind_of_lock(&self, index: usize) -> bool {
        let follows = |start: usize, words: &[&str]| {
            words.iter().enumerate().all(|(ahead, word)| self.is_word(start.saturating_add(ahead), word))
        };
        let at =
            |back: usize, words: &[&str]| index.checked_sub(back).is_some_and(|start| follows(start, words));
        at(1, &["for", "no", "key", "update"])
            || at(2, &["for", "no", "key", "update"])
            || at(1, &["for", "key", "share"])
    }

    fn is_only(&self, index: usize) -> bool {
        let before = index.checked_sub(1);
        let follows = |word| before.is_some_and(|before| self.is_word(before, word));
        self.is_word(index, "only")
            && (["from", "join", "update", "using", "into"].into_iter().any(follows)
                || before.is_some_and(|before| self.is_symbol(before, ",")))
            && self.tokens.get(index.saturating_add(1)).is_some_and(|next| next.name().is_some())
    }

    /// The statement up to a token.
    pub fn up_to(&self, index: usize) -> Segment<'t> {
        let end = self.tokens.get(index).map_or(self.text.len(), |t| t.range.start);
        let text = self.text.get(..end).unwrap_or_default();
        Segment {
            offset: self.offset,
            text,
            tokens: self.tokens.get(..index).map_or_else(|| self.tokens.clone(), <[Token]>::to_vec),
            outlives_keys: self.outlives_keys,
            dialect: self.dialect,
            budget: self.budget,
        }
    }

    /// The statement up to a part of it.
    pub fn up_to_query(&self, part: &Segment<'_>) -> Segment<'t> {
        let start = part.offset.saturating_sub(self.offset);
        let end = self.tokens.iter().position(|token| token.range.start >= start);
        self.up_to(end.unwrap_or(self.tokens.len()))
    }

    /// The statement's tokens of a range, as a statement of its own.
    pub fn part(&self, range: Range<usize>) -> Segment<'t> {
        Segment {
            offset: self.offset,
            text: self.text,
            tokens: self.tokens.get(range).unwrap_or_default().to_vec(),
            outlives_keys: self.outlives_keys,
            dialect: self.dialect,
            budget: self.budget,
        }
    }

    /// The part of the statement from a token on, as a statement of its own.
    pub fn starting_at(&self, index: usize) -> Segment<'t> {
        let start = self.tokens.get(index).map_or(self.text.len(), |t| t.range.start);
        let text = self.text.get(start..).unwrap_or_default();
        let moved = |token: &Token| Token {
            range: token.range.start.saturating_sub(start)..token.range.end.saturating_sub(start),
            kind: token.kind.clone(),
        };
        Segment {
            offset: self.offset.saturating_add(start),
            text,
            tokens: self.tokens.iter().skip(index).map(moved).collect(),
            outlives_keys: self.outlives_keys,
            dialect: self.dialect,
            budget: self.budget,
        }
    }
}

/// The statements of a text, without the empty ones.
/// In MySQL a statement whose body may hold statements goes to the end of the text.
pub(crate) fn split<'t>(
    text: &'t str,
    dialect: Dialect,
    budget: &'t Budget,
) -> Result<Vec<Segment<'t>>, Unread> {
    let mut segments = Vec::new();
    let mut tokens: Vec<Token> = Vec::new();
    let (mut start, mut depth) = (0_usize, 0_usize);
    // Such a statement goes to the end.
    let mut compound = false;
    // A routine's body may be statements with semicolons between `BEGIN` and `END`; where it ends is not worth
    // guessing.
    let mut atomic = false;
    for token in lex(text, dialect)? {
        let is = |symbol| token.is_symbol(text, symbol);
        if is("(") || is("[") {
            depth = depth.saturating_add(1);
        } else if is(")") || is("]") {
            depth = depth.saturating_sub(1);
        } else if token.is_word("atomic") && depth == 0 && dialect == Dialect::Postgres {
            // Anywhere else it is a name.
            atomic |= tokens.last().is_some_and(|t| t.is_word("begin")) && creates_routine(&tokens);
        } else if is(";") && depth == 0 && !atomic && !compound {
            compound = dialect.is_mysql() && compound::begins(&tokens, text);
        }
        if is(";") && depth == 0 && !atomic && !compound {
            let end = token.range.start;
            let text = text.get(start..end).unwrap_or_default();
            segments.push(Segment { offset: start, text, tokens, outlives_keys: false, dialect, budget });
            tokens = Vec::new();
            start = token.range.end;
            continue;
        }
        let range = token.range.start.saturating_sub(start)..token.range.end.saturating_sub(start);
        tokens.push(Token { range, kind: token.kind });
    }
    let text = text.get(start..).unwrap_or_default();
    segments.push(Segment { offset: start, text, tokens, outlives_keys: false, dialect, budget });
    segments.retain(|s| !s.tokens.is_empty());
    Ok(segments)
}

/// `CREATE [OR REPLACE] FUNCTION | PROCEDURE`
fn creates_routine(tokens: &[Token]) -> bool {
    let is = |index: usize, word: &str| tokens.get(index).is_some_and(|token| token.is_word(word));
    let object = if is(1, "or") && is(2, "replace") { 3 } else { 1 };
    is(0, "create") && (is(object, "function") || is(object, "procedure"))
}

/// Whether the statement is of a kind whose body may hold statements, in MySQL.
pub(crate) fn is_compound(segment: &Segment<'_>) -> bool {
    compound::begins(&segment.tokens, segment.text)
}

/// What is made, changed or dropped by CREATE, ALTER or DROP in MySQL: its place among the tokens.
pub(crate) fn object(segment: &Segment<'_>) -> usize {
    compound::object(&segment.tokens, segment.text)
}
