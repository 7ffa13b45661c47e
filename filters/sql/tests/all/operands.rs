//! A column compared with a value that has a type of its own: as the column's type compares, or refused. What the server
//! does is what PostgreSQL 18 was seen to do.

use crate::common::{self, check_refused_in, check_rewritten_in, typed};

#[test]
fn char_beside_text_counts_trailing_spaces_and_beside_varchar_does_not() {
    check_rewritten_in(
        &typed(),
        &[
            ("SELECT 1 FROM t WHERE code = 'ab  '", "SELECT 1 FROM t WHERE code = «?1:ab  »"),
            ("SELECT 1 FROM t WHERE code = 'ab'::text", "SELECT 1 FROM t WHERE code = «?1:ab»"),
            ("SELECT 1 FROM t WHERE code = 'ab  '::varchar", "SELECT 1 FROM t WHERE code = «?1:ab  »"),
            ("SELECT 1 FROM t WHERE code = 'ab  '::char(4)", "SELECT 1 FROM t WHERE code = «?1:ab  »"),
            ("SELECT 1 FROM t WHERE code = 'ab  '::text::char(4)", "SELECT 1 FROM t WHERE code = «?1:ab  »"),
            ("SELECT 1 FROM t WHERE code = 'ab '::bpchar(4)", "SELECT 1 FROM t WHERE code = «?1:ab »"),
            ("SELECT 1 FROM t WHERE code = 'ab '::character(4)", "SELECT 1 FROM t WHERE code = «?1:ab »"),
            ("SELECT 1 FROM t WHERE code = $1::text", "SELECT 1 FROM t WHERE code = «$1» | $1=?1:Text"),
            ("SELECT 1 FROM t WHERE code = $1::varchar", "SELECT 1 FROM t WHERE code = «$1» | $1=?1"),
            (
                "SELECT 1 FROM t WHERE code = ANY($1::text[])",
                "SELECT 1 FROM t WHERE code = ANY(«$1») | $1=?1[]:Text",
            ),
            (
                "SELECT 1 FROM t WHERE code = ANY('{ab}'::text[])",
                "SELECT 1 FROM t WHERE code = ANY(«?1[]:{ab}»)",
            ),
            (
                "SELECT 1 FROM t WHERE code IN ('ab  ', 'cd')",
                "SELECT 1 FROM t WHERE code IN («?1:ab  », «?1:cd»)",
            ),
            // Stored, it is assigned.
            ("INSERT INTO t (code) VALUES ('ab  '::text)", "INSERT INTO t (code) VALUES («S1:ab  »)"),
        ],
    );
    check_refused_in(
        &typed(),
        &[
            ("SELECT 1 FROM t WHERE code = 'ab  '::text", "typed.code"),
            ("SELECT 1 FROM t WHERE 'ab  '::text = code", "typed.code"),
            ("SELECT 1 FROM t WHERE code = 'ab'::char(3)", "typed.code"),
            ("SELECT 1 FROM t WHERE code = 'a'::char", "typed.code"),
            ("SELECT 1 FROM t WHERE code <> CAST('ab ' AS text)", "typed.code"),
            ("SELECT 1 FROM t WHERE code <> text 'ab '", "typed.code"),
            ("SELECT 1 FROM t WHERE code IS DISTINCT FROM 'ab  '::text", "typed.code"),
            ("SELECT 1 FROM t WHERE code IS NOT DISTINCT FROM ('ab  '::char(4)::text)", "typed.code"),
            ("SELECT 1 FROM t WHERE code IN ('ab'::text, 'cd  '::text)", "typed.code"),
            ("SELECT 1 FROM t WHERE code IN ('ab  ', 'x'::text)", "typed.code"),
            ("SELECT 1 FROM t WHERE code IN ('ab  ', $1)", "typed.code"),
            ("SELECT 1 FROM t WHERE code = ANY('{\"ab  \"}'::text[])", "typed.code"),
            ("SELECT 1 FROM t WHERE code = ANY(ARRAY['ab  ', 'x'::text])", "typed.code"),
            ("UPDATE t SET code = 'x' WHERE code = 'ab  '::text", "typed.code"),
            ("SELECT count(*) FILTER (WHERE code = 'ab '::text) FROM t", "typed.code"),
        ],
    );
}

#[test]
fn date_beside_timestamp_is_its_midnight() {
    check_rewritten_in(
        &typed(),
        &[
            (
                "SELECT 1 FROM t WHERE day = '2020-01-31 10:00'",
                "SELECT 1 FROM t WHERE day = «?2:2020-01-31 10:00»",
            ),
            (
                "SELECT 1 FROM t WHERE day = '2020-01-31 00:00:00'::timestamp",
                "SELECT 1 FROM t WHERE day = «?2:2020-01-31 00:00:00»",
            ),
            ("SELECT 1 FROM t WHERE at = '2020-01-31'::date", "SELECT 1 FROM t WHERE at = «?3:2020-01-31»"),
        ],
    );
    check_refused_in(
        &typed(),
        &[
            ("SELECT 1 FROM t WHERE day = '2020-01-31 10:00:00'::timestamp", "typed.day"),
            ("SELECT 1 FROM t WHERE day = timestamp '2020-01-31 10:00:00'", "typed.day"),
            ("SELECT 1 FROM t WHERE day <> '2020-01-31 00:00:00+00'::timestamptz", "typed.day"),
            ("SELECT 1 FROM t WHERE at = '2020-01-31 00:00:00+00'::timestamptz", "typed.at"),
            ("SELECT 1 FROM t WHERE zoned = '2020-01-31 00:00:00'::timestamp", "typed.zoned"),
            (
                "SELECT 1 FROM t WHERE day IN ('2020-01-31 10:00', '2020-01-01 00:00:00'::timestamp)",
                "typed.day",
            ),
        ],
    );
}

#[test]
fn integers_and_numerics_are_compared_exactly_where_the_cast_holds_the_value() {
    check_rewritten_in(
        &typed(),
        &[
            ("SELECT 1 FROM t WHERE n = 5", "SELECT 1 FROM t WHERE n = «?5:5»"),
            ("SELECT 1 FROM t WHERE n = 32767::int2", "SELECT 1 FROM t WHERE n = «?5:32767»"),
            ("SELECT 1 FROM t WHERE n = 40000::int8", "SELECT 1 FROM t WHERE n = «?5:40000»"),
            ("SELECT 1 FROM t WHERE n = '5'::numeric", "SELECT 1 FROM t WHERE n = «?5:5»"),
            ("SELECT 1 FROM t WHERE n = 5::float8", "SELECT 1 FROM t WHERE n = «?5:5»"),
            ("SELECT 1 FROM t WHERE amount = 5::int4", "SELECT 1 FROM t WHERE amount = «?6:5»"),
            ("SELECT 1 FROM t WHERE amount = '1.1'::numeric", "SELECT 1 FROM t WHERE amount = «?6:1.1»"),
            ("SELECT 1 FROM t WHERE n = $1::int8", "SELECT 1 FROM t WHERE n = «$1» | $1=?5"),
            ("SELECT 1 FROM t WHERE n = $1::int2", "SELECT 1 FROM t WHERE n = «$1» | $1=?5:Int2"),
            ("SELECT 1 FROM t WHERE n = $1::int2::int4", "SELECT 1 FROM t WHERE n = «$1» | $1=?5:Int2"),
            (
                "SELECT 1 FROM t WHERE n = ANY('{400, NULL}'::int2[])",
                "SELECT 1 FROM t WHERE n = ANY(«?5[]:{400, NULL}»)",
            ),
            (
                "SELECT 1 FROM t WHERE n = ANY(ARRAY['5', 6])",
                "SELECT 1 FROM t WHERE n = ANY(ARRAY[«?5:5», «?5:6»])",
            ),
            (
                "SELECT 1 FROM t WHERE amount IN ('0.3', 1)",
                "SELECT 1 FROM t WHERE amount IN («?6:0.3», «?6:1»)",
            ),
        ],
    );
    check_refused_in(
        &typed(),
        &[
            ("SELECT 1 FROM t WHERE n = 40000::int2", "typed.n"),
            ("SELECT 1 FROM t WHERE n = '{40000}'::int2", "typed.n"),
            ("SELECT 1 FROM t WHERE n = ANY('{40000}'::int2[])", "typed.n"),
            ("SELECT 1 FROM t WHERE amount = 3000000000::int4", "typed.amount"),
            // As float8, in which more numbers are equal.
            ("SELECT 1 FROM t WHERE amount = 0.3::float8", "typed.amount"),
            // The first cast fails, or there is none.
            ("SELECT 1 FROM t WHERE n = '40000'::int2::int4", "typed.n"),
            ("SELECT 1 FROM t WHERE flag = '1'::numeric::bool", "typed.flag"),
            // An array of integers, which takes no fraction.
            ("SELECT 1 FROM t WHERE amount = ANY(ARRAY['0.30', 1::int8])", "typed.amount"),
            ("SELECT 1 FROM t WHERE amount = ANY(ARRAY['0.30', 1])", "typed.amount"),
            ("SELECT 1 FROM t WHERE n = ANY(ARRAY['40000', 1::int2])", "typed.n"),
        ],
    );
}

#[test]
fn types_that_the_server_has_no_operator_for_are_refused() {
    let mut refused = Vec::new();
    for (column, values) in [
        (
            "name",
            &["5", "true", "'5'::int", "'{}'::json", "'a'::json::text", "'true'::bool", "NULL::int"][..],
        ),
        ("code", &["5", "'5'::int", "'{}'::json", "NULL::date"]),
        ("day", &["20200131", "'2020-01-31'::text", "$1::text", "'2020-01-31'::varchar"]),
        ("n", &["'5'::text", "$1::text", "true", "'5'::json", "ANY($1::text[])", "ANY('{5}'::text[])"]),
        ("amount", &["'5'::text", "'5.00'::json"]),
        ("flag", &["1", "'1'::int", "'true'::text", "$1::varchar"]),
        ("key", &["'11111111-2222-3333-4444-555555555555'::text", "$1::text"]),
        ("words", &["'{a}'::text", "$1::text", "ANY(ARRAY['{a}'::text[]])", "ANY($1)"]),
    ] {
        for value in values {
            refused.push((format!("SELECT 1 FROM t WHERE {column} = {value}"), format!("typed.{column}")));
        }
    }
    let refused: Vec<(&str, &str)> =
        refused.iter().map(|(text, label)| (text.as_str(), label.as_str())).collect();
    check_refused_in(&typed(), &refused);
    check_rewritten_in(
        &typed(),
        &[
            ("SELECT 1 FROM t WHERE flag = true", "SELECT 1 FROM t WHERE flag = «?7:true»"),
            ("SELECT 1 FROM t WHERE words = $1::text[]", "SELECT 1 FROM t WHERE words = «$1» | $1=?9"),
            // Stored, a number is assigned to characters.
            ("INSERT INTO t (name) VALUES (5)", "INSERT INTO t (name) VALUES («S0:5»)"),
        ],
    );
}

#[test]
fn type_that_prepare_names_decides_as_a_cast_does() {
    let prepared =
        |types: &str, condition: &str| format!("PREPARE p ({types}) AS SELECT 1 FROM t WHERE {condition}");
    for (types, condition) in
        [("timestamp", "day = $1"), ("text", "n = $1"), ("citext", "name = $1"), ("float8", "amount = $1")]
    {
        let text = prepared(types, condition);
        assert!(common::analyze(&text, &typed()).is_err(), "{text}");
    }
    for (types, condition) in
        [("text", "code = $1"), ("int2", "n = $1"), ("varchar", "name = $1"), ("unknown", "day = $1")]
    {
        let text = prepared(types, condition);
        assert!(common::analyze(&text, &typed()).is_ok(), "{text}");
    }
    let session = |types: &str, condition: &str| {
        let text: &'static str = Box::leak(prepared(types, condition).into_boxed_str());
        common::Session(vec![("p", common::analyze(text, &typed()).unwrap())])
    };
    let executes = |session: &common::Session, value: &str| {
        fieldveil_sql::analyze_in(&format!("EXECUTE p ({value})"), &typed(), session).is_ok()
    };
    let code = session("text", "code = $1");
    assert!(executes(&code, "'ab'"));
    assert!(!executes(&code, "'ab  '"));
    let n = session("int2", "n = $1");
    assert!(executes(&n, "5"));
    assert!(!executes(&n, "40000"));
}
