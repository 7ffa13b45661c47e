//! The server's catalog, as far as protected fields need it: the tables that the policy names, and all views, for one that
//! stands upon such a table shows, and takes, its rows. MariaDB keeps no list of what a view stands upon, so their queries
//! are read here.

mod question;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use fieldveil_plan::Column as PlannedColumn;

use self::question::{MAX_ROWS, Row};
use crate::database::{ColumnRow, Core};
use crate::field::{ColumnKind, CompiledPlan, FieldPlan};

/// Bytes of the answer that are held at most.
const MAX_BYTES: usize = 16 << 20;
/// Views whose columns are asked for at once: MariaDB takes longer for each the more there are.
const VIEWS_AT_ONCE: usize = 16;

/// The answer while it comes in, to one question after the other.
pub struct Answer {
    /// Whose tables matter.
    plan: Rc<CompiledPlan>,
    /// Columns.
    rows: Vec<Row>,
    /// Views by schema and name, with their queries: all of them, and from the second question on those that matter.
    views: HashMap<(String, String), String>,
    /// Whether those were chosen.
    chosen: bool,
    /// Those of them whose columns were not asked for yet.
    to_ask: Vec<(String, String)>,
    /// The rows that came of the question that is being answered.
    taken: usize,
    bytes: usize,
}

impl Answer {
    /// To questions of which none was asked yet.
    pub fn new(plan: Rc<CompiledPlan>) -> Self {
        let (rows, views, to_ask) = Default::default();
        Self { plan, rows, views, chosen: false, to_ask, taken: 0, bytes: 0 }
    }

    /// Whether it is about what this plan names.
    pub fn is_of(&self, plan: &Rc<CompiledPlan>) -> bool {
        Rc::ptr_eq(&self.plan, plan)
    }

    /// What the server is to be asked first, or next.
    pub fn question(&mut self) -> String {
        self.taken = 0;
        if !self.chosen {
            return question::question(&self.plan);
        }
        let rest = self.to_ask.split_off(self.to_ask.len().min(VIEWS_AT_ONCE));
        question::question_for_views(&std::mem::replace(&mut self.to_ask, rest))
    }

    /// Takes in a row.
    pub fn row(&mut self, body: &[u8]) -> Result<(), &'static str> {
        self.bytes = self.bytes.saturating_add(body.len());
        self.taken = self.taken.saturating_add(1);
        if self.bytes > MAX_BYTES || self.taken > MAX_ROWS {
            return Err("the server has too many views, or its tables and views too many columns");
        }
        let row = Row::read(body).ok_or("the catalog's answer is not as asked for")?;
        if row.is_view && row.number == 0 {
            self.views.insert((row.schema, row.table), row.query);
        } else {
            self.rows.push(row);
        }
        Ok(())
    }

    /// The answer to a question is complete. Returns whether there is another to ask.
    pub fn answered(&mut self, reads: &Reads<'_>) -> bool {
        if !self.chosen {
            self.chosen = true;
            self.keep_reaching(reads);
            self.to_ask = self.views.keys().cloned().collect();
            self.to_ask.sort_unstable();
        }
        !self.to_ask.is_empty()
    }

    /// Keeps the views whose queries name a protected table, or another such view; and those whose queries this user may
    /// not read.
    fn keep_reaching(&mut self, reads: &Reads<'_>) {
        let mut names: HashSet<String> = reads.planned_tables().map(str::to_lowercase).collect();
        let mut others = Vec::new();
        for (view, query) in std::mem::take(&mut self.views) {
            if query.is_empty() {
                names.insert(view.1.to_lowercase());
                self.views.insert(view, query);
            } else {
                let words = words(&query);
                others.push((view, query, words));
            }
        }
        loop {
            let (reaching, rest): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|(_, _, words)| words.iter().any(|word| names.contains(word)));
            if reaching.is_empty() {
                return;
            }
            for (view, query, _) in reaching {
                names.insert(view.1.to_lowercase());
                self.views.insert(view, query);
            }
            others = rest;
        }
    }

    /// All rows have come: they are the catalog's.
    pub fn finish(mut self, core: &mut Core, reads: &Reads<'_>) -> Result<(), &'static str> {
        // What the policy names and is a view comes twice: as a table first.
        self.rows.sort_by(|a, b| {
            (&a.schema, &a.table, a.is_view, a.number).cmp(&(&b.schema, &b.table, b.is_view, b.number))
        });
        let mut oid = 0_u32;
        let mut last = None;
        for row in &self.rows {
            let planned = reads.plans(&row.schema, &row.table);
            if !planned && !row.is_view {
                continue;
            }
            let relation = (row.schema.as_str(), row.table.as_str());
            if last != Some(relation) {
                oid = oid.saturating_add(1);
                last = Some(relation);
            }
            let view =
                row.is_view.then(|| self.views.get(&(row.schema.clone(), row.table.clone()))).flatten();
            core.catalog_row(ColumnRow {
                oid,
                schema: &row.schema,
                name: &row.table,
                visible: reads.same(&row.schema, reads.database),
                number: row.number,
                column: &row.column,
                kind: kind(&row.data_type),
                most: row.most,
                fits_type: is_short(&row.data_type),
                unusable: reads.field(row).and_then(|field| unusable(field, row)),
                has_default: row.has_default,
                generated: row.generated,
                root: (&row.schema, &row.table),
                holds_rows: planned && !row.is_view,
                view: view.map_or("", String::as_str),
                has_index: row.has_index,
            })?;
        }
        Ok(())
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
