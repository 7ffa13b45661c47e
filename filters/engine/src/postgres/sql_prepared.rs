//! What SQL has prepared, by its names.

use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_sql::{OwnName, Prepared, PreparedText};

use super::encoding::CertainNames;
use super::statements::Statements;
use super::undo::{Change, Undo};
use crate::memory::Weighed;
use crate::server_catalog::ServerCatalog;

/// Statements that a connection may prepare in SQL.
const MAX_PREPARED: usize = 4_096;

/// A statement that SQL prepared, with its weight.
pub type PreparedInSql = Rc<Weighed<Rc<Prepared>>>;

/// The statements that SQL has prepared. What concerns nothing protected is known to the server under the client's own
/// name, and the rest under a name of the filter's.
#[derive(Default)]
pub struct SqlPrepared {
    by_name: HashMap<Vec<u8>, PreparedInSql>,
    /// Statements that are not executed any more, since names, keys or the policy may mean something else to them, or
    /// because it is not certain what the server has; each with the server's name for it.
    lost: HashMap<Vec<u8>, String>,
    /// Whether statements may have been prepared that the filter did not see, or has forgotten.
    has_unseen: bool,
    /// The texts whose names are certain under the catalog of now.
    pub certain: CertainNames,
}

impl SqlPrepared {
    /// For a new plan: what a statement of the filter's name holds speaks of other fields. `is_unseen` says that texts were
    /// not read under the plan before.
    pub fn under_new_plan(mut self, is_unseen: bool) -> Self {
        self.has_unseen |= is_unseen;
        self.lose_unless(|prepared| prepared.text.is_some());
        self
    }

    /// For a catalog in which names mean something else. The server prepares its statements anew at their next use.
    pub fn under_new_catalog(&mut self, catalog: &ServerCatalog) {
        let certain = self.certain;
        self.lose_unless(|prepared| {
            let text = prepared.text.as_ref();
            text.filter(|text| certain.include(text))
                .is_some_and(|text| fieldveil_sql::is_unprotected(text, &catalog.sql))
        });
    }

    /// Forgets the statements for which this is false. Their names stay known.
    pub fn lose_unless(&mut self, keeps: impl Fn(&Prepared) -> bool) {
        let lost = self.by_name.iter().filter(|(_, prepared)| !keeps(&prepared.value));
        let lost = lost.map(|(name, prepared)| (name.clone(), prepared.server_name.clone()));
        for (name, server_name) in Vec::from_iter(lost) {
            self.by_name.remove(&name);
            self.lose(name, server_name);
        }
    }

    /// It is not certain any more what the server has under this name.
    fn lose(&mut self, name: Vec<u8>, server_name: String) {
        if self.lost.len() >= MAX_PREPARED {
            self.lost.clear();
            self.has_unseen = true;
        }
        self.lost.insert(name, server_name);
    }

    /// Whether no more may be prepared.
    pub fn is_full(&self) -> bool {
        self.by_name.len() >= MAX_PREPARED
    }

    /// Finds a statement by the name that the client gave.
    pub fn get(&self, name: &[u8]) -> Option<&PreparedInSql> {
        self.by_name.get(name)
    }

    /// The filter's name for what was prepared under this name.
    pub fn renamed(&self, name: &[u8]) -> Option<String> {
        let known = self.by_name.get(name).map(|prepared| &prepared.server_name);
        let server_name = known.or_else(|| self.lost.get(name))?;
        (server_name.as_bytes() != name).then(|| server_name.clone())
    }

    /// Sets or removes a prepared statement.
    pub fn set(&mut self, name: Vec<u8>, prepared: Option<PreparedInSql>) -> Undo {
        let after = prepared.clone();
        let before = match prepared {
            Some(prepared) => self.by_name.insert(name.clone(), prepared),
            None => self.by_name.remove(&name),
        };
        Undo::Prepared(Change { name, before, after })
    }

    /// Reverts a change that the server did not make. Where the name has changed again since, it is not certain what the
    /// server has.
    pub fn undo(&mut self, change: Change<Weighed<Rc<Prepared>>>) {
        match change.stands(self.get(&change.name)) {
            true => drop(self.set(change.name, change.before)),
            false => self.doubt(change.name),
        }
    }

    /// It is not certain what the server has under this name of the client's.
    pub fn doubt(&mut self, name: Vec<u8>) {
        let server_name = String::from_utf8_lossy(&name).into_owned();
        self.by_name.remove(&name);
        self.lose(name, server_name);
    }

    /// The names of all statements.
    pub fn names(&self) -> Vec<Vec<u8>> {
        Vec::from_iter(self.by_name.keys().cloned())
    }
}

impl Statements {
    /// Removes what the server has under a name: what SQL prepared there, or what a Parse did. Returns what must be reverted if
    /// that fails.
    pub(super) fn deallocate(&mut self, name: &[u8]) -> Vec<Undo> {
        let names = &mut self.by_sql.prepared;
        let is_renamed = names.renamed(name).is_some();
        let mut undo = Vec::new();
        if names.get(name).is_some() {
            undo.push(names.set(name.to_vec(), None));
        }
        if !is_renamed && self.statement(name).is_some() {
            undo.push(self.set_statement(name, None));
        }
        undo
    }

    /// Removes the statement that a Close of the protocol names, whoever prepared it. Returns what must be reverted if that fails.
    pub(super) fn close_statement(&mut self, name: &[u8]) -> Vec<Undo> {
        let names = &mut self.by_sql.prepared;
        let is_own = names.get(name).is_some_and(|prepared| prepared.text.is_some());
        let by_sql = is_own.then(|| names.set(name.to_vec(), None));
        std::iter::once(self.set_statement(name, None)).chain(by_sql).collect()
    }

    /// Removes all statements that have a name.
    pub(super) fn deallocate_all(&mut self) -> Vec<Undo> {
        let names = &mut self.by_sql.prepared;
        let mut undo: Vec<Undo> = names.names().into_iter().map(|name| names.set(name, None)).collect();
        for name in self.names() {
            undo.push(self.set_statement(&name, None));
        }
        undo
    }

    /// What the server may have under a name of the client's own: what SQL prepared there, and what a Parse did.
    pub(super) fn under_own_name(&self, name: &[u8]) -> OwnName {
        let names = &self.by_sql.prepared;
        let mut texts = Vec::new();
        match names.get(name) {
            Some(prepared) => match &prepared.text {
                Some(text) if names.certain.include(text) => texts.push(text.clone()),
                _ => return OwnName::Unknown,
            },
            None if names.lost.contains_key(name) => return OwnName::Unknown,
            None => {}
        }
        if let Some(statement) = self.statement(name) {
            let checked = statement.checked.borrow();
            let text = std::str::from_utf8(&statement.text);
            match text {
                Ok(text)
                    if checked.concerns_nothing()
                        && statement.said.len() == 0
                        && names.certain.include(text) =>
                {
                    texts.push(PreparedText::from(text));
                }
                _ => return OwnName::Protected,
            }
        }
        match texts.is_empty() {
            false => OwnName::Texts(texts),
            true if names.has_unseen => OwnName::Unknown,
            true => OwnName::Free,
        }
    }
}
