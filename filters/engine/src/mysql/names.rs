//! The statements that SQL prepares (`PREPARE … FROM`), by the names that it gives them.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_sql::{Names, Prepared, SessionUse, Statement};

use crate::client_error::ClientError;
use crate::database::{CheckedText, Core};
use crate::memory::Weighed;
use crate::server_catalog::ServerCatalog;

/// Statements that a connection may prepare in SQL.
const MAX_PREPARED: usize = 4_096;

/// What SQL has prepared, as far as it is known to be right now.
#[derive(Default)]
pub struct SqlNames {
    prepared: HashMap<String, Weighed<Rc<Prepared>>>,
    given: Cell<u64>,
    /// The catalog that says what their names mean.
    shape: u64,
    /// By field, the keys that its values were sealed under.
    keys: Vec<Vec<u32>>,
}

impl SqlNames {
    /// Nothing is prepared any more, or nothing of it is known for sure.
    pub fn forget(&mut self) {
        self.prepared.clear();
    }

    /// The catalog was read, or there are other keys: what was prepared when names meant something else is forgotten, and
    /// what holds values that are sealed under the keys of then.
    pub fn catalog_read(&mut self, catalog: &ServerCatalog) {
        if self.shape != catalog.shape {
            self.prepared.clear();
            self.shape = catalog.shape;
        }
        if self.keys != catalog.keys {
            let before = std::mem::replace(&mut self.keys, catalog.keys.clone());
            let keeps = |field: &usize| before.get(*field) == self.keys.get(*field);
            self.prepared.retain(|_, prepared| prepared.sealed.iter().all(keeps));
        }
    }

    /// Whether a text prepares anything; the error says that there are too many.
    pub fn check(&self, checked: &CheckedText) -> Result<bool, ClientError> {
        let prepares = |s: &Statement| matches!(s.session, Some(SessionUse::Prepare { .. }));
        let prepares = checked.analysis.statements.iter().any(prepares);
        if prepares && self.prepared.len() >= MAX_PREPARED {
            return Err(ClientError::limit(
                "the session has prepared too many statements in SQL",
                "Deallocate statements that are no longer used.",
            ));
        }
        Ok(prepares)
    }

    /// A statement of a text was done, or has failed: even then what had its name is gone.
    pub fn executed(&mut self, statement: &Statement, has_failed: bool, core: &Core) {
        let before = core.memory.in_use();
        match &statement.session {
            Some(SessionUse::Prepare { name, server_name, parameters, sealed, text: _ }) => {
                let prepared = Prepared {
                    server_name: server_name.clone(),
                    parameters: parameters.clone(),
                    sealed: sealed.clone(),
                    statement: Statement { session: None, changes_catalog: true, ..statement.clone() },
                    text: None,
                };
                let prepared =
                    Weighed { value: Rc::new(prepared), _weight: core.memory.weight_since(before) };
                match has_failed {
                    true => self.prepared.remove(name),
                    false => self.prepared.insert(name.clone(), prepared),
                };
            }
            Some(SessionUse::Deallocate { name: Some(name) }) => drop(self.prepared.remove(name)),
            Some(SessionUse::Deallocate { name: None }) => self.prepared.clear(),
            _ => {}
        }
    }
}

impl Names for SqlNames {
    fn prepared(&self, name: &str) -> Option<Rc<Prepared>> {
        self.prepared.get(name).map(|prepared| Rc::clone(&prepared.value))
    }

    fn cursor(&self, _: &str) -> Option<Statement> {
        None
    }

    fn server_name(&self, name: &str) -> String {
        let number = self.given.get().saturating_add(1);
        self.given.set(number);
        let _ = name;
        format!("fieldveil_{number}")
    }
}
