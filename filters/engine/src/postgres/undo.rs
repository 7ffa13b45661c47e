//! What messages changed of names, so that it can be reverted when the server fails or skips one.

use std::rc::Rc;

use fieldveil_sql::Prepared;

use super::cursors::Cursor;
use super::statements::{Portal, Statement};
use crate::memory::Weighed;

/// A change that a message made to the maps.
pub enum Undo {
    /// A statement was set or removed.
    Statement(Change<Statement>),
    /// A portal was set or removed.
    Portal(Change<Portal>),
    /// A statement was prepared or deallocated in SQL.
    Prepared(Change<Weighed<Rc<Prepared>>>),
    /// A cursor was declared or closed in SQL.
    Cursor(Change<Cursor>),
}

impl Undo {
    /// Whether it is about the name of a prepared statement.
    pub fn is_of_name(&self) -> bool {
        match self {
            Self::Statement(change) => !change.name.is_empty(),
            Self::Prepared(_) => true,
            Self::Portal(_) | Self::Cursor(_) => false,
        }
    }

    /// Counts the bytes that it takes, without what was and is entered under the name.
    pub fn bytes(&self) -> usize {
        let name = match self {
            Self::Statement(change) => change.name.len(),
            Self::Portal(change) => change.name.len(),
            Self::Prepared(change) => change.name.len(),
            Self::Cursor(change) => change.name.len(),
        };
        size_of::<(usize, Self)>().saturating_add(name)
    }
}

/// The change of one name's entry.
pub struct Change<T> {
    pub(super) name: Vec<u8>,
    pub(super) before: Option<Rc<T>>,
    pub(super) after: Option<Rc<T>>,
}

impl<T> Change<T> {
    /// Whether the entry was not changed again since.
    pub(super) fn stands(&self, now: Option<&Rc<T>>) -> bool {
        match (&self.after, now) {
            (Some(after), Some(now)) => Rc::ptr_eq(after, now),
            (None, None) => true,
            _ => false,
        }
    }
}
