//! What a catalog takes of memory.

use std::rc::Rc;

use fieldveil_sql::{Column, Relation};

use super::{ServerCatalog, Width};
use crate::field::StoredForm;
use crate::memory::{Account, Weight, size_of_all};

/// What a catalog weighs, in the account of the connection that read it first. No two catalogs are others by it, and a copy
/// weighs nothing until it is told to.
#[derive(Default)]
pub struct CatalogWeight {
    _weight: Weight,
}

impl Clone for CatalogWeight {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for CatalogWeight {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl ServerCatalog {
    /// The same, in an account.
    pub fn weighed(self, account: &Rc<Account>) -> Self {
        Self { weight: CatalogWeight { _weight: Weight::new(account, self.bytes()) }, ..self }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let relations = self.sql.relations().iter().map(of_relation);
        let texts = self.unusable.iter().map(|(_, text)| text).chain(&self.slow);
        let absent = self.absent.iter().map(|(schema, name)| of_text(schema).saturating_add(of_text(name)));
        let widths = self.widths.iter().map(|width| size_of::<Width>().saturating_add(width.place.len()));
        let keys =
            self.keys.iter().map(|keys| size_of_all::<u32>(keys.len()).saturating_add(size_of::<Vec<u32>>()));
        let by_column = size_of_all::<((u32, i16), (usize, StoredForm))>(self.by_column.capacity());
        let parts = relations.chain(texts.map(of_text)).chain(absent).chain(widths).chain(keys);
        parts.fold(by_column.saturating_add(size_of::<Self>()), usize::saturating_add)
    }
}

fn of_text(text: &String) -> usize {
    size_of::<String>().saturating_add(text.capacity())
}

/// Bytes of a relation.
pub fn of_relation(relation: &Relation) -> usize {
    let fields = relation.searches.capacity().saturating_add(relation.compares.capacity());
    let spare = relation.columns.capacity().saturating_sub(relation.columns.len());
    let columns = relation.columns.iter().map(of_column);
    let own = of_text(&relation.schema)
        .saturating_add(of_text(&relation.name))
        .saturating_add(size_of::<Relation>());
    let own = own.saturating_add(size_of_all::<usize>(fields)).saturating_add(size_of_all::<Column>(spare));
    columns.fold(own, usize::saturating_add)
}

/// Bytes of a column.
pub fn of_column(column: &Column) -> usize {
    let field =
        column.field.as_ref().map_or(0, |field| field.label.len().saturating_add(field.type_name.len()));
    // Its place among the names, too.
    let own = size_of::<Column>().saturating_add(size_of::<usize>());
    own.saturating_add(column.name.capacity()).saturating_add(field)
}
