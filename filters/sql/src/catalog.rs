//! What the analysis knows of the database: the relations that matter to some protected column.

mod columns;
mod index;
mod patterns;

use std::{borrow::Cow, sync::OnceLock};

pub use self::columns::Columns;
use self::index::Index;
use crate::{
    dialect::{Dialect, MySqlDialect},
    field::Field,
    names,
};

/// The relations that matter, as one session sees them now: those with a protected column, their partitions
/// and parents, and the views that depend on any of these. Every relation not listed is taken to hold nothing
/// protected.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub(crate) dialect: Dialect,
    pub(crate) relations: Vec<Relation>,
    pub(crate) planned: Vec<String>,
    /// The schemas of these tables. Where there is none, it is not known which they are.
    pub(crate) schemas: Vec<String>,
    /// MySQL: whether the policy names no table in the session's database, so that a bare name means none of them.
    unplanned_database: bool,
    /// How its names are found. It is built when the first text is analyzed, and serves all that follow.
    index: OnceLock<Index>,
    /// The same catalog with columns' names as the analysis compares them, where they differ.
    folded: OnceLock<Option<Box<Self>>>,
}

/// Two catalogs are the same whether or not a text was analyzed with them.
impl PartialEq for Catalog {
    fn eq(&self, other: &Self) -> bool {
        self.dialect == other.dialect
            && self.relations == other.relations
            && (&self.planned, &self.schemas) == (&other.planned, &other.schemas)
            && self.unplanned_database == other.unplanned_database
    }
}

impl Eq for Catalog {}

impl Catalog {
    /// The relations of a session whose texts are of this dialect, in no particular order; and the bare names of the
    /// tables that the policy names, also of those that don't exist yet: a text may make one and then write to it.
    pub fn new(dialect: Dialect, relations: Vec<Relation>, planned: Vec<String>) -> Self {
        let (index, folded) = (OnceLock::new(), OnceLock::new());
        Self { dialect, relations, planned, schemas: Vec::new(), unplanned_database: false, index, folded }
    }

    /// The same where the tables that the policy names are in these schemas, and in no other.
    #[must_use]
    pub fn with_schemas(self, schemas: Vec<String>) -> Self {
        Self { schemas, ..self }
    }

    /// The same for a session in this database, which in MySQL is the schema of bare names. In PostgreSQL it says nothing of them.
    #[must_use]
    pub fn with_database(self, database: &str) -> Self {
        let unplanned_database = self.dialect.is_mysql() && self.is_unplanned_schema(database);
        Self { unplanned_database, ..self }
    }

    /// The same for texts of another dialect.
    #[must_use]
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        let (index, folded) = (OnceLock::new(), OnceLock::new());
        Self { dialect, index, folded, ..self }
    }

    /// The same where the policy names these tables.
    #[must_use]
    pub fn with_planned(self, planned: Vec<String>) -> Self {
        let (index, folded) = (OnceLock::new(), OnceLock::new());
        Self { planned, index, folded, ..self }
    }

    /// Whose SQL the session's texts are written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The relations, in no particular order.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// The relations, to be changed: what was known of their names is built anew.
    pub fn relations_mut(&mut self) -> &mut Vec<Relation> {
        self.index = OnceLock::new();
        self.folded = OnceLock::new();
        &mut self.relations
    }

    /// Its relations alone.
    pub fn into_relations(self) -> Vec<Relation> {
        self.relations
    }

    /// Builds at once how its names are found, so that what that takes is not taken for the first text's.
    pub fn build_index(&self) {
        self.index();
        self.folded().index();
    }

    /// How its names are found.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    /// The same with columns' names as the analysis compares them: in MySQL in lower case. Relations' names stay.
    pub(crate) fn folded(&self) -> &Self {
        let folded = self.folded.get_or_init(|| {
            let mut columns = self.relations.iter().flat_map(|relation| &relation.columns);
            if self.dialect == Dialect::Postgres || columns.all(|column| names::is_lower(&column.name)) {
                return None;
            }
            let mut folded = self.clone().in_dialect(self.dialect);
            for column in folded.relations.iter_mut().flat_map(|relation| &mut relation.columns) {
                column.name = names::lower(&column.name);
            }
            Some(Box::new(folded))
        });
        folded.as_deref().unwrap_or(self)
    }

    /// The relations whose bare name a folded name of the text is, or may be.
    pub(crate) fn named<'c>(&'c self, folded: &str) -> impl Iterator<Item = &'c Relation> {
        let found = self.index().relations(folded);
        found.filter_map(|place| self.relations.get(place)).filter(|r| self.is_name(&r.name, folded))
    }

    /// A column that holds the values of a field.
    pub(crate) fn column_of(&self, field: usize) -> Option<&Column> {
        let (relation, column) = self.index().column_of(field, self)?;
        self.relations.get(relation)?.columns.get(column)
    }

    /// Whether a folded name of the text is, or may be, that of a relation or schema.
    pub(crate) fn is_name(&self, own: &str, folded: &str) -> bool {
        match self.dialect {
            Dialect::Postgres => own == folded,
            Dialect::MySql(_) => {
                own.eq_ignore_ascii_case(folded) || (!own.is_ascii() && names::lower(own) == folded)
            }
        }
    }

    /// Whether a folded name of the text is, or may be, that of a schema. `pg_temp` is the session's own schema of temporary
    /// relations, whatever its number; the catalog holds those of no other session.
    pub(crate) fn is_schema(&self, own: &str, folded: &str) -> bool {
        let is_temporary = || self.dialect == Dialect::Postgres && own.starts_with("pg_temp_");
        self.is_name(own, folded) || (folded == "pg_temp" && is_temporary())
    }

    /// A relation's or schema's name, folded.
    pub(crate) fn fold<'n>(&self, own: &'n str) -> Cow<'n, str> {
        match self.dialect {
            Dialect::Postgres => Cow::Borrowed(own),
            Dialect::MySql(_) => Cow::Owned(names::lower(own)),
        }
    }

    /// Whether the server reads a name as it is written, letter case and all.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.dialect, Dialect::MySql(MySqlDialect { folds_tables: false, .. }))
    }

    /// Whether a relation has protected columns, or a table of the policy may be there later.
    pub(crate) fn protects(&self) -> bool {
        !(self.relations.is_empty() && self.planned.is_empty())
    }

    /// Whether a table that the policy names has this folded name.
    pub(crate) fn plans(&self, folded: &str) -> bool {
        self.index().plans(folded)
    }

    /// Whether the policy names no table in the schema of this folded name.
    pub(crate) fn is_unplanned_schema(&self, folded: &str) -> bool {
        let is_another = |schema: &String| match self.dialect {
            Dialect::Postgres => !folded.starts_with("pg_") && schema != folded,
            // By what the server compares other letters is not known.
            Dialect::MySql(_) => {
                schema.is_ascii() && folded.is_ascii() && !schema.eq_ignore_ascii_case(folded)
            }
        };
        !folded.is_empty() && !self.schemas.is_empty() && self.schemas.iter().all(is_another)
    }

    /// Whether a bare name surely means no table that the policy names: MySQL looks for it in the session's database alone.
    pub fn is_in_unplanned_database(&self) -> bool {
        self.unplanned_database
    }
}

/// One relation that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// `pg_class.oid`; in MySQL any number that no other has.
    pub oid: u32,
    /// The schema's name, as `pg_namespace.nspname` has it (no quotes, case kept); in MySQL the database's.
    pub schema: String,
    /// The relation's name, as `pg_class.relname` has it (no quotes, case kept).
    pub name: String,
    /// Whether the unqualified name resolves to this relation now (`pg_table_is_visible`; in MySQL, whether its database
    /// is the session's).
    pub visible: bool,
    /// Table or view.
    pub kind: RelationKind,
    /// All columns that are not dropped, ordered by `attnum`.
    pub columns: Columns,
    /// For a view: the fields that its own query compares; sorted, each once.
    pub searches: Vec<usize>,
    /// For a view: those of them that its own query compares with each other, or tells rows apart by.
    pub compares: Vec<usize>,
}

/// What kind a relation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelationKind {
    /// A table, a partition or a partitioned table. One that has no protected column is listed because rows
    /// of a protected table can be reached through it: no statement may name it.
    Table,
    /// A view, or a materialized view, that depends on a protected table and whose query is understood: its
    /// columns have the fields of the columns they are. It can be read, not written.
    View,
    /// One whose query is not understood, or not known: no statement may name it.
    OpaqueView,
    /// MySQL: one that stands upon what this session may not see, which may be a protected table. It can be read, for the
    /// server tells of result columns what they are, or brings them as they are stored; no value can be written through it.
    UnseenView,
}

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// `pg_attribute.attnum`. MySQL: `information_schema.columns.ordinal_position`, and its negative for a column that
    /// is `INVISIBLE`, which `*` and an INSERT without a list of columns pass over.
    pub number: i16,
    /// `pg_attribute.attname` (no quotes, case kept).
    pub name: String,
    /// The type it is stored as.
    pub stored: StorageType,
    /// Whether it has a default (or is an identity column).
    pub has_default: bool,
    /// Whether its value is always computed (`GENERATED ALWAYS AS (…)`).
    pub generated: bool,
    /// The protected field it is, if it is one.
    pub field: Option<Field>,
}

impl Column {
    /// Whether only its name brings it, not `*`.
    pub(crate) fn is_invisible(&self) -> bool {
        self.number < 0
    }
}

/// The type a column is stored as, as far as sealing is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageType {
    /// `text`, or another type of characters wide enough for an armored envelope.
    Text,
    /// `bytea`.
    Bytes,
    /// Anything else: it can hold no envelope.
    Other,
}
