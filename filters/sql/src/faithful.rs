//! Whether the parser has kept all of a statement.
//!
//! The tree is written out as text again and read by our lexer. The same words, literals and symbols in the
//! same order mean that the parser has dropped nothing and added nothing that counts.

use sqlparser::ast::Statement;

use crate::{
    lexer::{self, Kind, Token},
    segment::Segment,
};

/// Whether the tree, written out, is the statement but for words that mean nothing.
pub(crate) fn reads_back(tree: &Statement, segment: &Segment<'_>) -> bool {
    let written = tree.to_string();
    let Ok(theirs) = lexer::lex(&written, segment.dialect) else { return false };
    let ours = segment.tokens.iter().enumerate();
    let ours = ours
        .filter(|(index, token)| !is_noise(token) && !segment.is_passed_over(*index))
        .map(|(_, token)| token);
    let theirs = theirs.iter().filter(|token| !is_noise(token));
    let mut theirs = theirs.peekable();
    for our in ours {
        match theirs.next() {
            Some(their) if same(our, segment.text, their, &written) => {}
            _ => return false,
        }
    }
    theirs.next().is_none()
}

/// Words that may be left out or put in without a change of meaning where both readings parse.
fn is_noise(token: &Token) -> bool {
    ["as", "inner", "outer"].iter().any(|word| token.is_word(word))
}

fn same(our: &Token, text: &str, their: &Token, written: &str) -> bool {
    match (&our.kind, &their.kind) {
        (Kind::Word { value: a, quoted: x }, Kind::Word { value: b, quoted: y }) => {
            x == y && (a == b || (!x && synonym(a) == synonym(b)))
        }
        // The tree holds no string's value (see `position`).
        (Kind::Text { .. }, Kind::Text { .. }) => true,
        (Kind::Number, Kind::Number)
        | (Kind::Parameter(_), Kind::Parameter(_))
        | (Kind::Variable { .. }, Kind::Variable { .. }) => our.source(text) == their.source(written),
        (Kind::Symbol, Kind::Symbol) => operator(our.source(text)) == operator(their.source(written)),
        _ => false,
    }
}

fn operator(symbol: &str) -> &str {
    if symbol == "!=" { "<>" } else { symbol }
}

/// `FETCH FIRST 1 ROW ONLY` and `FETCH NEXT 1 ROWS ONLY` are the same.
fn synonym(word: &str) -> &str {
    match word {
        "next" => "first",
        "row" => "rows",
        other => other,
    }
}
