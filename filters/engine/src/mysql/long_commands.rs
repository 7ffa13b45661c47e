//! Commands that are too long to be held: they pass as they come where nothing in them is protected, under the plan that
//! is in force then. Where the plan protects something, the begin of a text says which table it is about, and each byte behind
//! that is read as it passes.

use std::rc::Rc;

use fieldveil_mysql_wire::Capabilities;
use fieldveil_mysql_wire::command::NO_ATTRIBUTES;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use fieldveil_sql::LongRest;
use fieldveil_sql::identity::{self, Comment};

use super::check::{Rechecked, note_execution, unchecked};
use super::pending::{Awaited, PendingResponse, PendingResults, Preparing, Single};
use super::query::ReadyText;
use super::statements::Statement as PreparedStatement;
use super::{Phase, Session};
use crate::client_error::ClientError;
use crate::database::{CallbackOutput, CheckedText, Step, Unread};

/// Bytes of a text in which its begin stands: its verb, its table and its columns.
const HEAD: usize = 16 << 10;
/// What goes to the server in the place of what may not. It stands in no statement, so that the server refuses the text.
const NOTHING: u8 = 1;

/// What the text of a long command is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LongText {
    /// That of a COM_QUERY.
    Query,
    /// That of a COM_STMT_PREPARE.
    Prepare,
}

/// A text that passes as it comes.
pub(super) struct TextTransfer {
    rest: LongRest,
    /// Bytes before what `rest` reads.
    head: usize,
    /// Bytes of the packet that have not come yet.
    left: usize,
    is_last: bool,
    /// Something came that may not be sent.
    is_refused: bool,
}

impl TextTransfer {
    fn begin_packet(&mut self, header: Header) {
        (self.left, self.is_last) = (header.payload_len, !header.is_continued());
    }

    fn has_ended(&self) -> bool {
        self.left == 0 && self.is_last
    }

    fn push(&mut self, piece: &[u8], to_server: &mut Vec<u8>) {
        self.left = self.left.saturating_sub(piece.len());
        let (head, rest) = piece.split_at(self.head.min(piece.len()));
        self.head = self.head.saturating_sub(head.len());
        to_server.extend_from_slice(head);
        // Behind the last semicolon nothing can follow.
        let ends = rest.strip_suffix(b";").filter(|_| self.has_ended());
        let passes = match self.is_refused {
            true => 0,
            false => self.rest.push(ends.unwrap_or(rest)).unwrap_or(rest.len()),
        };
        let (passing, refused) = rest.split_at(passes.min(rest.len()));
        to_server.extend_from_slice(passing);
        to_server.extend(refused.iter().map(|_| NOTHING));
        self.is_refused |= !refused.is_empty();
    }
}

impl Session {
    /// A text. None if it is to be held, or to be refused for its length.
    pub(super) fn stream_text(
        &mut self,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        match self.before_statement(b"", &Comment::Nothing, out) {
            Ok(None) => return Some(Step::More),
            Err(error) => return Some(self.client.refuse(header, error)),
            Ok(Some(plan)) if plan.fields.is_empty() && !plan.reads_comments => {}
            Ok(Some(_)) => return self.stream_checked_text(LongText::Query, header, rest, out),
        }
        let checked = unchecked(&self.core)?;
        note_execution(&mut self.core, &checked);
        self.pending.push(PendingResponse::client(Awaited::Results(PendingResults::text(checked))));
        Some(self.client.pass(header))
    }

    /// A text under a plan that protects something, or a statement's that is prepared. None as for any.
    pub(super) fn stream_checked_text(
        &mut self,
        kind: LongText,
        header: Header,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        let (packet_header, payload) = bytes.split_at_checked(HEADER_LEN)?;
        if payload.len() < HEAD {
            return Some(Step::More);
        }
        let (_, mut text) = payload.get(..HEAD)?.split_first()?;
        if kind == LongText::Query && self.capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            text = text.strip_prefix(NO_ATTRIBUTES)?;
        }
        let before = HEAD.checked_sub(text.len())?;
        self.sql.settings.readable().ok()?;
        let (head, length) = self.sql.settings.long_head(text, kind == LongText::Prepare)?;
        if identity::may_mention(head.probe.as_bytes()) {
            return None;
        }
        // The table may have been made since the catalog was read.
        let plan = match self.before_statement(head.probe.as_bytes(), &Comment::Nothing, out) {
            Ok(None) => return Some(Step::More),
            Err(error) => return Some(self.refuse_text(kind, header, error)),
            Ok(Some(plan)) => plan,
        };
        let checked = self.sql.check_text(&self.core, head.probe.as_bytes(), &plan).ok()?;
        if !passes(&checked) {
            return None;
        }
        let awaited = match kind {
            LongText::Query => {
                note_execution(&mut self.core, &checked);
                Awaited::Single(Single::Nothing)
            }
            LongText::Prepare => {
                let has_room = self.statements.has_room(head.probe.as_bytes());
                if let Err(error) = has_room.and_then(|()| self.core.memory.may_keep()) {
                    return Some(self.refuse_text(kind, header, error));
                }
                let counter = self.statements.counter();
                let ready = ReadyText::of_begin(&head.probe, plan);
                let charset = self.sql.settings.client;
                let mut statement = PreparedStatement::new(ready, charset, Rc::clone(&checked), counter);
                statement.is_begin = true;
                Awaited::Prepare(Preparing::new(Rc::new(statement), checked))
            }
        };
        self.pending.push(PendingResponse::client(awaited));
        let before = before.saturating_add(length);
        let mut text =
            TextTransfer { rest: head.rest, head: before, left: 0, is_last: false, is_refused: false };
        text.begin_packet(header);
        self.client.last_sequence = header.sequence;
        self.phase = Phase::SendingText(Box::new(text));
        out.to_server.extend_from_slice(packet_header);
        Some(Step::TookHead(HEADER_LEN, Unread::Pieces(header.payload_len)))
    }

    /// Refuses a long text. If it was to be prepared, there is no statement that was prepared last.
    fn refuse_text(&mut self, kind: LongText, header: Header, error: ClientError) -> Step {
        if kind == LongText::Prepare {
            self.statements.failed();
        }
        self.client.refuse(header, error)
    }

    /// Reads the header of a packet that continues such a text.
    pub(super) fn read_text_packet(&mut self, header: Header, rest: &[u8], out: &mut CallbackOutput) -> Step {
        let Phase::SendingText(text) = &mut self.phase else { return Step::More };
        text.begin_packet(header);
        self.client.last_sequence = header.sequence;
        out.to_server.extend_from_slice(rest.get(..HEADER_LEN).unwrap_or_default());
        self.end_text();
        match header.payload_len {
            0 => Step::Took(HEADER_LEN),
            length => Step::TookHead(HEADER_LEN, Unread::Pieces(length)),
        }
    }

    /// Reads a piece of one.
    pub(super) fn read_text_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        let Phase::SendingText(text) = &mut self.phase else { return };
        text.push(piece, &mut out.to_server);
        self.end_text();
    }

    /// Takes commands again when the whole text has come.
    fn end_text(&mut self) {
        let Phase::SendingText(text) = &self.phase else { return };
        if !text.has_ended() {
            return;
        }
        if text.is_refused {
            self.pending.refuse_last(too_long());
        }
        self.phase = Phase::Ready;
    }

    /// The execution of a prepared statement. None as for a text.
    pub(super) fn stream_execution(
        &mut self,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        let id = rest.get(HEADER_LEN.saturating_add(1)..)?.first_chunk().map(|id| u32::from_le_bytes(*id))?;
        let statement = self.statements.get(id).cloned()?;
        let plan = match self.before_statement(&statement.text, &statement.mentions.comment, out) {
            Ok(None) => return Some(Step::More),
            Err(error) => return Some(self.client.refuse(header, error)),
            Ok(Some(plan)) => plan,
        };
        let Ok(Rechecked::Same(checked)) = self.sql.recheck(&self.core, &statement, &plan) else {
            return None;
        };
        let passes = !checked.touched && !checked.goes_by_name() && !statement.mentions.has_parameters();
        if !passes || id != statement.server_id.get() {
            return None;
        }
        statement.checked.replace(Rc::clone(&checked));
        // The types that it brings are not read; the server takes them.
        statement.reset();
        self.core.identity.words.give_all(&statement.mentions.given);
        note_execution(&mut self.core, &checked);
        let answer = PendingResults::execution(checked, statement);
        self.pending.push(PendingResponse::client(Awaited::Results(answer)));
        Some(self.client.pass(header))
    }
}

/// Whether a text may pass that does what this one does.
pub(super) fn passes(checked: &CheckedText) -> bool {
    let analysis = &checked.analysis;
    let is_one = matches!(analysis.statements.as_slice(), [statement] if statement.client_file.is_none());
    is_one
        && !checked.touched
        && !checked.goes_by_name()
        && analysis.splices.is_empty()
        && analysis.parameters.is_empty()
}

/// The error of a command that is longer than what is held of one.
pub(super) fn too_long() -> ClientError {
    ClientError::limit(
        "the command is longer than the 16 MiB that are read of one",
        "Send the statement in parts, or its values as parameters. INSERT, REPLACE and UPDATE of one table that is not \
protected may be longer, if their values are literals.",
    )
}
