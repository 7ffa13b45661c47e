//! No text takes more stack or more work than it may: each construct at its bound, and beyond it. What is counted is
//! steps, never time.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

use crate::common::{catalog, mysql};
use fieldveil_sql::{Analysis, Budget, Catalog, Refusal, RefusalClass, analyze_within};

/// What comes of a text, and how many steps it took.
fn run(text: &str, catalog: &Catalog) -> (Result<Analysis, Refusal>, u64) {
    let budget = Budget::new();
    let result = analyze_within(text, catalog, &(), &budget);
    (result, budget.spent())
}

fn steps(text: &str) -> u64 {
    run(text, &catalog()).1
}

fn is_too_complex(text: &str, catalog: &Catalog) -> bool {
    run(text, catalog).0.is_err_and(|refusal| refusal.class == RefusalClass::TooComplex)
}

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

fn joined(verb: &str, join: &str, joins: usize) -> String {
    let joined: String = (0..joins).map(|number| format!(" {join} customer c{number}")).collect();
    format!("{verb} customer c{joined}")
}

#[test]
fn joins_without_a_condition_are_bounded() {
    for (catalog, verbs) in [
        (catalog(), ["SELECT 1 FROM", "UPDATE customer SET id = 1 FROM", "DELETE FROM customer USING"]),
        (mysql::mysql(), ["SELECT 1 FROM", "UPDATE", "DELETE c FROM"]),
    ] {
        for verb in verbs {
            for join in ["JOIN", "LEFT JOIN", "INNER JOIN", "FULL OUTER JOIN"] {
                assert!(!is_too_complex(&joined(verb, join, 61), &catalog), "{verb} {join}");
                for joins in [62, 250, 5_000] {
                    assert!(is_too_complex(&joined(verb, join, joins), &catalog), "{verb} {join} {joins}");
                }
            }
        }
    }
}

#[test]
fn joins_that_have_their_condition_or_need_none_are_not_bounded_by_it() {
    for join in
        ["JOIN log ON true", "LEFT JOIN log USING (id)", "CROSS JOIN log", "NATURAL LEFT OUTER JOIN log"]
    {
        let text = format!("SELECT 1 FROM customer {}", format!("{join} ").repeat(100));
        assert!(!is_too_complex(&text, &catalog()), "{join}");
    }
    let text = format!("SELECT 1 FROM customer{}{}", " JOIN log".repeat(20), " ON true".repeat(20));
    assert!(!is_too_complex(&text, &catalog()));
}

#[test]
fn what_is_nested_is_bounded() {
    for (open, inner, close, most) in [
        ("(", "1", ")", 27),
        ("f(", "1", ")", 12),
        ("CASE WHEN ", "true", " THEN 1 END", 26),
        ("CAST(", "1", " AS text)", 26),
        ("ARRAY[", "1", "]", 26),
        ("NOT ", "true", "", 27),
        ("- ", "1", "", 27),
        ("INTERVAL ", "'1'", "", 27),
        ("position(", "1", " IN 2)", 13),
        ("EXISTS (SELECT 1 WHERE ", "true", ")", 9),
        ("(SELECT ", "1", ")", 9),
        ("1 IN (", "1", ")", 26),
    ] {
        let text = |levels| format!("SELECT {} FROM customer", nested(open, inner, close, levels));
        assert!(!is_too_complex(&text(most), &catalog()), "{open}");
        for levels in [500, 20_000] {
            // Where the parser ends by its own limit, it may say that it understands nothing.
            assert!(run(&text(levels), &catalog()).0.is_err(), "{open} {levels}");
        }
    }
    for (open, inner, close, most) in [
        ("(SELECT 1 FROM ", "customer", ") a", 9),
        ("(", "customer JOIN log ON true", ")", 26),
        ("LATERAL (SELECT 1 FROM ", "customer", ") a", 9),
    ] {
        let text = |levels| format!("SELECT 1 FROM {}", nested(open, inner, close, levels));
        assert!(!is_too_complex(&text(most), &catalog()), "{open}");
        for levels in [500, 20_000] {
            // Where the parser ends by its own limit, it may say that it understands nothing.
            assert!(run(&text(levels), &catalog()).0.is_err(), "{open} {levels}");
        }
    }
}

#[test]
fn chains_are_bounded() {
    for (link, most) in [
        ("+1", 590),
        (" AND true", 590),
        (" || 1", 590),
        ("::text", 590),
        (" IS NULL", 590),
        (" NOTNULL", 1_180),
        (" !", 1_180),
        ("[1]", 390),
        (" UNION SELECT 1", 390),
        (" COLLATE c", 590),
    ] {
        let text = |links| format!("SELECT 1{} FROM customer", link.repeat(links));
        assert!(!is_too_complex(&text(most), &catalog()), "{link}");
        for links in [1_300, 10_000] {
            assert!(is_too_complex(&text(links), &catalog()), "{link} {links}");
        }
    }
}

#[test]
fn what_the_parser_reads_again_and_again_is_bounded() {
    let list = |items| format!("id IN (1{})", ",1".repeat(items));
    let again = |levels, items| {
        format!(
            "SELECT 1 FROM customer WHERE {}",
            nested("id IN (((SELECT 1 WHERE ", &list(items), ")+1))", levels)
        )
    };
    assert!(!is_too_complex(&again(1, 5_000), &catalog()));
    assert!(is_too_complex(&again(6, 30_000), &catalog()));
    let tables = |levels, items| {
        let tables = format!("log{}", ",log".repeat(items));
        format!("SELECT 1 FROM customer, {}", nested("((SELECT * FROM ", &tables, ") x, b)", levels))
    };
    assert!(is_too_complex(&tables(10, 20_000), &catalog()));
    // Each call's arguments are read twice, so that calls within calls are read twice as often at each level.
    let calls = |levels| format!("SELECT {} FROM customer", nested("f(a := ", "1", ")", levels));
    assert!(steps(&calls(25)) <= 250_000);
}

#[test]
fn blanks_and_comments_are_bounded() {
    for (blank, marks) in [(" ", 1), ("\n", 1), ("/**/", 2), ("/* a */", 4), ("--\n", 3)] {
        let text = |bytes: usize| format!("SELECT 1{}FROM customer", blank.repeat(bytes / marks));
        assert!(!is_too_complex(&text(499_000), &catalog()), "{blank}");
        assert!(is_too_complex(&text(501_000), &catalog()), "{blank}");
    }
    // A comment is one, however long.
    let text = format!("SELECT 1 /* {} */ FROM customer", "a".repeat(4_000_000));
    assert!(!is_too_complex(&text, &catalog()));
}

#[test]
fn a_text_that_concerns_nothing_protected_passes_however_complex() {
    for text in [
        joined("SELECT 1 FROM", "JOIN", 5_000).replace("customer", "log"),
        format!("SELECT {}", nested("(", "1", ")", 20_000)),
        format!("SELECT 1{}", "+1".repeat(20_000)),
    ] {
        let analysis = run(&text, &catalog()).0.unwrap();
        assert!(analysis.splices.is_empty() && analysis.statements.iter().all(|s| !s.touched));
    }
}

#[test]
fn steps_grow_no_faster_than_the_text() {
    for (prefix, repeated, suffix) in [
        ("SELECT 1 FROM customer WHERE id IN (1", ",1", ")"),
        ("INSERT INTO customer (id, ssn) VALUES (1, 'x')", ", (1, 'x')", ""),
        ("SELECT 1 ", "+/**/", "1 FROM customer"),
        ("SELECT 1 ", "+", "1 FROM customer"),
        ("SELECT 1", ", f(1)", " FROM customer"),
        ("CREATE ", "execute ", "customer"),
        ("SELECT 1; ", "a;", "SELECT 1 FROM customer"),
    ] {
        let of = |times: usize| steps(&format!("{prefix}{}{suffix}", repeated.repeat(times)));
        let (few, many) = (of(100), of(1_000));
        assert!(many <= 11 * few, "{repeated}: {few} {many}");
    }
}

#[test]
fn the_longest_ordinary_statements_fit() {
    for (prefix, repeated, times, suffix) in [
        ("INSERT INTO customer (id, ssn) VALUES (1, 'x')", ", (1, 'x')", 10_000, ""),
        ("SELECT 1 FROM customer WHERE id IN (1", ",1", 32_000, ")"),
        ("SELECT 1 FROM customer WHERE ssn IN ('x'", ",'x'", 32_000, ")"),
        ("SELECT 1 FROM customer WHERE f(1", ", f(1)", 12_000, ")"),
    ] {
        let text = format!("{prefix}{}{suffix}", repeated.repeat(times));
        assert!(!is_too_complex(&text, &catalog()), "{repeated}");
    }
}
