//! The way of a statement's text from the client to the server.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_mysql_wire::command::Query;
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::Sequence;

use super::check::note_execution;
use super::client::{CommandError, Outcome};
use super::end_user::{EndUserMentions, IdentifiedText};
use super::pending::{Awaited, PendingResponse, PendingResults, Question};
use super::sql_context::SqlContext;
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CheckedText, Core};

/// A text that can be checked now.
pub(super) struct ReadyText<'t> {
    /// The text in UTF-8, with words in the place of tokens.
    pub text: Cow<'t, [u8]>,
    /// It says something else than the client's text, so that the server must get it.
    pub is_rewritten: bool,
    /// What the client's text says of the end user.
    pub mentions: EndUserMentions,
    /// The plan in force.
    pub plan: Arc<CompiledPlan>,
}

impl<'t> ReadyText<'t> {
    /// One that does what the begin of a longer text does.
    pub(super) fn of_begin(probe: &'t str, plan: Arc<CompiledPlan>) -> Self {
        let mentions = EndUserMentions::default();
        Self { text: Cow::Borrowed(probe.as_bytes()), is_rewritten: false, mentions, plan }
    }
}

impl ReadyText<'_> {
    /// Returns the text with the values in protected places sealed, in the client's character set, or None if it is the
    /// client's own.
    pub fn seal(
        &self,
        sql: &SqlContext,
        core: &mut Core,
        checked: &CheckedText,
    ) -> Result<Option<Vec<u8>>, ClientError> {
        let text = match (checked.analysis.splices.is_empty(), self.is_rewritten) {
            (true, false) => return Ok(None),
            (true, true) => self.text.to_vec(),
            (false, _) => sql.seal_text(core, &self.text, checked)?,
        };
        sql.settings.encode(text).map(Some)
    }
}

impl Session {
    /// COM_QUERY.
    pub(super) fn query(
        &mut self,
        message: &Message<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let query = Query::parse(&message.payload, self.capabilities)?;
        // Tokens are replaced by words; identity, plan, keys and catalog are known and fresh, or are asked for.
        let Some(ready) = self.ready_text(query.text, out)? else {
            return Ok(Outcome::Again);
        };
        // The statements of the text are allowed, and where values stand in protected places is known.
        let checked = self.sql.check_text(&self.core, &ready.text, &ready.plan)?;
        // These values are sealed.
        let text = ready.seal(&self.sql, &mut self.core, &checked)?;
        // The server gets the client's packet, or another one in its place.
        let mut entry = PendingResponse::client(Awaited::Results(PendingResults::text(Rc::clone(&checked))));
        let outcome = match text {
            Some(text) => {
                let mut sequence = Sequence::default();
                let query = Query { text: &text, ..query };
                query.encode(self.capabilities, &mut sequence, &mut out.to_server)?;
                entry = entry.shifted(message.last_sequence, sequence.next().wrapping_sub(1));
                Outcome::Done
            }
            None => Outcome::Passes,
        };
        // Its response is awaited, and what it changes is known to be old.
        note_execution(&mut self.core, &checked);
        self.pending.push(entry);
        Ok(outcome)
    }

    /// Brings a text so far that it can be checked. Returns None if something was asked for first.
    pub(super) fn ready_text<'t>(
        &mut self,
        text: &'t [u8],
        out: &mut CallbackOutput,
    ) -> Result<Option<ReadyText<'t>>, ClientError> {
        // The text cannot be read before the server has said how.
        if self.sql.must_know_to_identify(&self.core, text) {
            if let Some(error) = self.core.catalog.failed.take() {
                return Err(error);
            }
            self.sql.own_answers.take_catalog();
            self.ask(Question::Identity, out)?;
            return Ok(None);
        }
        let IdentifiedText { text, is_rewritten, mentions } = self.sql.identify(&mut self.core, text)?;
        let plan = self.before_statement(&text, &mentions.comment, out)?;
        Ok(plan.map(|plan| ReadyText { text, is_rewritten, mentions, plan }))
    }
}
