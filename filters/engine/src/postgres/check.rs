//! Checks a statement's text against plan and catalog: whether it may go to the server, and what must be sealed in it.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::identity::{self, Comment};
use fieldveil_sql::{Analysis, Dialect, Statement, StatementKind};

use super::encoding::has_stand_ins;
use super::end_user::{EndUserMentions, identify};
use super::own_queries::Question;
use super::refuse::ends_transaction_first;
use super::{CallbackOutput, ReadySession, Waiting};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CheckedText, Core, Unready};
use crate::server_catalog::ServerCatalog;

/// Transaction control of up to this many bytes is read even where hardly any memory is left.
const MAX_CONTROL: usize = 256;

/// Whether a statement can be checked now.
pub(super) enum Readiness<T = Arc<CompiledPlan>> {
    /// Yes, under this plan; the catalog is there if the plan has a field.
    Ready(T),
    /// No. Something was asked for; the statement is checked when the response has arrived.
    Wait,
    /// No. It is refused with this error.
    Refuse(ClientError),
}

/// A statement's text, and the plan that it is checked under.
pub(super) struct ReadyText<'t> {
    /// The client's text, with words in the place of tokens.
    pub text: Cow<'t, [u8]>,
    /// What it says of the end user.
    pub said: EndUserMentions,
    pub plan: Arc<CompiledPlan>,
}

impl ReadySession {
    /// Replaces the tokens in a text by words, and makes sure that all is known that its check needs.
    pub(super) fn ready_text<'t>(
        &mut self,
        text: &'t [u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Readiness<ReadyText<'t>> {
        let (text, said) = match identify(core, &self.settings, text) {
            Ok(identified) => identified,
            Err(error) => return Readiness::Refuse(error),
        };
        match self.before_statement(&text, &said.comment, core, out) {
            Readiness::Ready(plan) => Readiness::Ready(ReadyText { text, said, plan }),
            Readiness::Wait => Readiness::Wait,
            Readiness::Refuse(error) => Readiness::Refuse(error),
        }
    }

    /// Makes sure, before a statement is checked, that identity, plan, keys and catalog are known and fresh.
    pub(super) fn before_statement(
        &mut self,
        text: &[u8],
        comment: &Comment,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Readiness {
        let Some(held) = core.policy.plan.clone() else {
            return Readiness::Refuse(ClientError::protocol("a statement before the session is up"));
        };
        if !held.fields.is_empty() && !self.pending.names_are_settled() && goes_by_prepared_name(text) {
            core.waiting = Waiting::Answers;
            return Readiness::Wait;
        }
        // The text is scanned for this only when the identity is due, and not at each execution.
        let identity_is_due = self.identity_is_due(&held, core)
            && (!is_for_anybody(text) || self.asks_before_transaction(text, core));
        if identity_is_due && self.may_ask(&held, text) {
            if let Some(error) = core.catalog.failed.take() {
                return Readiness::Refuse(error);
            }
            if !held.fields.is_empty() && !core.catalog.is_fresh(core.now_ms) {
                return self.asking_for_catalog(&held, core, out);
            }
            return self.asking(Question::Identity, core, out);
        }
        if identity_is_due {
            // The server would not answer: what it does not refuse itself needs no catalog.
            core.catalog.current = None;
        }
        match self.policy_ready(comment, core) {
            Ok(()) => {}
            // It does the same whoever the session is for, so the last known plan does: a session must be able to end its
            // transaction, or to change its user back, while no plan can be fetched.
            Err(_) if is_for_anybody(text) => {}
            Err(Unready::Refuse(error)) => return Readiness::Refuse(error),
            Err(Unready::Fetch(fetches)) => {
                core.waiting = Waiting::Fetches(fetches.len());
                out.fetch = fetches;
                return Readiness::Wait;
            }
        }
        let Some(plan) = core.policy.plan.clone() else {
            return Readiness::Refuse(ClientError::protocol("a statement before the session is up"));
        };
        if plan.fields.is_empty() {
            return Readiness::Ready(plan);
        }
        if let Some(error) = core.catalog.failed.take() {
            return Readiness::Refuse(error);
        }
        let is_fresh = core.catalog.is_fresh(core.now_ms) && !core.catalog.misses(text, None);
        if is_fresh || !self.may_ask(&plan, text) {
            return Readiness::Ready(plan);
        }
        self.asking_for_catalog(&plan, core, out)
    }

    /// Asks the server for its catalog; where the worker knows one that it is likely to be, only whether it is that.
    fn asking_for_catalog(
        &mut self,
        plan: &Arc<CompiledPlan>,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Readiness {
        match core.likely_relations(plan) {
            Some(relations) => self.asking(Question::Digest(plan, &relations), core, out),
            None => self.asking(Question::Catalog(plan), core, out),
        }
    }

    /// Asks the server, and lets the client's message wait for the answer.
    pub(super) fn asking<T>(
        &mut self,
        question: Question<'_>,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Readiness<T> {
        let sent = (&self.pipeline, &mut self.pending);
        match self.own_queries.send((question, self.settings.encoding.now()), core, sent, out) {
            Ok(()) => Readiness::Wait,
            Err(error) => Readiness::Refuse(error),
        }
    }

    /// Whether the server would answer a query of the filter's before this text, and the answer would matter to the text.
    fn may_ask(&self, plan: &Arc<CompiledPlan>, text: &[u8]) -> bool {
        // In a pipeline BEGIN may set modes of the transaction, which the server does not take behind a query.
        if check_without_catalog(text, plan).is_some()
            && (self.pipeline.is_open() || !begins_transaction(text))
        {
            // And the question would be in its way: the server would not answer it in a transaction that has failed, and
            // not take SET TRANSACTION after it.
            return false;
        }
        // What may end a failed transaction needs no catalog.
        !self.transaction.had_failed() || self.pipeline.is_open() || !self.pending.is_empty()
    }

    /// Checks a text. The error is the one that the client gets.
    pub(super) fn check_text(
        &self,
        text: &[u8],
        plan: &Arc<CompiledPlan>,
        core: &Core,
    ) -> Result<Rc<CheckedText>, ClientError> {
        if plan.fields.is_empty() {
            return Ok(untouched(text, plan, [Statement::unread()]));
        }
        let Some(catalog) = &core.catalog.current else {
            // In a failed transaction the server takes nothing but its end, and the filter forwards nothing
            // else: what it cannot check must not reach the server's log.
            return check_without_catalog(text, plan).ok_or_else(|| match ends_transaction_first(text) {
                true => ClientError::behind_transaction(),
                false => ClientError::failed_transaction(),
            });
        };
        let Ok(text) = std::str::from_utf8(text) else { return self.check_unread(text, plan, catalog) };
        let encoding = &self.settings.encoding;
        encoding.check_names(text, catalog)?;
        let checked = match core.check_text(text, plan, catalog, &self.statements) {
            // A transaction can be ended however little room there is.
            Err(error) if error.is_out_of_memory() && text.len() <= MAX_CONTROL => {
                return check_without_catalog(text.as_bytes(), plan).ok_or(error);
            }
            checked => checked?,
        };
        if encoding.is_other_server() {
            encoding.check_escapes(text, &checked)?;
        }
        if encoding.may_read_otherwise() && has_stand_ins(text) {
            encoding.check_stand_ins(&checked)?;
        }
        self.statements.check_names(&checked, core)?;
        if self.copies.rows_may_follow && fieldveil_sql::may_be_rows(text) {
            return Err(ClientError::may_be_rows());
        }
        Ok(Rc::new(checked))
    }

    /// Checks a text that cannot be read. If only the ends of its strings are in doubt, it passes where it names nothing protected.
    fn check_unread(
        &self,
        text: &[u8],
        plan: &Arc<CompiledPlan>,
        catalog: &ServerCatalog,
    ) -> Result<Rc<CheckedText>, ClientError> {
        let Some(read) = self.settings.of_doubtful_strings(text) else {
            return Err(self.settings.encoding.now().unreadable_statement(text));
        };
        if self.copies.rows_may_follow {
            return Err(ClientError::may_be_rows());
        }
        self.settings.encoding.check_names(read, catalog)?;
        let analysis = fieldveil_sql::analyze_unread(read, &catalog.sql)
            .map_err(|refusal| ClientError::refused(&refusal, &catalog.labels_named_in(read)))?;
        Ok(Rc::new(CheckedText::untouched(plan, Rc::new(analysis), identity::mentions(text))))
    }
}

/// Whether a statement may be prepared, executed or deallocated by its name.
fn goes_by_prepared_name(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let contains = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    [b"prepare".as_slice(), b"execute", b"deallocate", b"discard"].into_iter().any(contains)
}

fn untouched(
    text: &[u8],
    plan: &Arc<CompiledPlan>,
    statement: impl IntoIterator<Item = Statement>,
) -> Rc<CheckedText> {
    let analysis = Analysis { statements: statement.into_iter().collect(), ..Analysis::default() };
    Rc::new(CheckedText::untouched(plan, Rc::new(analysis), identity::mentions(text)))
}

/// Whether the statement has the same effect whoever the session is for.
fn is_for_anybody(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| identity::is_for_anybody(text, Dialect::Postgres))
}

/// Checks a text that is a single SET or a single statement of transaction control, in ASCII. That needs no catalog.
fn check_set_or_transaction(text: &[u8], plan: &Arc<CompiledPlan>) -> Option<Rc<CheckedText>> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let analysis = fieldveil_sql::analyze(text, &fieldveil_sql::Catalog::default()).ok()?;
    match analysis.statements.as_slice() {
        [statement] if matches!(statement.kind, StatementKind::Transaction | StatementKind::Set) => {
            Some(untouched(text.as_bytes(), plan, [statement.clone()]))
        }
        _ => None,
    }
}

fn begins_transaction(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| identity::begins_transaction(text, Dialect::Postgres))
}

/// Checks a text that only begins or ends a transaction, is a SET TRANSACTION, or is empty. That needs no catalog.
fn check_without_catalog(text: &[u8], plan: &Arc<CompiledPlan>) -> Option<Rc<CheckedText>> {
    if text.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b';') {
        return Some(untouched(text, plan, []));
    }
    let checked = check_set_or_transaction(text, plan)?;
    let words = std::str::from_utf8(text).ok()?.to_ascii_lowercase();
    let mut words = words.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let ends = |word| matches!(word, "commit" | "end" | "rollback" | "abort");
    match (words.next()?, words.next()) {
        (first, _) if ends(first) => Some(checked),
        ("begin" | "start", _) => Some(checked),
        ("set", Some("transaction")) => Some(checked),
        _ => None,
    }
}
