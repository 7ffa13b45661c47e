//! Bytes that stand as they are in a text, as drivers write binary values: `_binary'…'`.

use std::fmt::Write;
use std::ops::Range;

use zeroize::Zeroizing;

use crate::{
    dialect::{Dialect, MySqlDialect},
    lex::{self, Kind, Style, Token},
};

/// Stands for the byte 0, which the lexer takes for the end of a text. It is a letter, as bytes beyond ASCII are.
const ZERO: char = '\u{100}';

/// A text that is no UTF-8, or holds the byte 0, with each `_binary '…'` that is why written as `_binary x'…'`: the same
/// binary string to the server, and to the operators on it. None where it is not for these literals alone, and where it
/// is not certain where they begin and end, or what they hold.
///
/// What comes out is what is to be analyzed and forwarded, so nothing that is protected depends on what is done here; only
/// what the client's bytes mean does.
///
/// # What it assumes
/// The session's character set is UTF-8, in which no byte of ASCII is a part of another character. So the places of quotes
/// and backslashes are those of the bytes.
pub fn binary_as_hexadecimal(text: &[u8], dialect: MySqlDialect) -> Option<Zeroizing<String>> {
    if !text.contains(&0) && std::str::from_utf8(text).is_ok() {
        return None;
    }
    let written = with_hexadecimal(text, dialect)?;
    let text = std::str::from_utf8(&written).ok().filter(|text| !text.contains('\0'))?;
    Some(Zeroizing::new(text.to_owned()))
}

/// The same of a text in a character set of single bytes: each `_binary '…'` with other bytes than ASCII's as `_binary x'…'`, and
/// the rest as it came. None where there is none, and as above.
pub fn single_bytes_as_hexadecimal(text: &[u8], dialect: MySqlDialect) -> Option<Zeroizing<Vec<u8>>> {
    const INTRODUCER: &[u8] = b"_binary";
    let is_there = |part: &[u8]| part.eq_ignore_ascii_case(INTRODUCER);
    if text.is_ascii() && !text.contains(&0) || !text.windows(INTRODUCER.len()).any(is_there) {
        return None;
    }
    with_hexadecimal(text, dialect).filter(|written| written.as_slice() != text)
}

fn with_hexadecimal(text: &[u8], dialect: MySqlDialect) -> Option<Zeroizing<Vec<u8>>> {
    // One letter for each byte, for the lexer reads letters.
    let letters: Zeroizing<String> = Zeroizing::new(text.iter().map(|byte| letter(*byte)).collect());
    let tokens = lex::lex(&letters, Dialect::MySql(dialect)).ok()?;
    let last = tokens.len().saturating_sub(1);
    // A statement may change how the one behind it is read.
    if tokens.iter().take(last).any(|token| token.is_symbol(&letters, ";")) {
        return None;
    }
    let mut written = Zeroizing::new(Vec::with_capacity(text.len().saturating_mul(2)));
    // Behind the last literal: in the text, and in the letters.
    let (mut at, mut at_letter) = (0_usize, 0_usize);
    for (index, token) in tokens.iter().enumerate() {
        let Kind::Text { value, style: Style::Plain } = &token.kind else { continue };
        if value_is_plain(token, &letters) || !is_introduced(&tokens, index, &letters) {
            continue;
        }
        let start = at.checked_add(count(&letters, at_letter..token.range.start)?)?;
        written.extend_from_slice(text.get(at..start)?);
        written.extend_from_slice(hexadecimal(value)?.as_bytes());
        at = start.checked_add(count(&letters, token.range.clone())?)?;
        at_letter = token.range.end;
    }
    written.extend_from_slice(text.get(at..)?);
    Some(written)
}

fn letter(byte: u8) -> char {
    if byte == 0 { ZERO } else { char::from(byte) }
}

/// Each letter stands for one byte.
fn count(letters: &str, range: Range<usize>) -> Option<usize> {
    letters.get(range).map(|letters| letters.chars().count())
}

/// Whether it can stay: every server and driver reads ASCII alike.
fn value_is_plain(token: &Token, letters: &str) -> bool {
    token.source(letters).is_ascii()
}

/// Whether the string is the one literal behind a `_binary`, which is a word of its own.
fn is_introduced(tokens: &[Token], index: usize, letters: &str) -> bool {
    let is_text = |token: &Token| matches!(token.kind, Kind::Text { .. });
    // Strings one behind the other are one to the server; with hexadecimal digits they are not.
    if tokens.get(index.saturating_add(1)).is_some_and(is_text) {
        return false;
    }
    let Some(before) = index.checked_sub(1) else { return false };
    let (Some(introducer), Some(string)) = (tokens.get(before), tokens.get(index)) else { return false };
    let is_blank = |gap: &str| gap.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let is_word = matches!(introducer.kind, Kind::Word { quoted: false, .. })
        && introducer.source(letters).eq_ignore_ascii_case("_binary");
    // Behind a dot it is a name, and right behind another token it may be a part of that.
    let begins = match before.checked_sub(1).and_then(|index| tokens.get(index)) {
        None => true,
        Some(token) => {
            let open = ["(", ",", "=", "<", ">", "<>", "!=", "<=", ">=", "<=>", ":="];
            open.iter().any(|symbol| token.is_symbol(letters, symbol))
                || (token.range.end < introducer.range.start && !token.is_symbol(letters, "."))
        }
    };
    is_word && begins && letters.get(introducer.range.end..string.range.start).is_some_and(is_blank)
}

/// ` x'…'`
fn hexadecimal(value: &str) -> Option<Zeroizing<String>> {
    let length = value.len().checked_mul(2)?.checked_add(4)?;
    let mut written = Zeroizing::new(String::with_capacity(length));
    written.push_str(" x'");
    for letter in value.chars() {
        let byte = if letter == ZERO { 0 } else { u8::try_from(letter).ok()? };
        write!(written, "{byte:02x}").ok()?;
    }
    written.push('\'');
    Some(written)
}
