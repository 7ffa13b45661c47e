//! Reads a message from the server. What it means depends on the message of the client that it answers.

mod data;
mod description;
mod error;

use fieldveil_postgres_wire::backend::{
    CopyInResponse, ParameterStatus, ReadyForQuery, Tag, TransactionStatus,
};
use fieldveil_postgres_wire::frame::HEADER_LEN;
use fieldveil_postgres_wire::{Format, Header};
use fieldveil_sql::ClientData;

use super::copy::{self, CopyOut};
use super::pending::{Awaited, OUT_OF_PLACE, Origin};
use super::{CallbackOutput, ReadySession, Step};
use crate::database::Core;

/// What happens to the message.
pub(super) enum Fate {
    /// It is forwarded to the client unchanged.
    Pass,
    /// It is dropped, or something else was written in its place.
    Taken,
}

impl Fate {
    /// Returns the step past a message with this body.
    #[inline]
    pub fn step(self, body: &[u8]) -> Step {
        let length = HEADER_LEN.saturating_add(body.len());
        match self {
            Self::Pass => Step::Pass(length),
            Self::Taken => Step::Took(length),
        }
    }
}

pub(super) const MALFORMED: &str = "a malformed message";

impl ReadySession {
    /// Reads the next message of the server.
    pub(super) fn read_server(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(header) = Header::peek(rest).map_err(|_| MALFORMED)? else { return Ok(Step::More) };
        let tag = Tag::of(header.tag).ok_or("an unknown message type")?;
        if self.streams(tag) {
            return Ok(Step::Pass(header.total_len()));
        }
        let Some(message) = rest.get(..header.total_len()) else {
            return self.long_message(tag, header, rest, core, out);
        };
        let body = message.get(HEADER_LEN..).unwrap_or_default();
        if copy::holds_row(tag) {
            self.rows_come(tag, rest, core);
        }
        Ok(self.server_message(tag, body, core, out)?.step(body))
    }

    /// Whether the message is forwarded unread, whatever its length.
    #[inline]
    fn streams(&mut self, tag: Tag) -> bool {
        if self.pending.is_withheld() {
            return false;
        }
        match tag {
            Tag::NoticeResponse | Tag::NotificationResponse => true,
            Tag::CopyData => self.copies.from_server.is_none(),
            Tag::DataRow => self.pending.rows_pass(),
            _ => false,
        }
    }

    fn server_message(
        &mut self,
        tag: Tag,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        if tag == Tag::ParameterStatus {
            return self.parameter_status(body, core);
        }
        match tag {
            Tag::ReadyForQuery => self.ready_for_query(body, core),
            Tag::NoticeResponse | Tag::NotificationResponse => Ok(Fate::Pass),
            _ if self.pending.is_withheld() => self.swallow(tag, body, core, out),
            _ => self.answer(tag, body, core, out),
        }
    }

    /// Reads a message that answers the entry at the head of the queue.
    fn answer(
        &mut self,
        tag: Tag,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        match tag {
            Tag::ErrorResponse => return self.error_response(body, core, out),
            Tag::Authentication | Tag::BackendKeyData | Tag::NegotiateProtocolVersion => {
                return Ok(Fate::Pass);
            }
            // These answer nothing, and were read before.
            Tag::NoticeResponse | Tag::NotificationResponse | Tag::ParameterStatus | Tag::ReadyForQuery => {
                return Err(OUT_OF_PLACE);
            }
            // Each of these answers a message of its kind. A tag that is new must be named here, or this does not compile.
            Tag::ParseComplete
            | Tag::BindComplete
            | Tag::CloseComplete
            | Tag::NoData
            | Tag::CommandComplete
            | Tag::EmptyQueryResponse
            | Tag::PortalSuspended
            | Tag::DataRow
            | Tag::ParameterDescription
            | Tag::RowDescription
            | Tag::CopyInResponse
            | Tag::CopyOutResponse
            | Tag::CopyBothResponse
            | Tag::CopyData
            | Tag::CopyDone
            | Tag::FunctionCallResponse => {}
        }
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let fate = match entry.origin {
            Origin::Client => Fate::Pass,
            Origin::Injected => Fate::Taken,
        };
        match (tag, &mut entry.awaited) {
            (Tag::ParseComplete, Awaited::Parse(statement)) => {
                if let Some(statement) = statement {
                    statement.confirmed.set(true);
                }
                self.pending.pop();
            }
            (Tag::BindComplete, Awaited::Bind(_)) | (Tag::CloseComplete, Awaited::Close) => {
                self.pending.pop();
            }
            (Tag::NoData, Awaited::DescribeStatement(_) | Awaited::DescribePortal(_)) => {
                self.pending.pop();
            }
            (Tag::CommandComplete | Tag::EmptyQueryResponse | Tag::PortalSuspended, Awaited::Execute(_)) => {
                if self.copies.complete() {
                    self.pending.end_copy();
                }
                self.pending.executed(body);
            }
            (Tag::CommandComplete, Awaited::OwnQuery(asked)) => {
                let asked = *asked;
                self.pending.pop();
                let is_idle = self.transaction.was_idle() && !self.pipeline.is_open();
                if let Some(catalog) = self.own_queries.complete(asked, is_idle, core) {
                    self.statements.by_sql.catalog_read(&catalog, &self.settings.encoding);
                }
            }
            (Tag::CommandComplete | Tag::EmptyQueryResponse, Awaited::Query(_, statement, treated)) => {
                *treated = None;
                *statement = statement.saturating_add(1);
                if self.copies.complete() {
                    self.pending.end_copy();
                }
            }
            (Tag::EmptyQueryResponse, Awaited::RefusedCopy(data)) => {
                let format = if *data == ClientData::Binary { Format::Binary } else { Format::Text };
                out.close |= CopyInResponse { format }.encode(&mut out.to_client).is_err();
            }
            (Tag::DataRow, _) => return self.data_row(body, core, out),
            (Tag::ParameterDescription, _) => return self.pending.parameter_description(body, fate, out),
            (Tag::RowDescription, _) => return self.pending.row_description(body, fate, out),
            (Tag::CopyInResponse, Awaited::Query(..) | Awaited::Execute(_)) => {
                let number = entry.copy;
                self.copies.take(number, self.pending.begin_copy());
                self.reopen_pipeline();
            }
            (Tag::CopyOutResponse, Awaited::Query(..) | Awaited::Execute(_)) => {
                let checked = entry.executed();
                self.copies.from_server =
                    checked.and_then(|checked| CopyOut::new(checked, checked.copy()?, &self.settings));
            }
            (Tag::CopyData, Awaited::Query(..) | Awaited::Execute(_)) => {
                return self.copy_row(body, core, out);
            }
            (Tag::CopyDone | Tag::CopyBothResponse, Awaited::Query(..) | Awaited::Execute(_))
            | (Tag::FunctionCallResponse, Awaited::FunctionCall) => {}
            _ => return Err(OUT_OF_PLACE),
        }
        Ok(fate)
    }

    fn parameter_status(&mut self, body: &[u8], core: &mut Core) -> Result<Fate, &'static str> {
        let status = ParameterStatus::parse(body).map_err(|_| MALFORMED)?;
        self.settings.report(&status, core);
        Ok(Fate::Pass)
    }

    fn ready_for_query(&mut self, body: &[u8], core: &mut Core) -> Result<Fate, &'static str> {
        let status = ReadyForQuery::parse(body).map_err(|_| MALFORMED)?.status;
        self.pending.end_group(status);
        let entry = self.pending.pop_ready().ok_or(OUT_OF_PLACE)?;
        if matches!(entry.awaited, Awaited::SyncInCopy) {
            self.pipeline.resume();
        } else if !matches!(
            entry.awaited,
            Awaited::Query(..) | Awaited::RefusedCopy(_) | Awaited::Sync | Awaited::FunctionCall
        ) {
            return Err(OUT_OF_PLACE);
        }
        let is_last = self.pending.is_empty();
        if is_last {
            self.pipeline.close();
            self.settings.encoding.settled(status == TransactionStatus::Idle);
        }
        self.transaction.report(status, is_last, core, &mut self.statements);
        Ok(match entry.origin {
            Origin::Client => Fate::Pass,
            Origin::Injected => Fate::Taken,
        })
    }
}
