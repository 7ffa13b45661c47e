//! The server's catalog, as far as protected fields need it: asked for on the client's own connection, so
//! that `search_path` and privileges are the client's, and read into what SQL analysis wants to know.

mod question;
mod views;

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use fieldveil_plan::{Column as PlannedColumn, PlanField};
use fieldveil_sql::{Catalog, Column, Dialect, Field, Relation, RelationKind, Stored as SqlStored};

use self::question::Row;
pub use self::question::question;

use crate::field::{CompiledPlan, Stored};
use crate::keyring::Keyring;

/// Rows of the answer read at most: 4,096 fields' tables with their partitions have fewer columns.
const MAX_ROWS: usize = 200_000;
/// How old a catalog may grow before it is read again: the time for which DDL on another connection can go
/// unnoticed by an open one.
pub const MAX_AGE_MS: u64 = 60_000;

/// The catalog of one connection under one plan.
#[derive(Clone)]
pub struct ServerCatalog {
    /// For SQL analysis.
    pub sql: Catalog,
    /// Tells catalogs apart that analysis may answer differently for, or whose keys differ.
    pub fingerprint: u64,
    /// The same, the keys aside.
    pub shape: u64,
    /// By field, the keys that decide what its values are sealed to.
    pub keys: Vec<Vec<u32>>,
    by_column: HashMap<(u32, i16), (usize, Stored)>,
    unusable: Vec<(usize, String)>,
    widths: Vec<Width>,
    /// Columns with a blind index that the server has no index on.
    pub slow: Vec<String>,
}

/// A protected column whose type limits how long its texts are.
#[derive(Clone)]
struct Width {
    field: usize,
    stored: Stored,
    place: String,
    characters: usize,
}

impl ServerCatalog {
    /// Finds the columns that are too narrow for what is sealed in them: `longest` tells how many characters the longest
    /// value of a field takes, None for no longest.
    pub fn check_widths(&mut self, mut longest: impl FnMut(usize, Stored) -> Option<usize>) {
        for Width { field, stored, place, characters } in std::mem::take(&mut self.widths) {
            let reason = match longest(field, stored) {
                Some(needed) if needed <= characters => continue,
                Some(needed) => format!(
                    "column {place} holds {characters} characters, and a sealed value takes up to {needed}"
                ),
                None => format!(
                    "column {place} holds {characters} characters, and its declared type has no longest value"
                ),
            };
            self.unusable.push((field, reason));
        }
    }

    /// Takes up the keys: how many ciphertexts a value has, and which.
    pub fn take_keys(&mut self, plan: &CompiledPlan, keyring: &Keyring) {
        self.keys = plan.fields.iter().map(|field| field.sealing_keys(keyring)).collect();
        let columns = self.sql.relations.iter_mut().flat_map(|relation| &mut relation.columns);
        for field in columns.filter_map(|column| column.field.as_mut()) {
            if let (Some(planned), Some(keys)) = (plan.fields.get(field.id), self.keys.get(field.id)) {
                field.envelopes = planned.envelopes(keys);
            }
        }
        let mut hasher = DefaultHasher::new();
        (self.shape, &self.keys).hash(&mut hasher);
        self.fingerprint = hasher.finish();
    }

    /// The field of a table's column.
    pub fn field_at(&self, table_oid: u32, column: i16) -> Option<(usize, Stored)> {
        self.by_column.get(&(table_oid, column)).copied()
    }

    /// Which protected columns can hold no envelope, with the reason.
    pub fn unusable(&self, field: usize) -> Option<&str> {
        self.unusable.iter().find(|(f, _)| *f == field).map(|(_, reason)| reason.as_str())
    }

    /// All protected columns that can hold no envelope.
    pub fn all_unusable(&self) -> impl Iterator<Item = (usize, &str)> {
        self.unusable.iter().map(|(field, reason)| (*field, reason.as_str()))
    }

    /// Fields whose table is there but has no such column: a slip of the pen in the policy leaves the column
    /// that was meant unprotected.
    pub fn missing_columns<'p>(&self, plan: &'p CompiledPlan) -> impl Iterator<Item = &'p PlanField> {
        plan.fields.iter().map(|f| &f.spec).filter(|spec| {
            let PlannedColumn { schema, table, column } = spec.column();
            let table = self.sql.relations.iter().find(|r| r.schema == schema && r.name == table);
            table.is_some_and(|r| r.columns.iter().all(|c| c.name != column))
        })
    }

    /// How a field is stored.
    pub fn stored(&self, field: usize) -> Option<Stored> {
        self.by_column.values().find(|(f, _)| *f == field).map(|(_, stored)| *stored)
    }

    /// The labels of the relations that `text` names, letter case aside.
    pub fn labels_named_in(&self, text: &str) -> Vec<&str> {
        let text = text.to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let words: HashSet<&str> = text.split(|c| !is_part(c)).collect();
        let named = self.sql.relations.iter().filter(|r| {
            let name = r.name.to_lowercase();
            // A name of other characters is looked for as it is.
            if name.chars().all(is_part) { words.contains(name.as_str()) } else { text.contains(&name) }
        });
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
    views: HashMap<u32, String>,
    by_column: HashMap<(u32, i16), (usize, Stored)>,
    unusable: Vec<(usize, String)>,
    widths: Vec<Width>,
    slow: Vec<String>,
    rows: usize,
}

impl Reading {
    /// Takes in one row.
    pub fn row(&mut self, body: &[u8], plan: &CompiledPlan) -> Result<(), &'static str> {
        self.rows = self.rows.saturating_add(1);
        if self.rows > MAX_ROWS {
            return Err("the protected tables have too many columns");
        }
        let row = Row::read(body).ok_or("the catalog's answer is not as asked for")?;
        let Row { oid, schema, name, visible, number, column, type_oid, has_default, generated, .. } = row;
        let (root_schema, root_table) = row.root;
        let named = PlannedColumn { schema: root_schema, table: root_table, column };
        let field = plan.fields.iter().position(|field| field.spec.column() == named);
        let stored = field.and_then(|field| plan.fields.get(field)).map(|f| f.stored_in(type_oid));
        match (field, stored.flatten()) {
            (None, _) => {}
            (Some(field), Some(stored)) => {
                self.by_column.insert((oid, number), (field, stored));
                self.limited(field, stored, &row);
                if row.holds_rows && !row.has_index && plan.fields.get(field).is_some_and(|f| f.indexed()) {
                    self.slow.push(format!("{schema}.{name}.{column}"));
                }
            }
            (Some(field), None) => {
                let wanted = plan.fields.get(field).map_or("", |f| f.wanted_column());
                self.unusable.push((field, format!("column {schema}.{name}.{column} is not {wanted}")));
            }
        }
        let column = Column {
            number,
            name: column.to_owned(),
            stored: sql_stored(type_oid, stored.flatten()),
            has_default,
            generated,
            field: field.and_then(|id| sql_field(plan, id)),
        };
        if !row.view.is_empty() {
            self.views.insert(oid, row.view.to_owned());
        }
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
                kind: if row.holds_rows { RelationKind::Table } else { RelationKind::OpaqueView },
                columns: vec![column],
                searches: Vec::new(),
                compares: Vec::new(),
            }),
        }
        Ok(())
    }

    /// `varchar(n)` and `char(n)` hold n characters.
    fn limited(&mut self, field: usize, stored: Stored, row: &Row<'_>) {
        // VARHDRSZ is a part of the modifier.
        let characters = usize::try_from(row.modifier.saturating_sub(4)).unwrap_or_default();
        if row.modifier > 4 && stored != Stored::Raw {
            let place = format!("{}.{}.{}", row.schema, row.name, row.column);
            self.widths.push(Width { field, stored, place, characters });
        }
    }

    /// The whole catalog.
    pub fn finish(mut self, plan: &CompiledPlan) -> ServerCatalog {
        let planned: Vec<String> = plan.fields.iter().map(|f| f.spec.column().table.to_owned()).collect();
        let relations = std::mem::take(&mut self.relations);
        let relations = views::resolve(
            Catalog { dialect: Dialect::Postgres, relations, planned: planned.clone() },
            &self.views,
        );
        for relation in relations.iter().filter(|relation| relation.kind == RelationKind::View) {
            for column in &relation.columns {
                let Some(field) = &column.field else { continue };
                let formatted =
                    plan.fields.get(field.id).and_then(|f| f.stored_in(fieldveil_values::oid::BPCHAR));
                let stored = match (formatted, column.stored) {
                    (Some(formatted), _) => formatted,
                    (None, SqlStored::Bytes) => Stored::Raw,
                    (None, _) => Stored::Armored,
                };
                self.by_column.insert((relation.oid, column.number), (field.id, stored));
            }
        }
        let mut hasher = DefaultHasher::new();
        plan.fields.iter().for_each(|field| field.storage().hash(&mut hasher));
        for relation in &relations {
            (relation.oid, &relation.schema, &relation.name, relation.visible).hash(&mut hasher);
            (relation.kind == RelationKind::Table, relation.kind == RelationKind::View).hash(&mut hasher);
            (&relation.searches, &relation.compares).hash(&mut hasher);
            for column in &relation.columns {
                let field = column.field.as_ref().map(|f| (f.id, &f.label, f.equality, f.indexed));
                (column.number, &column.name, column.has_default, column.generated, field).hash(&mut hasher);
                (column.stored == SqlStored::Text, column.stored == SqlStored::Bytes).hash(&mut hasher);
            }
        }
        ServerCatalog {
            sql: Catalog { dialect: Dialect::Postgres, relations, planned },
            fingerprint: hasher.finish(),
            shape: hasher.finish(),
            keys: Vec::new(),
            by_column: self.by_column,
            unusable: self.unusable,
            widths: self.widths,
            slow: self.slow,
        }
    }
}

fn sql_field(plan: &CompiledPlan, id: usize) -> Option<Field> {
    let field = plan.fields.get(id)?;
    Some(Field {
        id,
        label: field.spec.label.clone(),
        equality: field.equality(),
        indexed: field.indexed(),
        envelopes: field.envelopes(&[]),
        declared: field.declared_kind(),
        type_name: field.declared.name().replace(' ', ""),
    })
}

/// How a column is stored, to SQL analysis: what holds no envelope, and is not made for values either, can't be written.
fn sql_stored(type_oid: u32, stored: Option<Stored>) -> SqlStored {
    use fieldveil_values::oid::{BYTEA, TEXT, VARCHAR};
    match (stored, type_oid) {
        (Some(Stored::Raw), _) | (None, BYTEA) => SqlStored::Bytes,
        (Some(_), _) | (None, TEXT | VARCHAR) => SqlStored::Text,
        _ => SqlStored::Other,
    }
}
