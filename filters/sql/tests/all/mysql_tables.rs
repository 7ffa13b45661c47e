//! Ways to have a table take the rows, or the name, of a protected one in the server.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

use crate::common::mysql::{mariadb, mysql};
use crate::common::shapes::analyze;

#[test]
fn tables_that_stand_before_a_protected_one_are_refused() {
    for text in [
        "ALTER TABLE orders UNION = (customer), INSERT_METHOD = LAST",
        "CREATE TABLE m (id int, ssn text) ENGINE = MERGE UNION = (customer) INSERT_METHOD = LAST",
        "CREATE TABLE m (id int) ENGINE=FEDERATED CONNECTION='mysql://root@127.0.0.1/shop/customer'",
        "CREATE TABLE other.customer (id int) ENGINE = 'FEDERATED' CONNECTION = 's'",
        "CREATE TABLE m (id int) ENGINE=CONNECT TABLE_TYPE=MYSQL TABNAME='customer'",
        "CREATE TABLE m (id int) ENGINE=CONNECT TABLE_TYPE=MYSQL SRCDEF='select * from Customer'",
        "CREATE TABLE m (id int) ENGINE=SPIDER COMMENT='wrapper \"mysql\", table \"customer\"'",
        "ALTER TABLE m CONNECTION='s/customer'",
        "CREATE TABLE person TABLE orders",
        "CREATE TABLE IF NOT EXISTS person (id int) IGNORE TABLE orders",
        "CREATE TABLE person VALUES ROW(1, '123-45')",
        "CREATE PROCEDURE p() RENAME TABLE orders TO typed",
    ] {
        for catalog in [mysql(), mariadb()] {
            analyze(text, &catalog).map(|_| ()).expect_err(text);
        }
    }
}

#[test]
fn tables_that_have_nothing_to_do_with_it_are_made() {
    for text in [
        "CREATE TABLE m (id int) ENGINE=CONNECT TABLE_TYPE=CSV FILE_NAME='m.csv'",
        "CREATE TABLE m (id int) ENGINE=MERGE UNION=(orders)",
        "CREATE TABLE m (a int) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (5))",
        "CREATE TABLE m TABLE orders",
        "CREATE PROCEDURE p() RENAME TABLE orders TO others",
    ] {
        analyze(text, &mysql()).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    }
}
