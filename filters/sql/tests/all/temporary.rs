//! Temporary relations, and relations of other schemas that have the name of a protected one.

#![allow(clippy::expect_used, clippy::panic)]

use crate::common::{
    analyze, catalog, check_refused_in, check_rewritten_in, check_untouched, check_untouched_in,
};
use fieldveil_sql::{Catalog, Relation, RelationKind};

/// The catalog of a session with a temporary child of the protected table, and a temporary view of it.
fn with_temporary() -> Catalog {
    let mut catalog = catalog();
    let relations = catalog.relations_mut();
    let customer = relations.iter().find(|relation| relation.name == "customer").expect("there").clone();
    for (oid, name, kind) in [(900, "child", RelationKind::Table), (901, "shown", RelationKind::View)] {
        let (schema, name) = ("pg_temp_3".to_owned(), name.to_owned());
        relations.push(Relation { oid, schema, name, kind, ..customer.clone() });
    }
    catalog
}

/// The catalog where the protected table is not in the search path, and the policy names it.
fn elsewhere() -> Catalog {
    let mut catalog = catalog().with_planned(vec!["customer".to_owned()]);
    catalog.relations_mut().iter_mut().for_each(|relation| relation.visible = false);
    catalog
}

#[test]
fn temporary_relations_are_known_by_each_of_their_names() {
    for schema in ["", "pg_temp.", "\"pg_temp\".", "pg_temp_3.", "shop.pg_temp."] {
        let text = |rest: &str| rest.replace('@', schema);
        check_rewritten_in(
            &with_temporary(),
            &[
                (
                    &text("INSERT INTO @child (id, ssn) VALUES (1, 'x')"),
                    &text("INSERT INTO @child (id, ssn) VALUES (1, «S1:x»)"),
                ),
                (
                    &text("SELECT id FROM @shown WHERE ssn = 'x'"),
                    &text("SELECT id FROM @shown WHERE ssn = «?1:x»"),
                ),
            ],
        );
        check_refused_in(
            &with_temporary(),
            &[
                (&text("INSERT INTO @shown (id, ssn) VALUES (1, 'x')"), ""),
                (&text("UPDATE @shown SET ssn = 'x'"), ""),
                (&text("COPY @shown FROM STDIN"), ""),
                (&text("ALTER TABLE @child RENAME TO other"), ""),
            ],
        );
    }
    assert!(
        analyze("COPY pg_temp.child (id, ssn) FROM STDIN", &with_temporary())
            .is_ok_and(|analysis| { analysis.statements.iter().all(|statement| statement.copy.is_some()) })
    );
    // Another's schema is not named so.
    check_untouched(&["INSERT INTO pg_temp.customer (ssn) VALUES ('x')"]);
}

#[test]
fn temporary_table_may_have_the_name_of_a_protected_one() {
    let catalog = catalog().with_planned(vec!["customer".to_owned()]);
    check_untouched_in(
        &catalog,
        &[
            "CREATE TEMP TABLE customer AS SELECT 1 AS id",
            "CREATE LOCAL TEMPORARY TABLE IF NOT EXISTS customer (a) AS VALUES (1)",
            "SELECT 1 AS id INTO TEMP customer",
            "SELECT 1 AS id INTO TEMPORARY TABLE customer",
        ],
    );
    check_refused_in(
        &catalog,
        &[
            ("CREATE TABLE customer AS SELECT 1 AS id", ""),
            ("CREATE UNLOGGED TABLE customer AS SELECT 1 AS id", ""),
            ("CREATE TABLE temp AS SELECT 1 INTO customer", ""),
            ("SELECT 1 AS id INTO customer", ""),
            ("SELECT 1 AS id INTO UNLOGGED customer", ""),
            ("CREATE TEMP TABLE customer AS SELECT 1 AS id; INSERT INTO customer VALUES ('x')", ""),
            ("CREATE TEMP TABLE t AS SELECT upper(ssn) FROM customer", "customer.ssn"),
        ],
    );
}

#[test]
fn table_that_is_not_the_protected_one_is_altered_whatever_its_name() {
    check_untouched_in(
        &elsewhere(),
        &[
            "ALTER TABLE customer RENAME COLUMN ssn TO number",
            "ALTER TABLE other.customer RENAME TO client",
            "ALTER TABLE customer ADD COLUMN n int GENERATED ALWAYS AS (id + 1) STORED",
            "ALTER TABLE customer RENAME CONSTRAINT a TO b",
            "ALTER VIEW customer ALTER COLUMN ssn SET DEFAULT 'x'",
            "ALTER MATERIALIZED VIEW IF EXISTS customer RENAME ssn TO number",
            "ALTER TABLE other.orders ATTACH PARTITION customer FOR VALUES IN ('x')",
        ],
    );
    check_refused_in(
        &elsewhere(),
        &[
            ("ALTER TABLE public.customer RENAME COLUMN ssn TO number", ""),
            ("ALTER TABLE orders RENAME TO customer", ""),
            ("ALTER TABLE other.customer RENAME TO \"customer\"", ""),
            ("ALTER TABLE customer SET SCHEMA public", ""),
            ("ALTER TABLE orders ATTACH PARTITION public.customer FOR VALUES IN ('x')", ""),
            ("ALTER FUNCTION customer RENAME TO f", ""),
        ],
    );
}

#[test]
fn view_that_only_has_the_name_of_a_protected_table_is_refreshed() {
    check_untouched_in(
        &elsewhere(),
        &[
            "REFRESH MATERIALIZED VIEW customer",
            "REFRESH MATERIALIZED VIEW CONCURRENTLY other.customer WITH DATA",
            "REFRESH MATERIALIZED VIEW shop.other.customer_view WITH NO DATA",
        ],
    );
    check_untouched(&["REFRESH MATERIALIZED VIEW other.customer", "REFRESH MATERIALIZED VIEW orders"]);
    check_refused_in(
        &elsewhere(),
        &[
            ("REFRESH MATERIALIZED VIEW public.customer_view", ""),
            ("REFRESH MATERIALIZED VIEW CONCURRENTLY shop.public.customer", ""),
        ],
    );
    check_refused_in(
        &with_temporary(),
        &[
            ("REFRESH MATERIALIZED VIEW customer_view", ""),
            ("REFRESH MATERIALIZED VIEW pg_temp.shown", ""),
            ("REFRESH MATERIALIZED VIEW other.customer; REFRESH MATERIALIZED VIEW customer_view", ""),
        ],
    );
}

#[test]
fn table_that_is_not_the_protected_one_moves_to_a_schema_that_the_policy_does_not_name() {
    let moved = [
        "ALTER TABLE other.customer SET SCHEMA third",
        "ALTER TABLE IF EXISTS ONLY other.customer SET SCHEMA \"Third\";",
        "ALTER MATERIALIZED VIEW shop.other.customer_view SET SCHEMA third",
        // A schema has the name of a protected table.
        "ALTER TABLE orders SET SCHEMA customer",
    ];
    let schemas = vec!["public".to_owned()];
    let known = elsewhere().with_schemas(schemas.clone());
    check_untouched_in(&known, &moved);
    check_untouched_in(&known, &["ALTER TABLE customer SET SCHEMA third"]);
    let visible = catalog().with_planned(vec!["customer".to_owned()]).with_schemas(schemas);
    check_untouched_in(&visible, &moved);
    check_refused_in(&visible, &[("ALTER TABLE customer SET SCHEMA third", "")]);
    for catalog in [&known, &visible] {
        check_refused_in(
            catalog,
            &[
                ("ALTER TABLE public.customer SET SCHEMA third", ""),
                ("ALTER TABLE other.customer SET SCHEMA public", ""),
                ("ALTER TABLE other.customer SET SCHEMA pg_temp", ""),
                ("ALTER TABLE other.customer RENAME TO client, SET SCHEMA third", ""),
                ("ALTER FUNCTION customer SET SCHEMA third", ""),
                ("ALTER TABLE other.customer SET SCHEMA third; INSERT INTO customer (ssn) VALUES ('x')", ""),
            ],
        );
    }
    // Where it is not known which schemas the policy names, any may be one.
    check_refused_in(&elsewhere(), &[("ALTER TABLE other.customer SET SCHEMA third", "")]);
}

#[test]
fn temporary_view_may_have_the_name_of_a_protected_table() {
    let made = [
        "CREATE TEMP VIEW customer AS SELECT 1 AS id",
        "CREATE OR REPLACE LOCAL TEMPORARY VIEW customer (id) AS VALUES (1)",
        "CREATE TEMPORARY RECURSIVE VIEW customer (id) AS SELECT 1",
    ];
    let visible = catalog().with_planned(vec!["customer".to_owned()]);
    check_untouched_in(&visible, &made);
    check_untouched_in(&elsewhere(), &made);
    check_refused_in(
        &visible,
        &[
            // Under the name that the view is about to have, the text would go on with the table.
            ("CREATE TEMP VIEW customer AS SELECT 1 AS ssn; SELECT ssn FROM customer", ""),
            ("CREATE VIEW customer AS SELECT 1 AS temp", ""),
            ("CREATE OR REPLACE VIEW customer AS SELECT 1 AS id", ""),
            ("CREATE VIEW temporary.view AS SELECT 1 AS id; CREATE VIEW customer AS SELECT 1 AS id", ""),
        ],
    );
}

#[test]
fn relation_is_made_under_the_name_of_a_protected_one_in_a_schema_that_the_policy_does_not_name() {
    let made = [
        "CREATE VIEW other.customer AS SELECT 1 AS id",
        "CREATE OR REPLACE VIEW other.customer (id, ssn) AS SELECT id, upper(note) FROM orders",
        "CREATE MATERIALIZED VIEW IF NOT EXISTS other.customer AS SELECT 1 AS id WITH NO DATA",
        "CREATE TABLE other.customer AS SELECT 1 AS id, 'x' AS ssn",
        "CREATE UNLOGGED TABLE \"other\".\"customer\" (a) AS VALUES (1)",
        "ALTER TABLE other.client RENAME TO customer",
        "ALTER TABLE IF EXISTS ONLY other.client RENAME TO customer",
        "ALTER MATERIALIZED VIEW other.client RENAME TO customer",
    ];
    let known = elsewhere().with_schemas(vec!["public".to_owned()]);
    check_untouched_in(&known, &made);
    // Also where the bare name is the protected table's.
    let planned = vec!["customer".to_owned()];
    let visible = catalog().with_planned(planned).with_schemas(vec!["public".to_owned()]);
    check_untouched_in(&visible, &made);
    check_refused_in(
        &visible,
        &[
            ("ALTER TABLE other.client ATTACH PARTITION customer DEFAULT; SELECT ssn FROM customer", ""),
            ("ALTER TABLE other.client RENAME TO customer, RENAME TO other", ""),
            ("ALTER TABLE customer RENAME TO client", ""),
        ],
    );
    // Where it is not known which schemas the policy names, any may be one.
    check_refused_in(&elsewhere(), &made.map(|text| (text, "")));
    // The database says nothing of the schema that a bare name is in.
    for database in ["", "other"] {
        let known = known.clone().with_database(database);
        check_refused_in(&known, &[("CREATE VIEW customer AS SELECT 1 AS id", "")]);
    }
    check_refused_in(
        &known,
        &[
            ("CREATE VIEW public.customer AS SELECT 1 AS id", ""),
            ("CREATE VIEW customer AS SELECT 1 AS id", ""),
            ("CREATE VIEW shop.other.customer AS SELECT 1 AS id", ""),
            ("CREATE VIEW pg_temp.customer AS SELECT 1 AS id", ""),
            ("CREATE VIEW other.client (customer) AS SELECT 1 AS id", ""),
            ("CREATE VIEW other.customer AS SELECT id, ssn FROM public.customer", ""),
            ("CREATE TABLE other.customer AS SELECT id FROM public.customer", ""),
            ("CREATE TABLE other.customer AS TABLE public.customer", ""),
            ("CREATE TABLE other.customer AS SELECT 1 AS id; INSERT INTO customer (ssn) VALUES ('x')", ""),
            ("ALTER TABLE public.client RENAME TO customer", ""),
            ("ALTER TABLE client RENAME TO customer", ""),
            ("ALTER TABLE other.client.a RENAME TO customer", ""),
            ("ALTER TABLE other.customer SET SCHEMA public", ""),
            ("ALTER TABLE other.client RENAME TO customer; INSERT INTO customer (ssn) VALUES ('x')", ""),
        ],
    );
    // A view over the protected table has that name there already.
    let mut taken = known;
    let mut shown =
        taken.relations().iter().find(|relation| relation.name == "customer").expect("there").clone();
    (shown.oid, shown.schema, shown.kind) = (900, "other".to_owned(), RelationKind::View);
    taken.relations_mut().push(shown);
    check_refused_in(
        &taken,
        &[
            ("CREATE OR REPLACE VIEW other.customer AS SELECT 1 AS id", ""),
            ("ALTER TABLE other.customer RENAME TO customer", ""),
        ],
    );
}
