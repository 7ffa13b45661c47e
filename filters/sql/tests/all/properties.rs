//! What holds for every text.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::type_complexity
)]

use crate::common;
use crate::common::catalog;
use crate::common::shapes::analyze;
use fieldveil_sql::{ParameterUse, Replacement};
use proptest::prelude::*;
use sqlparser::{
    dialect::PostgreSqlDialect,
    tokenizer::{Token, Tokenizer, Whitespace},
};

/// A value, and one of the ways to write it.
fn literal() -> impl Strategy<Value = (String, String)> {
    let text = "[a-zA-Z0-9 '\"\\\\$;éü語😀/*-]{0,12}";
    prop_oneof![
        text.prop_map(|v: String| (format!("'{}'", v.replace('\'', "''")), v)),
        text.prop_map(|v: String| (format!("E'{}'", v.replace('\\', "\\\\").replace('\'', "\\'")), v)),
        // No value has an underscore, so none ends its own quotes.
        text.prop_map(|v: String| (format!("$q_${v}$q_$"), v)),
        text.prop_map(|v: String| (format!("'{}'::text", v.replace('\'', "''")), v)),
        text.prop_map(|v: String| (format!("CAST ( '{}' AS varchar )", v.replace('\'', "''")), v)),
        (0_u32..99999).prop_map(|n| (n.to_string(), n.to_string())),
        (1_u32..99999).prop_map(|n| (format!("- {n}"), format!("-{n}"))),
        (1_u32..99999).prop_map(|n| (format!("{n}::int8"), n.to_string())),
        any::<bool>().prop_map(|b| (b.to_string().to_uppercase(), b.to_string())),
    ]
}

fn blank() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(" "),
        Just("\r\n"),
        Just("\t "),
        Just(" /* ' é /* nested */ \n */ "),
        Just(" -- it's a \"comment\" 語\n"),
        Just("\u{c}"),
    ]
    .prop_map(str::to_owned)
}

/// A statement in pieces: text, and literals of protected places with field, use and value.
type Piece = (String, Option<(usize, ParameterUse, String)>);

fn statement() -> impl Strategy<Value = Vec<Piece>> {
    let places: &[(&str, &[(usize, ParameterUse)], &[&str])] = &[
        (
            "INSERT~INTO~customer~(~name~,~ssn~,~phone~)~VALUES~(~'é語'~,~",
            &[(1, ParameterUse::Store), (2, ParameterUse::Store)],
            &["~,~", "~)~RETURNING~*"],
        ),
        (
            "UPDATE~public~.~customer~AS~c~SET~email~=~",
            &[(0, ParameterUse::Store), (1, ParameterUse::Search)],
            &["~,~name~=~upper(~$$it's$$~)~WHERE~(~c~.~ssn~=~", "~)~AND~id~>~5"],
        ),
        (
            "SELECT~c.*~,~'a\\'~FROM~customer~c~JOIN~orders~o~ON~o.cid~=~c.id~WHERE~c.ssn~IN~(~",
            &[(1, ParameterUse::Search), (1, ParameterUse::Search), (0, ParameterUse::Search)],
            &["~,~", "~)~OR~", "~<>~email~ORDER~BY~o.x~LIMIT~5"],
        ),
        ("DELETE~FROM~\"person\"~WHERE~\"Mixed\"~=~", &[(6, ParameterUse::Search)], &["~AND~city~=~E'\\''"]),
    ];
    let places: Vec<_> = places.to_vec();
    (0..places.len(), prop::collection::vec(literal(), 3), prop::collection::vec(blank(), 40)).prop_map(
        move |(which, literals, blanks)| {
            let (head, fields, tails) = places[which];
            let mut blanks = blanks.into_iter().cycle();
            let mut spaced = |text: &str| {
                text.split('~').map(str::to_owned).reduce(|a, b| a + &blanks.next().unwrap() + &b).unwrap()
            };
            let mut pieces: Vec<Piece> = vec![(spaced(head), None)];
            for (((field, use_), tail), (written, value)) in fields.iter().zip(tails).zip(literals) {
                // The server compares characters with strings alone.
                let number =
                    written.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | 'T' | 'F'));
                let written = match use_ {
                    ParameterUse::Search if number => format!("({written})::text"),
                    _ => written,
                };
                pieces.push((written, Some((*field, *use_, value))));
                pieces.push((spaced(tail), None));
            }
            pieces
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn exactly_the_literals_in_protected_places_are_replaced(pieces in statement()) {
        let text: String = pieces.iter().map(|(piece, _)| piece.as_str()).collect();
        let analysis = analyze(&text, &catalog()).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        let mut expected = Vec::new();
        let mut at = 0;
        for (piece, sealed) in &pieces {
            if let Some((field, use_, value)) = sealed {
                expected.push((at..at + piece.len(), *field, *use_, value.clone()));
            }
            at += piece.len();
        }
        let found: Vec<_> = analysis.splices.iter().map(|splice| match &splice.with {
            Replacement::Seal { field, use_, value, .. } => (splice.range.clone(), *field, *use_, value.to_string()),
            _ => panic!("{text}"),
        }).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_words_end_in_an_answer_whose_splices_fit(words in prop::collection::vec(prop::sample::select(WORDS), 0..25)) {
        let text = words.join(" ");
        if let Ok(analysis) = analyze(&text, &catalog()) {
            let mut end = 0;
            for splice in &analysis.splices {
                prop_assert!(splice.range.start >= end && splice.range.start <= splice.range.end);
                prop_assert!(text.get(splice.range.clone()).is_some());
                end = splice.range.end;
            }
        }
    }

    #[test]
    fn any_text_ends_in_an_answer(text in "\\PC{0,60}") {
        let _ = analyze(&text, &catalog());
        let _ = analyze(&format!("SELECT {text} FROM customer"), &catalog());
        let _ = analyze(&format!("INSERT INTO customer (ssn) VALUES ({text})"), &catalog());
    }

    /// Whatever the words are, no literal is left where the server would store it in a protected column.
    #[test]
    fn no_value_of_an_insert_stays(words in prop::collection::vec(prop::sample::select(VALUES), 1..6)) {
        let text = format!("INSERT INTO customer (ssn) VALUES ({})", words.join(" "));
        if let Ok(analysis) = analyze(&text, &catalog()) {
            let rendered = common::render(&text, &analysis);
            prop_assert!(!without_comments(&rendered).replace("«S1:leak", "").contains("leak"), "{}", rendered);
        }
    }
}

/// A comment is no value: it passes as it is.
fn without_comments(text: &str) -> String {
    let is_comment = |token: &Token| {
        matches!(
            token,
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))
        )
    };
    match Tokenizer::new(&PostgreSqlDialect {}, text).tokenize() {
        Ok(tokens) => tokens.iter().filter(|token| !is_comment(token)).map(Token::to_string).collect(),
        Err(_) => text.to_owned(),
    }
}

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "customer",
    "person",
    "c",
    "ssn",
    "c.ssn",
    "phone",
    "*",
    "c.*",
    ",",
    "(",
    ")",
    "=",
    "<>",
    "'x'",
    "$1",
    "NULL",
    "AND",
    "OR",
    "NOT",
    "IN",
    "INSERT INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "RETURNING",
    "JOIN",
    "ON",
    "USING",
    "AS",
    "ORDER BY",
    "GROUP BY",
    "LIMIT",
    "1",
    "::text",
    "IS NULL",
    "EXISTS",
    "WITH",
    ";",
    "UNION",
    "id",
    "orders",
    "EXPLAIN",
    "DISTINCT",
    "count",
    "CASE WHEN",
    "THEN",
    "END",
    ".",
    "--",
    "\n",
    "/*",
    "*/",
    "public",
    "DEFAULT",
    "EXCLUDED",
    "ON CONFLICT",
    "DO UPDATE",
    "LATERAL",
    "ONLY",
    "TABLE",
    "é",
    "\"Mixed\"",
];

const VALUES: &[&str] = &[
    "'leak'",
    "E'leak'",
    "$$leak$$",
    "(",
    ")",
    ",",
    "::text",
    "::int",
    "CAST(",
    "AS text)",
    "||",
    "-",
    "+",
    "DATE",
    "NULL",
    "COLLATE \"C\"",
    "[1]",
    "U&",
    "N",
    "ARRAY[",
    "]",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "SELECT",
    "=",
    "upper(",
    "IS NULL",
    "AND",
    "NOT",
    "ROW(",
    "DEFAULT",
    "--",
    "\n",
    "/*",
    "*/",
    "'",
    "$1",
    "AT TIME ZONE",
    "BETWEEN",
];
