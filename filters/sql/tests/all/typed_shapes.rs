//! Texts whose values have types: those that differ in plain values alone are analyzed once.

use crate::common::{analyze, typed};
use proptest::prelude::*;

/// Values as they may be written, with and without casts.
const LITERALS: &[&str] = &[
    "'x'",
    "'x '",
    "E'x'",
    "$$x$$",
    "'it''s'",
    "'é'",
    "5",
    "-5",
    "1.5",
    "-1.5",
    "'5'",
    "'70000'",
    "'2024-02-29'",
    "NULL",
    "'2024-02-29 00:00:00'",
    "'2024-02-29 12:30:00+01'",
    "'true'",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
    "true",
];
const CASTS: &[&str] = &[
    "",
    "",
    "",
    "::text",
    "::varchar",
    "::bpchar",
    "::name",
    "::date",
    "::timestamp",
    "::timestamptz",
    "::int2",
    "::int4",
    "::int8",
    "::numeric",
    "::float8",
    "::bool",
    "::uuid",
    "::bytea",
    "::json",
    "::jsonb",
    "::unknown",
    "::t",
];

/// A statement about columns of each type.
fn typed_statement() -> impl Strategy<Value = String> {
    let columns = ["name", "code", "day", "at", "zoned", "n", "amount", "flag", "key"];
    let column = || prop::sample::select(columns.to_vec());
    let value = || {
        (prop::sample::select(LITERALS), prop::sample::select(CASTS))
            .prop_map(|(value, cast)| format!("{value}{cast}"))
    };
    (column(), column(), value(), value(), 0_usize..6).prop_map(|(one, other, a, b, kind)| match kind {
        0 => format!("SELECT name FROM t WHERE {one} = {a}"),
        1 => format!("SELECT name FROM t WHERE {one} IN ({a}, {b})"),
        2 => format!("SELECT name FROM t WHERE {one} = {a} AND {other} <> {b}"),
        3 => format!("INSERT INTO t ({one}, words) VALUES ({a}, now()), ({b}, NULL)"),
        4 => format!("INSERT INTO t ({one}) VALUES ({a}) ON CONFLICT DO UPDATE SET {other} = {b}"),
        _ => format!("UPDATE t SET {one} = {a} WHERE {other} = {b}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_statement_about_typed_columns_is_what_its_template_says(text in typed_statement()) {
        let _ = analyze(&text, &typed());
    }
}
