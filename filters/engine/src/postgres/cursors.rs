//! The cursors that SQL declares, as long as the server has them.

use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_sql::Statement;

use super::undo::{Change, Undo};
use crate::memory::Weight;

/// Cursors that are remembered. What is forgotten can still be fetched; but of a column that comes from no table
/// (UNION) the envelope is shown.
pub const MAX_CURSORS: usize = 1_024;
/// Savepoints that are remembered, the last ones.
const MAX_SAVEPOINTS: usize = 1_024;

/// A cursor.
pub struct Cursor {
    /// Its query.
    pub statement: Statement,
    /// Whether it outlasts its transaction.
    holds: bool,
    /// How many were declared before it.
    number: u64,
    /// What it takes of memory.
    _weight: Weight,
}

/// A connection's cursors.
#[derive(Default)]
pub struct Cursors {
    by_name: HashMap<Vec<u8>, Rc<Cursor>>,
    /// How many were declared, and how many before this transaction.
    declared: u64,
    before_transaction: u64,
    /// The transaction's savepoints, each with how many were declared before it.
    savepoints: Vec<(Vec<u8>, u64)>,
}

impl Cursors {
    /// A cursor by name.
    pub fn get(&self, name: &[u8]) -> Option<&Rc<Cursor>> {
        self.by_name.get(name)
    }

    /// Sets or removes a cursor.
    pub fn set(&mut self, name: Vec<u8>, cursor: Option<Rc<Cursor>>) -> Undo {
        let after = cursor.clone();
        let before = match cursor {
            Some(cursor) => self.by_name.insert(name.clone(), cursor),
            None => self.by_name.remove(&name),
        };
        Undo::Cursor(Change { name, before, after })
    }

    /// Removes a cursor, if it is there.
    pub fn remove(&mut self, name: &[u8]) -> Option<Undo> {
        self.by_name.contains_key(name).then(|| self.set(name.to_vec(), None))
    }

    /// `DECLARE`
    pub fn declare(&mut self, name: Vec<u8>, statement: Statement, holds: bool, weight: Weight) -> Undo {
        if self.by_name.len() >= MAX_CURSORS {
            self.forget();
        }
        let number = self.declared;
        self.declared = number.saturating_add(1);
        self.set(name, Some(Rc::new(Cursor { statement, holds, number, _weight: weight })))
    }

    /// `SAVEPOINT`
    pub fn savepoint(&mut self, name: Vec<u8>) {
        if self.savepoints.len() >= MAX_SAVEPOINTS {
            self.savepoints.remove(0);
        }
        self.savepoints.push((name, self.declared));
    }

    /// `RELEASE`: of the savepoint and those behind it.
    pub fn release(&mut self, name: &[u8]) {
        if let Some(index) = self.savepoint_at(name) {
            self.savepoints.truncate(index);
        }
    }

    /// `ROLLBACK TO`: what was declared since is closed; what was closed since stays so.
    pub fn roll_back_to(&mut self, name: &[u8]) -> Vec<Undo> {
        let Some(index) = self.savepoint_at(name) else { return Vec::new() };
        self.savepoints.truncate(index.saturating_add(1));
        let since = self.savepoints.last().map_or(0, |(_, declared)| *declared);
        self.close(|cursor| cursor.number >= since)
    }

    /// The transaction ends.
    pub fn end_transaction(&mut self, rolls_back: bool) -> Vec<Undo> {
        let since = self.before_transaction;
        self.savepoints.clear();
        self.before_transaction = self.declared;
        self.close(|cursor| !cursor.holds || rolls_back && cursor.number >= since)
    }

    /// All are closed.
    pub fn forget(&mut self) {
        self.by_name.clear();
    }

    fn savepoint_at(&self, name: &[u8]) -> Option<usize> {
        self.savepoints.iter().rposition(|(known, _)| known == name)
    }

    fn close(&mut self, ends: impl Fn(&Cursor) -> bool) -> Vec<Undo> {
        let names = self.by_name.iter().filter(|(_, cursor)| ends(cursor)).map(|(name, _)| name.clone());
        let names = Vec::from_iter(names);
        names.into_iter().map(|name| self.set(name, None)).collect()
    }
}
