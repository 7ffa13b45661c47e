//! Questions of the filter's own to the server, on the client's connection, between two of its commands.

use std::borrow::Cow;

use fieldveil_mysql_wire::command::{NO_ATTRIBUTES, Query};
use fieldveil_mysql_wire::packet::Sequence;
use fieldveil_mysql_wire::{Capabilities, message};

use super::catalog::{CatalogResponse, NameFolding};
use super::identity::{self, IdentityRow};
use super::pending::{Awaited, OwnQuery, PendingResponse, Question};
use super::responses::{Progress, ResponseContext, ServerPacket};
use super::result_progress::{Packet, ResultProgress, Stage};
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::sql_context::SqlContext;
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::database::{Core, MAX_HELD, Step, Waiting};
use crate::server_catalog::CatalogReading;

const NOT_IDENTIFIED: &str = "it does not say who the session is for";

/// What the server has answered to the filter's own queries, as long as it is not in force yet.
#[derive(Default)]
pub struct OwnAnswers {
    /// Who the session is for, while the answer comes in.
    identity: Option<IdentityRow>,
    /// The catalog of which one question was answered and another is to be asked, for the statement that waits for it.
    catalog: Option<Box<CatalogResponse>>,
}

impl OwnAnswers {
    /// Counts the bytes that the catalog takes.
    pub fn bytes(&self) -> usize {
        self.catalog.as_ref().map_or(0, |catalog| catalog.bytes())
    }

    /// Takes the catalog that has begun.
    pub fn take_catalog(&mut self) -> Option<Box<CatalogResponse>> {
        self.catalog.take()
    }

    /// Takes in a row.
    fn row(&mut self, question: &mut Question, body: &[u8]) -> Result<(), &'static str> {
        match question {
            Question::Catalog(catalog) => catalog.row(body),
            Question::Identity => {
                self.identity = Some(IdentityRow::read(body).ok_or(NOT_IDENTIFIED)?);
                Ok(())
            }
        }
    }
}

impl Session {
    /// Asks the server. The client's statement waits for the answer.
    pub(super) fn ask(
        &mut self,
        mut question: Question,
        out: &mut CallbackOutput,
    ) -> Result<(), ClientError> {
        if !self.pending.is_empty() {
            self.core.waiting = Waiting::Answers;
            return Ok(());
        }
        let text = match &mut question {
            Question::Identity => Cow::Borrowed(identity::QUESTION),
            Question::Catalog(catalog) => Cow::Owned(catalog.question()),
        };
        let attributes = self.capabilities.has(Capabilities::QUERY_ATTRIBUTES).then_some(NO_ATTRIBUTES);
        let query = Query { attributes, text: text.as_bytes() };
        if query.encode(self.capabilities, &mut Sequence::default(), &mut out.to_server).is_err() {
            return Err(ClientError::limit("the policy names too many tables", "Shorten it."));
        }
        self.pending.push(PendingResponse::injected(Awaited::OwnQuery(OwnQuery {
            question,
            progress: ResultProgress::default(),
        })));
        self.core.waiting = Waiting::Server;
        Ok(())
    }
}

impl OwnQuery {
    /// Reads a packet of the answer to a question. Nothing of it is for the client.
    pub fn read(
        &mut self,
        packet: ServerPacket<'_>,
        cx: &mut ResponseContext<'_>,
    ) -> Result<Progress, &'static str> {
        let ServerPacket { header, first, rest } = packet;
        let kind = self.progress.peek(header.payload_len, first)?;
        let Some(message) = message::peek_message(rest, MAX_HELD).map_err(|_| MALFORMED)? else {
            return Ok(Progress::More(Step::More));
        };
        let body = message.payload.as_ref();
        self.progress.take(kind, body, cx.capabilities)?;
        let failed = match kind {
            Packet::Row => cx.sql.own_answers.row(&mut self.question, body).err(),
            Packet::FileRequest => return Err(OUT_OF_PLACE),
            Packet::Error => Some("the server refused the question"),
            _ => None,
        };
        if let Some(reason) = failed {
            question_failed(cx.core, reason);
        }
        let step = Step::Took(message.total_len);
        if self.progress.stage != Stage::Done {
            return Ok(Progress::More(step));
        }
        cx.sql.answered(cx.core, std::mem::replace(&mut self.question, Question::Identity));
        cx.core.waiting = Waiting::No;
        Ok(Progress::Complete(step))
    }
}

impl SqlContext {
    /// The answer to a question is complete.
    fn answered(&mut self, core: &mut Core, question: Question) {
        if core.catalog.failed.is_some() {
            return;
        }
        match question {
            Question::Identity => match self.own_answers.identity.take() {
                Some(row) => self.identity_read(core, row),
                None => question_failed(core, NOT_IDENTIFIED),
            },
            Question::Catalog(mut answer) => {
                let Some(plan) = core.policy.plan.clone() else { return };
                let database = self.settings.database.clone();
                let folding = NameFolding {
                    plan: &plan,
                    database: &database,
                    folds_tables: self.settings.dialect.folds_tables,
                };
                if answer.answered(&folding) {
                    // The statement that waits for it comes again, and asks.
                    self.own_answers.catalog = Some(answer);
                    return;
                }
                let reading = CatalogReading::new(self.settings.dialect()).in_database(&database);
                core.catalog.reading = Some(reading);
                if let Err(reason) = answer.finish(core, &folding) {
                    question_failed(core, reason);
                    return;
                }
                if let Some(catalog) = core.catalog_read() {
                    self.names.catalog_read(&catalog);
                }
            }
        }
    }
}

/// The server's answer could not be read. The statement that waits for it is refused.
fn question_failed(core: &mut Core, reason: &str) {
    core.catalog_failed(
        reason,
        "See that this user may read information_schema, then send the statement again.",
    );
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldveil_mysql_wire::packet::Header;

    use super::*;
    use crate::mysql::packets::ServerPackets;
    use crate::mysql::statements::Statements;

    /// Gives the question an answer of one packet. Returns whether that completes it.
    fn answer(query: &mut OwnQuery, core: &mut Core, payload: &[u8]) -> Result<bool, &'static str> {
        let mut bytes = vec![u8::try_from(payload.len()).unwrap(), 0, 0, 1];
        bytes.extend_from_slice(payload);
        let mut cx = ResponseContext {
            core,
            sql: &mut SqlContext::default(),
            statements: &mut Statements::default(),
            server: &mut ServerPackets::default(),
            capabilities: Capabilities::default(),
            has_more: false,
        };
        let header = Header::peek(&bytes).unwrap();
        let packet = ServerPacket { header, first: payload[0], rest: &bytes };
        Ok(matches!(query.read(packet, &mut cx)?, Progress::Complete(_)))
    }

    fn identity() -> OwnQuery {
        OwnQuery { question: Question::Identity, progress: ResultProgress::default() }
    }

    #[test]
    fn refused_question_ends_the_waiting_and_fails_the_statement() {
        let mut core = Core::settled();
        core.waiting = Waiting::Server;
        assert_eq!(answer(&mut identity(), &mut core, b"\xff\x48\x04#HY000no"), Ok(true));
        assert_eq!(core.waiting, Waiting::No);
        assert!(core.catalog.failed.is_some());
    }

    #[test]
    fn question_for_the_identity_without_a_row_fails_the_statement() {
        let mut core = Core::settled();
        core.waiting = Waiting::Server;
        assert_eq!(answer(&mut identity(), &mut core, b"\x00\x00\x00\x02\x00\x00\x00"), Ok(true));
        assert!(core.catalog.failed.take().unwrap().message.contains(NOT_IDENTIFIED));
    }

    #[test]
    fn question_that_is_answered_in_part_is_waited_for() {
        let mut core = Core::settled();
        core.waiting = Waiting::Server;
        assert_eq!(answer(&mut identity(), &mut core, b"\x0b"), Ok(false));
        assert_eq!(core.waiting, Waiting::Server);
        // No question makes the server ask for a file.
        assert_eq!(answer(&mut identity(), &mut core, b"\xfbfile"), Err(OUT_OF_PLACE));
    }

    #[test]
    fn a_row_that_was_not_asked_for_says_nothing_of_the_identity() {
        let mut answers = OwnAnswers::default();
        assert_eq!(answers.row(&mut Question::Identity, b"\x01a"), Err(NOT_IDENTIFIED));
        assert!(answers.identity.is_none());
        assert_eq!(answers.bytes(), 0);
        assert!(answers.take_catalog().is_none());
    }
}
