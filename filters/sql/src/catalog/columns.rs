//! The columns of one relation, and how they are found by their names.

use std::{
    ops::{Deref, DerefMut},
    sync::OnceLock,
};

use super::Column;

/// Columns, in order. What is known of their names is built when it is first needed, and again after a change.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    list: Vec<Column>,
    known: OnceLock<Known>,
}

/// What is known of many columns.
#[derive(Clone, Debug)]
struct Known {
    /// Their places, sorted by their names.
    by_name: Box<[usize]>,
    protects: bool,
    generates: bool,
}

/// Columns that are looked through one by one.
const FEW: usize = 32;

impl Columns {
    /// The first column of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Column> {
        if self.list.len() <= FEW {
            return self.list.iter().find(|column| column.name == name);
        }
        let by_name = &self.known().by_name;
        let name_at = |place: &usize| self.list.get(*place).map_or("", |column| column.name.as_str());
        let first = by_name.partition_point(|place| name_at(place) < name);
        let column = by_name.get(first).and_then(|place| self.list.get(*place));
        column.filter(|column| column.name == name)
    }

    /// Those that `*` stands for, in the server's order.
    pub(crate) fn in_order(&self) -> Vec<&Column> {
        let mut columns: Vec<&Column> = self.list.iter().filter(|c| !c.is_invisible()).collect();
        columns.sort_by_key(|column| column.number);
        columns
    }

    /// Whether one of them is protected.
    pub(crate) fn protect(&self) -> bool {
        if self.list.len() <= FEW { protects(&self.list) } else { self.known().protects }
    }

    /// Whether the server computes one that is protected.
    pub(crate) fn generate_protected(&self) -> bool {
        if self.list.len() <= FEW { generates(&self.list) } else { self.known().generates }
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let mut by_name: Box<[usize]> = (0..self.list.len()).collect();
            // Stable: of several of one name the first comes first.
            by_name.sort_by_key(|place| self.list.get(*place).map(|column| column.name.as_str()));
            Known { by_name, protects: protects(&self.list), generates: generates(&self.list) }
        })
    }
}

fn protects(columns: &[Column]) -> bool {
    columns.iter().any(|column| column.field.is_some())
}

fn generates(columns: &[Column]) -> bool {
    columns.iter().any(|column| column.generated && column.field.is_some())
}

impl From<Vec<Column>> for Columns {
    fn from(list: Vec<Column>) -> Self {
        Self { list, known: OnceLock::new() }
    }
}

impl FromIterator<Column> for Columns {
    fn from_iter<I: IntoIterator<Item = Column>>(columns: I) -> Self {
        Vec::from_iter(columns).into()
    }
}

/// What is known of the names doesn't tell columns apart.
impl PartialEq for Columns {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for Columns {}

impl Deref for Columns {
    type Target = Vec<Column>;

    fn deref(&self) -> &Vec<Column> {
        &self.list
    }
}

impl DerefMut for Columns {
    fn deref_mut(&mut self) -> &mut Vec<Column> {
        self.known = OnceLock::new();
        &mut self.list
    }
}

impl<'c> IntoIterator for &'c Columns {
    type Item = &'c Column;
    type IntoIter = std::slice::Iter<'c, Column>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'c> IntoIterator for &'c mut Columns {
    type Item = &'c mut Column;
    type IntoIter = std::slice::IterMut<'c, Column>;

    fn into_iter(self) -> Self::IntoIter {
        self.deref_mut().iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::StorageType, Column, Columns};

    fn column(name: String) -> Column {
        Column {
            number: 1,
            name,
            stored: StorageType::Text,
            has_default: false,
            generated: false,
            field: None,
        }
    }

    #[test]
    fn of_many_columns_each_is_found_by_its_name_and_after_a_change_too() {
        let mut columns: Columns = (0..200).map(|n| column(format!("c{}", n * 37 % 200))).collect();
        for (place, known) in columns.iter().enumerate() {
            let found = columns.named(&known.name).map(std::ptr::from_ref);
            assert_eq!(found, columns.get(place).map(std::ptr::from_ref), "{}", known.name);
        }
        assert_eq!(columns.named("c200"), None);
        columns.push(column("c200".to_owned()));
        assert!(columns.named("c200").is_some());
        if let Some(first) = columns.first_mut() {
            first.generated = true;
            first.name = "c5".to_owned();
        }
        assert!(columns.named("c5").is_some_and(|column| column.generated), "the first of a name is found");
    }
}
