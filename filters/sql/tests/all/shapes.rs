//! Texts that differ in plain values alone are analyzed once. (That all texts of the other tests fare alike is held in
//! `common/shapes.rs`.)
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use std::path::Path;
use std::sync::atomic::Ordering;

use crate::common::mysql::{DEFAULT, mysql};
use crate::common::{analyze, catalog, catalog_under_several_keys, shapes};
use fieldveil_sql::{Catalog, Dialect, MySqlDialect, Replacement, Shape};
use proptest::prelude::*;

/// How the values stand in the key.
fn key(text: &str, catalog: &Catalog) -> Option<String> {
    let shape = Shape::of(text, catalog)?;
    let mut key = text.to_owned();
    for range in shape.values().iter().rev() {
        key.replace_range(range.clone(), "_");
    }
    Some(key)
}

#[test]
fn plain_values_are_found_and_nothing_else_is() {
    for (text, expected) in [
        ("SELECT * FROM customer WHERE id = 5", Some("SELECT * FROM customer WHERE id = _")),
        (
            "select 1, 'a' from t where a = 1 and b <> 'x' or c>=2",
            Some("select 1, 'a' from t where a = _ and b <> _ or c>=_"),
        ),
        (
            "SELECT a FROM t WHERE b IN (1, 'x', $1) LIMIT 5",
            Some("SELECT a FROM t WHERE b IN (_, _, $1) LIMIT 5"),
        ),
        (
            "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL)",
            Some("INSERT INTO t (a, b) VALUES (_, _), (_, NULL)"),
        ),
        (
            "UPDATE t SET a = 'x', b = 7 WHERE c = 'y' RETURNING d",
            Some("UPDATE t SET a = _, b = _ WHERE c = _ RETURNING d"),
        ),
        ("DELETE FROM t WHERE a = 5;", Some("DELETE FROM t WHERE a = _;")),
        (
            r"SELECT a FROM t WHERE b = E'x\'\\' OR c = 'it''s' OR d = 'é\' OR e = $$x'\$$",
            Some("SELECT a FROM t WHERE b = _ OR c = _ OR d = _ OR e = _"),
        ),
        (
            "SELECT a FROM t WHERE b = -5 AND c>-1.5 AND d = 2.50 AND e IN (-1, 2.5)",
            Some("SELECT a FROM t WHERE b = _ AND c>_ AND d = _ AND e IN (_, _)"),
        ),
        (
            "SELECT a FROM t WHERE b = 'x'::text AND c IN ('y'::date, $$z$$::jsonb)",
            Some("SELECT a FROM t WHERE b = _::text AND c IN (_::date, _::jsonb)"),
        ),
        (
            "INSERT INTO t VALUES (1, now(), f(2, 3), \"A\" AND TRUE, ARRAY[4, 5, 6], (7), 8), (9, now(), 10)",
            Some(
                "INSERT INTO t VALUES (_, now(), f(2, 3), \"A\" AND TRUE, ARRAY[4, 5, 6], (7), _), (_, now(), _)",
            ),
        ),
        ("SELECT a /* 5 */ FROM t WHERE b = 5 -- 6", Some("SELECT a /* 5 */ FROM t WHERE b = _ -- 6")),
        // What is of the value, or says what the value is.
        ("SELECT a FROM t WHERE c = 5 + 1 AND d = - 5 AND e = 'x' || 'y'", None),
        ("SELECT a FROM t WHERE b = 5::int AND c = 'x'::varchar(9) AND d = 'x'::text::date", None),
        ("SELECT a FROM t WHERE b = '{x}'::text[] AND c = 'x'::pg_catalog.text", None),
        ("SELECT a FROM t WHERE b = 'x' COLLATE \"C\"", None),
        ("SELECT a FROM t WHERE b LIKE 'x' AND c BETWEEN 1 AND 2", None),
        ("SELECT a FROM t WHERE b = U&'x' OR c = N'x' OR d = $a$x$a$ OR e = 'x'\n'y'", None),
        (r"SELECT a FROM t WHERE b = E'\101' OR c = E'\x41' OR d = E'\u0041' OR e = E'\q'", None),
        ("SELECT a FROM t WHERE b = '\u{2}' OR c = $$x$y$$ OR d = '\u{7f}'", None),
        ("SELECT a FROM t WHERE b = .5 OR c = 007 OR d = 1e5 OR e = 1234567890123456789", None),
        ("SELECT a FROM t WHERE b = -0 OR c = -0.0 OR d = 1. OR e = 1_0", None),
        ("SELECT f('x'), g(1, 2) FROM t ORDER BY 1 LIMIT 5 OFFSET 6", None),
        // Positions.
        ("SELECT id FROM t WHERE id IN (SELECT a, b FROM t ORDER BY 1, 3)", None),
        ("SELECT id FROM t WHERE id IN (VALUES (1), (2) ORDER BY 1, 1)", None),
        ("INSERT INTO t VALUES (1, a ORDER BY 1, 2)", None),
        ("SELECT a FROM t WHERE b IN (1, f(2), 3)", None),
        ("SELECT f(a IN (VALUES(b), (1), (2)))", None),
        ("SELECT id, b FROM t ORDER BY id IN (5), (1)", Some("SELECT id, b FROM t ORDER BY id IN (_), (1)")),
        // What could matter by what it says.
        ("SELECT a FROM t WHERE b = 'customer' OR c = 'fieldveil.token'", None),
        ("SET a = 'x'", None),
        ("SELECT a FROM t WHERE b = 1; SELECT 2", None),
        ("COPY t FROM 'x' WITH (a = 5)", None),
        ("SELECT a FROM t WHERE b = '\u{1}' AND c = 5", None),
        ("SELECT a FROM t WHERE b = 'unfinished", None),
    ] {
        assert_eq!(key(text, &catalog()).as_deref(), expected, "{text}");
    }
}

#[test]
fn texts_have_one_key_only_if_they_differ_in_plain_values_alone() {
    let key = |text: &str| Shape::of(text, &catalog()).unwrap().key().to_owned();
    let text = "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = 2";
    let (one, shape) = (key(text), Shape::of(text, &catalog()).unwrap());
    let template = shape.template(text, &analyze(text, &catalog()).unwrap()).unwrap();
    let same = "SELECT a FROM t WHERE b = 30 AND c = 'long' AND d = 40";
    assert_eq!(one, key(same));
    assert!(template.analysis_of(same, &catalog()).is_some());
    for other in [
        // A string for a number, another space, a value twice, another number of values.
        "SELECT a FROM t WHERE b = '1' AND c = 'x' AND d = 2",
        "SELECT a FROM t WHERE b =  1 AND c = 'x' AND d = 2",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = 1",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = 2.0",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = 2 AND e = 3",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = 2 -- e",
        // Other ways to write a value, and a cast.
        "SELECT a FROM t WHERE b = 1 AND c = E'x' AND d = 2",
        "SELECT a FROM t WHERE b = 1 AND c = $$x$$ AND d = 2",
        "SELECT a FROM t WHERE b = 1 AND c = NULL AND d = 2",
        "SELECT a FROM t WHERE b = -1 AND c = 'x' AND d = 2",
        "SELECT a FROM t WHERE b = 1.5 AND c = 'x' AND d = 2",
        "SELECT a FROM t WHERE b = -1.5 AND c = 'x' AND d = 2",
        "SELECT a FROM t WHERE b = -2 AND c = 'x' AND d = 2",
        "SELECT a FROM t WHERE b = 1 AND c = 'x'::text AND d = 2",
    ] {
        assert_ne!(one, key(other), "{other}");
        assert!(template.analysis_of(other, &catalog()).is_none(), "{other}");
    }
}

#[test]
fn what_has_no_shape_has_that_of_no_other_text() {
    let text = "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = E'y'";
    let shape = Shape::of(text, &catalog()).unwrap();
    let template = shape.template(text, &analyze(text, &catalog()).unwrap()).unwrap();
    for other in [
        "SELECT a FROM t WHERE b = 01 AND c = 'x' AND d = E'y'",
        "SELECT a FROM t WHERE b = 1e5 AND c = 'x' AND d = E'y'",
        "SELECT a FROM t WHERE b = 1 AND c = 'customer' AND d = E'y'",
        "SELECT a FROM t WHERE b = 1 AND c = 'fieldveil.token' AND d = E'y'",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = E'y' ",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = E'y'::date",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = E'y''",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' || 'x' AND d = E'y'",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = E'\\x79'",
        "SELECT a FROM t WHERE b = 1 AND c = 'x'",
        "SELECT a FROM t WHERE b = ",
        "",
    ] {
        assert!(template.analysis_of(other, &catalog()).is_none(), "{other}");
    }
}

#[test]
fn texts_have_one_key_only_if_their_casts_are_asked_the_same() {
    let key = |value: &str, type_: &str| {
        let text = format!("SELECT a FROM t WHERE b = '{value}'::{type_}");
        Shape::of(&text, &catalog()).unwrap().key().to_owned()
    };
    assert_eq!(key("x", "text"), key("another", "text"));
    assert_eq!(key("2024-02-29", "date"), key("1999-12-31", "date"));
    assert_ne!(key("x", "text"), key("x", "date"));
    for (one, other) in [
        ("x", "x "),
        ("2024-02-29", "29.2.2024"),
        ("2024-02-29 00:00:00", "2024-02-29 00:00:01"),
        ("32767", "32768"),
        ("2147483647", "2147483648"),
        ("7", "007"),
        ("1.5", "1.50"),
        ("true", "t"),
    ] {
        assert_ne!(key(one, "name"), key(other, "name"), "{one}, {other}");
    }
}

#[test]
fn values_of_other_notations_are_sealed_as_they_are_read() {
    let (first, second) = (
        r"INSERT INTO customer (id, name, ssn, email, phone, card) VALUES (-1, now(), E'a\'', 'b''c', $$d$$, 'e'::text)",
        r"INSERT INTO customer (id, name, ssn, email, phone, card) VALUES (-23, now(), E'\t\\é\n', '''\n', $$it's\$$, ''::text)",
    );
    let shape = Shape::of(first, &catalog()).unwrap();
    let template = shape.template(first, &analyze(first, &catalog()).unwrap()).unwrap();
    let other = Shape::of(second, &catalog()).unwrap();
    assert_eq!(other.key(), shape.key());
    let analysis = template.analysis(second, &other).unwrap();
    assert_eq!(analysis, analyze(second, &catalog()).unwrap());
    let sealed = analysis.splices.iter().map(|splice| match &splice.with {
        Replacement::Seal { value, .. } => (&second[splice.range.clone()], value.as_str()),
        _ => panic!("{splice:?}"),
    });
    assert_eq!(
        sealed.collect::<Vec<_>>(),
        [(r"E'\t\\é\n'", "\t\\é\n"), (r"'''\n'", r"'\n"), (r"$$it's\$$", r"it's\"), ("''::text", ""),]
    );
}

#[test]
fn backslash_is_an_escape_where_the_session_has_it_so() {
    let text = r"UPDATE customer SET ssn = 'a\'b\n' WHERE id = 7";
    let escapes = mysql();
    assert_eq!(key(text, &escapes).as_deref(), Some("UPDATE customer SET ssn = _ WHERE id = _"));
    let modes = MySqlDialect { no_backslash_escapes: true, ..DEFAULT };
    for catalog in [catalog(), escapes.clone().in_dialect(Dialect::MySql(modes))] {
        assert_eq!(key(text, &catalog), None);
        let text = r"UPDATE customer SET ssn = 'a\b\' WHERE id = 7";
        let shape = Shape::of(text, &catalog).unwrap();
        let analysis = analyze(text, &catalog).unwrap();
        assert!(shape.template(text, &analysis).unwrap().analysis(text, &shape) == Some(analysis));
    }
    // LIKE keeps the backslash of these; and the last ends at another place for each reader.
    for text in [r"'a\%'", r"'a\_'", r"'\0'", r"'\b'", "'\\é'"] {
        assert_eq!(key(&format!("UPDATE customer SET ssn = {text}"), &escapes), None, "{text}");
    }
}

#[test]
fn template_holds_no_value_and_gives_each_text_its_own() {
    let (first, second) = (
        "UPDATE customer SET name = 'n', ssn = '078-05-1120' WHERE id = 7 AND email = 'a@b.c'",
        "UPDATE customer SET name = 'longer', ssn = '1' WHERE id = 123456 AND email = 'someone@example.com'",
    );
    let shape = Shape::of(first, &catalog()).unwrap();
    let template = shape.template(first, &analyze(first, &catalog()).unwrap()).unwrap();
    let analysis = template.analysis(second, &Shape::of(second, &catalog()).unwrap()).unwrap();
    assert_eq!(analysis, analyze(second, &catalog()).unwrap());
    let sealed = analysis.splices.iter().map(|splice| match &splice.with {
        Replacement::Seal { value, .. } => (&second[splice.range.clone()], value.as_str()),
        _ => panic!("{splice:?}"),
    });
    assert_eq!(sealed.collect::<Vec<_>>(), [("'1'", "1"), ("'someone@example.com'", "someone@example.com")]);
}

#[test]
fn what_seals_a_value_that_is_not_plain_is_no_template() {
    let text = "UPDATE customer SET ssn = U&'x' WHERE id = 7";
    let shape = Shape::of(text, &catalog()).unwrap();
    assert!(shape.template(text, &analyze(text, &catalog()).unwrap()).is_none());
}

fn corpus(name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
    let files = std::fs::read_dir(folder).unwrap();
    files.filter_map(|file| String::from_utf8(std::fs::read(file.unwrap().path()).unwrap()).ok()).collect()
}

/// The texts that the servers' own parsers are asked about.
fn texts_for_the_servers() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/sqldiff/corpus");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "sql"));
    let texts: Vec<String> = files
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            text.split("\n\n").map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert!(texts.len() > 100, "{} texts", texts.len());
    texts
}

#[test]
fn texts_of_the_corpora_are_what_their_templates_say() {
    for text in corpus("sql").iter().chain(&corpus("mysql_sql")).chain(&texts_for_the_servers()) {
        for catalog in [catalog(), catalog_under_several_keys(), mysql()] {
            let _ = analyze(text, &catalog);
        }
    }
    assert!(shapes::COMPARED.load(Ordering::Relaxed) > 0, "no template was made of any");
}

/// Pieces of statements, with values in and out of protected places.
const PIECES: &[&str] = &[
    "(id, ssn) IN (SELECT id, ssn FROM customer ORDER BY 1, 1)",
    "id IN (SELECT id FROM customer GROUP BY id, 1)",
    "id IN (SELECT max(id) FROM customer GROUP BY 1, id, 2)",
    "id IN (VALUES (1), (2) ORDER BY 1, 1)",
    "id IN (SELECT id FROM customer WHERE id IN (1, 2) ORDER BY id IN (5), (1))",
    "id = 5",
    "ssn = 'x'",
    "ssn IN ('x', 'y')",
    "ssn <> 'x'",
    "email = 'x'",
    "name = 'n'",
    "name > 'n'",
    "phone = 'x'",
    "5 = id",
    "'x' = ssn",
    "id IN (1, 2, 3)",
    "(id, ssn) IN ((1, 'x'))",
    "ssn = 'x' AND ssn = 'y'",
    "id < 7",
    "name LIKE 'a%'",
    "ssn = '' ",
    "NOT ssn = 'x'",
    "ssn = 5",
    "id = 'x'",
    "id = (SELECT 5)",
    "name = 'x' || 'y'",
    "CASE WHEN id = 5 THEN ssn = 'x' END",
    "EXISTS (SELECT 1 FROM person WHERE ssn = 'x')",
    "ssn = 'it''s'",
    r"ssn = E'it\'s\n'",
    r"email = 'a\\b'",
    "email IN ($$x$$, 'é', 'x')",
    "ssn = 'x'::text",
    "ssn IN ('x'::varchar, 'y')",
    "name = 'x'::name",
    "id = -5",
    "id IN (-1, 1.5, -1.5, 1)",
    "ssn = -5",
    "ssn = 1.5",
];

fn statement() -> impl Strategy<Value = String> {
    let piece = || prop::sample::select(PIECES);
    let condition = prop::collection::vec((piece(), prop::sample::select(&[" AND ", " OR "][..])), 1..5)
        .prop_map(|pieces| {
            let mut text = String::new();
            for (index, (piece, link)) in pieces.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { link });
                text.push_str(piece);
            }
            text
        });
    (condition, piece(), 0_usize..10).prop_map(|(condition, piece, kind)| match kind {
        0 => format!("SELECT id, ssn FROM customer WHERE {condition}"),
        1 => format!("SELECT {piece} FROM customer WHERE {condition} GROUP BY {piece}"),
        2 => format!("SELECT ssn, count(*) FROM customer WHERE {condition} GROUP BY ssn HAVING {piece} ORDER BY 1 LIMIT 5"),
        3 => format!("DELETE FROM customer WHERE {condition} RETURNING id, ssn"),
        4 => format!("UPDATE customer SET name = 'n', ssn = 'new', email = 'x' WHERE {condition}"),
        5 => format!("INSERT INTO customer (id, name, ssn, phone) SELECT id, 'n', ssn, phone FROM customer WHERE {condition}"),
        7 => format!("SELECT id, ssn FROM customer WHERE {condition} ORDER BY id IN (5), (1)"),
        8 => format!("SELECT id, ssn FROM customer WHERE {condition} GROUP BY id IN (5), (1), {piece}, 2"),
        6 => format!("INSERT INTO customer (id, ssn, phone) VALUES (1, 'x', 'y'), (2, 'x', NULL) ON CONFLICT (id) DO UPDATE SET ssn = 'x' WHERE customer.{piece}"),
        _ => format!("SELECT c.id FROM customer c JOIN person p ON c.ssn = p.ssn AND p.city = 'x' WHERE c.{piece} OR {condition}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_statement_is_what_its_template_says(text in statement()) {
        let modes = MySqlDialect { ansi_quotes: true, ..MySqlDialect::default() };
        for catalog in [catalog(), catalog_under_several_keys(), mysql(), mysql().in_dialect(Dialect::MySql(modes))] {
            let _ = analyze(&text, &catalog);
        }
    }
}
