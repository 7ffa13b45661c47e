//! The server's catalog, as far as protected fields need it: asked for on the client's own connection, so
//! that `search_path` and privileges are the client's, and read into what SQL analysis wants to know.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use fieldveil_pg_wire::WireError;
use fieldveil_pg_wire::backend::DataRow;
use fieldveil_pg_wire::frontend::{Bind, Close, Execute, Flush, Parse, Sync, Target};
use fieldveil_plan::PlanField;
use fieldveil_sql::{Catalog, Column, Field, Relation, RelationKind, Stored as SqlStored};

use crate::field::{CompiledPlan, Stored};

/// Columns of the answer, in order.
const COLUMNS: u16 = 13;
/// Rows of the answer read at most: 4,096 fields' tables with their partitions have fewer columns.
const MAX_ROWS: usize = 200_000;
/// How old a catalog may grow before it is read again: the time for which DDL on another connection can go
/// unnoticed by an open one.
pub const MAX_AGE_MS: u64 = 60_000;

/// Type OIDs that can hold envelopes (`pg_type.dat`).
const TEXT_OIDS: [u32; 2] = [25, 1043];
const BYTEA_OID: u32 = 17;

/// Relations with a protected column, those that share rows with them by inheritance or partitioning, and
/// the views over any of these; a row for each of their columns, with the relation named in the policy.
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
  rn.nspname, rc.relname, f.oid IS NOT NULL
FROM reaching v
JOIN pg_catalog.pg_class c ON c.oid = v.oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN family f ON f.oid = c.oid
LEFT JOIN pg_catalog.pg_class rc ON rc.oid = f.root
LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = rc.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.oid, a.attnum";

/// The messages that ask for the catalog. They keep to the extended protocol and to a name of their own, so
/// that neither the client's unnamed statement nor its open transaction is disturbed; between two Syncs of
/// the client they end with Flush, else with Sync.
pub fn question(plan: &CompiledPlan, own_name: &str, in_pipeline: bool) -> Result<Vec<u8>, WireError> {
    let mut relations: Vec<String> = plan
        .fields
        .iter()
        .map(|f| format!("({}, {})", literal(&f.spec.schema), literal(&f.spec.table)))
        .collect();
    relations.sort();
    relations.dedup();
    let text = QUERY.replace("__RELATIONS__", &relations.join(", "));
    let name = own_name.as_bytes();
    let mut out = Vec::new();
    Parse { name, text: text.as_bytes(), parameter_types: Vec::new() }.encode(&mut out)?;
    Bind {
        portal: name,
        statement: name,
        parameter_formats: Vec::new(),
        values: Vec::new(),
        result_formats: Vec::new(),
    }
    .encode(&mut out)?;
    Execute { portal: name, max_rows: 0 }.encode(&mut out)?;
    Close { target: Target::Portal, name }.encode(&mut out)?;
    Close { target: Target::Statement, name }.encode(&mut out)?;
    if in_pipeline {
        Flush.encode(&mut out)?
    } else {
        Sync.encode(&mut out)?
    }
    Ok(out)
}

/// A name as a literal that reads the same whatever `standard_conforming_strings` is.
fn literal(name: &str) -> String {
    format!("E'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}

/// The catalog of one connection under one plan.
pub struct ServerCatalog {
    /// For SQL analysis.
    pub sql: Catalog,
    /// Tells catalogs apart that analysis may answer differently for.
    pub fingerprint: u64,
    by_column: HashMap<(u32, i16), (usize, Stored)>,
    unusable: Vec<(usize, String)>,
}

impl ServerCatalog {
    /// The field of a table's column.
    pub fn field_at(&self, table_oid: u32, column: i16) -> Option<(usize, Stored)> {
        self.by_column.get(&(table_oid, column)).copied()
    }

    /// Which protected columns can hold no envelope, with the reason.
    pub fn unusable(&self, field: usize) -> Option<&str> {
        self.unusable.iter().find(|(f, _)| *f == field).map(|(_, reason)| reason.as_str())
    }

    /// Fields whose table is there but has no such column: a slip of the pen in the policy leaves the column
    /// that was meant unprotected.
    pub fn missing_columns<'p>(&self, plan: &'p CompiledPlan) -> impl Iterator<Item = &'p PlanField> {
        plan.fields.iter().map(|f| &f.spec).filter(|spec| {
            let table = self.sql.relations.iter().find(|r| r.schema == spec.schema && r.name == spec.table);
            table.is_some_and(|r| r.columns.iter().all(|c| c.name != spec.column))
        })
    }

    /// How a field is stored.
    pub fn stored(&self, field: usize) -> Option<Stored> {
        self.by_column.values().find(|(f, _)| *f == field).map(|(_, stored)| *stored)
    }

    /// The labels of the relations that `text` names, letter case aside.
    pub fn labels_named_in(&self, text: &str) -> Vec<&str> {
        let text = text.to_lowercase();
        let named = self.sql.relations.iter().filter(|r| text.contains(&r.name.to_lowercase()));
        let columns = named.flat_map(|r| &r.columns);
        let mut labels: Vec<&str> =
            columns.filter_map(|c| c.field.as_ref()).map(|f| f.label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}

/// A catalog while its rows come in.
#[derive(Default)]
pub struct Reading {
    relations: Vec<Relation>,
    by_column: HashMap<(u32, i16), (usize, Stored)>,
    unusable: Vec<(usize, String)>,
    rows: usize,
}

impl Reading {
    /// Takes in one row.
    pub fn row(&mut self, body: &[u8], plan: &CompiledPlan) -> Result<(), &'static str> {
        const BAD: &str = "the catalog's answer is not as asked for";
        self.rows = self.rows.saturating_add(1);
        if self.rows > MAX_ROWS {
            return Err("the protected tables have too many columns");
        }
        let row = DataRow::parse(body).map_err(|_| BAD)?;
        if row.columns() != COLUMNS {
            return Err(BAD);
        }
        let mut values = row.values().map(|v| v.map_or(Some(""), |v| std::str::from_utf8(v).ok()));
        let mut next = || values.next().flatten().ok_or(BAD);
        let oid: u32 = next()?.parse().map_err(|_| BAD)?;
        let (schema, name, kind, visible) = (next()?, next()?, next()?, next()? == "t");
        let number: i16 = next()?.parse().map_err(|_| BAD)?;
        let column = next()?;
        let type_oid: u32 = next()?.parse().map_err(|_| BAD)?;
        let (has_default, generated) = (next()? == "t", !next()?.is_empty());
        let (root_schema, root_name, holds_rows) = (next()?, next()?, next()? == "t");

        let field = plan.fields.iter().position(|f| {
            f.spec.schema == root_schema && f.spec.table == root_name && f.spec.column == column
        });
        let stored = match type_oid {
            BYTEA_OID => SqlStored::Bytes,
            oid if TEXT_OIDS.contains(&oid) => SqlStored::Text,
            _ => SqlStored::Other,
        };
        if let Some(field) = field {
            match stored {
                SqlStored::Bytes => drop(self.by_column.insert((oid, number), (field, Stored::Raw))),
                SqlStored::Text => drop(self.by_column.insert((oid, number), (field, Stored::Armored))),
                SqlStored::Other => {
                    self.unusable
                        .push((field, format!("column {schema}.{name}.{column} is not text or bytea")));
                }
            }
        }
        let column = Column {
            number,
            name: column.to_owned(),
            stored,
            has_default,
            generated,
            field: field.and_then(|id| {
                let field = plan.fields.get(id)?;
                Some(Field { id, label: field.spec.label.clone(), equality: field.equality() })
            }),
        };
        match self.relations.last_mut() {
            // One relation of two families comes twice: a column that is protected by either is protected.
            Some(last) if last.oid == oid => match last.columns.iter_mut().find(|c| c.number == number) {
                Some(known) => known.field = known.field.take().or(column.field),
                None => last.columns.push(column),
            },
            _ => self.relations.push(Relation {
                oid,
                schema: schema.to_owned(),
                name: name.to_owned(),
                visible,
                kind: if holds_rows && kind != "v" { RelationKind::Table } else { RelationKind::View },
                columns: vec![column],
            }),
        }
        Ok(())
    }

    /// The whole catalog.
    pub fn finish(self, plan: &CompiledPlan) -> ServerCatalog {
        let mut hasher = DefaultHasher::new();
        plan.revision.hash(&mut hasher);
        for relation in &self.relations {
            (relation.oid, &relation.schema, &relation.name, relation.visible).hash(&mut hasher);
            for column in &relation.columns {
                let field = column.field.as_ref().map(|f| (f.id, &f.label, f.equality));
                (column.number, &column.name, column.has_default, column.generated, field).hash(&mut hasher);
                (column.stored == SqlStored::Text, column.stored == SqlStored::Bytes).hash(&mut hasher);
            }
        }
        ServerCatalog {
            sql: Catalog {
                relations: self.relations,
                planned: plan.fields.iter().map(|f| f.spec.table.clone()).collect(),
            },
            fingerprint: hasher.finish(),
            by_column: self.by_column,
            unusable: self.unusable,
        }
    }
}
