//! SELECT in MySQL and MariaDB.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::common;
use crate::common::mysql::{check_kept, check_refused, check_rewritten, mysql};
use crate::common::shapes::analyze;
use crate::common::{check_refused_in, check_rewritten_in, render, under_several_keys};
use fieldveil_sql::MySqlDialect;

#[test]
fn what_reads_a_column_as_it_is_passes() {
    check_kept(&[
        "SELECT `ssn` FROM `customer` WHERE `id` = 1 LIMIT 5, 10",
        "SELECT SSN FROM customer",
        "SELECT STRAIGHT_JOIN c.ssn FROM customer c JOIN person p ON p.id = c.id",
        "SELECT c.ssn FROM customer c STRAIGHT_JOIN person p ON p.id = c.id",
        "SELECT ssn FROM customer USE INDEX (ssn) WHERE id = 1",
        "SELECT ssn FROM customer c FORCE INDEX FOR JOIN (i1, i2) IGNORE KEY (i3) WHERE id = 1",
        "SELECT ssn FROM customer PARTITION (p0, p1) AS c",
        "SELECT ssn FROM customer WHERE id = 1 FOR UPDATE",
        "SELECT ssn FROM customer WHERE id = 1 FOR UPDATE SKIP LOCKED",
        "SELECT ssn FROM customer WHERE id = 1 FOR UPDATE WAIT 5",
        "SELECT ssn FROM customer WHERE id = 1 FOR SHARE NOWAIT",
        "SELECT ssn FROM customer WHERE id = 1 LOCK IN SHARE MODE",
        "SELECT ssn FROM customer WHERE id = 1 LOCK IN SHARE MODE SKIP LOCKED",
        "SELECT SQL_NO_CACHE HIGH_PRIORITY DISTINCTROW ssn FROM customer",
        "SELECT SQL_CALC_FOUND_ROWS * FROM customer LIMIT 10",
        "SELECT name, count(*) FROM customer GROUP BY name WITH ROLLUP",
        "SELECT ssn FROM (SELECT ssn FROM customer) AS d",
        "WITH c AS (SELECT ssn FROM customer) SELECT ssn FROM c",
        "SELECT ssn FROM customer UNION SELECT ssn FROM person",
        "(SELECT ssn FROM customer LIMIT 1) UNION ALL (SELECT ssn FROM person) LIMIT 3",
        "SELECT ssn FROM customer WHERE name REGEXP 'x' AND name NOT RLIKE 'y'",
        "SELECT ssn FROM customer WHERE name || 'x' && id XOR id",
        "SELECT name -> '$.a', name ->> '$.b', ssn FROM customer",
        "SELECT ssn FROM customer WHERE MATCH (name) AGAINST ('x' IN BOOLEAN MODE)",
        "SELECT ssn, IF(id = 1, name, 'x'), IFNULL(name, 'y') FROM customer",
        "SELECT ssn FROM customer WHERE id = @x AND name = @@session.sql_mode AND @y := 5",
        "SELECT name AS 'alias', ssn AS 'Number' FROM customer",
        "SELECT GROUP_CONCAT(DISTINCT name ORDER BY id DESC SEPARATOR ',') FROM customer",
        "SELECT count(*), count(ssn), count(DISTINCT ssn) FROM customer",
        "SELECT CONVERT(name USING utf8mb4), CAST(name AS SIGNED), BINARY name FROM customer",
        "SELECT ssn FROM customer c JOIN (SELECT 1 AS n FROM DUAL) d ON d.n = c.id",
        "SELECT c.ssn, j.v FROM customer c, JSON_TABLE('[1]', '$[*]' COLUMNS (v INT PATH '$')) AS j",
        "SELECT ssn # the number\nFROM customer -- of all\n",
        "SELECT /*+ MAX_EXECUTION_TIME(1000) */ ssn FROM customer",
        "SELECT public.customer.ssn FROM public.customer",
        "SELECT name INTO @n FROM customer WHERE id = 1",
        "SELECT name, id FROM customer WHERE id = 1 INTO @n, @i",
        "SELECT * FROM hidden",
        "SELECT ssn AS `sealed`, MAX(id) AS m FROM customer GROUP BY `sealed` HAVING m > 1 ORDER BY m DESC LIMIT 10",
        "SELECT ssn FROM customer GROUP BY 1 ORDER BY NULL",
    ]);
}

#[test]
fn an_invisible_column_is_not_among_all() {
    let analysis = analyze("SELECT * FROM hidden", &mysql()).unwrap();
    assert_eq!(analysis.statements[0].columns, Some(vec![None, None]));
    assert!(analysis.statements[0].fields.reads.is_empty());
}

#[test]
fn values_that_are_looked_for_are_sealed() {
    check_rewritten(&[
        (
            "SELECT id FROM customer WHERE ssn = 'a' AND `email` <> \"b\"",
            "SELECT id FROM customer WHERE ssn = «?1:a» AND `email` <> «?0:b»",
        ),
        (
            "SELECT id FROM customer WHERE id = ? AND (ssn = ? OR ? = email)",
            "SELECT id FROM customer WHERE id = ? AND (ssn = ? OR ? = email) | $2=?1 $3=?0",
        ),
        (
            "SELECT id FROM customer WHERE ssn IN ('a', ?, NULL) AND email NOT IN (?)",
            "SELECT id FROM customer WHERE ssn IN («?1:a», ?, NULL) AND email NOT IN (?) | $1=?1 $2=?0",
        ),
        ("SELECT id FROM customer WHERE ssn <=> 'a'", "SELECT id FROM customer WHERE ssn <=> «?1:a»"),
        (
            "SELECT id FROM customer WHERE NOT ssn <=> ?",
            "SELECT id FROM customer WHERE NOT ssn <=> ? | $1=?1",
        ),
        (
            "SELECT id FROM customer WHERE BINARY ssn = 'a'",
            "SELECT id FROM customer WHERE BINARY ssn = «?1:a»",
        ),
        (
            "SELECT id FROM customer WHERE ssn = BINARY 'a'",
            "SELECT id FROM customer WHERE ssn = BINARY «?1:a»",
        ),
        (
            "SELECT id FROM customer HAVING ssn = 'a' OR count(*) > 1",
            "SELECT id FROM customer HAVING ssn = «?1:a» OR count(*) > 1",
        ),
        ("SELECT ssn AS s FROM customer HAVING s = 'a'", "SELECT ssn AS s FROM customer HAVING s = «?1:a»"),
        (
            "SELECT EXISTS (SELECT 1 FROM customer WHERE ssn = 'a') AS e",
            "SELECT EXISTS (SELECT 1 FROM customer WHERE ssn = «?1:a») AS e",
        ),
        (
            "SELECT c.id FROM customer c STRAIGHT_JOIN person p ON c.ssn = p.ssn WHERE p.ssn = 'a'",
            "SELECT c.id FROM customer c STRAIGHT_JOIN person p ON c.ssn = p.ssn WHERE p.ssn = «?5:a»",
        ),
    ]);
    check_kept(&[
        "SELECT id FROM customer WHERE ssn = NULL OR ssn IS NULL",
        "SELECT c.id FROM customer c JOIN person p USING (ssn)",
        "SELECT id FROM customer WHERE ssn IN (SELECT ssn FROM person)",
        "SELECT id FROM customer WHERE ssn <> ALL (SELECT ssn FROM person)",
    ]);
}

#[test]
fn literals_are_read_as_the_server_reads_them() {
    check_rewritten(&[
        (
            "SELECT 1 FROM customer WHERE ssn = 'it''s\\'\\n\\%'",
            "SELECT 1 FROM customer WHERE ssn = «?1:it's'\n\\%»",
        ),
        (
            "SELECT 1 FROM customer WHERE ssn = 'a' \"b\"\n'c' AND id = 1",
            "SELECT 1 FROM customer WHERE ssn = «?1:abc» AND id = 1",
        ),
        (
            "SELECT 1 FROM customer WHERE ssn = x'4142' OR ssn = 0x43",
            "SELECT 1 FROM customer WHERE ssn = «?1:AB» OR ssn = «?1:C»",
        ),
        ("SELECT 1 FROM customer WHERE ssn = _utf8mb4'é'", "SELECT 1 FROM customer WHERE ssn = «?1:é»"),
        ("SELECT 1 FROM customer WHERE ssn = _latin1 'e'", "SELECT 1 FROM customer WHERE ssn = «?1:e»"),
        ("SELECT 1 FROM customer WHERE ssn = N'é'", "SELECT 1 FROM customer WHERE ssn = «?1:é»"),
        (
            "SELECT 1 FROM customer WHERE ssn = CAST(? AS CHAR)",
            "SELECT 1 FROM customer WHERE ssn = «?» | $1=?1",
        ),
        (
            "SELECT 1 FROM typed WHERE amount = 1.50 OR amount = -2 OR amount = '3'",
            "SELECT 1 FROM typed WHERE amount = «?20:1.50» OR amount = «?20:-2» OR amount = «?20:3»",
        ),
        (
            "SELECT 1 FROM typed WHERE amount = CAST('1.5' AS DECIMAL(10,2))",
            "SELECT 1 FROM typed WHERE amount = «?20:1.5»",
        ),
        (
            "SELECT 1 FROM typed WHERE born = DATE '2020-01-02'",
            "SELECT 1 FROM typed WHERE born = «?21:2020-01-02»",
        ),
        (
            "SELECT 1 FROM typed WHERE at = CAST('2020-01-02' AS DATE) AND n = CAST('-7' AS SIGNED)",
            "SELECT 1 FROM typed WHERE at = «?25:2020-01-02» AND n = «?24:-7»",
        ),
        (
            "SELECT 1 FROM typed WHERE at = TIMESTAMP '2020-01-02 03:04:05'",
            "SELECT 1 FROM typed WHERE at = «?25:2020-01-02 03:04:05»",
        ),
        (
            "SELECT 1 FROM typed WHERE photo = 'ab' OR photo = x'00fF' OR photo = _binary'c'",
            "SELECT 1 FROM typed WHERE photo = «?22:\\x6162» OR photo = «?22:\\x00ff» OR photo = «?22:\\x63»",
        ),
        (
            "SELECT 1 FROM typed WHERE flag = TRUE AND flag <> false AND n = 7",
            "SELECT 1 FROM typed WHERE flag = «?23:1» AND flag <> «?23:0» AND n = «?24:7»",
        ),
    ]);
    check_refused(&[
        ("SELECT 1 FROM customer WHERE ssn = 12345", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = -5", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn IN ('a', 7)", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = TRUE", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = b'01'", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = 0xFF", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = _latin1'é'", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = _gbk'a'", "customer.ssn"),
        ("SELECT 1 FROM customer WHERE ssn = 'a' COLLATE utf8mb4_bin", "customer.ssn"),
        ("SELECT 1 FROM typed WHERE n = 0x10", "typed.n"),
        ("SELECT 1 FROM typed WHERE photo = 7", "typed.photo"),
        ("SELECT 1 FROM typed WHERE amount = CAST('1.5' AS DECIMAL)", "typed.amount"),
        // As they are written, 1.1 is not 1.10.
        ("SELECT 1 FROM typed WHERE amount = CAST('1.1' AS CHAR)", "typed.amount"),
        ("SELECT 1 FROM typed WHERE amount <=> BINARY '1.1'", "typed.amount"),
        ("SELECT 1 FROM typed WHERE amount IN (1, (BINARY '1.1'))", "typed.amount"),
        ("SELECT 1 FROM typed WHERE BINARY n = '07'", "typed.n"),
        ("SELECT 1 FROM typed WHERE born = DATE '2020-01-02 00:00:00'", "typed.born"),
        // It is 1 to the server, and midnight.
        ("SELECT 1 FROM typed WHERE n = CAST('1e3' AS SIGNED)", "typed.n"),
        ("SELECT 1 FROM typed WHERE n = CAST('1.0e3' AS UNSIGNED)", "typed.n"),
        ("SELECT 1 FROM typed WHERE at = CAST('2020-01-02T03:04:05' AS DATE)", "typed.at"),
        ("SELECT 1 FROM typed WHERE at = CAST('20200102030405' AS DATE)", "typed.at"),
        ("SELECT 1 FROM customer WHERE ssn = CAST(? AS CHAR(3))", "customer.ssn"),
    ]);
    let plain = MySqlDialect { no_backslash_escapes: true, ansi_quotes: true, ..MySqlDialect::default() };
    check_rewritten_in(
        &common::mysql::in_dialect(plain),
        &[(
            "SELECT 1 FROM customer WHERE \"ssn\" = 'a\\'",
            "SELECT 1 FROM customer WHERE \"ssn\" = «?1:a\\»",
        )],
    );
}

#[test]
fn a_blind_index_is_looked_for_by_what_envelopes_begin_with() {
    check_rewritten(&[
        (
            "SELECT id FROM vault WHERE token = 'x'",
            "SELECT id FROM vault WHERE token « LIKE » «?13%:x»« ESCAPE '!'»",
        ),
        (
            "SELECT id FROM vault v WHERE v.token <> ?",
            "SELECT id FROM vault v WHERE v.token « NOT LIKE » «?»« ESCAPE '!'» | $1=?13%",
        ),
        (
            "SELECT id FROM vault v WHERE ?=(v.token)",
            "SELECT id FROM vault v WHERE «v.token»« LIKE »«?»« ESCAPE '!'» | $1=?13%",
        ),
        (
            "SELECT id FROM vault WHERE token IN ('x', ?, NULL) OR id = ?",
            "SELECT id FROM vault WHERE «(»token «LIKE »«?13%:x»« ESCAPE '!' OR token LIKE» «?»« ESCAPE '!' OR token LIKE» NULL« ESCAPE '!')» OR id = ? | $1=?13%",
        ),
        (
            "SELECT id FROM vault WHERE token NOT IN ('x')",
            "SELECT id FROM vault WHERE «NOT (»token «» «LIKE »«?13%:x»« ESCAPE '!')»",
        ),
        (
            "SELECT id FROM vault WHERE token <=> ?",
            "SELECT id FROM vault WHERE «LEFT(»token«, 33)» <=> ? | $1=?13",
        ),
        (
            "SELECT id FROM raw WHERE token = 'x'",
            "SELECT id FROM raw WHERE token « LIKE » «?27%:x»« ESCAPE '!'»",
        ),
        (
            "SELECT a.id FROM vault a JOIN vault b ON a.token = b.other",
            "SELECT a.id FROM vault a JOIN vault b ON «LEFT(»a.token«, 33)» = «LEFT(»b.other«, 33)»",
        ),
    ]);
    check_kept(&["SELECT id FROM vault WHERE token = NULL"]);
    check_refused(&[
        ("SELECT id FROM vault WHERE token = 5", "vault.token"),
        ("SELECT DISTINCT token FROM vault", "vault.token"),
        ("SELECT id FROM vault WHERE token LIKE 'x%'", "vault.token"),
    ]);
}

#[test]
fn a_value_with_several_ciphertexts_is_looked_for_among_them() {
    check_rewritten_in(
        &under_several_keys(mysql()),
        &[
            (
                "SELECT id FROM customer WHERE ssn = 'x'",
                "SELECT id FROM customer WHERE ssn « IN » «(»«?1*:x»«)»",
            ),
            (
                "SELECT id FROM customer WHERE 'x'<>ssn",
                "SELECT id FROM customer WHERE «ssn»« NOT IN »«(»«?1*:x»«)»",
            ),
            (
                "SELECT id FROM customer WHERE ssn = ? AND id = ?",
                "SELECT id FROM customer WHERE ssn « IN » «(»«1*:?»«)» AND id = ? | $1=?1*",
            ),
            (
                "SELECT id FROM customer WHERE ssn NOT IN ('x', ?, NULL)",
                "SELECT id FROM customer WHERE ssn NOT IN («?1*:x», «1*:?», NULL) | $1=?1*",
            ),
            (
                "SELECT id FROM customer WHERE ssn <=> 'x'",
                "SELECT id FROM customer WHERE «IFNULL(»ssn « IN » «(»«?1*:x»«), 0)»",
            ),
            ("SELECT id FROM customer WHERE ssn <=> NULL", "SELECT id FROM customer WHERE ssn <=> NULL"),
        ],
    );
    check_refused_in(
        &under_several_keys(mysql()),
        &[("SELECT id FROM customer WHERE ssn <=> ?", "customer.ssn")],
    );
    let analysis = analyze("SELECT ssn FROM customer GROUP BY ssn", &under_several_keys(mysql())).unwrap();
    assert_eq!(analysis.statements[0].fields.compares, [1]);
}

#[test]
fn a_position_in_the_select_list_means_its_column_however_it_is_written() {
    let keys = ["2", "+2", "(+(2))", "- -2", "?", "(?)", "+?", "TRUE", "NOT FALSE"];
    for key in keys.iter().skip(1) {
        let grouped = format!("SELECT COUNT(*), ssn FROM customer GROUP BY {key}");
        let derived = format!("SELECT 1 FROM (SELECT COUNT(*), ssn FROM customer GROUP BY {key}) d");
        check_refused(&[(&grouped, "customer.ssn"), (&derived, "customer.ssn")]);
    }
    for key in keys {
        let ordered = format!("SELECT id, ssn FROM customer ORDER BY {key}");
        let united =
            format!("SELECT id, ssn FROM customer UNION ALL SELECT id, ssn FROM person ORDER BY {key}");
        check_refused(&[(&ordered, "customer.ssn"), (&united, "customer.ssn")]);
        check_kept(&[&format!("SELECT COUNT(*), name FROM customer WHERE ssn IS NULL GROUP BY {key}")]);
    }
}

#[test]
fn what_computes_with_sealed_values_is_refused() {
    check_refused(&[
        ("SELECT ssn FROM customer WHERE ssn LIKE '123-45%'", "customer.ssn"),
        ("SELECT ssn FROM customer WHERE ssn REGEXP '123-45'", "customer.ssn"),
        ("SELECT ssn FROM customer WHERE ssn NOT RLIKE 'x'", "customer.ssn"),
        ("SELECT ssn FROM customer WHERE ssn SOUNDS LIKE 'x'", ""),
        ("SELECT ssn FROM customer WHERE ssn > 'a'", "customer.ssn"),
        ("SELECT ssn FROM customer WHERE ssn BETWEEN 'a' AND 'b'", "customer.ssn"),
        ("SELECT ssn || 'x' FROM customer", "customer.ssn"),
        ("SELECT id FROM customer WHERE name || ssn = '123-45'", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = '123-45' XOR id", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn", "customer.ssn"),
        ("SELECT ssn -> '$.a' FROM customer", "customer.ssn"),
        ("SELECT IF(id = 1, ssn, 'x') FROM customer", "customer.ssn"),
        ("SELECT IFNULL(ssn, 'x') FROM customer", "customer.ssn"),
        ("SELECT CONCAT(ssn, 'x') FROM customer", "customer.ssn"),
        ("SELECT CONVERT(ssn USING latin1) FROM customer", "customer.ssn"),
        ("SELECT id FROM customer WHERE MATCH (name, ssn) AGAINST ('123-45')", "customer.ssn"),
        ("SELECT id FROM customer WHERE 'x' MEMBER OF (ssn)", "customer.ssn"),
        ("SELECT max(ssn) FROM customer", "customer.ssn"),
        ("SELECT GROUP_CONCAT(ssn) FROM customer", "customer.ssn"),
        ("SELECT ssn FROM customer ORDER BY ssn", "customer.ssn"),
        ("SELECT ssn AS s FROM customer ORDER BY s", "customer.ssn"),
        ("SELECT ssn AS s FROM customer ORDER BY LOWER(s)", "customer.ssn"),
        ("SELECT ssn AS s FROM customer GROUP BY CONCAT(s)", "customer.ssn"),
        ("SELECT ssn AS s FROM customer HAVING s > '123-45'", "customer.ssn"),
        ("SELECT name AS ssn FROM customer HAVING ssn = '123-45'", ""),
        ("SELECT ssn AS s, (SELECT s) AS t FROM customer", ""),
        ("SELECT c.ssn AS s, (SELECT s FROM other LIMIT 1) AS t FROM customer c", ""),
        ("SELECT ssn INTO x FROM customer", "customer.ssn"),
        ("SELECT phone FROM customer GROUP BY phone", "customer.phone"),
        ("SELECT DISTINCT phone FROM customer", "customer.phone"),
        ("SELECT ssn, count(*) FROM customer GROUP BY ssn WITH ROLLUP", ""),
        ("SELECT id FROM customer WHERE phone = '123-45'", "customer.phone"),
        ("SELECT id FROM customer WHERE (ssn, id) IN (('123-45', 1))", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = @x", "customer.ssn"),
        ("SELECT id FROM customer WHERE @x := ssn", "customer.ssn"),
        ("SELECT ssn INTO @x FROM customer", "customer.ssn"),
        ("SELECT id, ssn FROM customer WHERE id = 1 INTO @i, @s", "customer.ssn"),
        ("SELECT ssn INTO OUTFILE '/tmp/x' FROM customer", "customer.ssn"),
        ("SELECT ssn FROM customer INTO OUTFILE '/tmp/x'", "customer.ssn"),
        ("SELECT ssn FROM customer INTO DUMPFILE '/tmp/x'", "customer.ssn"),
        ("SELECT * FROM customer NATURAL JOIN person", ""),
        ("SELECT ssn FROM customer UNION SELECT city FROM person", "customer.ssn"),
        ("SELECT id FROM customer PROCEDURE ANALYSE()", ""),
        ("SELECT id FROM customer WHERE ssn = ANY (ARRAY['123-45'])", ""),
        ("TABLE customer", ""),
        ("SELECT ssn FROM customer FOR SYSTEM_TIME ALL", ""),
    ]);
}

#[test]
fn a_parameter_is_counted_by_its_place() {
    let text = "SELECT id FROM customer WHERE id IN (?, ?) AND ssn = ? LIMIT ?, ?";
    let analysis = analyze(text, &mysql()).unwrap();
    assert_eq!(render(text, &analysis), format!("{text} | $3=?1"));
}
