//! The server's answer, row by row.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use fieldveil_plan::Column as PlannedColumn;
use fieldveil_sql::{Catalog, Column, Columns, Dialect, Field, Relation, RelationKind, StorageType};

use super::weight::{CatalogWeight, of_column};
use super::{CatalogDigest, NamesOf, ServerCatalog, Width, views};
use crate::compiled_plan::CompiledPlan;
use crate::field::{ColumnKind, StoredForm};
use fieldveil_sql::sorted::{sorted, sorted_once};

/// Rows of the answer read at most: 4,096 fields' tables with their partitions have fewer columns.
const MAX_ROWS: usize = 200_000;

/// One row of the server's answer: a column of a relation.
///
/// Large: it has the columns of the filter's query.
pub(crate) struct ColumnRow<'a> {
    /// A number that tells the relation from others.
    pub oid: u32,
    /// The relation's schema.
    pub schema: &'a str,
    /// The relation's name.
    pub name: &'a str,
    /// Whether the bare name means it.
    pub visible: bool,
    /// The column's place in the relation, from 1.
    pub number: i16,
    /// The column's name.
    pub column: &'a str,
    /// What the column can hold.
    pub kind: ColumnKind,
    /// How many characters it holds at most, or bytes if it holds bytes.
    pub most: Option<usize>,
    /// Whether it is of no use if the declared type has values that do not fit: where it is made for short ones.
    pub fits_type: bool,
    /// Why it can hold no sealed value, for other reasons than these.
    pub unusable: Option<String>,
    /// Whether it has a default or numbers its rows.
    pub has_default: bool,
    /// Whether it is computed.
    pub generated: bool,
    /// Schema and name of the relation named in the policy whose rows these are.
    pub root: (&'a str, &'a str),
    /// Whether it holds rows of such a relation itself.
    pub holds_rows: bool,
    /// A view's query, with any of its columns; else empty.
    pub view: &'a str,
    /// Whether the server has an index on the part of the column that holds a blind index.
    pub has_index: bool,
}

/// A catalog while its rows come in.
///
/// Large: it collects all that a catalog has, of rows in any order.
pub(crate) struct CatalogReading {
    dialect: Dialect,
    relations: Vec<Relation>,
    views: HashMap<u32, String>,
    by_column: HashMap<(u32, i16), (usize, StoredForm)>,
    unusable: Vec<(usize, String)>,
    widths: Vec<Width>,
    most: HashMap<usize, usize>,
    slow: Vec<String>,
    database: String,
    rows: usize,
    /// The fields of the plan by the names of their tables and columns in lower case, once a row was read.
    planned: Option<HashMap<(String, String), Vec<usize>>>,
    bytes: usize,
    /// What the server says of the rows that it makes this answer of, where it does.
    pub digest: Option<CatalogDigest>,
}

impl CatalogReading {
    /// Of a session whose texts are written in this dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            relations: Vec::new(),
            views: HashMap::new(),
            by_column: HashMap::new(),
            unusable: Vec::new(),
            widths: Vec::new(),
            most: HashMap::new(),
            slow: Vec::new(),
            database: String::new(),
            rows: 0,
            planned: None,
            bytes: 0,
            digest: None,
        }
    }

    /// MySQL: of a session in this database, in which alone it looks for bare names.
    pub fn in_database(self, database: &str) -> Self {
        Self { database: database.to_owned(), ..self }
    }

    /// Bytes that it takes so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes in one row.
    pub fn row(&mut self, row: ColumnRow<'_>, plan: &CompiledPlan) -> Result<(), &'static str> {
        self.rows = self.rows.saturating_add(1);
        if self.rows > MAX_ROWS {
            return Err("the protected tables have too many columns");
        }
        let ColumnRow { oid, schema, name, visible, number, column, kind, has_default, generated, .. } = row;
        let field = self.field_of(&row, plan);
        let stored = field.and_then(|field| plan.fields.get(field)).map(|f| f.stored_in(kind));
        match (field, stored.flatten()) {
            (None, _) => {}
            (Some(field), Some(stored)) => {
                self.by_column.insert((oid, number), (field, stored));
                let place = || format!("{schema}.{name}.{column}");
                if let Some(most) = row.most {
                    let least = self.most.entry(field).or_insert(most);
                    *least = most.min(*least);
                }
                if let Some(most) = row.most.filter(|_| row.fits_type) {
                    self.widths.push(Width { field, stored, place: place(), most });
                }
                if let Some(reason) = row.unusable {
                    self.unusable.push((field, format!("column {} {reason}", place())));
                }
                if row.holds_rows && !row.has_index && plan.fields.get(field).is_some_and(|f| f.indexed()) {
                    self.slow.push(place());
                }
            }
            (Some(field), None) => {
                let wanted = plan.fields.get(field).map_or("", |f| f.wanted_column(self.dialect));
                self.unusable.push((field, format!("column {schema}.{name}.{column} is not {wanted}")));
            }
        }
        let column = Column {
            number,
            name: column.to_owned(),
            stored: sql_stored(kind, stored.flatten()),
            has_default,
            generated,
            field: field.and_then(|id| sql_field(plan, id)),
        };
        self.bytes = self.bytes.saturating_add(of_column(&column)).saturating_add(row.view.len());
        if !row.view.is_empty() {
            self.views.insert(oid, row.view.to_owned());
        }
        match self.relations.last_mut() {
            // One relation of two families comes twice: a column that is protected by either is protected.
            Some(last) if last.oid == oid => {
                // They come in the order of their numbers.
                let is_next = last.columns.last().is_some_and(|last| last.number < number);
                let known = if is_next { None } else { last.columns.iter_mut().find(|c| c.number == number) };
                match known {
                    Some(known) => known.field = known.field.take().or(column.field),
                    None => last.columns.push(column),
                }
            }
            _ => self.relations.push(Relation {
                oid,
                schema: schema.to_owned(),
                name: name.to_owned(),
                visible,
                kind: if row.holds_rows { RelationKind::Table } else { RelationKind::OpaqueView },
                columns: vec![column].into(),
                searches: Vec::new(),
                compares: Vec::new(),
            }),
        }
        Ok(())
    }

    /// Takes in a view that stands upon what the session may not see.
    pub fn unseen_view(&mut self, oid: u32, schema: &str, name: &str, visible: bool) {
        self.relations.push(Relation {
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

    /// The field that the column is.
    fn field_of(&mut self, row: &ColumnRow<'_>, plan: &CompiledPlan) -> Option<usize> {
        let names = NamesOf(self.dialect);
        let key = |table: &str, column: &str| (table.to_lowercase(), column.to_lowercase());
        let planned = self.planned.get_or_insert_with(|| {
            let mut planned: HashMap<_, Vec<usize>> = HashMap::new();
            for (place, field) in plan.fields.iter().enumerate() {
                let PlannedColumn { table, column, .. } = field.spec.column();
                planned.entry(key(table, column)).or_default().push(place);
            }
            planned
        });
        let is_it = |place: &usize| {
            let Some(field) = plan.fields.get(*place) else { return false };
            let PlannedColumn { schema, table, column } = field.spec.column();
            names.same_table(schema, row.root.0)
                && names.same_table(table, row.root.1)
                && names.same_column(column, row.column)
        };
        planned.get(&key(row.root.1, row.column))?.iter().copied().find(is_it)
    }

    /// The whole catalog.
    pub fn finish(mut self, plan: &CompiledPlan) -> ServerCatalog {
        let planned: Vec<String> = plan.fields.iter().map(|f| f.spec.column().table.to_owned()).collect();
        let schemas: HashSet<&str> = plan.fields.iter().map(|f| f.spec.column().schema).collect();
        let schemas = schemas.into_iter().map(str::to_owned).collect();
        let relations = std::mem::take(&mut self.relations);
        let relations = views::resolve(Catalog::new(self.dialect, relations, planned.clone()), &self.views);
        for relation in relations.iter().filter(|relation| relation.kind == RelationKind::View) {
            for column in &relation.columns {
                let Some(field) = &column.field else { continue };
                let formatted = plan.fields.get(field.id).and_then(|f| f.stored_in(ColumnKind::Padded));
                let stored = match (formatted, column.stored) {
                    (Some(formatted), _) => formatted,
                    (None, StorageType::Bytes) => StoredForm::Raw,
                    (None, _) => StoredForm::Armored,
                };
                self.by_column.insert((relation.oid, column.number), (field.id, stored));
            }
        }
        let sql = Catalog::new(self.dialect, relations, planned)
            .with_schemas(schemas)
            .with_database(&self.database);
        let mut hasher = DefaultHasher::new();
        sql.is_in_unplanned_database().hash(&mut hasher);
        plan.fields.iter().for_each(|field| field.storage().hash(&mut hasher));
        for relation in sql.relations() {
            (relation.oid, &relation.schema, &relation.name, relation.visible).hash(&mut hasher);
            (relation.kind, &relation.searches, &relation.compares).hash(&mut hasher);
            for column in &relation.columns {
                let field = column.field.as_ref().map(|f| (f.id, &f.label, f.equality, f.indexed));
                (column.number, &column.name, column.has_default, column.generated, field).hash(&mut hasher);
                (column.stored == StorageType::Text, column.stored == StorageType::Bytes).hash(&mut hasher);
            }
        }
        let named = |schema: &str, table: &str| (schema.to_lowercase(), table.to_lowercase());
        let planned = plan.fields.iter().map(|f| f.spec.column()).map(|c| named(c.schema, c.table));
        let mut absent = sorted_once(planned.collect());
        let present: HashSet<_> =
            sql.relations().iter().map(|relation| named(&relation.schema, &relation.name)).collect();
        absent.retain(|name| !present.contains(name));
        let places = sorted(self.by_column.keys().copied().collect());
        let by_field = places.iter().rev().filter_map(|place| self.by_column.get(place).copied()).collect();
        let mut catalog = ServerCatalog {
            absent,
            by_field,
            sql,
            fingerprint: 0,
            shape: hasher.finish(),
            keys: Vec::new(),
            by_column: self.by_column,
            unusable: self.unusable,
            widths: self.widths,
            most: self.most,
            slow: self.slow,
            weight: CatalogWeight::default(),
        };
        catalog.mark();
        catalog
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
fn sql_stored(kind: ColumnKind, stored: Option<StoredForm>) -> StorageType {
    match (stored, kind) {
        (Some(StoredForm::Raw), _) | (None, ColumnKind::Bytes | ColumnKind::Binary) => StorageType::Bytes,
        (Some(_), _) | (None, ColumnKind::Text) => StorageType::Text,
        _ => StorageType::Other,
    }
}
