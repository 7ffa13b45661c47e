//! Texts that are too long to be held: INSERT, REPLACE and UPDATE of one table whose values are literals. What their begin does to
//! tables is analyzed; what comes behind it is read byte by byte, and may hold nothing that names another table.
//!
//! # Why nothing else can be named
//! Behind the VALUES of an INSERT or REPLACE there are only literals and a few words. Behind the SET of an UPDATE of one table there
//! is no bracket and no word that begins a query, and without a query no other table can be named.

use crate::dialect::{Dialect, MySqlDialect};
use crate::lex::{Kind, Token, lex};

/// Bytes of the longest word.
const MAX_WORD: usize = 64;
/// Words behind the VALUES.
const OF_VALUES: [&str; 15] = [
    "null",
    "default",
    "true",
    "false",
    "x",
    "b",
    "n",
    "_binary",
    "_utf8mb4",
    "_utf8mb3",
    "_utf8",
    "_latin1",
    "date",
    "time",
    "timestamp",
];
/// Words that the rest of an UPDATE may not hold.
const OF_QUERIES: [&str; 8] =
    ["select", "values", "table", "with", "returning", "into", "procedure", "union"];

/// The begin of such a text.
pub struct LongHead {
    /// Its bytes, of the text in UTF-8.
    pub length: usize,
    /// A text that does to tables what the long one does.
    pub probe: String,
    /// Reads what comes behind it.
    pub rest: LongRest,
}

/// Reads what comes behind the begin of such a text, of whatever length.
pub struct LongRest {
    is_update: bool,
    /// A backslash in a string is an escape.
    escapes: bool,
    /// What stands in double quotes is a string.
    double_quotes: bool,
    /// No byte of ASCII is a part of a character beyond ASCII.
    is_wide: bool,
    /// A question mark is a value's place.
    placeholders: bool,
    word: Word,
    state: State,
}

/// The letters of the word that is being read, in lower case.
struct Word {
    letters: [u8; MAX_WORD],
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside of everything, behind a sign or not.
    Between { sign: bool },
    /// In a string.
    String { quote: u8 },
    /// Behind a backslash in it.
    Escape { quote: u8 },
    /// Behind a quote in it, which ends it or is the first of two.
    Quote { quote: u8 },
    /// In a name in backticks.
    Name,
    /// What is not understood has come.
    Refused,
}

impl LongHead {
    /// Reads the begin of a text, in UTF-8, of which the end may be missing. `is_wide` says that in the client's character set no byte
    /// of ASCII is a part of another character, and `placeholders` that a question mark is a value's place, as in a text that is prepared.
    /// None where the text is of another kind.
    pub fn read(text: &str, dialect: MySqlDialect, is_wide: bool, placeholders: bool) -> Option<Self> {
        let text = text.get(..text.find(['\'', '"']).unwrap_or(text.len()))?;
        let tokens = lex(text, Dialect::MySql(dialect)).ok()?;
        let is_update = tokens.first()?.is_word("update");
        let last = match is_update {
            true => end_of_table(text, &tokens)?,
            false => end_of_columns(text, &tokens)?,
        };
        // It is whole, for another one follows.
        let length = tokens.get(last).filter(|_| tokens.len() > last.saturating_add(1))?.range.end;
        let head = text.get(..length)?;
        let probe = if is_update { format!("{head} a = 1") } else { format!("{head} (NULL)") };
        let rest = LongRest {
            is_update,
            escapes: !dialect.no_backslash_escapes,
            double_quotes: !dialect.ansi_quotes,
            is_wide,
            placeholders,
            word: Word { letters: [0; MAX_WORD], length: 0 },
            state: State::Between { sign: false },
        };
        Some(Self { length, probe, rest })
    }
}

/// The VALUES of `INSERT … table (columns) VALUES`.
fn end_of_columns(text: &str, tokens: &[Token]) -> Option<usize> {
    let first = tokens.first()?;
    if !first.is_word("insert") && !first.is_word("replace") {
        return None;
    }
    let last = tokens.iter().position(|token| token.is_word("values") || token.is_word("value"))?;
    let is_plain = |token: &Token| match &token.kind {
        Kind::Word { value, quoted } => *quoted || !OF_QUERIES.contains(&value.as_str()) || value == "into",
        Kind::Symbol => ["(", ")", ",", "."].iter().any(|symbol| token.is_symbol(text, symbol)),
        _ => false,
    };
    tokens.get(..last)?.iter().all(is_plain).then_some(last)
}

/// The SET of `UPDATE table SET`.
fn end_of_table(text: &str, tokens: &[Token]) -> Option<usize> {
    let mut at = 1_usize;
    let is_word = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    while is_word(at, "low_priority") || is_word(at, "ignore") {
        at = at.saturating_add(1);
    }
    let mut name = || {
        tokens.get(at)?.name()?;
        at = at.saturating_add(1);
        Some(())
    };
    name()?;
    if tokens.get(at).is_some_and(|token| token.is_symbol(text, ".")) {
        at = at.saturating_add(1);
        tokens.get(at)?.name()?;
        at = at.saturating_add(1);
    }
    is_word(at, "set").then_some(at)
}

impl LongRest {
    /// Reads a piece. A semicolon is not understood, for another statement may follow. Returns where what is not understood begins: from there on nothing may be sent.
    pub fn push(&mut self, piece: &[u8]) -> Option<usize> {
        piece.iter().position(|byte| {
            self.state = self.after(*byte);
            self.state == State::Refused
        })
    }

    fn after(&mut self, byte: u8) -> State {
        match self.state {
            State::Refused => State::Refused,
            State::String { .. } | State::Escape { .. } if !byte.is_ascii() && !self.is_wide => {
                State::Refused
            }
            State::String { quote } if byte == quote => State::Quote { quote },
            State::String { quote } if byte == b'\\' && self.escapes => State::Escape { quote },
            State::String { quote } | State::Escape { quote } => State::String { quote },
            State::Quote { quote } if byte == quote => State::String { quote },
            State::Name if byte == b'`' => State::Between { sign: false },
            State::Name if byte.is_ascii_graphic() || byte == b' ' => State::Name,
            State::Name => State::Refused,
            State::Between { sign } => self.between(byte, sign),
            State::Quote { .. } => self.between(byte, false),
        }
    }

    fn between(&mut self, byte: u8, sign: bool) -> State {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') {
            return if self.word.push(byte) { State::Between { sign: false } } else { State::Refused };
        }
        if !self.ends_word() {
            return State::Refused;
        }
        match byte {
            b'\'' => State::String { quote: byte },
            b'"' if self.double_quotes => State::String { quote: byte },
            b'`' if self.is_update => State::Name,
            b',' => State::Between { sign: false },
            b'?' if self.placeholders => State::Between { sign: false },
            b'(' | b')' if !self.is_update => State::Between { sign: false },
            b'=' | b'<' | b'>' if self.is_update => State::Between { sign: false },
            // Two of them may begin a comment.
            b'-' | b'+' if !sign => State::Between { sign: true },
            _ if is_blank(byte) => State::Between { sign },
            _ => State::Refused,
        }
    }

    /// Whether the word that has ended may stand there.
    fn ends_word(&mut self) -> bool {
        let word = self.word.take();
        let is_number = |word: &[u8]| {
            word.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b'x'))
                && word.first().is_some_and(|first| first.is_ascii_digit() || *first == b'.')
        };
        let among = |words: &[&str], word: &[u8]| words.iter().any(|known| known.as_bytes() == word);
        match (word.is_empty(), self.is_update) {
            (true, _) => true,
            (false, true) => !word.split(|byte| *byte == b'.').any(|part| among(&OF_QUERIES, part)),
            (false, false) => is_number(word) || among(&OF_VALUES, word),
        }
    }
}

impl Word {
    /// Whether there was room for the letter.
    fn push(&mut self, byte: u8) -> bool {
        match self.letters.get_mut(self.length) {
            Some(letter) => {
                *letter = byte.to_ascii_lowercase();
                self.length = self.length.saturating_add(1);
                true
            }
            None => false,
        }
    }

    fn take(&mut self) -> &[u8] {
        let length = std::mem::take(&mut self.length);
        self.letters.get(..length).unwrap_or_default()
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
