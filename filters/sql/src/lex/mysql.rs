//! MySQL's and MariaDB's lexical rules (`sql/sql_lex.cc` of both), for a client whose character set is UTF-8, or was decoded
//! from one of single bytes.
//!
//! Where the two servers, or versions of them, read a text differently, it is in doubt.

pub(crate) mod binary;
mod blank;
mod number;
mod operator;
mod string;
mod word;

pub(super) use blank::{comments, executed};

use super::{CommentToken, Cursor, Doubt, Kind, MAX_TOKENS, Style, Token, Unread};
use crate::dialect::MySqlDialect;

/// All tokens of a text.
pub(super) fn lex(text: &str, dialect: MySqlDialect) -> Result<Vec<Token>, Unread> {
    // The servers take it for the end of the text, or for nothing.
    if text.contains('\0') {
        return Err(Unread::Doubt);
    }
    let mut cursor = Cursor { text, at: 0, signs_end: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    let mut parameters = 0_u16;
    loop {
        blank::skip(&mut cursor)?;
        let start = cursor.at;
        let Some(first) = cursor.peek(0) else { break };
        if tokens.len() >= MAX_TOKENS {
            return Err(Unread::TooLong);
        }
        let kind = match (first, tokens.as_slice()) {
            (b'?', _) => operator::parameter(&mut cursor, &mut parameters)?,
            _ if follows_name(text, &tokens, start) => word::behind_dot(&mut cursor)?,
            (b'.', [.., Token { range, kind: Kind::Word { quoted: false, .. } }]) if range.end == start => {
                cursor.advance(1);
                Kind::Symbol
            }
            _ => next(&mut cursor, first, dialect)?,
        };
        if dialect.decoded && !reads_as_letters(&cursor, start, &kind) {
            return Err(Unread::Doubt);
        }
        tokens.push(Token { range: start..cursor.at, kind });
    }
    Ok(tokens)
}

/// Whether what begins here stands right behind a name and a dot, so that it is a name whatever it looks like.
fn follows_name(text: &str, tokens: &[Token], start: usize) -> bool {
    let [.., name, dot] = tokens else { return false };
    matches!(name.kind, Kind::Word { quoted: false, .. })
        && name.range.end == dot.range.start
        && dot.is_symbol(text, ".")
        && dot.range.end == start
        && text.as_bytes().get(start).is_some_and(|byte| word::is_part(*byte))
}

/// Whether a token that was decoded from a set of single bytes is one to the server. Each byte of UTF-8 beyond ASCII is a
/// letter to it; of single bytes some are blanks, and behind `--` control characters begin a comment as blanks do. Any other that
/// is no letter ends in a syntax error.
fn reads_as_letters(cursor: &Cursor<'_>, start: usize, kind: &Kind) -> bool {
    if matches!(kind, Kind::Text { .. } | Kind::Word { quoted: true, .. }) {
        return true;
    }
    let source = cursor.since(start);
    let hides_comment = source.starts_with('-')
        && cursor.text.get(..start).is_some_and(|before| before.ends_with('-'))
        && cursor.peek(0).is_some_and(|byte| !byte.is_ascii());
    !hides_comment && source.chars().all(|letter| letter.is_ascii() || letter.is_alphabetic())
}

fn next(cursor: &mut Cursor<'_>, first: u8, dialect: MySqlDialect) -> Result<Kind, Doubt> {
    if let Some(kind) = string::prefixed(cursor, dialect)? {
        return Ok(kind);
    }
    match first {
        b'\'' => string::plain(cursor, dialect),
        b'"' if !dialect.ansi_quotes => string::plain(cursor, dialect),
        b'"' | b'`' => word::quoted(cursor, first),
        b'@' => word::variable(cursor, dialect),
        b'0'..=b'9' => number::number_or_name(cursor),
        b'.' if cursor.peek(1).is_some_and(|b| b.is_ascii_digit()) => number::decimal(cursor),
        // Newer MySQLs read `$$ … $$` as a string.
        b'$' => Err(Doubt),
        _ if word::is_part(first) => word::plain(cursor),
        _ => operator::symbol(cursor),
    }
}

#[cfg(test)]
mod tests;
