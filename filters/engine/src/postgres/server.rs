//! Reads a message from the server. What it means depends on the message of the client that it answers.

mod data;
mod description;
mod error;

use fieldveil_pg_wire::Header;
use fieldveil_pg_wire::backend::{ParameterStatus, ReadyForQuery, TransactionStatus, tag};
use fieldveil_pg_wire::frame::HEADER_LEN;

use super::copy::CopyOut;
use super::pending::{Awaited, Origin};
use super::{CallbackOutput, Session, State, Step, Swallowing, Waiting};

/// What happens to the message.
pub(super) enum Fate {
    /// It is forwarded to the client unchanged.
    Pass,
    /// It is dropped, or something else was written in its place.
    Taken,
}

const OUT_OF_PLACE: &str = "an answer to another message than the one in flight";
pub(super) const MALFORMED: &str = "a malformed message";

impl Session {
    /// Reads the next message of the server.
    pub(super) fn server_step(
        &mut self,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if rest.is_empty() {
            return Ok(Step::More);
        }
        if matches!(self.state, State::Passing) {
            self.server.pass = rest.len();
            return Ok(Step::Took(0));
        }
        let encryption = matches!(self.pending.head().map(|e| &e.awaited), Some(Awaited::Encryption));
        if encryption || matches!(self.state, State::Startup | State::AwaitingPolicy(_)) {
            return self.startup_answer(rest, out);
        }
        let Some(header) = Header::peek(rest).map_err(|_| MALFORMED)? else { return Ok(Step::More) };
        if !tag::is_known(header.tag) {
            return Err("an unknown message type");
        }
        if self.streams(header) {
            return Ok(self.server.pass_message(header.total_len(), rest.len()));
        }
        let Some(message) = rest.get(..header.total_len()) else {
            return self.long_message(header, rest, out);
        };
        let body = message.get(HEADER_LEN..).unwrap_or_default();
        if header.tag == tag::DATA_ROW {
            self.rows_come(rest);
        }
        Ok(match self.server_message(header.tag, body, out)? {
            Fate::Pass => Step::Pass(message.len()),
            Fate::Taken => Step::Took(message.len()),
        })
    }

    /// Whether the message is forwarded unread, whatever its length.
    fn streams(&mut self, header: Header) -> bool {
        if self.swallowing == Swallowing::UntilReady {
            return false;
        }
        match header.tag {
            tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE => true,
            tag::COPY_DATA => self.copy_out.is_none(),
            tag::DATA_ROW => match self.pending.head().map(|e| (&e.awaited, e.origin)) {
                Some((Awaited::Query(checked, _, plan), _)) => {
                    plan.as_ref().map_or(!checked.touched, |plan| plan.is_empty())
                }
                Some((Awaited::Execute(Some(portal)), _)) => !portal.checked.returns_protected(),
                Some((Awaited::Execute(None), _)) => true,
                _ => false,
            },
            _ => false,
        }
    }

    fn server_message(
        &mut self,
        tag: u8,
        body: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        if tag == tag::PARAMETER_STATUS {
            return self.parameter_status(body);
        }
        if matches!(self.state, State::Authenticating) && tag != tag::ERROR_RESPONSE {
            return self.authentication_message(tag, body, out);
        }
        match tag {
            tag::READY_FOR_QUERY => self.ready_for_query(body),
            tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE => Ok(Fate::Pass),
            _ if self.swallowing == Swallowing::UntilReady => self.swallow(tag, body, out),
            _ => self.answer(tag, body, out),
        }
    }

    /// Reads a message that answers the entry at the head of the queue.
    fn answer(&mut self, tag: u8, body: &[u8], out: &mut CallbackOutput) -> Result<Fate, &'static str> {
        match tag {
            tag::ERROR_RESPONSE => return self.error_response(body, out),
            tag::AUTHENTICATION | tag::BACKEND_KEY_DATA | tag::NEGOTIATE_PROTOCOL_VERSION => {
                return Ok(Fate::Pass);
            }
            _ => {}
        }
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let fate = match entry.origin {
            Origin::Client => Fate::Pass,
            Origin::Injected => Fate::Taken,
        };
        match (tag, &mut entry.awaited) {
            (tag::PARSE_COMPLETE, Awaited::Parse(statement)) => {
                if let Some(statement) = statement {
                    statement.confirmed.set(true);
                }
                self.pending.pop();
            }
            (tag::BIND_COMPLETE, Awaited::Bind(_)) | (tag::CLOSE_COMPLETE, Awaited::Close) => {
                self.pending.pop();
            }
            (tag::NO_DATA, Awaited::DescribeStatement(_) | Awaited::DescribePortal(_)) => {
                self.pending.pop();
            }
            (
                tag::COMMAND_COMPLETE | tag::EMPTY_QUERY_RESPONSE | tag::PORTAL_SUSPENDED,
                Awaited::Execute(_),
            ) => {
                self.pending.executed(body);
                self.copy_out = None;
            }
            (tag::COMMAND_COMPLETE, Awaited::Catalog) => {
                self.pending.pop();
                self.catalog_read();
                self.core.waiting = Waiting::No;
            }
            (tag::COMMAND_COMPLETE, Awaited::Identity) => {
                self.pending.pop();
                self.identity_read();
                if self.core.catalog.reading.is_none() {
                    self.core.waiting = Waiting::No;
                }
            }
            (tag::COMMAND_COMPLETE | tag::EMPTY_QUERY_RESPONSE, Awaited::Query(_, statement, rows)) => {
                *rows = None;
                *statement = statement.saturating_add(1);
                self.copy_out = None;
            }
            (tag::DATA_ROW, _) => return self.data_row(body, out),
            (tag::PARAMETER_DESCRIPTION, _) => return self.parameter_description(body, fate, out),
            (tag::ROW_DESCRIPTION, _) => return self.row_description(body, fate, out),
            (tag::COPY_IN_RESPONSE, Awaited::Query(..) | Awaited::Execute(_)) => {
                self.copy_in = !self.pending.begin_copy();
            }
            (tag::COPY_OUT_RESPONSE, Awaited::Query(..) | Awaited::Execute(_)) => {
                let checked = entry.executed();
                self.copy_out =
                    checked.and_then(|checked| checked.copy().and_then(|copy| CopyOut::new(checked, copy)));
            }
            (tag::COPY_DATA, Awaited::Query(..) | Awaited::Execute(_)) => return self.copy_row(body, out),
            (tag::COPY_DONE | tag::COPY_BOTH_RESPONSE, Awaited::Query(..) | Awaited::Execute(_))
            | (tag::FUNCTION_CALL_RESPONSE, Awaited::FunctionCall) => {}
            _ => return Err(OUT_OF_PLACE),
        }
        Ok(fate)
    }

    fn parameter_status(&mut self, body: &[u8]) -> Result<Fate, &'static str> {
        let status = ParameterStatus::parse(body).map_err(|_| MALFORMED)?;
        match status.name {
            b"client_encoding" => {
                self.settings.utf8 = status.value.eq_ignore_ascii_case(b"UTF8");
                self.core.catalog.current = None;
            }
            b"standard_conforming_strings" => self.settings.standard_strings = status.value == b"on",
            b"application_name" if status.value != self.core.input.session.application_name.as_bytes() => {
                self.core.identity.may_change();
            }
            b"session_authorization" => self.core.identity.may_change(),
            b"search_path" if status.value != self.settings.search_path => {
                self.settings.search_path = status.value.to_vec();
                self.core.catalog.current = None;
            }
            _ => {}
        }
        Ok(Fate::Pass)
    }

    fn ready_for_query(&mut self, body: &[u8]) -> Result<Fate, &'static str> {
        self.status = ReadyForQuery::parse(body).map_err(|_| MALFORMED)?.status;
        self.swallowing = Swallowing::No;
        self.pending.end_group(self.status);
        let entry = self.pending.pop().ok_or(OUT_OF_PLACE)?;
        if !matches!(entry.awaited, Awaited::Query(..) | Awaited::Sync | Awaited::FunctionCall) {
            return Err(OUT_OF_PLACE);
        }
        if self.pending.is_empty() {
            self.block.is_open = self.status == TransactionStatus::InTransaction;
        }
        if self.pending.is_empty() && self.status == TransactionStatus::Idle {
            self.statements.forget_portals();
            drop(self.statements.by_sql.cursors.end_transaction(false));
            self.block.changed_catalog = false;
            self.block.changed_identity = false;
            self.core.identity.words.transaction_ended();
        }
        Ok(match entry.origin {
            Origin::Client => Fate::Pass,
            Origin::Injected => Fate::Taken,
        })
    }
}
