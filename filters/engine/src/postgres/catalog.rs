//! The question for the catalog that the server is asked, and its answer row by row.

use fieldveil_postgres_wire::backend::DataRow;
use fieldveil_values::oid;

use crate::compiled_plan::CompiledPlan;
use crate::field::ColumnKind;
use crate::server_catalog::ColumnRow;

/// Columns of the answer, in order.
const COLUMNS: u16 = 16;

/// Relations with a protected column, those that share rows with them by inheritance or partitioning, and
/// the views over any of these; a row for each of their columns, with the relation named in the policy. Not other sessions'
/// temporary ones, which no statement of this one can name. Queries of views that are longer than 64 KiB are left out: such a
/// view can't be named.
const QUERY: &str = "\
WITH RECURSIVE named(oid) AS (
  SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE (n.nspname, c.relname) IN (__RELATIONS__)
), family(oid, root) AS (
  SELECT oid, oid FROM named
  UNION
  SELECT CASE WHEN i.inhrelid = f.oid THEN i.inhparent ELSE i.inhrelid END, f.root
  FROM family f JOIN pg_catalog.pg_inherits i ON i.inhrelid = f.oid OR i.inhparent = f.oid
), reaching(oid) AS (
  SELECT oid FROM family
  UNION
  SELECT r.ev_class FROM reaching f
  JOIN pg_catalog.pg_depend d ON d.refobjid = f.oid AND d.refclassid = 1259 AND d.classid = 2618
  JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
)
SELECT c.oid, n.nspname, c.relname, c.relkind, pg_catalog.pg_table_is_visible(c.oid),
  a.attnum, a.attname, a.atttypid, a.atthasdef OR a.attidentity <> '', a.attgenerated,
  rn.nspname, rc.relname, f.oid IS NOT NULL, a.atttypmod,
  CASE WHEN c.relkind IN ('v', 'm') AND a.attnum = 1 THEN (
    SELECT CASE WHEN pg_catalog.length(d) <= 65536 THEN d END FROM pg_catalog.pg_get_viewdef(c.oid) d) END,
  EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND x.indexprs IS NOT NULL
    AND (pg_catalog.strpos(pg_catalog.pg_get_expr(x.indexprs, c.oid), '\"left\"(' || pg_catalog.quote_ident(a.attname) || ', 33)') > 0
      OR pg_catalog.strpos(pg_catalog.pg_get_expr(x.indexprs, c.oid), '\"left\"((' || pg_catalog.quote_ident(a.attname) || ')::text, 33)') > 0
      OR pg_catalog.strpos(pg_catalog.pg_get_expr(x.indexprs, c.oid), 'substr(' || pg_catalog.quote_ident(a.attname) || ', 1, 22)') > 0))
FROM reaching v
JOIN pg_catalog.pg_class c ON c.oid = v.oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN family f ON f.oid = c.oid
LEFT JOIN pg_catalog.pg_class rc ON rc.oid = f.root
LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = rc.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
ORDER BY c.oid, a.attnum";

/// The text that asks for the catalog.
pub fn question(plan: &CompiledPlan) -> String {
    let mut relations: Vec<String> = plan
        .fields
        .iter()
        .map(|f| f.spec.column())
        .map(|column| format!("({}, {})", literal(column.schema), literal(column.table)))
        .collect();
    relations.sort();
    relations.dedup();
    QUERY.replace("__RELATIONS__", &relations.join(", "))
}

/// A name as a literal that reads the same whatever `standard_conforming_strings` is.
fn literal(name: &str) -> String {
    format!("E'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}

/// Reads a row of the answer; None if it is not as asked for.
pub fn row(body: &[u8]) -> Option<ColumnRow<'_>> {
    let row = DataRow::parse(body).ok()?;
    if row.columns() != COLUMNS {
        return None;
    }
    let mut values = row.values().map(|v| v.map_or(Some(""), |v| std::str::from_utf8(v).ok()));
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
