//! What holds for every text of MySQL.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use crate::common::mysql::{in_dialect, modes};
use crate::common::shapes::analyze;
use fieldveil_sql::{Catalog, MySqlDialect, ParameterUse, Replacement};
use proptest::prelude::*;

/// A value, and one of the ways to write it under the settings.
fn literal(dialect: MySqlDialect) -> impl Strategy<Value = (String, String)> {
    let escaped = move |value: &str, quote: char| {
        let value = match dialect.no_backslash_escapes {
            true => value.to_owned(),
            false => value.replace('\\', "\\\\"),
        };
        format!("{quote}{}{quote}", value.replace(quote, &format!("{quote}{quote}")))
    };
    let text = "[a-zA-Z0-9 '\"`\\\\$;?@%_éü語😀/*#-]{0,12}";
    let with_backslash = move |value: String| {
        let written = match dialect.no_backslash_escapes {
            true => escaped(&value, '\''),
            false => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'").replace('a', "\\a")),
        };
        (written, value)
    };
    let double = if dialect.ansi_quotes { '\'' } else { '"' };
    prop_oneof![
        text.prop_map(move |v: String| (escaped(&v, '\''), v)),
        text.prop_map(move |v: String| (escaped(&v, double), v)),
        text.prop_map(with_backslash),
        (text, text).prop_map(move |(a, b)| {
            (format!("{} {}", escaped(&a, '\''), escaped(&b, '\'')), format!("{a}{b}"))
        }),
        text.prop_map(move |v: String| (format!("_utf8mb4{}", escaped(&v, '\'')), v)),
        text.prop_map(|v: String| (format!("x'{}'", hex(&v)), v)),
        "[a-z]{1,8}".prop_map(|v: String| (format!("0x{}", hex(&v)), v)),
        text.prop_map(move |v: String| (format!("CAST({} AS CHAR)", escaped(&v, '\'')), v)),
        text.prop_map(move |v: String| (format!("({})", escaped(&v, '\'')), v)),
    ]
}

fn hex(value: &str) -> String {
    value.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn blank() -> impl Strategy<Value = String> {
    let blanks = [" ", "\r\n", "\t ", " /* ' é ` */ ", " -- it's a \"comment\" 語\n", " # it's\n", "\u{c}"];
    prop::sample::select(blanks.to_vec()).prop_map(str::to_owned)
}

/// Statements with `«field» ` for a literal that is stored and `«?field» ` for one that is looked for.
const STATEMENTS: &[&str] = &[
    "INSERT INTO customer ( name , ssn , phone ) VALUES ( 'é語' , «1» , «2» ) , ( ? , «1» , NULL )",
    "INSERT IGNORE INTO customer SET `id` = 1 , ssn = «1» ON DUPLICATE KEY UPDATE ssn = «1» , email = VALUES ( email )",
    "REPLACE LOW_PRIORITY customer ( ssn ) VALUES ROW ( «1» ) , ROW ( «1» )",
    "UPDATE public . customer AS c , person p SET c . email = «0» , p . ssn = «5» WHERE ( c . ssn = «?1» ) AND p . id > 5",
    "UPDATE IGNORE customer SET ssn = IFNULL( «1» , ssn ) WHERE ssn <> «?1» ORDER BY id LIMIT 5",
    "SELECT c.* , 'a''b' FROM customer c JOIN orders o ON o.cid = c.id WHERE c.ssn IN ( «?1» , «?1» ) OR «?0» <=> email LIMIT 1 , 5",
    "SELECT STRAIGHT_JOIN ssn AS s FROM customer HAVING s = «?1» LOCK IN SHARE MODE",
    "DELETE QUICK p FROM `person` p WHERE `Mixed` = «?6» AND city = 'it''s'",
];

type Sealed = (std::ops::Range<usize>, usize, ParameterUse, String);

/// A statement's text, and what must be sealed of it.
fn build(statement: &str, literals: &[(String, String)], blanks: &[String]) -> (String, Vec<Sealed>) {
    let (mut text, mut sealed) = (String::new(), Vec::new());
    let (mut literals, mut blanks) = (literals.iter().cycle(), blanks.iter().cycle());
    for word in statement.split(' ') {
        match word.strip_prefix('«').and_then(|word| word.strip_suffix('»')) {
            Some(place) => {
                let (written, value) = literals.next().unwrap();
                let use_ = if place.starts_with('?') { ParameterUse::Search } else { ParameterUse::Store };
                let field = place.trim_start_matches('?').parse().unwrap();
                // What is around a value stays, but for a cast.
                let inner = written.starts_with('(');
                let range = text.len() + usize::from(inner)..text.len() + written.len() - usize::from(inner);
                sealed.push((range, field, use_, value.clone()));
                text.push_str(written);
            }
            None => text.push_str(word),
        }
        text.push_str(blanks.next().unwrap());
    }
    (text, sealed)
}

fn sealed_by(text: &str, catalog: &Catalog) -> Vec<Sealed> {
    let analysis = analyze(text, catalog).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    let seal = |splice: &fieldveil_sql::Splice| match &splice.with {
        Replacement::Seal { field, use_, value, .. } => {
            (splice.range.clone(), *field, *use_, value.to_string())
        }
        _ => panic!("{text}"),
    };
    analysis.splices.iter().map(seal).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn exactly_the_literals_in_protected_places_are_replaced(
        (dialect, literals) in modes().prop_flat_map(|dialect| {
            (Just(dialect), prop::collection::vec(literal(dialect), 4))
        }),
        which in 0..STATEMENTS.len(),
        blanks in prop::collection::vec(blank(), 9),
    ) {
        let (text, expected) = build(STATEMENTS[which], &literals, &blanks);
        prop_assert_eq!(sealed_by(&text, &in_dialect(dialect)), expected);
    }
}
