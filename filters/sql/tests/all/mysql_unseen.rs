//! Views upon what a session may not see: what their queries stand upon, and what may be done with them.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

use crate::common::mysql::mysql;
use crate::common::shapes::analyze;
use fieldveil_sql::{Catalog, Columns, MySqlDialect, Relation, RelationKind, view_sources};

/// The common catalog with the view `reports.orders_seen`, and the view `above` in the session's database.
fn catalog() -> Catalog {
    let mut catalog = mysql();
    for (oid, schema, name, visible) in [(90, "reports", "orders_seen", false), (91, "public", "above", true)]
    {
        catalog.relations_mut().push(Relation {
            oid,
            schema: schema.to_owned(),
            name: name.to_owned(),
            visible,
            kind: RelationKind::UnseenView,
            columns: Columns::default(),
            searches: Vec::new(),
            compares: Vec::new(),
        });
    }
    catalog
}

#[test]
fn what_would_store_values_through_such_a_view_is_refused() {
    for text in [
        "INSERT INTO above VALUES ('123-45')",
        "INSERT above SET x = '123-45'",
        "insert ignore into `Above` (x) values ('123-45')",
        "REPLACE INTO public.above SELECT '123-45'",
        "INSERT INTO reports.orders_seen (x) VALUES (?)",
        "UPDATE above SET x = '123-45'",
        "UPDATE orders o JOIN above a ON o.id = a.id SET x = '123-45'",
        "UPDATE orders, (reports.orders_seen) SET x = '123-45'",
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE above",
        "LOAD DATA INFILE 'f' REPLACE INTO TABLE reports.orders_seen (x)",
        "WITH c AS (SELECT 1) UPDATE above SET x = '123-45'",
        "EXPLAIN INSERT INTO above VALUES ('123-45')",
        "PREPARE s FROM 'INSERT INTO above VALUES (''123-45'')'",
        "PREPARE s FROM 'INSERT INTO abo\\ve VALUES (?)'",
        "EXECUTE IMMEDIATE 'UPDATE above SET x = 1'",
        "SET STATEMENT max_statement_time = 1 FOR INSERT INTO above VALUES ('123-45')",
        "INSERT INTO above SELECT ssn FROM customer",
        "UPDATE customer c JOIN above a ON c.id = a.id SET a.x = '1'",
        "CREATE PROCEDURE p() INSERT INTO above VALUES ('123-45')",
        "CREATE VIEW more AS SELECT x FROM above; INSERT INTO more VALUES ('123-45')",
        "RENAME TABLE above TO below; INSERT INTO below VALUES ('123-45')",
        "ALTER VIEW orders AS SELECT x FROM above; UPDATE orders SET x = '123-45'",
    ] {
        analyze(text, &catalog()).map(|_| ()).expect_err(text);
    }
}

#[test]
fn what_only_reads_such_a_view_passes() {
    for text in [
        "SELECT x FROM above WHERE x = '123-45'",
        "SELECT * FROM reports.orders_seen o JOIN orders USING (id) WHERE MATCH (x) AGAINST ('a')",
        "INSERT INTO orders SELECT id, x FROM above",
        "INSERT INTO orders (above) VALUES (1)",
        "UPDATE orders SET n = (SELECT count(*) FROM above)",
        "DELETE FROM orders WHERE id IN (SELECT id FROM above)",
        "SELECT above FROM orders",
        "INSERT INTO orders_seen VALUES (1)",
        "INSERT INTO elsewhere.above VALUES (1)",
        "SHOW CREATE VIEW above",
        "CREATE VIEW more AS SELECT x FROM above",
        "DROP VIEW above",
        "GRANT SELECT ON above TO bob",
    ] {
        let analysis = analyze(text, &catalog()).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        assert!(analysis.splices.is_empty() && !analysis.statements[0].touched, "{text}");
    }
}

#[test]
fn a_protected_table_beside_such_a_view_is_read_as_ever() {
    let text = "SELECT c.ssn, a.x FROM customer c JOIN above a ON a.id = c.id WHERE c.ssn = '123-45'";
    let analysis = analyze(text, &catalog()).unwrap();
    assert_eq!(analysis.splices.len(), 1);
    assert!(!analysis.statements[0].fields.reads.is_empty());
}

/// What the servers keep of views that were made there, as they say it.
#[test]
fn sources_of_a_view_are_the_tables_in_its_froms() {
    for (query, expected) in [
        ("select `h`.`id` AS `id` from `apart`.`h`", "apart.h"),
        (
            "select `x`.`a` AS `a`,(select max(`apart`.`base`.`b`) from `apart`.`base`) AS `m` from ((`apart`.`base` `x` join `apart`.`h` `y` on(`x`.`a` = `y`.`id`)) left join (select 1 AS `o`) `d` on(`d`.`o` = `y`.`id`)) join `rep`.`v` `q` join `shop`.`customer` where `x`.`b` in (select `shop`.`customer`.`id` from `shop`.`customer`)",
            "apart.base apart.base apart.h rep.v shop.customer shop.customer",
        ),
        ("select `apart`.`od d``t`.`a` AS `a` from `apart`.`od d``t`", "apart.od d`t"),
        (r#"select 'it\'s \' " from `z`.`q`' AS `lit` from `rep`.`t`"#, "rep.t"),
        (
            "with recursive `c` (`n`) as (select 1 AS `1` union all select (`c`.`n` + 1) AS `n+1` from `c` where (`c`.`n` < 5)), `d` as (select `c`.`n` AS `n` from `c`) select `d`.`n` AS `n` from `d` union select `apart`.`base`.`a` AS `a` from `apart`.`base` order by `n` limit 2",
            "apart.base",
        ),
        (
            "with c as (select `a`.`b`.`x` AS `x` from `a`.`b`)select `c`.`x` AS `x` from `c` join `c` `e`",
            "a.b",
        ),
        (
            "select `l`.`m` AS `m` from `rep`.`t` join lateral (select max(`apart`.`base`.`b`) AS `m` from `apart`.`base`) `l`",
            "rep.t apart.base",
        ),
        (
            "select extract(year from `t`.`d`) AS `e`,trim(both 'x' from `t`.`s`) AS `s` from `rep`.`u` `t`",
            "rep.u",
        ),
        (
            "select `c`.`a` AS `a`,row_number() over ( partition by `c`.`a` order by `c`.`a`) AS `r`,convert(`c`.`a` using utf8mb4) AS `t` from `x`.`c` join JSON_TABLE('[1]', '$[*]' COLUMNS (`z` int(11) PATH '$')) `jt`",
            "x.c",
        ),
        ("(select `apart`.`base`.`a` AS `a` from `apart`.`base`)", "apart.base"),
        ("select 1 AS `1` union (select `apart`.`base`.`a` AS `a` from `apart`.`base`)", "apart.base"),
        (
            "select exists(select 1 from `a`.`b` limit 1) AS `e`,`t`.`from`.`x` AS `select` from `t`.`from`",
            "a.b t.from",
        ),
        ("select `t`.`x` AS `x` from `a`.`t` FOR SYSTEM_TIME ALL where `t`.`x` = 1", "a.t"),
        ("select `x` from `bare`", "bare"),
        ("values row(1,2)", ""),
    ] {
        let sources = view_sources(query, MySqlDialect::default()).expect(query);
        let said = sources.into_iter().map(|source| match source.schema {
            Some(schema) => format!("{schema}.{}", source.name),
            None => source.name,
        });
        assert_eq!(said.collect::<Vec<_>>().join(" "), expected, "{query}");
    }
}

#[test]
fn sources_of_what_is_not_understood_are_not_told() {
    for query in ["select 'x from `a`.`b`", "select `x` from (`a`.`b`", "select `x` from `a`.`b`)"] {
        assert_eq!(view_sources(query, MySqlDialect::default()), None, "{query}");
    }
}
