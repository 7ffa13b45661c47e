//! Temporary relations.

#![allow(clippy::expect_used, clippy::panic)]

use crate::common::{
    analyze, catalog, check_refused_in, check_rewritten_in, check_untouched,
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
