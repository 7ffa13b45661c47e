//! The server's catalog, as far as protected fields need it: the tables that the policy names, and all views, for one that
//! stands upon such a table shows, and takes, its rows. MariaDB keeps no list of what a view stands upon, so their queries
//! are read here; and what such a query names and the session may not see, nobody here knows.

mod question;
mod views;

use std::sync::Arc;

use fieldveil_plan::Column as PlannedColumn;

use self::question::{CatalogRow, MAX_ROWS};
use self::views::{Place, Views};
use crate::compiled_plan::CompiledPlan;
use crate::database::Core;
use crate::field::{ColumnKind, CompiledField};
use crate::memory::size_of_all;
use crate::server_catalog::ColumnRow;

/// Bytes of the answer that are held at most.
const MAX_BYTES: usize = 16 << 20;
/// Views whose columns are asked for at once: MariaDB takes longer for each the more there are.
const VIEWS_AT_ONCE: usize = 16;

/// What the server is asked, in turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CatalogQuery {
    /// For the tables, and for all views.
    Relations,
    /// For the names of what the session may see in the databases that views stand upon.
    Names,
    /// For the columns of the views that matter.
    Columns,
}

/// The answer while it comes in, to one question after the other.
pub struct CatalogResponse {
    /// Whose tables matter.
    plan: Arc<CompiledPlan>,
    asking: CatalogQuery,
    /// Columns.
    rows: Vec<CatalogRow>,
    views: Views,
    /// Names of relations, in the answer that is coming in.
    names: Vec<Place>,
    /// Views whose columns were not asked for yet.
    to_ask: Vec<Place>,
    /// The rows that came of the question that is being answered.
    taken: usize,
    bytes: usize,
}

impl CatalogResponse {
    /// To questions of which none was asked yet.
    pub fn new(plan: Arc<CompiledPlan>) -> Self {
        let (rows, views, names, to_ask) = Default::default();
        Self { plan, asking: CatalogQuery::Relations, rows, views, names, to_ask, taken: 0, bytes: 0 }
    }

    /// Whether it is about what this plan names.
    pub fn is_of(&self, plan: &Arc<CompiledPlan>) -> bool {
        Arc::ptr_eq(&self.plan, plan)
    }

    /// What the server is to be asked first, or next.
    pub fn question(&mut self) -> String {
        self.taken = 0;
        match self.asking {
            CatalogQuery::Relations => question::question(&self.plan),
            CatalogQuery::Names => question::question_for_names(&self.views.databases()),
            CatalogQuery::Columns => {
                let rest = self.to_ask.split_off(self.to_ask.len().min(VIEWS_AT_ONCE));
                question::question_for_views(&std::mem::replace(&mut self.to_ask, rest))
            }
        }
    }

    /// Bytes that it takes so far.
    pub fn bytes(&self) -> usize {
        self.bytes.saturating_add(size_of_all::<CatalogRow>(self.rows.capacity()))
    }

    /// Takes in a row.
    pub fn row(&mut self, body: &[u8]) -> Result<(), &'static str> {
        self.bytes = self.bytes.saturating_add(body.len());
        self.taken = self.taken.saturating_add(1);
        if self.bytes > MAX_BYTES || self.taken > MAX_ROWS {
            return Err("the server has too many views, or its tables and views too many columns");
        }
        let row = CatalogRow::read(body).ok_or("the catalog's answer is not as asked for")?;
        match self.asking {
            CatalogQuery::Relations if row.is_view => self.views.add(row.schema, row.table, row.query),
            CatalogQuery::Names => self.names.push((row.schema, row.table)),
            CatalogQuery::Relations | CatalogQuery::Columns => self.rows.push(row),
        }
        Ok(())
    }

    /// The answer to a question is complete. Returns whether there is another to ask.
    pub fn answered(&mut self, folding: &NameFolding<'_>) -> bool {
        if self.asking == CatalogQuery::Relations {
            self.views.choose(folding);
            self.to_ask = self.views.reaching();
            self.asking = CatalogQuery::Names;
            if !self.views.databases().is_empty() {
                return true;
            }
        }
        for (schema, name) in std::mem::take(&mut self.names) {
            self.views.see(&schema, &name, folding);
        }
        self.asking = CatalogQuery::Columns;
        !self.to_ask.is_empty()
    }

    /// All rows have come: they are the catalog's.
    pub fn finish(mut self, core: &mut Core, folding: &NameFolding<'_>) -> Result<(), &'static str> {
        // What the policy names and is a view comes twice: as a table first.
        self.rows.sort_by(|a, b| {
            (&a.schema, &a.table, a.is_view, a.number).cmp(&(&b.schema, &b.table, b.is_view, b.number))
        });
        let mut oid = 0_u32;
        let mut last = None;
        for row in &self.rows {
            let planned = folding.plans(&row.schema, &row.table);
            if !planned && !row.is_view {
                continue;
            }
            let relation = (row.schema.as_str(), row.table.as_str());
            if last != Some(relation) {
                oid = oid.saturating_add(1);
                last = Some(relation);
            }
            let view = row.is_view.then(|| self.views.query(&row.schema, &row.table)).flatten();
            let row = ColumnRow {
                oid,
                schema: &row.schema,
                name: &row.table,
                visible: folding.same(&row.schema, folding.database),
                number: row.number,
                column: &row.column,
                kind: kind(&row.data_type),
                most: row.most,
                fits_type: is_short(&row.data_type),
                unusable: folding.field(row).and_then(|field| unusable(field, row)),
                has_default: row.has_default,
                generated: row.generated,
                root: (&row.schema, &row.table),
                holds_rows: planned && !row.is_view,
                view: view.unwrap_or_default(),
                has_index: row.has_index,
            };
            core.catalog.read_row(row, core.policy.plan.as_ref())?;
        }
        for (schema, name) in self.views.unseen(folding) {
            oid = oid.saturating_add(1);
            if let Some(reading) = &mut core.catalog.reading {
                reading.unseen_view(oid, schema, name, folding.same(schema, folding.database));
            }
        }
        Ok(())
    }
}

/// How the answer is read.
pub struct NameFolding<'p> {
    /// Whose tables matter.
    pub plan: &'p CompiledPlan,
    /// The database in use.
    pub database: &'p str,
    /// Whether letter case tells tables apart.
    pub folds_tables: bool,
}

impl NameFolding<'_> {
    fn same(&self, a: &str, b: &str) -> bool {
        if self.folds_tables { a.to_lowercase() == b.to_lowercase() } else { a == b }
    }

    /// Schema and name, as far as they tell relations apart.
    fn place(&self, schema: &str, name: &str) -> Place {
        match self.folds_tables {
            true => (schema.to_lowercase(), name.to_lowercase()),
            false => (schema.to_owned(), name.to_owned()),
        }
    }

    fn planned_tables(&self) -> impl Iterator<Item = &str> {
        self.plan.fields.iter().map(|field| field.spec.column().table)
    }

    fn plans(&self, schema: &str, table: &str) -> bool {
        self.plan.fields.iter().map(|field| field.spec.column()).any(|planned| {
            let PlannedColumn { schema: its_schema, table: its_table, column: _ } = planned;
            self.same(its_schema, schema) && self.same(its_table, table)
        })
    }

    fn field(&self, row: &CatalogRow) -> Option<&CompiledField> {
        self.plan.fields.iter().find(|field| {
            let PlannedColumn { schema, table, column } = field.spec.column();
            self.same(schema, &row.schema)
                && self.same(table, &row.table)
                && column.to_lowercase() == row.column.to_lowercase()
        })
    }
}

/// Whether a type is made for short values. A TEXT or a BLOB takes what is usual of a declared type without a length; a
/// value that it does not take is refused when it is sealed.
fn is_short(data_type: &str) -> bool {
    !matches!(data_type, "text" | "mediumtext" | "longtext" | "blob" | "mediumblob" | "longblob")
}

fn kind(data_type: &str) -> ColumnKind {
    match data_type {
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => ColumnKind::Text,
        // BINARY(n) is filled up with zeros.
        "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => ColumnKind::Binary,
        _ => ColumnKind::Other,
    }
}

/// Why a column cannot hold the field's values, beside its type and width.
fn unusable(field: &CompiledField, row: &CatalogRow) -> Option<String> {
    if let Err(error) = fieldveil_values::mysql::check(&field.declared) {
        return Some(format!("cannot be shown in the declared type: {error}"));
    }
    let collation = row.collation.as_deref()?;
    let exact = collation == "binary" || collation.ends_with("_bin");
    (field.tells_apart_by_case() && !exact).then(|| {
        format!(
            "has the collation {collation}, by which ciphertexts of other letter case are equal: give it a _bin collation"
        )
    })
}
