//! Questions of the filter's own to the server, on the client's connection, between two of its commands.

use std::rc::Rc;

use fieldveil_mysql_wire::command::{NO_ATTRIBUTES, Query};
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::{Capabilities, message};

use super::catalog::{self, NameFolding};
use super::check::Readiness;
use super::pending::{Asked, Awaited, PendingResponse, Question};
use super::results::{Packet, Results, Stage};
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::{CallbackOutput, Session, identity};
use crate::client_error::ClientError;
use crate::database::{CatalogReading, MAX_HELD, Step, Waiting};
use crate::field::CompiledPlan;

impl Session {
    /// Asks who the session is for.
    pub(super) fn ask_identity(&mut self, out: &mut CallbackOutput) -> Readiness {
        self.catalog_begun = None;
        self.ask(identity::QUESTION, Question::Identity, out)
    }

    /// Asks for the catalog, or for what is missing of it yet.
    pub(super) fn ask_catalog(
        &mut self,
        plan: &Rc<CompiledPlan>,
        begun: Option<Box<catalog::CatalogResponse>>,
        out: &mut CallbackOutput,
    ) -> Readiness {
        let begun = begun.filter(|begun| begun.is_of(plan));
        let mut answer = begun.unwrap_or_else(|| Box::new(catalog::CatalogResponse::new(Rc::clone(plan))));
        let text = answer.question();
        self.ask(&text, Question::Catalog(answer), out)
    }

    fn ask(&mut self, text: &str, question: Question, out: &mut CallbackOutput) -> Readiness {
        if !self.pending.is_empty() {
            self.core.waiting = Waiting::Answers;
            return Readiness::Wait;
        }
        let attributes = self.capabilities.has(Capabilities::QUERY_ATTRIBUTES).then_some(NO_ATTRIBUTES);
        let query = Query { attributes, text: text.as_bytes() };
        if query.encode(self.capabilities, &mut Sequence::default(), &mut out.to_server).is_err() {
            return Readiness::Refuse(ClientError::limit("the policy names too many tables", "Shorten it."));
        }
        self.pending
            .push(PendingResponse::injected(Awaited::Asked(Asked { question, results: Results::default() })));
        self.core.waiting = Waiting::Server;
        Readiness::Wait
    }

    /// A packet of the answer to a question: none of it is for the client.
    pub(super) fn asked_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
    ) -> Result<Step, &'static str> {
        let capabilities = self.capabilities;
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let Awaited::Asked(asked) = &mut entry.awaited else { return Err(OUT_OF_PLACE) };
        let packet = asked.results.peek(header.payload_len, first)?;
        let Some(message) = message::peek_message(rest, MAX_HELD).map_err(|_| MALFORMED)? else {
            return Ok(Step::More);
        };
        let body = message.payload.as_ref();
        asked.results.take(packet, body, capabilities)?;
        let mut failed = None;
        match (packet, &mut asked.question) {
            (Packet::Row, Question::Catalog(answer)) => failed = answer.row(body).err(),
            (Packet::Row, Question::Identity) => match identity::IdentityRow::read(body) {
                Some(answer) => self.identity = Some(answer),
                None => failed = Some("it does not say who the session is for"),
            },
            (Packet::Infile, _) => return Err(OUT_OF_PLACE),
            (Packet::Error, _) => failed = Some("the server refused the question"),
            _ => {}
        }
        let is_done = asked.results.stage == Stage::Done;
        if let Some(reason) = failed {
            self.question_failed(reason);
        }
        if is_done {
            let asked = self.pending.pop().map(|entry| entry.awaited);
            if let Some(Awaited::Asked(asked)) = asked {
                self.answered_question(asked.question);
            }
            self.core.waiting = Waiting::No;
        }
        debug_assert!(message.total_len >= HEADER_LEN);
        Ok(Step::Took(message.total_len))
    }

    fn answered_question(&mut self, question: Question) {
        if self.core.catalog.failed.is_some() {
            return;
        }
        match question {
            Question::Identity => self.identity_read(),
            Question::Catalog(mut answer) => {
                let Some(plan) = self.core.policy.plan.clone() else { return };
                let database = self.settings.database.clone();
                let folding = NameFolding {
                    plan: &plan,
                    database: &database,
                    folds_tables: self.settings.dialect.folds_tables,
                };
                if answer.answered(&folding) {
                    // The statement that waits for it comes again, and asks.
                    self.catalog_begun = Some(answer);
                    return;
                }
                self.core.catalog.reading = Some(CatalogReading::new(self.settings.dialect()));
                if let Err(reason) = answer.finish(&mut self.core, &folding) {
                    self.question_failed(reason);
                    return;
                }
                if let Some(catalog) = self.core.catalog_read() {
                    self.names.catalog_read(&catalog);
                }
            }
        }
    }

    /// The server's answer could not be read; the statement that waits for it is refused.
    pub(super) fn question_failed(&mut self, reason: &str) {
        self.core.catalog_failed(
            reason,
            "See that this user may read information_schema, then send the statement again.",
        );
    }
}
