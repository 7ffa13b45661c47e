//! PostgreSQL's lexical rules (`src/backend/parser/scan.l`), with `standard_conforming_strings` on.

mod comment;
mod escapes;
mod number;
mod operator;
mod string;
mod word;

pub(super) use comment::comments;
pub use escapes::{StringDoubt, with_escape_strings};

use super::{CommentToken, Cursor, Doubt, Kind, MAX_TOKENS, Style, Token, Unread};

/// All tokens of a text.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, Unread> {
    let mut cursor = Cursor { text, at: 0, signs_end: 0 };
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

/// `E'a' -- ⏎'b\'c'` is one string whose second part is read with escapes too, which is not worth guessing.
fn check_neighbours(previous: &Token, kind: &Kind) -> Result<(), Doubt> {
    match (&previous.kind, kind) {
        (Kind::Text { style: Style::Escape, .. }, Kind::Text { style: Style::Plain, .. }) => Err(Doubt),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, lex};

    fn read(text: &str) -> Vec<String> {
        let describe = |kind: &Kind| match kind {
            Kind::Word { value, quoted } => format!("{}{value}", if *quoted { "Q:" } else { "" }),
            Kind::Text { value, .. } => format!("'{}", value.as_str()),
            Kind::Number => "#".to_owned(),
            Kind::Parameter(number) => format!("${}", number.map_or("?".to_owned(), |n| n.to_string())),
            Kind::Symbol | Kind::Variable { .. } => "S".to_owned(),
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
            (
                "U&\"d!0061t!!\" /* */ uescape '!' \"a\" UESCAPE",
                vec!["Q:dat!", "uescape", "'!", "Q:a", "uescape"],
            ),
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
            ("'a'\n'b''c'\r 'd' 'e' E'a'\n'\\x41' N'a'\n'b'", vec!["'ab'cd", "'e", "'aA", "'a", "'b"]),
            ("'a' -- \n'b'", vec!["'a", "'b"]),
            ("U&'d\\0061\\\\t''\\+000062' U&'!0061'\n'b'\tUESCAPE\n'!' 'c'", vec!["'da\\t'b", "'ab", "'c"]),
            // What is not certain is left as it is written.
            ("U&'\\00' U&'\\0000' u&'a' /**/ uescape '!'", vec!["'\\00", "'\\0000", "'a", "uescape", "'!"]),
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
            "U&\"!0061\" UESCAPE 'a'",
            "U&\"!0061\" UESCAPE '!!'",
            "U&\"!0061\" UESCAPE ''''",
            "U&\"!0061\" UESCAPE E'!'",
            "U&\"!0061\" UESCAPE",
            "E'a' -- \n'b'",
            "E'a'\n'b\\'",
            "é' ",
        ] {
            assert!(lex(text).is_err(), "{text}");
        }
    }
}
