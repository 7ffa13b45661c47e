//! A column that holds a protected field, as a reference means it.

use crate::{
    catalog::{Catalog, Column, StorageType},
    field::Field,
};

/// A protected column.
#[derive(Clone, Copy)]
pub(crate) struct Protected<'c> {
    pub column: &'c Column,
    pub field: &'c Field,
    /// Whether the server may no longer say which table's column it is.
    pub lost: bool,
    /// Whether it is cast to text.
    pub cast: bool,
}

impl<'c> Protected<'c> {
    pub fn of(column: &'c Column) -> Option<Self> {
        column.field.as_ref().map(|field| Self { column, field, lost: false, cast: false })
    }

    /// A column of the catalog that holds the values of a field.
    pub fn of_field(catalog: &'c Catalog, field: usize) -> Option<Self> {
        catalog.column_of(field).and_then(Self::of)
    }

    /// The same behind an expression.
    pub fn lost(self) -> Self {
        Self { lost: true, ..self }
    }

    /// The same behind a cast to text.
    pub fn cast(self) -> Self {
        Self { cast: true, ..self.lost() }
    }

    /// Whether a value of the one can be put in the other as it is stored.
    pub fn is_interchangeable_with(self, other: Protected<'_>) -> bool {
        self.field.label == other.field.label && self.column.stored == other.column.stored
    }

    /// Whether equality between the two is equality of their values.
    pub fn is_comparable_with(self, other: Protected<'_>) -> bool {
        self.is_interchangeable_with(other) && self.field.equality && other.field.equality
    }

    /// The type of an array of what is stored.
    pub fn array_type(self) -> &'static str {
        match self.column.stored {
            StorageType::Bytes => "::bytea[]",
            StorageType::Text | StorageType::Other => "::text[]",
        }
    }
}
