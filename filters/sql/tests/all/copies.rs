//! COPY, and statements about prepared statements and cursors.

#![allow(clippy::expect_used, clippy::panic)]

use crate::common::shapes::analyze_in;
use crate::common::{
    Session, accepted, catalog, check_kept, check_refused, check_rewritten, check_untouched, render,
};
use fieldveil_sql::{
    Copy, CopyCsv, CopyFormat, CopyHeader, CopyText, ResultField, SessionUse, Statement, StatementKind,
};

fn copy(text: &str) -> Copy {
    accepted(text).statements.pop().and_then(|statement| statement.copy).expect("a COPY")
}

fn text(delimiter: u8, null: &str, header: bool) -> CopyText {
    let header = if header { CopyHeader::Any } else { CopyHeader::None };
    CopyText { delimiter, null: null.as_bytes().to_vec(), header, csv: None, encoding: None }
}

#[test]
fn the_columns_of_a_copy_are_known_in_the_datas_order() {
    check_rewritten(&[(
        "COPY customer FROM STDIN",
        "COPY customer« (\"id\", \"name\", \"email\", \"ssn\", \"phone\", \"card\", \"notes\")» FROM STDIN",
    )]);
    check_kept(&[
        "COPY public.customer (ssn, id) TO STDOUT",
        "COPY (SELECT id, ssn FROM customer) TO STDOUT",
    ]);
    let from = copy("COPY customer (ssn, id) FROM STDIN");
    assert_eq!(
        from,
        Copy {
            from_client: true,
            columns: vec![Some(1), None],
            format: CopyFormat::Text(text(b'\t', "\\N", false)),
        }
    );
    assert_eq!(copy("COPY (SELECT id, ssn FROM customer) TO STDOUT").columns, [None, Some(1)]);
    let statement = accepted("COPY customer TO STDOUT").statements.pop().expect("one statement");
    assert_eq!(statement.kind, StatementKind::Select);
    assert_eq!(statement.fields.reads, [0, 1, 2, 3, 4]);
}

#[test]
fn the_options_of_a_copy_are_read_in_every_syntax() {
    let csv = |text: CopyText, quote, escape| {
        let csv = CopyCsv { quote, escape, force_null: vec![false], force_not_null: vec![false] };
        CopyFormat::Text(CopyText { csv: Some(csv), ..text })
    };
    for (options, format) in [
        ("", CopyFormat::Text(text(b'\t', "\\N", false))),
        ("WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'x')", csv(text(b';', "x", true), b'"', b'"')),
        (
            "(FORMAT 'csv', HEADER false, QUOTE '''', ESCAPE E'\\\\')",
            csv(text(b',', "", false), b'\'', b'\\'),
        ),
        ("CSV HEADER DELIMITER AS '|' NULL AS ''", csv(text(b'|', "", true), b'"', b'"')),
        ("WITH DELIMITER E'\\t' NULL 'n'", CopyFormat::Text(text(b'\t', "n", false))),
        ("USING DELIMITERS '|'", CopyFormat::Text(text(b'|', "\\N", false))),
        ("WITH BINARY", CopyFormat::Binary),
        ("(FORMAT binary)", CopyFormat::Binary),
        (
            "(HEADER match, FREEZE, ENCODING 'utf-8')",
            CopyFormat::Text(CopyText {
                header: CopyHeader::Match(vec!["ssn".to_owned()]),
                encoding: Some("utf-8".to_owned()),
                ..text(b'\t', "\\N", false)
            }),
        ),
    ] {
        let text = format!("COPY customer (ssn) FROM STDIN {options}");
        assert_eq!(copy(&text).format, format, "{text}");
    }
    let forced = copy("COPY customer (id, ssn) FROM STDIN (FORMAT csv, FORCE_NULL (ssn), FORCE_NOT_NULL *)");
    let CopyFormat::Text(CopyText { csv: Some(csv), .. }) = forced.format else { panic!("CSV") };
    assert_eq!((csv.force_null, csv.force_not_null), (vec![false, true], vec![true, true]));
}

#[test]
fn a_copy_that_is_not_the_clients_or_not_understood_is_refused() {
    check_refused(&[
        ("COPY customer FROM '/tmp/x'", ""),
        ("COPY customer TO PROGRAM 'cat'", ""),
        ("COPY customer FROM STDIN WHERE ssn = 'a'", ""),
        ("COPY customer FROM STDIN (DEFAULT 'd')", ""),
        ("COPY customer FROM STDIN (FORMAT json)", ""),
        ("COPY customer FROM STDIN (DELIMITER '||')", ""),
        ("COPY customer (nothing) FROM STDIN", ""),
        ("COPY computed FROM STDIN", "computed.digest"),
        ("COPY hr.staff (id) FROM STDIN", "hr.badge"),
        ("COPY customer_2024 TO STDOUT", ""),
        ("COPY customer_view TO STDOUT", ""),
        ("COPY (SELECT upper(ssn) FROM customer) TO STDOUT", "customer.ssn"),
        ("COPY (SELECT * FROM customer, orders) TO STDOUT", ""),
        ("SELECT 1; COPY customer FROM STDIN", ""),
        ("COPY customer TO STDOUT; SELECT 1", ""),
    ]);
    check_untouched(&[
        "COPY orders (customer) FROM STDIN",
        "COPY other.customer FROM STDIN",
        "COPY orders TO STDOUT",
    ]);
}

#[test]
fn a_prepared_statement_is_checked_when_it_is_prepared_and_its_values_when_it_is_executed() {
    check_rewritten(&[
        (
            "PREPARE p (int, text) AS INSERT INTO customer (id, ssn) VALUES ($1, $2)",
            "PREPARE «\"p\"» (int, «unknown») AS INSERT INTO customer (id, ssn) VALUES ($1, $2)",
        ),
        (
            "PREPARE p AS SELECT id FROM customer WHERE ssn = 'a'",
            "PREPARE «\"p\"» AS SELECT id FROM customer WHERE ssn = «ANY (»«?1*:a»«)»",
        ),
    ]);
    check_refused(&[
        ("PREPARE p AS SELECT upper(ssn) FROM customer", "customer.ssn"),
        ("EXECUTE unheard('a')", ""),
    ]);
    let session = Session(vec![
        ("p", accepted("PREPARE p (int, text) AS INSERT INTO customer (id, ssn) VALUES ($1, $2)")),
        ("a", accepted("PREPARE a AS SELECT ssn FROM customer WHERE ssn = ANY($1)")),
    ]);
    for (text, expected) in [
        ("EXECUTE p(1, 'x')", "EXECUTE «\"p\"»(1, «S1:x»)"),
        ("EXECUTE p(1, NULL)", "EXECUTE «\"p\"»(1, NULL)"),
        ("EXECUTE a('{x,y}')", "EXECUTE «\"a\"»(«?1[]:{x,y}»)"),
        ("EXPLAIN EXECUTE a('{x}')", "EXPLAIN EXECUTE «\"a\"»(«?1[]:{x}»)"),
    ] {
        let analysis = analyze_in(text, &catalog(), &session).expect(text);
        assert_eq!(render(text, &analysis), expected);
    }
    let executed = analyze_in("EXECUTE a('{x}')", &catalog(), &session).expect("accepted");
    let statement = executed.statements.first().expect("one");
    assert_eq!(
        (&statement.columns, statement.kind),
        (&Some(vec![Some(ResultField { field: 1, cast: false })]), StatementKind::Select)
    );
    for text in [
        "CREATE TABLE t AS EXECUTE a('{x}')",
        "CREATE TEMP TABLE t (n) AS EXECUTE unheard('x') WITH NO DATA",
        "EXECUTE p(1, upper('x'))",
        "EXECUTE p(1, $1)",
        "EXECUTE p(1, 'a' || 'b')",
        "EXECUTE q('x')",
    ] {
        assert!(analyze_in(text, &catalog(), &session).is_err(), "{text}");
    }
}

#[test]
fn a_text_knows_what_it_prepares_itself() {
    check_rewritten(&[(
        "PREPARE p AS INSERT INTO customer (ssn) VALUES ($1); EXECUTE p('x')",
        "PREPARE «\"p\"» AS INSERT INTO customer (ssn) VALUES ($1); EXECUTE «\"p\"»(«S1:x»)",
    )]);
    check_refused(&[("PREPARE p AS SELECT 1; DEALLOCATE p; EXECUTE p('x')", "")]);
}

#[test]
fn names_that_are_missing_pass_and_those_that_stand_elsewhere_do_not() {
    for text in ["FETCH 1", "FETCH 'c'", "MOVE FORWARD 5", "CLOSE", "CLOSE 'c'", "DEALLOCATE 'p'"] {
        assert!(fieldveil_sql::analyze(text, &catalog()).is_ok(), "{text}");
    }
    check_refused(&[
        ("FETCH U&\"c\" UESCAPE '!'", ""),
        ("DEALLOCATE U&\"p\" UESCAPE '!'", ""),
        ("FETCH 1 FROM customer 'c'", ""),
    ]);
}

#[test]
fn a_cursors_query_is_checked_where_it_is_declared() {
    check_rewritten(&[(
        "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT ssn FROM customer WHERE ssn = 'a'",
        "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT ssn FROM customer WHERE ssn = «?1:a»",
    )]);
    check_refused(&[("DECLARE c CURSOR FOR SELECT upper(ssn) FROM customer", "customer.ssn")]);
    let session = Session(vec![("c", accepted("DECLARE c CURSOR FOR SELECT id, ssn FROM customer"))]);
    let fetched = analyze_in("FETCH FORWARD 5 FROM c", &catalog(), &session).expect("accepted");
    let statement = fetched.statements.first().expect("one");
    assert!(statement.returns_protected());
    assert_eq!(statement.columns, Some(vec![None, Some(ResultField { field: 1, cast: false })]));
    let unknown = analyze_in("FETCH ALL FROM other", &catalog(), &session).expect("accepted");
    assert!(
        unknown.statements.iter().all(Statement::returns_protected),
        "its columns come with their tables"
    );
}

#[test]
fn a_transactions_end_and_savepoints_are_told() {
    let use_ = |text| accepted(text).statements.first().expect("one").session.clone();
    let name = || "a".to_owned();
    for text in ["SAVEPOINT A", "SAVEPOINT \"a\""] {
        assert_eq!(use_(text), Some(SessionUse::Savepoint { name: name() }), "{text}");
    }
    for text in ["RELEASE a", "RELEASE SAVEPOINT a"] {
        assert_eq!(use_(text), Some(SessionUse::Release { name: name() }), "{text}");
    }
    for text in ["ROLLBACK TO a", "ROLLBACK WORK TO a", "ROLLBACK TRANSACTION TO SAVEPOINT a"] {
        assert_eq!(use_(text), Some(SessionUse::RollBackTo { name: name() }), "{text}");
    }
    for text in ["COMMIT", "END", "COMMIT WORK AND CHAIN", "PREPARE TRANSACTION 'x'"] {
        assert_eq!(use_(text), Some(SessionUse::End { rolls_back: false }), "{text}");
    }
    for text in ["ROLLBACK", "ABORT", "ROLLBACK AND NO CHAIN"] {
        assert_eq!(use_(text), Some(SessionUse::End { rolls_back: true }), "{text}");
    }
    for text in ["BEGIN", "START TRANSACTION", "COMMIT PREPARED 'x'", "ROLLBACK PREPARED 'x'"] {
        assert_eq!(use_(text), None, "{text}");
    }
}

#[test]
fn what_is_explained_does_nothing_with_names() {
    for text in
        ["EXPLAIN DECLARE c CURSOR FOR SELECT 1", "EXPLAIN (COSTS off) FETCH 1 FROM c", "EXPLAIN CLOSE c"]
    {
        assert_eq!(accepted(text).statements.first().expect("one").session, None, "{text}");
    }
}

#[test]
fn a_cursor_that_is_held_is_told_from_others() {
    let holds = |text| {
        let session = accepted(text).statements.first().expect("one").session.clone();
        matches!(session, Some(SessionUse::Declare { holds: true, .. }))
    };
    assert!(holds("DECLARE c BINARY INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT 1"));
    assert!(!holds("DECLARE c CURSOR WITHOUT HOLD FOR SELECT 1"));
    assert!(!holds("DECLARE c CURSOR FOR WITH hold AS (SELECT 1) SELECT * FROM hold"));
}
