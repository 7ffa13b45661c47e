//! Which table and which column a name means.

use crate::common::{check_kept, check_refused, check_rewritten, check_untouched};

#[test]
fn a_table_of_the_same_name_elsewhere_is_another() {
    check_untouched(&[
        "SELECT * FROM other.customer",
        "INSERT INTO other.customer VALUES (1, 'x')",
        "INSERT INTO other.customer (ssn) VALUES ('x')",
        "UPDATE other.customer SET ssn = upper('x')",
        "DELETE FROM other.customer WHERE ssn LIKE 'x'",
        "SELECT * FROM staff",
        "INSERT INTO staff (ssn) VALUES ('x')",
        "SELECT upper(ssn) FROM other.customer ORDER BY ssn",
        "SELECT * FROM \"Customer\"",
        "SELECT * FROM \"CUSTOMER\"",
    ]);
}

#[test]
fn other_uses_of_the_name_touch_nothing() {
    check_untouched(&[
        "SELECT customer FROM orders",
        "SELECT o.customer, sum(total) FROM orders o GROUP BY o.customer ORDER BY customer",
        "SELECT total AS customer FROM orders",
        "SELECT customer.total FROM orders customer",
        "SELECT customer.* FROM orders AS customer WHERE customer.x = 'a'",
        "UPDATE orders SET customer = 'x' WHERE customer = $1",
        "INSERT INTO orders (customer) VALUES ('customer')",
        "SELECT 1 -- customer",
        "SELECT 1 /* FROM customer */",
        "SELECT 'customer', $$customer$$, E'customer\\''",
        "WITH customer AS (SELECT 1 AS id) SELECT upper(id) FROM customer",
        "WITH RECURSIVE customer AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM customer) SELECT * FROM customer",
        "LISTEN customer",
        "SAVEPOINT customer",
        "CLOSE customer",
    ]);
}

#[test]
fn a_common_table_expression_is_not_the_target() {
    check_rewritten(&[(
        "WITH customer AS (SELECT 1) INSERT INTO customer (ssn) VALUES ('x')",
        "WITH customer AS (SELECT 1) INSERT INTO customer (ssn) VALUES («S1:x»)",
    )]);
    check_rewritten(&[(
        "WITH customer AS (SELECT 1) UPDATE customer SET ssn = 'x'",
        "WITH customer AS (SELECT 1) UPDATE customer SET ssn = «S1:x»",
    )]);
}

#[test]
fn common_table_expressions_over_protected_tables_are_refused() {
    check_refused(&[]);
}

#[test]
fn aliases_shadow_names() {
    check_rewritten(&[
        (
            "SELECT 1 FROM customer orders, orders customer WHERE orders.ssn = 'a' AND customer.ssn = 'b'",
            "SELECT 1 FROM customer orders, orders customer WHERE orders.ssn = «?1:a» AND customer.ssn = 'b'",
        ),
        (
            "SELECT 1 FROM customer c WHERE EXISTS (SELECT 1 FROM orders c WHERE c.ssn = 'a') AND c.ssn = 'b'",
            "SELECT 1 FROM customer c WHERE EXISTS (SELECT 1 FROM orders c WHERE c.ssn = 'a') AND c.ssn = «?1:b»",
        ),
        (
            "SELECT 1 FROM customer AS ssn WHERE ssn.ssn = 'a' AND ssn = 'b'",
            "SELECT 1 FROM customer AS ssn WHERE ssn.ssn = «?1:a» AND ssn = «?1:b»",
        ),
        (
            "SELECT name AS ssn FROM customer WHERE ssn = 'a'",
            "SELECT name AS ssn FROM customer WHERE ssn = «?1:a»",
        ),
        (
            "SELECT 1 FROM (SELECT name AS ssn FROM customer) d WHERE ssn = 'a'",
            "SELECT 1 FROM (SELECT name AS ssn FROM customer) d WHERE ssn = 'a'",
        ),
        (
            "SELECT 1 FROM person WHERE id IN (SELECT id FROM customer WHERE ssn = 'a') AND person.ssn = 'b'",
            "SELECT 1 FROM person WHERE id IN (SELECT id FROM customer WHERE ssn = «?1:a») AND person.ssn = «?5:b»",
        ),
        (
            "SELECT 1 FROM orders a, b JOIN c ON ssn = 'x' JOIN customer ON customer.ssn = 'y'",
            "SELECT 1 FROM orders a, b JOIN c ON ssn = 'x' JOIN customer ON customer.ssn = «?1:y»",
        ),
        ("SELECT 1 FROM customer, b JOIN c ON ssn = 'x'", "SELECT 1 FROM customer, b JOIN c ON ssn = 'x'"),
    ]);
}

#[test]
fn unqualified_names_are_not_guessed() {
    check_refused(&[
        ("SELECT 1 FROM customer, person WHERE ssn = 'x'", "customer.ssn"),
        ("SELECT 1 FROM customer c WHERE EXISTS (SELECT 1 FROM orders WHERE ssn = '123-45')", "customer.ssn"),
        ("SELECT (SELECT ssn FROM orders) FROM customer", "customer.ssn"),
        ("SELECT 1 FROM customer c JOIN (SELECT ssn FROM person) d ON true WHERE ssn = 'x'", "customer.ssn"),
        ("SELECT d.ssn FROM (SELECT ssn, email AS ssn FROM customer) d", ""),
        ("SELECT x.ssn FROM customer c", ""),
        ("SELECT customer.ssn FROM customer c", ""),
        ("SELECT other.customer.ssn FROM customer", ""),
        ("SELECT c.ssn FROM customer c, orders c", ""),
        ("SELECT c.nothing FROM customer c", ""),
        ("SELECT x.* FROM customer c", ""),
    ]);
    check_kept(&["SELECT city, name FROM customer, person", "SELECT 1 FROM customer WHERE nothing = 1"]);
}

#[test]
fn tables_in_disguise_are_refused() {
    check_refused(&[
        ("SELECT * FROM customer_view", ""),
        ("SELECT id FROM public.customer_view", ""),
        ("INSERT INTO customer_2024 (ssn) VALUES ('123-45')", ""),
        ("SELECT * FROM customer_2024", ""),
        ("SELECT * FROM ONLY (customer)", ""),
        ("SELECT * FROM customer *", ""),
        ("SELECT * FROM customer*", ""),
        ("UPDATE customer * SET ssn = '123-45'", ""),
        ("TABLE customer", ""),
        ("TABLE ONLY customer", ""),
        ("SELECT * FROM (customer c JOIN orders o ON true) j", ""),
        ("SELECT * FROM customer TABLESAMPLE SYSTEM (10)", ""),
        ("SELECT * FROM orders NATURAL JOIN customer", ""),
        ("SELECT '(1,2)'::customer", ""),
        ("SELECT NULL::public.customer", ""),
        ("SELECT * FROM json_populate_record(NULL::customer, '{}')", ""),
        ("SELECT id INTO TEMP t FROM customer", ""),
    ]);
}
