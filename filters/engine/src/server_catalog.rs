//! The server's catalog, as far as protected fields need it. It is queried on the client's own connection, so that names and
//! privileges are the client's, and gives SQL analysis the tables and columns.

mod absent;
mod known;
mod reading;
mod views;
mod weight;

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use fieldveil_plan::{Column as PlannedColumn, PlanField};
use fieldveil_sql::{Catalog, Dialect, Relation};

pub(crate) use self::known::{CatalogDigest, KnownCatalogs, ReadUnder};
pub(crate) use self::reading::{CatalogReading, ColumnRow};
pub(crate) use self::views::words_of_view;
use self::weight::CatalogWeight;
use crate::compiled_plan::CompiledPlan;
use crate::field::StoredForm;
use crate::keyring::Keyring;
use fieldveil_sql::sorted::{sorted, sorted_once};

/// A catalog is read again when it is as old as this. So long can DDL on another connection go unnoticed.
pub(crate) const MAX_AGE_MS: u64 = 60_000;
/// In so many bytes at the begin of a refused text the names of protected tables are searched.
const MAX_TOLD: usize = 16 << 10;

/// The catalog of one connection under one plan, or of several connections whose catalogs are equal.
///
/// Large: it keeps for each field what the server's columns say, by the questions that are asked of it.
#[derive(Clone, PartialEq)]
pub(crate) struct ServerCatalog {
    /// For SQL analysis.
    pub sql: Catalog,
    /// Differs between catalogs for which analysis may differ, or whose keys differ.
    pub fingerprint: u64,
    /// The same without the keys.
    pub shape: u64,
    /// For each field, the keys that its values are sealed with.
    pub keys: Vec<Vec<u32>>,
    by_column: HashMap<(u32, i16), (usize, StoredForm)>,
    /// For each field, how the first of its columns stores it.
    by_field: HashMap<usize, StoredForm>,
    unusable: Vec<(usize, String)>,
    widths: Vec<Width>,
    /// For each field, how many characters or bytes its narrowest column holds.
    most: HashMap<usize, usize>,
    /// The schemas and names, in lower case, of tables that the policy names and the server does not have.
    pub absent: Vec<(String, String)>,
    /// The columns with a blind index for which the server has no index.
    pub slow: Vec<String>,
    weight: CatalogWeight,
}

/// A protected column whose type limits the length of its values.
#[derive(Clone, PartialEq)]
struct Width {
    field: usize,
    stored: StoredForm,
    place: String,
    /// The limit in characters, or in bytes for a column of bytes.
    most: usize,
}

impl ServerCatalog {
    /// Finds the columns that are too narrow for their envelopes. `longest` returns how many characters or bytes the longest
    /// value of a field takes, or None if values have no limit.
    pub fn check_widths(&mut self, mut longest: impl FnMut(usize, StoredForm) -> Option<usize>) {
        for Width { field, stored, place, most } in std::mem::take(&mut self.widths) {
            let units = if stored == StoredForm::Raw { "bytes" } else { "characters" };
            let reason = match longest(field, stored) {
                Some(needed) if needed <= most => continue,
                Some(needed) => {
                    format!("column {place} holds {most} {units}, and a sealed value takes up to {needed}")
                }
                None => {
                    format!("column {place} holds {most} {units}, and its declared type has no longest value")
                }
            };
            self.unusable.push((field, reason));
        }
    }

    /// Uses these keys, which decide how many ciphertexts a value has, and which.
    pub fn take_keys(&mut self, plan: &CompiledPlan, keyring: &Keyring) {
        self.keys = plan.fields.iter().map(|field| field.sealing_keys(keyring)).collect();
        let columns = self.sql.relations_mut().iter_mut().flat_map(|relation| &mut relation.columns);
        for field in columns.filter_map(|column| column.field.as_mut()) {
            if let (Some(planned), Some(keys)) = (plan.fields.get(field.id), self.keys.get(field.id)) {
                field.envelopes = planned.envelopes(keys);
            }
        }
        self.mark();
    }

    fn mark(&mut self) {
        let mut hasher = DefaultHasher::new();
        let most = sorted(self.most.iter().collect());
        (self.shape, self.sql.dialect(), &self.keys, most).hash(&mut hasher);
        self.fingerprint = hasher.finish();
    }

    /// Finds the field of a table's column.
    pub fn field_at(&self, table_oid: u32, column: i16) -> Option<(usize, StoredForm)> {
        self.by_column.get(&(table_oid, column)).copied()
    }

    /// Finds the field of the column with these names.
    pub fn field_named(&self, schema: &str, table: &str, column: &str) -> Option<(usize, StoredForm)> {
        let names = NamesOf(self.sql.dialect());
        let relation = self
            .sql
            .relations()
            .iter()
            .find(|r| names.same_table(&r.schema, schema) && names.same_table(&r.name, table))?;
        let column = relation.columns.iter().find(|c| names.same_column(&c.name, column))?;
        self.field_at(relation.oid, column.number)
    }

    /// Says why a column of the field can hold no envelope, if one cannot.
    pub fn unusable(&self, field: usize) -> Option<&str> {
        self.unusable.iter().find(|(f, _)| *f == field).map(|(_, reason)| reason.as_str())
    }

    /// Lists the protected columns that can hold no envelope.
    pub fn all_unusable(&self) -> impl Iterator<Item = (usize, &str)> {
        self.unusable.iter().map(|(field, reason)| (*field, reason.as_str()))
    }

    /// Lists the fields whose table exists but has no such column. A typing error in the policy leaves the column that was meant
    /// without protection.
    pub fn missing_columns<'p>(&self, plan: &'p CompiledPlan) -> impl Iterator<Item = &'p PlanField> {
        let names = NamesOf(self.sql.dialect());
        plan.fields.iter().map(|f| &f.spec).filter(move |spec| {
            let PlannedColumn { schema, table, column } = spec.column();
            let is_it =
                |r: &&Relation| names.same_table(&r.schema, schema) && names.same_table(&r.name, table);
            let table = self.sql.relations().iter().find(is_it);
            table.is_some_and(|r| r.columns.iter().all(|c| !names.same_column(&c.name, column)))
        })
    }

    /// Returns how many characters, or bytes in a column of bytes, a stored value of the field may take.
    pub fn most(&self, field: usize) -> Option<usize> {
        self.most.get(&field).copied()
    }

    /// Returns how a field is stored.
    pub fn stored(&self, field: usize) -> Option<StoredForm> {
        self.by_field.get(&field).copied()
    }

    /// Whether a relation or a column has other characters than ASCII's in its name.
    pub fn has_other_names(&self) -> bool {
        self.names().any(|name| !name.is_ascii())
    }

    /// Whether no name is longer in UTF-8 than the server lets it be in its own encoding.
    pub fn has_short_names(&self) -> bool {
        self.names().all(|name| name.len() <= fieldveil_sql::MAX_NAME_BYTES)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let columns = self.sql.relations().iter().flat_map(|relation| &*relation.columns);
        let relations = self
            .sql
            .relations()
            .iter()
            .flat_map(|relation| [relation.schema.as_str(), relation.name.as_str()]);
        let absent = self.absent.iter().flat_map(|(schema, table)| [schema.as_str(), table.as_str()]);
        columns.map(|column| column.name.as_str()).chain(relations).chain(absent)
    }

    /// Lists the labels of the relations that `text` names near its begin, in any letter case.
    pub fn labels_named_in(&self, text: &str) -> Vec<&str> {
        let text = text.get(..text.floor_char_boundary(MAX_TOLD)).unwrap_or_default().to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let words: HashSet<&str> = text.split(|c| !is_part(c)).collect();
        let named = self.sql.relations().iter().filter(|r| {
            let name = r.name.to_lowercase();
            // A name of other characters is looked for as it is.
            if name.chars().all(is_part) { words.contains(name.as_str()) } else { text.contains(&name) }
        });
        let columns = named.flat_map(|r| &r.columns);
        let fields = columns.filter_map(|c| c.field.as_ref());
        sorted_once(fields.map(|f| f.label.as_str()).collect())
    }
}

/// Which names the server takes to be equal.
#[derive(Clone, Copy)]
struct NamesOf(Dialect);

impl NamesOf {
    /// Compares names of tables, schemas and databases.
    fn same_table(self, a: &str, b: &str) -> bool {
        match self.0 {
            Dialect::MySql(mysql) if mysql.folds_tables => alike(a, b),
            _ => a == b,
        }
    }

    /// Compares names of columns.
    fn same_column(self, a: &str, b: &str) -> bool {
        if self.0.is_mysql() { alike(a, b) } else { a == b }
    }
}

/// Whether two names are equal in any letter case.
fn alike(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || !a.is_ascii() && a.to_lowercase() == b.to_lowercase()
}
