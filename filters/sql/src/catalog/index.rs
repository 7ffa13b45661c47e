//! How a catalog's names are found. It is built once for all texts of a session: no text costs a pass over the catalog for
//! each of its statements or names.

use std::sync::OnceLock;

use super::{Catalog, Column, Relation, StorageType, patterns::Patterns};
use crate::{
    dialect::Dialect,
    names,
    sorted::{sorted, sorted_once},
};

/// The names of one catalog.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    dialect: Dialect,
    /// The bare names of the relations, in each spelling that they are compared in, with their places; sorted.
    relations: Vec<(Box<str>, usize)>,
    /// The same of the tables that the policy names; sorted, each once.
    planned: Vec<Box<str>>,
    reached: OnceLock<Patterns>,
    contained: OnceLock<Patterns>,
    letters: OnceLock<Vec<(usize, Box<str>)>>,
    /// Fields with the places of a relation and a column that can hold their values; sorted.
    fields: OnceLock<Vec<(usize, usize, usize)>>,
}

impl Index {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let dialect = catalog.dialect;
        let named = catalog.relations.iter().enumerate();
        let relations = named
            .flat_map(|(place, relation)| spellings(&relation.name, dialect).map(move |name| (name, place)));
        let relations = sorted_once(relations.collect());
        let planned = catalog.planned.iter().flat_map(|name| spellings(name, dialect));
        let planned = sorted_once(planned.collect());
        let (reached, contained, letters) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { dialect, relations, planned, reached, contained, letters, fields: OnceLock::new() }
    }

    /// The places of the relations that a folded name may mean.
    pub fn relations(&self, folded: &str) -> impl Iterator<Item = usize> {
        let first = self.relations.partition_point(|(name, _)| self.is_before(name, folded));
        let rest = self.relations.get(first..).unwrap_or_default();
        let same = rest.iter().take_while(move |(name, _)| self.is_same(name, folded));
        same.map(|(_, place)| *place)
    }

    /// Whether a folded name may be that of a table that the policy names.
    pub fn plans(&self, folded: &str) -> bool {
        let first = self.planned.partition_point(|name| self.is_before(name, folded));
        self.planned.get(first).is_some_and(|name| self.is_same(name, folded))
    }

    /// What a text holds that may reach anything protected: names of relations, and of tables that the policy names.
    /// ASCII's letters are the same in either case.
    pub fn reached(&self, catalog: &Catalog) -> &Patterns {
        self.reached.get_or_init(|| {
            let relations = catalog.relations.iter().map(|relation| &relation.name);
            let names = relations.chain(&catalog.planned).map(|name| name.to_ascii_lowercase());
            Patterns::of(names.flat_map(quoted))
        })
    }

    /// The names of relations, in lower case, for texts in lower case.
    pub fn contained(&self, catalog: &Catalog) -> &Patterns {
        self.contained.get_or_init(|| {
            let names = catalog.relations.iter().map(|relation| relation.name.to_lowercase());
            Patterns::of(names.flat_map(quoted))
        })
    }

    /// The names that protect something (of relations, of protected columns, and of tables that the policy names) with
    /// this number of letters, in lower case.
    pub fn of_letters(&self, letters: usize, catalog: &Catalog) -> &[(usize, Box<str>)] {
        let all = self.letters.get_or_init(|| {
            let relations = catalog.relations.iter();
            let columns = relations.flat_map(|r| &r.columns).filter(|column| column.field.is_some());
            let names = catalog.relations.iter().map(|relation| &relation.name);
            let names = names.chain(columns.map(|column| &column.name)).chain(&catalog.planned);
            let counted = |name: &String| {
                let name = names::lower(name);
                (name.chars().count(), name.into_boxed_str())
            };
            sorted_once(names.map(counted).collect())
        });
        let first = all.partition_point(|(count, _)| *count < letters);
        let end = all.partition_point(|(count, _)| *count <= letters);
        all.get(first..end).unwrap_or_default()
    }

    /// The places of the first relation and column that can hold a field's values.
    pub fn column_of(&self, field: usize, catalog: &Catalog) -> Option<(usize, usize)> {
        let fields = self.fields.get_or_init(|| {
            let mut fields = Vec::new();
            for (relation, Relation { columns, .. }) in catalog.relations.iter().enumerate() {
                let able =
                    columns.iter().enumerate().filter(|(_, column)| column.stored != StorageType::Other);
                let of =
                    |(place, column): (usize, &Column)| Some((column.field.as_ref()?.id, relation, place));
                fields.extend(able.filter_map(of));
            }
            let mut fields = sorted(fields);
            fields.dedup_by_key(|(field, _, _)| *field);
            fields
        });
        let place = fields.binary_search_by_key(&field, |(field, _, _)| *field).ok()?;
        fields.get(place).map(|(_, relation, column)| (*relation, *column))
    }

    fn is_before(&self, own: &str, folded: &str) -> bool {
        match self.dialect {
            Dialect::Postgres => own < folded,
            Dialect::MySql(_) => own.bytes().lt(folded.bytes().map(|byte| byte.to_ascii_lowercase())),
        }
    }

    fn is_same(&self, own: &str, folded: &str) -> bool {
        match self.dialect {
            Dialect::Postgres => own == folded,
            Dialect::MySql(_) => own.eq_ignore_ascii_case(folded),
        }
    }
}

/// The spellings of an own name by which [`Catalog::is_name`] tells that it is a folded one.
fn spellings(own: &str, dialect: Dialect) -> impl Iterator<Item = Box<str>> + use<> {
    let (first, second) = match dialect {
        Dialect::Postgres => (own.to_owned(), None),
        Dialect::MySql(_) => {
            (own.to_ascii_lowercase(), (!own.is_ascii()).then(|| names::lower(own).to_ascii_lowercase()))
        }
    };
    std::iter::once(first).chain(second).map(String::into_boxed_str)
}

/// A name as it may stand in a text: in quotes those within are doubled.
fn quoted(name: String) -> impl Iterator<Item = String> {
    let double = |quote: char| name.contains(quote).then(|| name.replace(quote, &format!("{quote}{quote}")));
    [double('"'), double('`'), Some(name)].into_iter().flatten()
}
