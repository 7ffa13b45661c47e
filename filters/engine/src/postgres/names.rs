//! The names that SQL gives: prepared statements and cursors.
//!
//! A statement on protected tables that SQL prepares goes to the server under a name of ours, so that no message of the client
//! can put another under it: what is executed is what was checked, or nothing. All others go under the client's own name.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::{Names, OwnName, Prepared, SessionUse, Statement};

use super::cursors::{Cursors, MAX_CURSORS};
use super::encoding::SessionEncoding;
use super::sql_prepared::SqlPrepared;
use super::statements::Statements;
use super::undo::Undo;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CheckedText, Core};
use crate::memory::Weighed;
use crate::server_catalog::ServerCatalog;

/// What SQL has prepared and declared.
pub struct SqlNames {
    pub(super) prepared: SqlPrepared,
    pub(super) cursors: Cursors,
    /// Cursors of this transaction that were seen declared, each in a text of its own, since whatever may have put another
    /// under a name. They are forgotten at every doubt: then the server is asked once more than it need be.
    quiet: HashSet<Vec<u8>>,
    /// What the server's names begin with, and how many were given.
    prefix: Arc<str>,
    given: Cell<u64>,
    /// The plan whose fields they speak of.
    plan: Option<Arc<CompiledPlan>>,
    /// The catalog that says what their names mean: the server, too, reads what is prepared anew when that changes.
    shape: u64,
    /// By field, the keys that its values were sealed under.
    keys: Vec<Vec<u32>>,
}

impl Default for SqlNames {
    fn default() -> Self {
        Self {
            prepared: SqlPrepared::default(),
            cursors: Cursors::default(),
            quiet: HashSet::new(),
            prefix: Arc::from(""),
            given: Cell::new(0),
            plan: None,
            shape: 0,
            keys: Vec::new(),
        }
    }
}

impl SqlNames {
    /// For a new plan: what was prepared under another speaks of other fields, unless nothing protected was concerned.
    pub fn under(plan: &Arc<CompiledPlan>, prefix: &str, before: Self) -> Self {
        let is_unseen = before.plan.is_some_and(|plan| plan.fields.is_empty());
        let prepared = before.prepared.under_new_plan(is_unseen);
        let (plan, prefix) = (Some(Arc::clone(plan)), Arc::from(prefix));
        Self { plan, prefix, given: before.given, prepared, ..Self::default() }
    }

    /// For a new plan that stores the same fields in the same way.
    pub fn go_on_under(&mut self, plan: &Arc<CompiledPlan>) {
        self.plan = Some(Arc::clone(plan));
    }

    /// The catalog was read, or there are other keys: what was prepared when names meant something else is forgotten, and
    /// what holds values that are sealed under the keys of then.
    pub fn catalog_read(&mut self, catalog: &ServerCatalog, encoding: &SessionEncoding) {
        self.prepared.certain = encoding.certain_names(catalog);
        if self.shape != catalog.shape {
            self.prepared.under_new_catalog(catalog);
            self.shape = catalog.shape;
        }
        if self.keys != catalog.keys {
            let before = std::mem::replace(&mut self.keys, catalog.keys.clone());
            let keeps = |field: &usize| before.get(*field) == self.keys.get(*field);
            self.prepared.lose_unless(|prepared| prepared.sealed.iter().all(keeps));
        }
    }

    /// Whether what was checked was checked under the plan and catalog in force.
    fn speaks_of(&self, checked: &CheckedText) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.stores_as(&checked.plan))
            && checked.catalog.as_ref().is_some_and(|catalog| catalog.shape == self.shape)
    }

    fn forget_cursors(&mut self) {
        self.cursors.forget();
        self.quiet.clear();
    }

    /// Something was executed that may do anything to names, such as to close a cursor and open another; or it is not sure
    /// what was.
    pub fn forget_quiet_cursors(&mut self) {
        self.quiet.clear();
    }

    /// A portal of this name was opened or closed.
    pub fn portal_changed(&mut self, name: &[u8]) {
        if !self.quiet.is_empty() {
            self.quiet.remove(name);
        }
    }
}

impl Statements {
    /// Whether it fetches from, or moves, a cursor whose query is known, in a transaction that is open. No DECLARE may call
    /// `set_config`; what else a FETCH may run, from a portal or from a cursor that was opened out of sight, may. A function
    /// may, too, and is not seen: called by SELECT, or run by a cursor's query, a view, a policy or an operator. Where the
    /// server reports `search_path`, that saves the statements that are sent after the answer, not those of one pipeline.
    pub fn fetches_quietly(&self, statement: &Statement) -> bool {
        let Some(SessionUse::Fetch { name }) = &statement.session else { return false };
        self.by_sql.quiet.contains(name.as_bytes()) && self.portal(name.as_bytes()).is_none()
    }

    /// Whether the names that the texts of this session give are all known: else it must wait for the answers.
    pub fn check_names(&self, checked: &CheckedText, core: &Core) -> Result<(), ClientError> {
        let prepares = |s: &Statement| matches!(s.session, Some(SessionUse::Prepare { .. }));
        let keeps = |s: &Statement| {
            use SessionUse::{Declare, Prepare};
            matches!(s.session, Some(Prepare { .. } | Declare { .. }))
        };
        if checked.analysis.statements.iter().any(keeps) {
            core.memory.may_keep()?;
        }
        if checked.analysis.statements.iter().any(prepares) && self.by_sql.prepared.is_full() {
            return Err(ClientError::limit(
                "the session has prepared too many statements in SQL",
                "Deallocate statements that are no longer used.",
            ));
        }
        Ok(())
    }

    /// A text goes to the server, or is about to be executed: what it prepares and declares. What is to be taken back if
    /// it fails comes back, with the number of the statement in the text.
    pub fn take_names(&mut self, checked: &CheckedText, core: &Core) -> Vec<(usize, Undo)> {
        let mut undo = Vec::new();
        for (index, statement) in checked.analysis.statements.iter().enumerate() {
            let names = &mut self.by_sql;
            let before = core.memory.in_use();
            match &statement.session {
                Some(SessionUse::Prepare { name, server_name, parameters, sealed, text }) => {
                    let statement = Statement { session: None, changes_catalog: true, ..statement.clone() };
                    let (server_name, parameters) = (server_name.clone(), parameters.clone());
                    let (sealed, text) = (sealed.clone(), text.clone());
                    let text_bytes = text.as_ref().map_or(0, |text| text.len());
                    let prepared = Prepared { server_name, parameters, sealed, statement, text };
                    let name = name.clone().into_bytes();
                    let weight = core.memory.weight_since(before);
                    weight.set(weight.bytes().saturating_add(text_bytes));
                    let prepared = Weighed { value: Rc::new(prepared), _weight: weight };
                    undo.push((index, names.prepared.set(name, Some(Rc::new(prepared)))));
                }
                Some(SessionUse::Deallocate { name: Some(name) }) => {
                    undo.extend(self.deallocate(name.as_bytes()).into_iter().map(|undo| (index, undo)));
                }
                Some(SessionUse::Deallocate { name: None }) => {
                    // DISCARD ALL
                    if statement.changes_catalog {
                        names.forget_cursors();
                    }
                    undo.extend(self.deallocate_all().into_iter().map(|undo| (index, undo)));
                }
                Some(SessionUse::Declare { name, holds }) => {
                    let name = name.clone().into_bytes();
                    let cursor = Statement { session: None, ..statement.clone() };
                    let weight = core.memory.weight_since(before);
                    undo.push((index, self.set_portal(&name, None)));
                    let names = &mut self.by_sql;
                    undo.push((index, names.cursors.declare(name.clone(), cursor, *holds, weight)));
                    // Among other statements it may not stay what it is.
                    if checked.analysis.statements.len() == 1 && names.quiet.len() < MAX_CURSORS {
                        names.quiet.insert(name);
                    }
                }
                // A portal that it names is closed, too.
                Some(SessionUse::Close { name: Some(name) }) => {
                    let name = name.as_bytes();
                    undo.extend(self.close_portal(name).map(|undo| (index, undo)));
                }
                Some(SessionUse::Close { name: None }) => names.forget_cursors(),
                Some(SessionUse::Savepoint { name }) => names.cursors.savepoint(name.clone().into_bytes()),
                Some(SessionUse::Release { name }) => names.cursors.release(name.as_bytes()),
                Some(SessionUse::RollBackTo { name }) => {
                    let closed = names.cursors.roll_back_to(name.as_bytes());
                    undo.extend(closed.into_iter().map(|undo| (index, undo)));
                }
                Some(SessionUse::End { rolls_back }) => {
                    let closed = names.cursors.end_transaction(*rolls_back);
                    undo.extend(closed.into_iter().map(|undo| (index, undo)));
                }
                Some(SessionUse::Execute { .. } | SessionUse::Fetch { .. }) | None => {}
            }
        }
        undo
    }
}

impl Names for Statements {
    fn prepared(&self, name: &str) -> Option<Rc<Prepared>> {
        let prepared = self.by_sql.prepared.get(name.as_bytes())?;
        prepared.text.is_none().then(|| Rc::clone(&prepared.value))
    }

    fn own_name(&self, name: &str) -> OwnName {
        self.under_own_name(name.as_bytes())
    }

    fn renamed(&self, name: &str) -> Option<String> {
        self.by_sql.prepared.renamed(name.as_bytes())
    }

    fn cursor(&self, name: &str) -> Option<Statement> {
        if let Some(cursor) = self.by_sql.cursors.get(name.as_bytes()) {
            return Some(cursor.statement.clone());
        }
        let portal = self.portal(name.as_bytes()).filter(|portal| self.by_sql.speaks_of(&portal.checked))?;
        portal.checked.analysis.statements.first().cloned()
    }

    fn server_name(&self, _: &str) -> String {
        let number = self.by_sql.given.get().saturating_add(1);
        self.by_sql.given.set(number);
        format!("{}_{number}", self.by_sql.prefix)
    }
}
