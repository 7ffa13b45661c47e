//! A message from the client.

use std::rc::Rc;

use fieldveil_postgres_wire::frame::HEADER_LEN;
use fieldveil_postgres_wire::frontend::{Bind, Query, Tag};
use fieldveil_postgres_wire::name::significant;
use fieldveil_postgres_wire::{Header, WireError};

use super::check::Readiness;
use super::copy::{Copying, OUT_OF_PLACE};
use super::pending::{Awaited, PendingResponse};
use super::seal::server_text;
use super::{CallbackOutput, MAX_HELD, ReadySession, Step, Waiting};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core, Unread};

/// A Flush message.
const FLUSH: [u8; 5] = [Tag::Flush.code(), 0, 0, 0, 4];

/// What happened to a message.
pub(super) enum Outcome {
    /// It was carried out, or something was written in its place.
    Done,
    /// It passes unchanged, behind what was written.
    Passes,
    /// It must be read again when the session no longer waits.
    Again,
    /// The client broke the protocol, for which the session ends.
    Ends(Box<ClientError>),
}

/// Reads the header of the client's next message. Returns None if more bytes are needed.
#[inline]
pub(super) fn read_header(rest: &[u8]) -> Result<Option<(Tag, Header)>, Box<ClientError>> {
    let Some(header) = Header::peek(rest).map_err(broken)? else { return Ok(None) };
    match Tag::of(header.tag) {
        Some(tag) => Ok(Some((tag, header))),
        None => Err(Box::new(ClientError::protocol("an unknown message type"))),
    }
}

#[cold]
fn broken(error: WireError) -> Box<ClientError> {
    Box::new(ClientError::protocol(&error.to_string()))
}

impl ReadySession {
    /// Reads a message of the client. The error says how it breaks the protocol, for which the session ends.
    #[inline]
    pub(super) fn read_session_message(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, Box<ClientError>> {
        let Some((tag, header)) = read_header(rest)? else { return Ok(Step::More) };
        if self.pending.is_full() {
            core.waiting = Waiting::Answers;
            return Ok(Step::More);
        }
        if let Some(step) = self.read_control_message(tag, header, core, out)? {
            return Ok(step);
        }
        let Some(message) = rest.get(..header.total_len()) else {
            return if header.body_len > MAX_HELD {
                self.oversized(tag, header, rest, core, out)
            } else {
                Ok(Step::More)
            };
        };
        let body = message.get(HEADER_LEN..).unwrap_or_default();
        if !self.settings.encoding.now().is_utf8()
            && core.policy.protects()
            && names_in_other_encoding(tag, body)
        {
            // Those that SQL gives are kept in UTF-8.
            let what = "the name of a prepared statement or portal has characters besides ASCII";
            self.refuse_extended_message(
                ClientError::unsupported(what, "Set client_encoding to UTF8, or give it a name in ASCII."),
                core,
                out,
            );
            return Ok(Step::Took(message.len()));
        }
        let outcome = match tag {
            Tag::Query => self.query(body, core, out),
            Tag::Parse => self.parse(message, body, core, out),
            Tag::Bind => self.bind(message, body, core, out),
            Tag::Describe => self.describe(body),
            Tag::Execute => self.execute(body, core, out),
            Tag::Close => self.close(body, core),
            Tag::FunctionCall => self.function_call(body, core, out),
            // A password belongs to the authentication; the others are control messages.
            Tag::Password
            | Tag::Sync
            | Tag::Terminate
            | Tag::CopyData
            | Tag::CopyDone
            | Tag::CopyFail
            | Tag::Flush => {
                return Err(Box::new(ClientError::protocol("a message that has no place in a session")));
            }
        };
        match outcome.map_err(broken)? {
            Outcome::Done => Ok(Step::Took(message.len())),
            Outcome::Passes => Ok(Step::Pass(message.len())),
            Outcome::Again => Ok(Step::More),
            Outcome::Ends(error) => Err(error),
        }
    }

    /// Reads a message that is no statement and belongs to none, or one that is dropped or must wait. Returns None for all others.
    #[inline]
    fn read_control_message(
        &mut self,
        tag: Tag,
        header: Header,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Option<Step>, Box<ClientError>> {
        Ok(Some(match tag {
            // The client takes the server to read the data of a COPY, which was refused.
            Tag::Sync if self.copies.is_refused() => Step::Drop(header.total_len()),
            Tag::CopyDone | Tag::CopyFail if self.end_refused_copy(core, out) => {
                Step::Drop(header.total_len())
            }
            Tag::Sync => {
                let in_copy = self.copies.server_reads;
                let awaited = if in_copy { Awaited::SyncInCopy } else { Awaited::Sync };
                self.pending.push(PendingResponse::client(awaited));
                self.transaction.invalidate_if_ended(core);
                self.pipeline.sync();
                if in_copy {
                    self.reopen_pipeline();
                }
                Step::Pass(header.total_len())
            }
            Tag::Terminate => {
                core.audit.note_end(Ended::Client);
                Step::Pass(header.total_len())
            }
            // No response is pending, so no COPY is under way: a COPY that was refused left it behind, and the server would
            // ignore it.
            Tag::CopyData | Tag::CopyDone | Tag::CopyFail
                if self.pending.is_empty() && core.policy.protects() =>
            {
                Step::Drop(header.total_len())
            }
            Tag::CopyData => match self.copies.from_client {
                // It is not known yet whether the server takes a COPY, and which it is.
                Copying::No if !self.copies.server_reads && core.policy.protects() => {
                    self.wait_for_answers(core, out)
                }
                Copying::No => Step::Pass(header.total_len()),
                Copying::Failed | Copying::Refused(_) => Step::Drop(header.total_len()),
                // Its body is read piece by piece.
                Copying::Sealing(_) => Step::TookHead(HEADER_LEN, Unread::Pieces(header.body_len)),
            },
            Tag::CopyDone | Tag::CopyFail => {
                if tag == Tag::CopyDone {
                    self.copies.finish(core, &mut self.pending, out);
                }
                if !self.copies.end_from_client() {
                    return Ok(Some(Step::Drop(header.total_len())));
                }
                self.pending.push(PendingResponse::client(Awaited::CopyEnd));
                Step::Pass(header.total_len())
            }
            _ if self.copies.is_refused() && tag != Tag::Flush => {
                return Err(Box::new(ClientError::protocol(OUT_OF_PLACE)));
            }
            _ if self.pipeline.is_skipped() => Step::Drop(header.total_len()),
            Tag::Flush => Step::Pass(header.total_len()),
            _ if self.pending.is_heavy() => self.wait_for_answers(core, out),
            _ => return Ok(None),
        }))
    }

    /// Opens the pipeline again where the server ignores the Sync that was to end it, because it reads the data of a COPY: until
    /// another Sync comes, the server keeps its answer.
    pub(super) fn reopen_pipeline(&mut self) {
        let is_extended = |entry: &mut PendingResponse| matches!(entry.awaited, Awaited::Execute(_));
        if !self.pending.has_sync() && self.pending.head().is_some_and(is_extended) {
            self.pipeline.open();
        }
    }

    /// Lets the client's next message wait for responses. The server may keep its responses until a Sync, which the client sends
    /// only behind that message, so the filter asks for them with a Flush.
    fn wait_for_answers(&mut self, core: &mut Core, out: &mut CallbackOutput) -> Step {
        if self.pipeline.is_open() && self.pending.is_to_be_flushed() {
            out.to_server.extend_from_slice(&FLUSH);
        }
        core.waiting = Waiting::Answers;
        Step::More
    }

    /// Handles a message that is too long to be held. The values of a statement that touches nothing protected pass; everything
    /// else is refused.
    fn oversized(
        &mut self,
        tag: Tag,
        header: Header,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, Box<ClientError>> {
        let body = rest.get(HEADER_LEN..).unwrap_or_default();
        let error = ClientError::limit(
            "the message is longer than the 16 MiB that are read of one",
            "Send the statement's values as parameters of a statement that names no protected table, or in parts.",
        );
        match tag {
            Tag::Bind => {
                let Some((portal, name)) = Bind::peek_names(body).map_err(broken)? else {
                    return Ok(Step::More);
                };
                let statement = self.statements.statement(significant(name)).cloned();
                if let Some(statement) = &statement {
                    match self.before_statement(&statement.text, &statement.said.comment, core, out) {
                        Readiness::Wait => return Ok(Step::More),
                        Readiness::Refuse(error) => {
                            self.refuse_extended_message(error, core, out);
                            return Ok(Step::Drop(header.total_len()));
                        }
                        Readiness::Ready(_) => {}
                    }
                }
                let due = core.policy.plan.as_ref().is_none_or(|plan| self.identity_is_due(plan, core));
                let untouched = statement.filter(|s| {
                    !due && !s.said.reads_parameters()
                        && !s.checked.borrow().touched
                        && self.is_current(s, core)
                });
                if let Some(statement) = untouched {
                    let entry = self.enter_portal(portal, &statement, Vec::new());
                    self.pending.push(entry);
                    return Ok(Step::Pass(header.total_len()));
                }
                self.refuse_extended_message(error, core, out);
            }
            Tag::Query => {
                self.refuse_query(error, core, out);
            }
            Tag::Parse => self.refuse_by_parse(b"", error, core, out),
            _ => return Err(Box::new(error)),
        }
        Ok(Step::Drop(header.total_len()))
    }

    /// Carries a Query from the client to the server.
    fn query(
        &mut self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let query = Query::parse(body)?;
        if let Some(outcome) = self.in_copy(core) {
            return Ok(outcome);
        }
        let encoding = self.settings.encoding.now();
        let read = self.settings.read_statement(query.text);
        // Tokens become words, and what is not known yet of identity, plan, keys and catalog is asked for.
        let ready = match self.ready_text(&read, core, out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(ready) => Ok(ready),
        };
        // The text is checked against plan and catalog.
        let checked =
            ready.and_then(|ready| Ok((self.check_text(&ready.text, &ready.plan, core)?, ready.text)));
        // Its literals in protected places are sealed.
        let sealed = checked.and_then(|(checked, text)| {
            let text = server_text(core, text, &checked)?;
            Ok((encoding.encode_statement(text)?, checked))
        });
        let (text, checked) = match sealed {
            Ok(sealed) => sealed,
            Err(error) => {
                self.refuse_text(&read, error, core, out);
                return Ok(Outcome::Done);
            }
        };
        // It goes to the server, which owes a response.
        let outcome = match text {
            Some(text) => {
                Query { text: &text }.encode(&mut out.to_server)?;
                Outcome::Done
            }
            None => Outcome::Passes,
        };
        let entry = self.note_execution(&read, &checked, Awaited::Query(Rc::clone(&checked), 0, None), core);
        self.pending.push(entry);
        self.transaction.invalidate_if_ended(core);
        Ok(outcome)
    }

    /// Notes what a text that is about to be executed does to the session, and returns the entry of its response.
    pub(super) fn note_execution(
        &mut self,
        text: &[u8],
        checked: &Rc<CheckedText>,
        awaited: Awaited,
        core: &mut Core,
    ) -> PendingResponse {
        if core.policy.protects() {
            self.settings.encoding.execute(text, checked);
        }
        self.transaction.execute(checked, core, &mut self.statements);
        let names = self.statements.take_names(checked, core);
        let copy = self.copies.execute(checked, &self.settings, core);
        PendingResponse::client(awaited).names(names).copy(copy)
    }
}

/// Whether a message of the extended protocol has a name with characters besides ASCII.
fn names_in_other_encoding(tag: Tag, body: &[u8]) -> bool {
    let (kind, names) = match tag {
        Tag::Parse | Tag::Execute => (0, 1),
        Tag::Bind => (0, 2),
        Tag::Describe | Tag::Close => (1, 1),
        _ => return false,
    };
    let body = body.get(kind..).unwrap_or_default();
    body.split(|byte| *byte == 0).take(names).any(|name| !name.is_ascii())
}
