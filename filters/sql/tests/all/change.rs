//! UPDATE and DELETE.

use crate::common::{accepted, check_kept, check_refused, check_rewritten};

#[test]
fn assigned_values_are_sealed() {
    check_rewritten(&[
        ("UPDATE customer SET ssn = '123-45'", "UPDATE customer SET ssn = «S1:123-45»"),
        (
            "UPDATE customer SET ssn = '1', name = upper(name), phone=$1 WHERE id = $2",
            "UPDATE customer SET ssn = «S1:1», name = upper(name), phone=$1 WHERE id = $2 | $1=S2",
        ),
        (
            "UPDATE customer AS c SET ssn = NULL WHERE c.ssn = 'x' RETURNING c.ssn",
            "UPDATE customer AS c SET ssn = NULL WHERE c.ssn = «?1:x» RETURNING c.ssn",
        ),
        (
            "UPDATE customer c SET ssn = $1 WHERE ssn = $1",
            "UPDATE customer c SET ssn = $1 WHERE ssn = $1 | $1=S?1",
        ),
        (
            "UPDATE customer SET ssn = $2 WHERE ssn = $1",
            "UPDATE customer SET ssn = $2 WHERE ssn = $1 | $1=?1 $2=S1",
        ),
        (
            "UPDATE customer SET ssn = 'a' FROM orders o WHERE o.cid = customer.id AND o.ssn = 'b'",
            "UPDATE customer SET ssn = «S1:a» FROM orders o WHERE o.cid = customer.id AND o.ssn = 'b'",
        ),
        ("UPDATE customer SET (ssn, name) = ('a', 'b')", "UPDATE customer SET (ssn, name) = («S1:a», 'b')"),
        ("UPDATE customer SET ssn = 'a'::text", "UPDATE customer SET ssn = «S1:a»"),
        ("UPDATE \"customer\" SET \"ssn\" = 'a'", "UPDATE \"customer\" SET \"ssn\" = «S1:a»"),
        (
            "UPDATE orders SET x = 1 FROM customer c WHERE c.ssn = 'a' AND c.id = orders.cid",
            "UPDATE orders SET x = 1 FROM customer c WHERE c.ssn = «?1:a» AND c.id = orders.cid",
        ),
        (
            "UPDATE customer SET name = (SELECT max(n) FROM orders), ssn = 'a'",
            "UPDATE customer SET name = (SELECT max(n) FROM orders), ssn = «S1:a»",
        ),
        (
            "UPDATE customer SET name = 'x' WHERE id IN (SELECT id FROM person WHERE ssn = 'a')",
            "UPDATE customer SET name = 'x' WHERE id IN (SELECT id FROM person WHERE ssn = «?5:a»)",
        ),
    ]);
    check_kept(&[
        "UPDATE customer SET name = 'x'",
        "UPDATE customer SET ssn = DEFAULT",
        "UPDATE customer SET (name) = ('x')",
        "UPDATE customer SET (id, name) = (SELECT 1, 'x')",
        "UPDATE customer SET ssn = p.ssn FROM person p WHERE p.id = customer.id",
        "UPDATE customer SET phone = phone WHERE id = 1",
    ]);
}

#[test]
fn what_is_not_a_value_is_refused() {
    check_refused(&[
        ("UPDATE customer SET ssn = upper('123-45')", "customer.ssn"),
        ("UPDATE customer SET ssn = ssn || '123-45'", "customer.ssn"),
        ("UPDATE customer SET ssn = name", "customer.ssn"),
        ("UPDATE customer SET ssn = email", "customer.ssn"),
        ("UPDATE customer SET name = ssn", "customer.ssn"),
        ("UPDATE customer SET ssn = (SELECT '123-45')", "customer.ssn"),
        ("UPDATE customer SET (ssn, name) = (SELECT 'a', 'b')", "customer.ssn"),
        ("UPDATE customer SET (ssn, name) = ROW('123-45', 'b')", "customer.ssn"),
        ("UPDATE customer SET (ssn) = ('123-45')", "customer.ssn"),
        ("UPDATE customer SET ssn[1] = '123-45'", ""),
        ("UPDATE customer SET customer.ssn = '123-45'", ""),
        ("UPDATE customer SET nothing = '123-45'", ""),
        ("UPDATE blob SET data = c.ssn FROM customer c", "customer.ssn"),
        ("UPDATE hr.staff SET badge = DEFAULT", "hr.badge"),
        ("UPDATE computed SET id = 1", "computed.digest"),
        ("UPDATE log SET x = c.ssn FROM customer c", "customer.ssn"),
        ("UPDATE log SET x = (SELECT ssn FROM customer)", "customer.ssn"),
        ("UPDATE log SET (x, y) = (SELECT ssn, 1 FROM customer)", "customer.ssn"),
        ("UPDATE log SET x = row_to_json(c) FROM customer c", ""),
        ("UPDATE customer SET name = 'x' WHERE ssn > '123-45'", "customer.ssn"),
        ("UPDATE customer SET name = 'x' LIMIT 1", ""),
        ("UPDATE customer SET name = 'x' FROM customer c2 WHERE ssn = 'x'", "customer.ssn"),
        ("UPDATE customer FROM orders SET ssn = '123-45'", ""),
        ("UPDATE customer SET ssn = '123-45' RETURNING lower(ssn)", "customer.ssn"),
        ("UPDATE customer SET ssn = '123-45' WHERE CURRENT OF cur", ""),
    ]);
}

#[test]
fn deletes_go_by_equality() {
    check_rewritten(&[
        ("DELETE FROM customer WHERE ssn = 'x'", "DELETE FROM customer WHERE ssn = «?1:x»"),
        (
            "DELETE FROM customer c USING orders o WHERE c.id = o.cid AND c.ssn IN ($1, 'x') RETURNING c.*",
            "DELETE FROM customer c USING orders o WHERE c.id = o.cid AND c.ssn IN ($1, «?1:x») RETURNING c.* | $1=?1",
        ),
        (
            "DELETE FROM log USING customer c WHERE c.ssn = 'x' AND log.ssn = 'y'",
            "DELETE FROM log USING customer c WHERE c.ssn = «?1:x» AND log.ssn = 'y'",
        ),
        (
            "DELETE FROM log WHERE id IN (SELECT id FROM customer WHERE ssn = 'x')",
            "DELETE FROM log WHERE id IN (SELECT id FROM customer WHERE ssn = «?1:x»)",
        ),
    ]);
    check_kept(&["DELETE FROM customer", "DELETE FROM customer WHERE id = 5 RETURNING *"]);
    check_refused(&[
        ("DELETE FROM customer WHERE ssn LIKE '123-45'", "customer.ssn"),
        ("DELETE FROM customer WHERE phone = '123-45'", "customer.phone"),
        ("DELETE FROM customer RETURNING upper(ssn)", "customer.ssn"),
        ("DELETE FROM customer RETURNING customer", ""),
        ("DELETE FROM customer WHERE ssn = '123-45' LIMIT 1", ""),
        ("DELETE customer WHERE ssn = '123-45'", ""),
        ("DELETE FROM customer_2024", ""),
    ]);
}

#[test]
fn writes_and_searches_are_told() {
    let statement =
        accepted("UPDATE customer SET ssn = 'a', phone = $1 WHERE email = 'x' RETURNING card").statements;
    let statement = &statement[0];
    assert_eq!(
        (&*statement.fields.writes, &*statement.fields.searches, &*statement.fields.reads),
        (&[1, 2][..], &[0][..], &[3][..])
    );
    assert_eq!(accepted("DELETE FROM customer RETURNING old.ssn").statements[0].fields.reads, [1]);
}
