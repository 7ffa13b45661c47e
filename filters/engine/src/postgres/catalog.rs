//! The question for the catalog that the server is asked, and its answer row by row. Whom the session is for is asked with it, so
//! that a session that has just begun asks once.

use std::sync::LazyLock;

use fieldveil_postgres_wire::backend::DataRow;
use fieldveil_values::oid;

use super::identity;
use crate::compiled_plan::CompiledPlan;
use crate::field::ColumnKind;
use crate::server_catalog::{CatalogDigest, ColumnRow};
use fieldveil_sql::sorted::sorted_once;

/// How many columns the answer has: those of the identity, which are the same in each row, then those of the catalog. One row
/// tells the digest of the catalog in their place.
pub const COLUMNS: usize = identity::TEXTS.len() + 16;
/// Which of them are names or texts.
pub const TEXTS: [bool; COLUMNS] = [
    true, true, true, true, // the identity
    false, true, true, false, false, false, true, false, false, false, true, true, false, false, true, false,
];

/// Which of the columns of the answer to the question for the digest are names or texts.
pub const DIGEST_TEXTS: [bool; identity::TEXTS.len() + 1] = [true, true, true, true, false];
/// Why a response is of no use.
pub const UNREADABLE_DIGEST: &str = "the catalog's digest is not as asked for";

/// Relations with a protected column, those that share rows with them by inheritance or partitioning, and
/// the views over any of these; a row for each of their columns, with the relation named in the policy. Not other sessions'
/// temporary ones, which no statement of this one can name. Queries of views that are longer than 64 KiB are left out: such a
/// view can't be named.
///
/// What is asked for each relation is gathered in arrays, of which the server's planner expects ten elements. It would expect
/// thousands of rows of joins in their place, in a database of many tables, and compile the query for them (`jit_above_cost`),
/// which takes seconds. No join of it needs a nested loop, whose price would be such a cost while `enable_nestloop` is off: so the
/// one with the row of the session is a full one. The names of the tables are gathered too, so that all questions are one entry
/// of `pg_stat_statements`.
///
/// The functions and types are those of `pg_catalog` whatever the session's `search_path`; for the operators [`qualified`] sees
/// to that.
const QUERY: &str = "\
SELECT __IDENTITY__, c.* FROM (SELECT) session FULL JOIN (WITH RECURSIVE named(oid, schema, name) AS (
  SELECT c.oid, n.nspname, c.relname
  FROM ROWS FROM (pg_catalog.unnest(__SCHEMAS__::pg_catalog.name[]),
    pg_catalog.unnest(__TABLES__::pg_catalog.name[])) planned(schema, name)
  JOIN pg_catalog.pg_namespace n ON n.nspname = planned.schema
  JOIN pg_catalog.pg_class c ON c.relname = planned.name AND c.relnamespace = n.oid
  WHERE c.relname = ANY (__TABLES__::pg_catalog.name[])
), family(oid, schema, name) AS (
  SELECT oid, schema, name FROM named
  UNION
  SELECT pg_catalog.unnest(ARRAY(
    SELECT i.inhparent FROM pg_catalog.pg_inherits i WHERE i.inhrelid = f.oid
    UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = f.oid)), f.schema, f.name FROM family f
), reaching(oids) AS (
  SELECT ARRAY(SELECT oid FROM family)
  UNION
  SELECT ARRAY(SELECT DISTINCT r.ev_class FROM pg_catalog.pg_rewrite r WHERE r.oid = ANY (ARRAY(
    SELECT d.objid FROM pg_catalog.pg_depend d
    WHERE d.refobjid = ANY (f.oids) AND d.refclassid = 1259 AND d.classid = 2618)) ORDER BY 1) FROM reaching f
), relation(oids) AS (
  SELECT ARRAY(SELECT DISTINCT pg_catalog.unnest(oids) FROM reaching)
)
SELECT NULL, oids::pg_catalog.text, __DIGEST__, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM relation
UNION ALL (SELECT c.oid, n.nspname, c.relname, c.relkind, pg_catalog.pg_table_is_visible(c.oid),
  a.attnum, a.attname, a.atttypid, a.atthasdef OR a.attidentity <> '', a.attgenerated,
  f.schema, f.name, f.oid IS NOT NULL, a.atttypmod,
  CASE WHEN c.relkind = ANY ('{v,m}') AND a.attnum = 1 THEN (
    SELECT CASE WHEN pg_catalog.length(d) <= 65536 THEN d END FROM pg_catalog.pg_get_viewdef(c.oid) d) END,
  EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND x.indexprs IS NOT NULL
    AND (pg_catalog.strpos(pg_catalog.pg_get_expr(x.indexprs, c.oid), '\"left\"(' || pg_catalog.quote_ident(a.attname) || ', 33)') > 0
      OR pg_catalog.strpos(pg_catalog.pg_get_expr(x.indexprs, c.oid), '\"left\"((' || pg_catalog.quote_ident(a.attname) || ')::text, 33)') > 0
      OR pg_catalog.strpos(pg_catalog.pg_get_expr(x.indexprs, c.oid), 'substr(' || pg_catalog.quote_ident(a.attname) || ', 1, 22)') > 0))
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN family f ON f.oid = c.oid
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.oid = ANY ((SELECT oids FROM relation)::pg_catalog.oid[]) AND a.attrelid = ANY ((SELECT oids FROM relation)::pg_catalog.oid[])
  AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
ORDER BY c.oid, a.attnum)) c ON true";

/// The question for the digest alone, and for whom the session is for, where the relations are known already.
const DIGEST_QUERY: &str = "\
WITH relation(oids) AS (SELECT '__RELATIONS__'::pg_catalog.oid[]) SELECT __IDENTITY__, __DIGEST__";

/// A digest of all that [`QUERY`] makes its answer of, but for the indexes, which only a line of the log tells of: the rows of these
/// relations and of any with a name from the policy, their columns, and which others share rows with them or are views over them.
/// As long as these are the same, the query would find the same relations, and tell the same of them.
const DIGEST: &str = "\
pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(ROW(
  ARRAY(SELECT ROW(c.oid, n.nspname, c.relname, c.relkind, pg_catalog.pg_table_is_visible(c.oid),
      CASE WHEN c.relkind = ANY ('{v,m}') THEN pg_catalog.pg_get_viewdef(c.oid) END)::pg_catalog.text
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE (c.oid = ANY ((SELECT oids FROM relation)::pg_catalog.oid[])
        OR c.relname = ANY (__TABLES__::pg_catalog.name[]) AND n.nspname = ANY (__SCHEMAS__::pg_catalog.name[]))
      AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace) ORDER BY c.oid),
  ARRAY(SELECT ROW(a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.atthasdef, a.attidentity, a.attgenerated,
      a.attisdropped)::pg_catalog.text
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = ANY ((SELECT oids FROM relation)::pg_catalog.oid[]) AND a.attnum > 0 ORDER BY a.attrelid, a.attnum),
  ARRAY(SELECT ROW(i.inhrelid, i.inhparent)::pg_catalog.text FROM pg_catalog.pg_inherits i
    WHERE i.inhrelid = ANY ((SELECT oids FROM relation)::pg_catalog.oid[])
      OR i.inhparent = ANY ((SELECT oids FROM relation)::pg_catalog.oid[]) ORDER BY i.inhrelid, i.inhparent),
  ARRAY(SELECT DISTINCT ROW(d.refobjid, d.objid)::pg_catalog.text FROM pg_catalog.pg_depend d
    WHERE d.refobjid = ANY ((SELECT oids FROM relation)::pg_catalog.oid[]) AND d.refclassid = 1259 AND d.classid = 2618 ORDER BY 1)
)::pg_catalog.text, 'SQL_ASCII')), 'hex')";

/// The queries as they are sent, but for the names of the policy and the numbers of relations.
static CATALOG_TEXT: LazyLock<String> = LazyLock::new(|| text_of(QUERY));
static DIGEST_TEXT: LazyLock<String> = LazyLock::new(|| text_of(DIGEST_QUERY));

fn text_of(query: &str) -> String {
    qualified(&query.replace("__DIGEST__", DIGEST)).replace("__IDENTITY__", identity::COLUMNS)
}

/// The text that asks for the catalog. `escape` writes what stands in a string with escapes.
pub fn question(plan: &CompiledPlan, escape: impl Fn(&str) -> String) -> String {
    with_names(&CATALOG_TEXT, plan, escape)
}

/// The text that asks for the digest of the catalog that has these relations.
pub fn digest_question(plan: &CompiledPlan, relations: &str, escape: impl Fn(&str) -> String) -> String {
    with_names(&DIGEST_TEXT.replace("__RELATIONS__", relations), plan, escape)
}

fn with_names(text: &str, plan: &CompiledPlan, escape: impl Fn(&str) -> String) -> String {
    let columns = plan.fields.iter().map(|field| field.spec.column());
    let relations = sorted_once(columns.map(|column| (column.schema, column.table)).collect());
    let schemas = array(relations.iter().map(|(schema, _)| *schema), &escape);
    let tables = array(relations.iter().map(|(_, table)| *table), &escape);
    text.replace("__SCHEMAS__", &schemas).replace("__TABLES__", &tables)
}

/// Returns a text whose operators are those of `pg_catalog`. Else a client could put its own in their place.
pub(super) fn qualified(text: &str) -> String {
    let mut text = text.to_owned();
    for operator in ["=", "<>", "<=", ">", "||"] {
        text = text.replace(&format!(" {operator} "), &format!(" OPERATOR(pg_catalog.{operator}) "));
    }
    text
}

/// Names as a literal of an array, which reads the same whatever `standard_conforming_strings` is.
fn array<'n>(names: impl Iterator<Item = &'n str>, escape: impl Fn(&str) -> String) -> String {
    let escaped = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
    let names: Vec<String> = names.map(|name| format!("\"{}\"", escaped(name))).collect();
    let array = format!("{{{}}}", names.join(","));
    format!("E'{}'", escape(&array.replace('\\', "\\\\").replace('\'', "''")))
}

/// Whether a row tells the digest in the place of a column.
pub fn is_digest(row: DataRow<'_>) -> bool {
    row.values().nth(identity::TEXTS.len()).is_some_and(|oid| oid.is_none())
}

/// Reads the digest in such a row; None if it is not as asked for.
pub fn digest(row: DataRow<'_>) -> Option<CatalogDigest> {
    let mut values = row.values().skip(identity::TEXTS.len()).skip(1);
    let mut text = || std::str::from_utf8(values.next()??).ok();
    CatalogDigest::new(text()?, text()?)
}

/// Reads the digest's sum in the answer to the question for it alone.
pub fn sum(row: DataRow<'_>) -> Option<String> {
    let sum = row.values().nth(identity::TEXTS.len())??;
    String::from_utf8(sum.to_vec()).ok()
}

/// Reads the column in a row of the answer; None if it is not as asked for.
pub fn row(row: DataRow<'_>) -> Option<ColumnRow<'_>> {
    let values = row.values().skip(identity::TEXTS.len());
    let mut values = values.map(|v| v.map_or(Some(""), |v| std::str::from_utf8(v).ok()));
    let mut next = || values.next().flatten();
    let oid = next()?.parse().ok()?;
    let (schema, name, relkind, visible) = (next()?, next()?, next()?, next()? == "t");
    let number = next()?.parse().ok()?;
    let column = next()?;
    let kind = kind_of(next()?.parse().ok()?);
    let (has_default, generated) = (next()? == "t", !next()?.is_empty());
    let (root_schema, root_name, holds_rows) = (next()?, next()?, next()? == "t");
    let modifier: i32 = next()?.parse().ok()?;
    // `varchar(n)` and `char(n)` hold n characters; VARHDRSZ is a part of the modifier.
    let most = usize::try_from(modifier.saturating_sub(4)).ok().filter(|most| *most > 0);
    Some(ColumnRow {
        oid,
        schema,
        name,
        visible,
        number,
        column,
        kind,
        most: most.filter(|_| matches!(kind, ColumnKind::Text | ColumnKind::Padded)),
        fits_type: true,
        unusable: None,
        has_default,
        generated,
        root: (root_schema, root_name),
        holds_rows: holds_rows && relkind != "v" && relkind != "m",
        view: next()?,
        has_index: next()? == "t",
    })
}

/// What a column of the type with this OID can hold.
pub fn kind_of(type_oid: u32) -> ColumnKind {
    match type_oid {
        oid::TEXT | oid::VARCHAR => ColumnKind::Text,
        oid::BPCHAR => ColumnKind::Padded,
        oid::BYTEA => ColumnKind::Bytes,
        _ => ColumnKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{DIGEST_QUERY, QUERY, array, text_of};

    #[test]
    fn each_operator_is_the_servers_own() {
        let text = [QUERY, DIGEST_QUERY].map(text_of).concat();
        let outside = text.split('\'').step_by(2).collect::<Vec<_>>().join("");
        let rest =
            outside.split("OPERATOR(pg_catalog.").map(|part| part.trim_start_matches(['=', '<', '>', '|']));
        let rest = rest.collect::<Vec<_>>().join("");
        assert!(
            !rest.contains(['=', '<', '>', '|', '~', '!', '+', '-', '/', '%', '&', '#', '@', '^', '?']),
            "{rest}"
        );
        assert!(![" IN ", " LIKE ", " BETWEEN "].iter().any(|word| rest.contains(word)), "{rest}");
    }

    #[test]
    fn names_are_written_as_an_array() {
        assert_eq!(array(["public", "é"].into_iter(), str::to_owned), r#"E'{"public","é"}'"#);
        // What the server reads is {"a'b","c\\d","e\"f"}.
        let odd = ["a'b", r"c\d", r#"e"f"#].into_iter();
        assert_eq!(array(odd, str::to_owned), r#"E'{"a''b","c\\\\d","e\\"f"}'"#);
    }
}
