//! The names that SQL gives: prepared statements and cursors, beside those of the protocol, which SQL reaches too.

use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_sql::{Names, Prepared, SessionUse, Statement};

use super::Session;
use super::statements::{Change, Checked, Statements, Undo};
use crate::client_error::ClientError;
use crate::field::CompiledPlan;

/// Statements that a connection may prepare in SQL.
const MAX_PREPARED: usize = 4_096;
/// Cursors that are remembered. What is forgotten can still be fetched; but of a column that comes from no table
/// (UNION) the envelope is shown.
const MAX_CURSORS: usize = 1_024;

/// What SQL has prepared and declared.
#[derive(Default)]
pub struct SqlNames {
    pub(super) prepared: HashMap<Vec<u8>, Rc<Prepared>>,
    cursors: HashMap<String, Statement>,
    /// The plan whose fields they speak of.
    plan: Option<Rc<CompiledPlan>>,
    /// The catalog that says what their names mean: the server, too, reads what is prepared anew when that changes.
    fingerprint: u64,
}

impl SqlNames {
    /// For a new plan: what was prepared under another speaks of other fields.
    pub fn under(plan: &Rc<CompiledPlan>) -> Self {
        Self { plan: Some(Rc::clone(plan)), ..Self::default() }
    }

    /// The catalog was read: what was prepared when names meant something else is forgotten.
    pub fn catalog_read(&mut self, fingerprint: u64) {
        if self.fingerprint != fingerprint {
            self.prepared.clear();
            self.fingerprint = fingerprint;
        }
    }

    /// Whether what was checked was checked under the plan and catalog in force.
    fn speaks_of(&self, checked: &Checked) -> bool {
        self.plan.as_ref().is_some_and(|plan| Rc::ptr_eq(plan, &checked.plan))
            && checked.catalog.as_ref().is_some_and(|catalog| catalog.fingerprint == self.fingerprint)
    }

    /// Whether no more may be prepared.
    pub fn is_full(&self) -> bool {
        self.prepared.len() >= MAX_PREPARED
    }

    /// Sets or removes a prepared statement.
    pub fn set(&mut self, name: Vec<u8>, prepared: Option<Rc<Prepared>>) -> Undo {
        let after = prepared.clone();
        let before = match prepared {
            Some(prepared) => self.prepared.insert(name.clone(), prepared),
            None => self.prepared.remove(&name),
        };
        Undo::Prepared(Change { name, before, after })
    }
}

impl Names for Statements {
    fn prepared(&self, name: &str) -> Option<Prepared> {
        if let Some(prepared) = self.by_sql.prepared.get(name.as_bytes()) {
            return Some(prepared.as_ref().clone());
        }
        // What was prepared in the protocol is there for SQL too.
        let statement = self.statement(name.as_bytes())?;
        let checked = statement.checked.borrow();
        self.by_sql.speaks_of(&checked).then(|| Prepared {
            parameters: checked.analysis.parameters.clone(),
            statement: checked.analysis.statements.first().cloned().unwrap_or_else(Statement::unread),
        })
    }

    fn cursor(&self, name: &str) -> Option<Statement> {
        if let Some(statement) = self.by_sql.cursors.get(name) {
            return Some(statement.clone());
        }
        let portal = self.portal(name.as_bytes()).filter(|portal| self.by_sql.speaks_of(&portal.checked))?;
        portal.checked.analysis.statements.first().cloned()
    }
}

impl Session {
    /// Whether the names that the texts of this session give are all known: else it must wait for the answers.
    pub(super) fn check_names(&self, checked: &Checked) -> Result<(), ClientError> {
        let prepares = |s: &Statement| matches!(s.session, Some(SessionUse::Prepare { .. }));
        if checked.analysis.statements.iter().any(prepares) && self.statements.by_sql.is_full() {
            return Err(ClientError::limit(
                "the session has prepared too many statements in SQL",
                "Deallocate statements that are no longer used.",
            ));
        }
        Ok(())
    }

    /// A text goes to the server, or is about to be executed: what it prepares and declares. What is to be taken back if
    /// it fails comes back, with the number of the statement in the text.
    pub(super) fn take_names(&mut self, checked: &Checked) -> Vec<(usize, Undo)> {
        let mut undo = Vec::new();
        for (index, statement) in checked.analysis.statements.iter().enumerate() {
            let names = &mut self.statements.by_sql;
            match &statement.session {
                Some(SessionUse::Prepare { name, parameters }) => {
                    let statement = Statement { session: None, changes_catalog: true, ..statement.clone() };
                    let prepared = Prepared { parameters: parameters.clone(), statement };
                    undo.push((index, names.set(name.clone().into_bytes(), Some(Rc::new(prepared)))));
                }
                Some(SessionUse::Deallocate { name: Some(name) }) => {
                    undo.push((index, names.set(name.clone().into_bytes(), None)));
                }
                // Should it fail, what is still prepared is refused until it is prepared anew.
                Some(SessionUse::Deallocate { name: None }) => names.prepared.clear(),
                Some(SessionUse::Declare { name }) => {
                    if names.cursors.len() >= MAX_CURSORS {
                        names.cursors.clear();
                    }
                    names.cursors.insert(name.clone(), Statement { session: None, ..statement.clone() });
                }
                Some(SessionUse::Execute { .. } | SessionUse::Fetch { .. }) | None => {}
            }
        }
        undo
    }
}
