//! What is sent ahead of parameters' values, until an execution takes it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use zeroize::Zeroizing;

use crate::database::MAX_HELD;

/// What one parameter takes beside its value.
const ENTRY: usize = 64;

/// What was sent ahead of one parameter's value.
pub enum Ahead {
    /// The server has it.
    Passed,
    /// It is kept, to be sealed. It may hold a value: no `Debug`.
    Kept(Zeroizing<Vec<u8>>),
    /// It is longer than what is sealed of one value, or than what a connection may hold, and was dropped.
    TooLong,
}

/// What was sent ahead for one statement, by parameter, from 0 on.
pub struct LongData {
    ahead: BTreeMap<u16, Ahead>,
    bytes: usize,
    /// What all statements of the connection hold.
    held: Rc<Cell<usize>>,
}

impl LongData {
    /// Of a statement of the connection that holds so much in all.
    pub fn new(held: Rc<Cell<usize>>) -> Self {
        Self { ahead: BTreeMap::new(), bytes: 0, held }
    }

    /// What was sent ahead of a parameter's value.
    pub fn get(&self, parameter: u16) -> Option<&Ahead> {
        self.ahead.get(&parameter)
    }

    /// Whether the server has some of it.
    pub fn has_passed(&self) -> bool {
        self.ahead.values().any(|ahead| matches!(ahead, Ahead::Passed))
    }

    /// The server gets a part.
    pub fn pass(&mut self, parameter: u16) {
        self.put(parameter, Ahead::Passed);
    }

    /// A part is too long to be looked at.
    pub fn give_up(&mut self, parameter: u16) {
        self.put(parameter, Ahead::TooLong);
    }

    /// Keeps a part of a value of at most `limit` bytes.
    pub fn keep(&mut self, parameter: u16, part: &[u8], limit: usize) {
        if self.get(parameter).is_none() {
            self.put(parameter, Ahead::Kept(Zeroizing::default()));
        }
        let is_full = self.held.get().saturating_add(part.len()) > MAX_HELD;
        match self.ahead.get_mut(&parameter) {
            Some(Ahead::Kept(kept)) if kept.len().saturating_add(part.len()) <= limit && !is_full => {
                kept.extend_from_slice(part);
                self.count(part.len());
            }
            _ => self.give_up(parameter),
        }
    }

    /// It was taken, or is not wanted any more.
    pub fn clear(&mut self) {
        self.ahead.clear();
        self.held.set(self.held.get().saturating_sub(self.bytes));
        self.bytes = 0;
    }

    fn put(&mut self, parameter: u16, ahead: Ahead) {
        if self.ahead.insert(parameter, ahead).is_none() {
            self.count(ENTRY);
        }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.set(self.held.get().saturating_add(bytes));
    }
}

impl Drop for LongData {
    fn drop(&mut self) {
        self.clear();
    }
}
