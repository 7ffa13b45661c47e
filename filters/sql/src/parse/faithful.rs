//! Whether the parser has kept all of a statement.
//!
//! The tree is written out as text again and read by our lexer. The same words, literals and symbols in the
//! same order mean that the parser has dropped nothing and added nothing that counts.

use sqlparser::ast::Statement;

use crate::{
    lex::{self, Kind, Token},
    parse::mysql::Reading,
    segment::Segment,
};

/// Whether the tree, written out, is the statement but for words that mean nothing.
pub(crate) fn reads_back(tree: &Statement, segment: &Segment<'_>, reading: &Reading) -> bool {
    let written = tree.to_string();
    let Ok(theirs) = lex::lex(&written, segment.dialect) else { return false };
    let mysql = segment.dialect.is_mysql();
    let ours = segment.tokens.iter().enumerate();
    let ours = ours.filter(|(index, token)| {
        // MySQL reads strings that stand side by side as one.
        let continues_string = mysql && is_text(token) && before(segment, *index).is_some_and(is_text);
        !is_noise(token) && !reading.passes_over(*index) && !continues_string
    });
    let mut theirs = theirs.iter().filter(|token| !is_noise(token));
    for (index, our) in ours {
        let agrees = if reading.is_comma_of_tables(index) {
            theirs.next().is_some_and(|their| their.is_word("cross"))
                && theirs.next().is_some_and(|their| their.is_word("apply"))
        } else {
            let same = |their| same(our, segment.text, their, &written);
            theirs
                .next()
                .is_some_and(|their| same(their) || (mysql && synonyms(our, segment.text, their, &written)))
        };
        if !agrees {
            return false;
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

fn is_text(token: &Token) -> bool {
    matches!(token.kind, Kind::Text { .. })
}

fn before<'s>(segment: &'s Segment<'_>, index: usize) -> Option<&'s Token> {
    segment.tokens.get(index.checked_sub(1)?)
}

/// What the parser writes otherwise of MySQL's words.
fn synonyms(our: &Token, text: &str, their: &Token, written: &str) -> bool {
    (our.is_symbol(text, "&&") && their.is_word("and"))
        || (our.is_word("distinctrow") && their.is_word("distinct"))
        // It is given to the parser as such (see `Reading::apply`).
        || (our.is_word("div") && their.is_symbol(written, "/"))
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
