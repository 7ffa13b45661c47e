//! Names of protected tables in databases of MySQL in which the policy protects none.

use crate::common::shapes::analyze;
use crate::common::{catalog, check_untouched_in};
use fieldveil_sql::{Catalog, Dialect, MySqlDialect};

/// Of a session in a database of its own. The policy protects `public.customer` and more, and plans `public.planned`.
fn in_database(database: &str) -> Catalog {
    let mut catalog =
        unknown().with_schemas(vec!["public".to_owned(), "hr".to_owned()]).with_database(database);
    let is_in = |schema: &str| schema.eq_ignore_ascii_case(database);
    catalog.relations_mut().iter_mut().for_each(|relation| relation.visible = is_in(&relation.schema));
    catalog
}

/// It is not known in which databases the policy protects tables, nor in which one the session is.
fn unknown() -> Catalog {
    let dialect = MySqlDialect { folds_tables: true, ..MySqlDialect::default() };
    let planned = vec!["Planned".to_owned(), "customer".to_owned()];
    catalog().in_dialect(Dialect::MySql(dialect)).with_planned(planned)
}

fn check_untouched(catalog: &Catalog, texts: &[String]) {
    check_untouched_in(catalog, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

fn check_refused(catalog: &Catalog, texts: &[String]) {
    let accepted: Vec<_> = texts.iter().filter(|text| analyze(text, catalog).is_ok()).collect();
    assert!(accepted.is_empty(), "accepted: {accepted:#?}");
}

/// Statements of data definition under the names of protected tables, with the name of a database before them or not.
const OF_PLANNED_NAMES: &[&str] = &[
    "RENAME TABLE orders TO @customer",
    "RENAME TABLE @customer TO orders, orders TO @Planned",
    "RENAME TABLE `orders` TO @`customer`",
    "ALTER TABLE @orders RENAME TO @customer",
    "ALTER TABLE @customer RENAME COLUMN ssn TO s",
    "CREATE TEMPORARY TABLE @customer (id INT, ssn TEXT)",
    "CREATE TEMPORARY TABLE IF NOT EXISTS @planned (id INT)",
    "CREATE TEMPORARY TABLE @customer AS SELECT 1 AS id",
    "CREATE TABLE @customer AS SELECT 1 AS id, 'x' AS ssn",
    "CREATE OR REPLACE VIEW @planned AS SELECT 1 AS id",
];

fn under(prefix: &str) -> Vec<String> {
    OF_PLANNED_NAMES.iter().map(|text| text.replace('@', prefix)).collect()
}

#[test]
fn protected_names_are_free_in_a_database_in_which_the_policy_names_no_table() {
    let other = in_database("other");
    check_untouched(&other, &["ALTER TABLE customer CONVERT TO CHARACTER SET latin1".to_owned()]);
    for prefix in ["", "other.", "`Other` . "] {
        check_untouched(&other, &under(prefix));
    }
    // By its whole name also from the database in which it is protected.
    let whole: Vec<String> =
        under("other.").iter().map(|text| text.replace(" orders", " other.orders")).collect();
    check_untouched(&in_database("public"), &whole);
}

#[test]
fn protected_names_are_not_free_where_they_are_or_may_be_those_of_the_policy() {
    // Not the database in which the policy names it, but one in which it names another.
    for database in ["public", "PUBLIC", "hr", "", "öffentlich"] {
        check_refused(&in_database(database), &under(""));
    }
    for prefix in ["public.", "`PUBLIC`.", "öffentlich.", "other.public."] {
        check_refused(&in_database("other"), &under(prefix));
    }
    // A name behind a dot alone is one of the session's database.
    for catalog in [in_database("public"), unknown()] {
        check_refused(&catalog, &under("."));
    }
    // Where it is not known which databases the policy names, any may be one.
    check_refused(&unknown().with_database("other"), &under("other."));
    check_refused(
        &in_database("other"),
        &[
            "RENAME TABLE orders TO other.customer, public.customer TO public.orders",
            "RENAME TABLE public.orders TO public.planned",
            "ALTER TABLE public.orders RENAME TO public.customer",
            "ALTER TABLE public.customer RENAME TO customer",
            "CREATE TEMPORARY TABLE customer AS SELECT id, ssn FROM public.customer",
            "USE public; CREATE TEMPORARY TABLE customer (id INT, ssn TEXT)",
            "USE public; RENAME TABLE orders TO customer",
            "RENAME TABLE public.orders TO other.customer; SELECT ssn FROM public.customer",
        ]
        .map(str::to_owned),
    );
}
