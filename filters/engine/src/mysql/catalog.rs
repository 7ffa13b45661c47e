//! The server's catalog, as far as protected fields need it: the tables that the policy names, and all views, for one that
//! stands upon such a table shows, and takes, its rows. MariaDB keeps no list of what a view stands upon, so their queries
//! are read here.

mod question;

use std::collections::HashSet;

use fieldveil_plan::Column as PlannedColumn;

use self::question::Row;
pub(super) use self::question::question;
use crate::database::{ColumnRow, Core};
use crate::field::{ColumnKind, CompiledPlan, FieldPlan};

/// Bytes of the answer that are held at most.
const MAX_BYTES: usize = 16 << 20;

/// The answer while it comes in.
#[derive(Default)]
pub struct Answer {
    rows: Vec<Row>,
    bytes: usize,
}

impl Answer {
    /// Takes in a row.
    pub fn row(&mut self, body: &[u8]) -> Result<(), &'static str> {
        self.bytes = self.bytes.saturating_add(body.len());
        if self.bytes > MAX_BYTES {
            return Err("the server's tables and views have too many columns");
        }
        self.rows.push(Row::read(body).ok_or("the catalog's answer is not as asked for")?);
        Ok(())
    }

    /// All rows have come: those that matter are the catalog's.
    pub fn finish(self, core: &mut Core, reads: &Reads<'_>) -> Result<(), &'static str> {
        let reaching = self.reaching_views(reads);
        let mut oid = 0_u32;
        let mut last = None;
        for row in &self.rows {
            let planned = reads.plans(&row.schema, &row.table);
            if !planned && !reaching.contains(&(row.schema.as_str(), row.table.as_str())) {
                continue;
            }
            // What the policy names and is a view comes twice.
            let relation = (row.schema.as_str(), row.table.as_str());
            if last != Some(relation) {
                oid = oid.saturating_add(1);
                last = Some(relation);
            }
            let kind = kind(&row.data_type);
            let is_view = row.view.is_some();
            core.catalog_row(ColumnRow {
                oid,
                schema: &row.schema,
                name: &row.table,
                visible: reads.same(&row.schema, reads.database),
                number: row.number,
                column: &row.column,
                kind,
                most: row.most,
                fits_type: is_short(&row.data_type),
                unusable: reads.field(row).and_then(|field| unusable(field, row)),
                has_default: row.has_default,
                generated: row.generated,
                root: (&row.schema, &row.table),
                holds_rows: planned && !is_view,
                view: row.view.as_deref().unwrap_or_default(),
                has_index: row.has_index,
            })?;
        }
        Ok(())
    }

    /// The views whose queries name a protected table, or another such view; and those whose queries this user may not
    /// read.
    fn reaching_views(&self, reads: &Reads<'_>) -> HashSet<(&str, &str)> {
        let mut names: HashSet<String> = reads.planned_tables().map(str::to_lowercase).collect();
        let mut views: Vec<(&Row, Vec<String>)> = Vec::new();
        let mut reaching = HashSet::new();
        for row in &self.rows {
            match row.view.as_deref() {
                None => {}
                Some("") => {
                    reaching.insert((row.schema.as_str(), row.table.as_str()));
                    names.insert(row.table.to_lowercase());
                }
                Some(query) => {
                    let known = views.iter().any(|(v, _)| (&v.schema, &v.table) == (&row.schema, &row.table));
                    if !known {
                        views.push((row, words(query)));
                    }
                }
            }
        }
        loop {
            let before = reaching.len();
            for (row, words) in &views {
                if words.iter().any(|word| names.contains(word)) {
                    reaching.insert((row.schema.as_str(), row.table.as_str()));
                    names.insert(row.table.to_lowercase());
                }
            }
            if reaching.len() == before {
                return reaching;
            }
        }
    }
}

/// What stands between backticks, and every word.
fn words(query: &str) -> Vec<String> {
    let query = query.to_lowercase();
    let quoted = query.split('`').map(str::to_owned);
    let bare = query.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).map(str::to_owned);
    quoted.chain(bare).collect()
}

/// How the answer is read.
pub struct Reads<'p> {
    /// Whose tables matter.
    pub plan: &'p CompiledPlan,
    /// The database in use.
    pub database: &'p str,
    /// Whether letter case tells tables apart.
    pub folds_tables: bool,
}

impl Reads<'_> {
    fn same(&self, a: &str, b: &str) -> bool {
        if self.folds_tables { a.to_lowercase() == b.to_lowercase() } else { a == b }
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

    fn field(&self, row: &Row) -> Option<&FieldPlan> {
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
fn unusable(field: &FieldPlan, row: &Row) -> Option<String> {
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
