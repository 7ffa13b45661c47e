//! A statement's text against plan and catalog: whether it may go to the server.

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::identity::{self, Comment};
use fieldveil_sql::{Analysis, Dialect, MySqlDialect, Statement, StatementKind, TextStatements};

use super::catalog::CatalogResponse;
use super::long_commands::{passes, too_long};
use super::pending::Question;
use super::session_settings::read_alike;
use super::sql_context::SqlContext;
use super::statements::Statement as PreparedStatement;
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CheckedText, Core, Unready};
use crate::fetch::Fetch;

/// Bytes of a text that is read however little room there is.
const MAX_CONTROL: usize = 256;

/// A prepared statement that may be executed.
pub(super) enum Rechecked {
    /// As the server has it.
    Same(Rc<CheckedText>),
    /// In another form, for keys or tables have changed.
    Anew(Rc<CheckedText>),
}

/// Whether a statement can be checked now.
pub(super) enum Readiness {
    /// Yes, under this plan. The catalog is there if the plan has a field and the text needs it.
    Ready(Arc<CompiledPlan>),
    /// No. These must be fetched first.
    Fetch(Vec<Fetch>),
    /// No. The server must be asked first.
    Ask(Question),
    /// No, and it is refused.
    Refuse(ClientError),
}

impl Session {
    /// Sees that who the session is for, plan, keys and catalog are known and fresh before a statement is checked. Returns the
    /// plan, or None if something was asked for, so that the statement waits.
    pub(super) fn before_statement(
        &mut self,
        text: &[u8],
        comment: &Comment,
        out: &mut CallbackOutput,
    ) -> Result<Option<Arc<CompiledPlan>>, ClientError> {
        match self.sql.readiness(&mut self.core, text, comment) {
            Readiness::Ready(plan) => return Ok(Some(plan)),
            Readiness::Fetch(fetches) => self.core.wait_for(fetches, out),
            Readiness::Ask(question) => self.ask(question, out)?,
            Readiness::Refuse(error) => return Err(error),
        }
        Ok(None)
    }
}

impl SqlContext {
    fn readiness(&mut self, core: &mut Core, text: &[u8], comment: &Comment) -> Readiness {
        // It serves this statement or none, because what was read of it grows old.
        let begun = self.own_answers.take_catalog();
        let Some(held) = core.policy.plan.clone() else {
            return Readiness::Refuse(ClientError::protocol("a statement before the session is up"));
        };
        let quiet = || needs_no_question(text, &held).is_some();
        if let Some(error) = core.catalog.failed.take() {
            return Readiness::Refuse(error);
        }
        if core.identity.is_due(&held, core.now_ms) && !quiet() {
            return Readiness::Ask(Question::Identity);
        }
        match self.take_up_policy(core, comment, true) {
            Ok(()) => {}
            // It does the same whoever the session is for, so the last known plan does: a session must be able to end its
            // transaction, or to change its user back, while no plan can be fetched.
            Err(_) if quiet() => {}
            Err(Unready::Refuse(error)) => return Readiness::Refuse(error),
            Err(Unready::Fetch(fetches)) => return Readiness::Fetch(fetches),
        }
        let Some(plan) = core.policy.plan.clone() else {
            return Readiness::Refuse(ClientError::protocol("a statement before the session is up"));
        };
        let is_fresh =
            core.catalog.is_fresh(core.now_ms) && !core.catalog.misses(text, Some(&self.settings.database));
        if plan.fields.is_empty() || is_fresh || self.settings.readable().is_err() || quiet() {
            return Readiness::Ready(plan);
        }
        // Another plan, that protects where the one before did not: nothing was asked for that one.
        if core.identity.is_due(&plan, core.now_ms) {
            return Readiness::Ask(Question::Identity);
        }
        let begun = begun.filter(|begun| begun.is_of(&plan));
        let catalog = begun.unwrap_or_else(|| Box::new(CatalogResponse::new(plan)));
        Readiness::Ask(Question::Catalog(catalog))
    }

    /// Checks a text; the error is what the client is told.
    pub fn check_text(
        &self,
        core: &Core,
        text: &[u8],
        plan: &Arc<CompiledPlan>,
    ) -> Result<Rc<CheckedText>, ClientError> {
        if plan.fields.is_empty() {
            return Ok(untouched(text, plan, vec![Statement::unread_of(text)]));
        }
        let known = core.catalog.current.as_ref().filter(|_| self.settings.readable().is_ok());
        let Some(catalog) = known else {
            return match reads_alike(text, plan) {
                Some(checked) => Ok(checked),
                None => {
                    self.settings.readable()?;
                    Err(ClientError::unavailable(
                        "the server's catalog",
                        "it was not read",
                        "Send the statement again.",
                    ))
                }
            };
        };
        let text = match self.settings.text(text) {
            Ok(text) => text,
            // But for the statement that mends it.
            Err(error) => return reads_alike(text, plan).ok_or(error),
        };
        let checked = match core.check_text(text, plan, catalog, &self.names) {
            // A transaction can be ended however little room there is.
            Err(error) if error.is_out_of_memory() && text.len() <= MAX_CONTROL => {
                return reads_alike(text.as_bytes(), plan).ok_or(error);
            }
            // A SET means the same in each mode, whatever names are in it.
            Err(error) if self.settings.dialect.other_meaning.is_some() => {
                return reads_alike(text.as_bytes(), plan).ok_or(error);
            }
            checked => checked?,
        };
        self.may_show(&checked)?;
        if self.names.check(&checked)? {
            core.memory.may_keep()?;
        }
        Ok(Rc::new(checked))
    }

    /// Refuses a statement with protected values where none can be shown.
    fn may_show(&self, checked: &CheckedText) -> Result<(), ClientError> {
        if checked.touched { self.settings.can_show() } else { Ok(()) }
    }

    /// Checks a prepared statement anew if plan, catalog or keys changed since. What the server has cannot be changed any
    /// more: if it would differ now, it must be prepared anew. Where what the client was told of its parameters stays true
    /// that is done here; else it must prepare again. What its columns are is told at each execution.
    pub fn recheck(
        &self,
        core: &Core,
        statement: &PreparedStatement,
        plan: &Arc<CompiledPlan>,
    ) -> Result<Rechecked, ClientError> {
        if !plan.fields.is_empty() {
            self.settings.readable()?;
        }
        let before = statement.checked.borrow();
        if is_current(core, &before) && !before.goes_by_name() {
            self.may_show(&before)?;
            core.policy.require_keys(&before)?;
            core.within_budgets(&before)?;
            return Ok(Rechecked::Same(Rc::clone(&before)));
        }
        let checked = self.check_text(core, &statement.text, plan)?;
        if statement.is_begin && !passes(&checked) {
            return Err(too_long());
        }
        match checked.is_sent_as(&before) {
            true => Ok(Rechecked::Same(checked)),
            false => Ok(Rechecked::Anew(checked)),
        }
    }
}

/// Whether a statement was checked under the plan and catalog in force.
fn is_current(core: &Core, checked: &CheckedText) -> bool {
    let same_plan = core.policy.plan.as_ref().is_some_and(|plan| Arc::ptr_eq(plan, &checked.plan));
    let same_catalog = match (&checked.catalog, &core.catalog.current) {
        (Some(a), Some(b)) => a.fingerprint == b.fingerprint,
        (None, _) => checked.plan.fields.is_empty(),
        (Some(_), None) => false,
    };
    same_plan && same_catalog
}

/// Notes what a statement that is sent to the server does to the catalog, and to who the session is for.
pub(super) fn note_execution(core: &mut Core, checked: &CheckedText) {
    let statements = &checked.analysis.statements;
    if statements.iter().any(|statement| statement.changes_catalog) {
        core.catalog.current = None;
    }
    if checked.speaks_of_end_user {
        core.identity.spoken_of = true;
    }
    if statements.iter().any(|statement| statement.changes_identity || statement.changes_catalog) {
        core.identity.may_change();
    }
}

/// Makes the result of the check for a command that is not checked, or None if the session has no plan.
pub(super) fn unchecked(core: &Core) -> Option<Rc<CheckedText>> {
    Some(untouched(b"", core.policy.plan.as_ref()?, vec![Statement::unread()]))
}

fn untouched(
    text: &[u8],
    plan: &Arc<CompiledPlan>,
    statements: impl Into<TextStatements>,
) -> Rc<CheckedText> {
    let analysis = Analysis { statements: statements.into(), ..Analysis::default() };
    Rc::new(CheckedText::untouched(plan, Rc::new(analysis), identity::may_mention(text)))
}

/// A text that means the same whoever the session is for, whatever its settings and the tables are, and before which a
/// question would be in the way: transaction control, a SET of a constant, what asks about the statement before.
fn needs_no_question(text: &[u8], plan: &Arc<CompiledPlan>) -> Option<Rc<CheckedText>> {
    let read = read_alike(text)?;
    if fieldveil_sql::asks_about_last_statement(read, MySqlDialect::default()) {
        return Some(untouched(text, plan, statements(read)?));
    }
    let mut words = read.split_ascii_whitespace();
    if read.contains(['(', '@']) && words.next().is_some_and(|word| word.eq_ignore_ascii_case("set")) {
        return None;
    }
    controls(read, plan)
}

/// A text that means the same in a session whose other texts cannot be read: beside those that need no question, a SET of
/// what is written in it, as of who the end user is.
fn reads_alike(text: &[u8], plan: &Arc<CompiledPlan>) -> Option<Rc<CheckedText>> {
    let sets = || read_alike(text).filter(|read| !read.contains('(')).and_then(|read| controls(read, plan));
    needs_no_question(text, plan).or_else(sets)
}

/// Transaction control, or a SET that computes nothing.
fn controls(read: &str, plan: &Arc<CompiledPlan>) -> Option<Rc<CheckedText>> {
    if !identity::is_for_anybody(read, any_dialect()) {
        return None;
    }
    let statements = statements(read)?;
    match statements.as_slice() {
        [statement] if matches!(statement.kind, StatementKind::Transaction | StatementKind::Set) => {
            Some(untouched(read.as_bytes(), plan, statements))
        }
        _ => None,
    }
}

/// The statements of a text that every session reads alike, and that names no table.
fn statements(read: &str) -> Option<TextStatements> {
    let catalog = fieldveil_sql::Catalog::default().in_dialect(any_dialect());
    Some(fieldveil_sql::analyze(read, &catalog).ok()?.statements)
}

/// One for texts that every session reads alike.
fn any_dialect() -> Dialect {
    Dialect::MySql(MySqlDialect::default())
}
