//! What holds for every text in MySQL's and MariaDB's dialect, in every mode.
#![allow(clippy::arithmetic_side_effects, clippy::panic, clippy::unwrap_used)]

use crate::common::shapes::analyze;
use crate::common::{catalog, mysql::modes, render};
use fieldveil_sql::identity::identify;
use fieldveil_sql::{Analysis, Catalog, Dialect, MySqlDialect, Replacement};
use proptest::prelude::*;

fn catalog_in(dialect: MySqlDialect) -> Catalog {
    catalog().in_dialect(Dialect::MySql(dialect))
}

/// The values that are sealed, in the order of the text.
fn sealed(analysis: &Analysis) -> Vec<String> {
    let value = |replacement: &Replacement| match replacement {
        Replacement::Seal { value, .. } => Some(value.to_string()),
        _ => None,
    };
    analysis.splices.iter().filter_map(|splice| value(&splice.with)).collect()
}

/// A literal of a value, as one who knows the mode writes it; `escapes` says which letters get a backslash though they need
/// none.
fn literal(value: &str, quote: char, escapes: bool, dialect: MySqlDialect) -> String {
    let mut literal = String::from(quote);
    for letter in value.chars() {
        match letter {
            _ if letter == quote => literal.extend([quote, quote]),
            _ if dialect.no_backslash_escapes => literal.push(letter),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\u{1A}' => literal.push_str("\\Z"),
            'x' | '\'' | '"' | 'é' if escapes => literal.extend(['\\', letter]),
            _ => literal.push(letter),
        }
    }
    literal.push(quote);
    literal
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_sealed_is_what_the_literal_says(
        value in "[-a-z0-9 '\"\\\\\n%_éx\u{1A}`#/*;]{0,12}",
        double in any::<bool>(),
        escapes in any::<bool>(),
        dialect in modes(),
    ) {
        let quote = if double && !dialect.ansi_quotes { '"' } else { '\'' };
        // `\%` and `\_` stay as they are, so that a backslash before them is one more way to write it.
        let text = format!("INSERT INTO customer (ssn) VALUES ({})", literal(&value, quote, escapes, dialect));
        let analysis = analyze(&text, &catalog_in(dialect));
        prop_assert_eq!(analysis.map(|analysis| sealed(&analysis)), Ok(vec![value]), "{}", text);
    }

    #[test]
    fn blanks_and_comments_between_tokens_mean_nothing(
        gaps in prop::collection::vec(prop::sample::select(GAPS), 20),
        dialect in modes(),
    ) {
        let tokens = [
            "SELECT", "c", ".", "`id`", ",", "ssn", "FROM", "customer", "AS", "c", "WHERE", "ssn", "=", "'a;b'",
            "AND", "name", "<>", "'-- x'", ";",
        ];
        let text: String = tokens.iter().zip(&gaps).flat_map(|(token, gap)| [*token, *gap]).collect();
        let analysis = analyze(&text, &catalog_in(dialect));
        let found = analysis.map(|analysis| (analysis.statements.len(), sealed(&analysis)));
        prop_assert_eq!(found, Ok((1, vec!["a;b".to_owned()])), "{}", text);
    }

    #[test]
    fn splices_lie_in_the_text_in_order(
        words in prop::collection::vec(prop::sample::select(WORDS), 1..14),
        dialect in modes(),
    ) {
        let text = words.join(" ");
        if let Ok(analysis) = analyze(&text, &catalog_in(dialect)) {
            let mut at = 0;
            for splice in &analysis.splices {
                prop_assert!(splice.range.start >= at && text.get(splice.range.clone()).is_some(), "{}", text);
                at = splice.range.end;
            }
        }
        let _ = identify(&text, Dialect::MySql(dialect));
    }

    #[test]
    fn any_text_ends_in_an_answer(text in "\\PC{0,60}", dialect in modes()) {
        let catalog = catalog_in(dialect);
        for text in [
            text.clone(),
            format!("SELECT {text} FROM customer"),
            format!("INSERT INTO customer (ssn) VALUES ({text})"),
            format!("PREPARE s FROM {text}"),
            format!("SET {text}; SELECT ssn FROM customer"),
        ] {
            let _ = analyze(&text, &catalog);
            let _ = identify(&text, Dialect::MySql(dialect));
        }
    }

    /// Whatever the words are, no literal is left where the server would store it in a protected column.
    #[test]
    fn no_value_of_an_insert_stays(
        words in prop::collection::vec(prop::sample::select(VALUES), 1..6),
        dialect in modes(),
    ) {
        let text = format!("INSERT INTO customer (ssn) VALUES ({})", words.join(" "));
        if let Ok(analysis) = analyze(&text, &catalog_in(dialect)) {
            let rendered = render(&text, &analysis);
            prop_assert!(!without_comments(&without_sealed(&rendered)).contains("leak"), "{}", rendered);
        }
    }
}

/// What is sealed may hold anything.
fn without_sealed(rendered: &str) -> String {
    let mut parts = rendered.split("«S1:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |rest, part| rest + part.split_once('»').map_or(part, |(_, behind)| behind))
}

/// What is behind a line comment's mark is no value; nothing else hides one in these texts.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let end = [line.find('#'), line.find("-- ")].into_iter().flatten().min();
        line.get(..end.unwrap_or(line.len())).unwrap_or_default().to_owned()
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

const GAPS: &[&str] = &[
    " ",
    "\n",
    "\t\r\n",
    " -- a'\n",
    " # b\"\n",
    " /* c' */ ",
    " /**/ ",
    " /* /* */ ",
    "  ",
    "\u{C}",
    " --\n",
    " /*+ x */ ",
];

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "customer",
    "Customer",
    "person",
    "c",
    "ssn",
    "c.ssn",
    "`ssn`",
    "\"ssn\"",
    "phone",
    "*",
    "c.*",
    ",",
    "(",
    ")",
    "=",
    "<=>",
    "<>",
    "'x'",
    "\"x\"",
    "?",
    "@a",
    "@@b",
    ":=",
    "NULL",
    "AND",
    "&&",
    "OR",
    "||",
    "NOT",
    "!",
    "IN",
    "INSERT INTO",
    "REPLACE",
    "IGNORE",
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
    "COLLATE",
    "IS NULL",
    "EXISTS",
    "WITH",
    ";",
    "UNION",
    "id",
    "orders",
    "EXPLAIN",
    "DISTINCT",
    "count(*)",
    "CASE WHEN",
    "THEN",
    "END",
    ".",
    "-- ",
    "--",
    "#",
    "\n",
    "/*",
    "*/",
    "/*!",
    "/*+",
    "public",
    "DEFAULT",
    "ON DUPLICATE KEY UPDATE",
    "TABLE",
    "é",
    "_utf8mb4",
    "0x41",
    "b'1'",
    "INTO",
    "OUTFILE",
    "PREPARE",
    "s",
    "EXECUTE",
    "IMMEDIATE",
    "CREATE",
    "PROCEDURE",
    "BEGIN",
    "TEMPORARY",
    "ALTER",
    "ADD",
    "INDEX",
    "SHOW",
    "CALL",
    "p()",
    "HANDLER",
    "LOAD DATA",
    "@fieldveil_token",
    "sql_mode",
    "STATEMENT",
    "FOR",
    "\\",
    "'",
    "`",
    "QUICK",
    "BINARY",
    "HAVING",
    "PARTITION",
    "LOCK IN SHARE MODE",
    "CROSS",
    "APPLY",
    "ROW",
    "vault",
    "token",
    "x'31'",
];

const VALUES: &[&str] = &[
    "'leak'",
    "\"leak\"",
    "N'leak'",
    "_utf8mb4",
    "_latin1",
    "(",
    ")",
    ",",
    "CAST(",
    "AS CHAR)",
    "BINARY",
    "||",
    "&&",
    "-",
    "+",
    "!",
    "DATE",
    "NULL",
    "COLLATE utf8mb4_bin",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "SELECT",
    "=",
    ":=",
    "@a",
    "upper(",
    "IS NULL",
    "AND",
    "NOT",
    "ROW(",
    "DEFAULT",
    "-- ",
    "#",
    "\n",
    "'",
    "\"",
    "\\",
    "?",
    "BETWEEN",
    "LIKE",
    "ON DUPLICATE KEY UPDATE ssn",
    "AS new",
    "VALUES(",
];
