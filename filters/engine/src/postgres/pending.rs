//! The answers that the server still owes, in order: one entry for each message that went to it. Whatever
//! comes back is read in the light of the entry at the head, so that refusals and injected work keep their
//! place among the client's own.

use std::collections::VecDeque;
use std::rc::Rc;

use fieldveil_pg_wire::backend::TransactionStatus;

use super::rows::RowPlan;
use super::statements::{Portal, Statement, Undo};
use crate::client_error::ClientError;
use crate::database::Checked;

/// Entries held at most. A client that pipelines more waits for answers.
pub const MAX_IN_FLIGHT: usize = 65_536;
/// Bytes that they take, with what is known of their statements, from which on the client waits for answers.
pub const MAX_IN_FLIGHT_BYTES: usize = 16 << 20;

/// Whose message an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The client's: the answer is passed on.
    Client,
    /// The filter's: the answer is swallowed.
    Injected,
}

/// Which message an answer belongs to.
pub enum Awaited {
    /// SSLRequest or GSSENCRequest: one byte.
    Encryption,
    /// Parse.
    Parse(Option<Rc<Statement>>),
    /// Bind, with the portal that it opens: that is to be taken back if it fails or is skipped.
    Bind(Option<Rc<Portal>>),
    /// Describe of a statement.
    DescribeStatement(Option<Rc<Statement>>),
    /// Describe of a portal.
    DescribePortal(Option<Rc<Portal>>),
    /// Execute.
    Execute(Option<Rc<Portal>>),
    /// Close.
    Close,
    /// Query, with the number of the statement in its text that is being answered, and what its rows get once a
    /// RowDescription told.
    Query(Rc<Checked>, usize, Option<Rc<RowPlan>>),
    /// FunctionCall.
    FunctionCall,
    /// Sync.
    Sync,
    /// CopyDone or CopyFail: no answer of its own, but it ends the mode in which the server ignores Syncs.
    CopyEnd,
    /// The Execute of the question who the session is for.
    Identity,
    /// The catalog query's Execute: its rows are the catalog.
    Catalog,
    /// A message that makes the server end the session.
    End,
}

/// One message's answer.
pub struct PendingResponse {
    /// Which message.
    pub awaited: Awaited,
    /// Whose.
    pub origin: Origin,
    /// The error that the client gets in place of the server's: the message was replaced by one that must fail.
    pub refused: Option<ClientError>,
    /// What to take back if the message fails or is skipped.
    pub undo: Vec<Undo>,
    /// What the statements of its text prepared, each by its number in the text, to be taken back likewise.
    pub names: Vec<(usize, Undo)>,
    /// The number of the COPY from the client that it begins.
    pub copy: Option<u64>,
    /// Bytes that it takes, since it went.
    bytes: usize,
    /// How many went before it.
    number: u64,
}

impl PendingResponse {
    /// For a message of the client.
    pub fn client(awaited: Awaited) -> Self {
        Self {
            awaited,
            origin: Origin::Client,
            refused: None,
            undo: Vec::new(),
            names: Vec::new(),
            copy: None,
            bytes: 0,
            number: 0,
        }
    }

    /// For a message of the filter.
    pub fn injected(awaited: Awaited) -> Self {
        Self { origin: Origin::Injected, ..Self::client(awaited) }
    }

    /// For a message that was replaced by one that must fail.
    pub fn refused(awaited: Awaited, error: ClientError) -> Self {
        Self { refused: Some(error), ..Self::client(awaited) }
    }

    /// With the COPY from the client that it begins.
    pub fn copy(mut self, number: Option<u64>) -> Self {
        self.copy = number;
        self
    }

    /// With what its text prepares.
    pub fn names(mut self, names: Vec<(usize, Undo)>) -> Self {
        self.names = names;
        self
    }

    /// What the statement that it executes was checked to be.
    pub fn executed(&self) -> Option<&Rc<Checked>> {
        match &self.awaited {
            Awaited::Query(checked, ..) => Some(checked),
            Awaited::Execute(Some(portal)) => Some(&portal.checked),
            _ => None,
        }
    }

    /// Bytes that it takes, with what is known of a statement that came with it.
    fn weigh(&self) -> usize {
        let awaited = match &self.awaited {
            Awaited::Query(checked, ..) => checked.weight.bytes(),
            Awaited::Parse(Some(statement)) => statement.bytes(),
            Awaited::Bind(Some(portal)) => portal.weight.bytes(),
            _ => 0,
        };
        let refused =
            self.refused.as_ref().map_or(0, |error| error.message.len().saturating_add(error.hint.len()));
        let own = size_of::<Self>().saturating_add(awaited).saturating_add(refused);
        if self.undo.is_empty() && self.names.is_empty() {
            return own;
        }
        let undo = self.undo.iter().chain(self.names.iter().map(|(_, undo)| undo));
        undo.map(Undo::bytes).fold(own, usize::saturating_add)
    }

    /// With something to take back on failure.
    pub fn undo(mut self, undo: impl IntoIterator<Item = Undo>) -> Self {
        self.undo = Vec::from_iter(undo);
        self
    }
}

/// The queue.
#[derive(Default)]
pub struct PendingResponses {
    entries: VecDeque<PendingResponse>,
    /// How many went since the session began.
    pushed: u64,
    bytes: usize,
    /// The server was asked to send its answers to all of them.
    is_flushed: bool,
    in_block: bool,
    is_kept: bool,
}

impl PendingResponses {
    /// A message went to the server.
    pub fn push(&mut self, mut entry: PendingResponse) {
        entry.bytes = entry.weigh();
        entry.number = self.pushed;
        self.pushed = self.pushed.saturating_add(1);
        if let Awaited::Parse(Some(statement)) = &entry.awaited {
            statement.parse_number.set(entry.number);
        }
        self.bytes = self.bytes.saturating_add(entry.bytes);
        self.is_flushed = false;
        self.entries.push_back(entry);
    }

    fn pop_front(&mut self) -> Option<PendingResponse> {
        let entry = self.entries.pop_front()?;
        self.bytes = self.bytes.saturating_sub(entry.bytes);
        Some(entry)
    }

    /// Bytes that all take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether they take so much that no more statements may be sent for now.
    pub fn is_heavy(&self) -> bool {
        self.bytes >= MAX_IN_FLIGHT_BYTES
    }

    /// Whether the server is to be asked to send the answers that it has: once for what is in flight.
    pub fn is_to_be_flushed(&mut self) -> bool {
        !std::mem::replace(&mut self.is_flushed, true)
    }

    /// Whether answers are sure to come, and more may be sent when they have.
    pub fn is_heavy_and_flushed(&self) -> bool {
        self.is_heavy() && self.is_flushed
    }

    /// The message that is being answered.
    pub fn head(&mut self) -> Option<&mut PendingResponse> {
        while self.entries.front().is_some_and(|e| matches!(e.awaited, Awaited::CopyEnd)) {
            self.pop_front();
        }
        self.entries.front_mut()
    }

    /// The head's answer is complete.
    pub fn pop(&mut self) -> Option<PendingResponse> {
        self.head()?;
        self.pop_front()
    }

    /// The COPY from the client that is on its way, or being answered, is to fail: the client gets this error.
    pub fn refuse_copy(&mut self, number: u64, error: ClientError) {
        // It is among the last that went.
        if let Some(entry) = self.entries.iter_mut().rev().find(|entry| entry.copy == Some(number)) {
            entry.refused = Some(error);
        }
    }

    /// Whether every message was answered.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(|e| matches!(e.awaited, Awaited::CopyEnd))
    }

    /// Whether a Parse of this statement is not answered yet: answers come in the order of the messages.
    pub fn parses(&self, statement: &Statement) -> bool {
        self.entries.front().is_some_and(|first| first.number <= statement.parse_number.get())
    }

    /// Whether no more may be sent for now.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= MAX_IN_FLIGHT
    }

    /// After an error in the extended protocol the server skips all up to the next Sync: so do the entries.
    /// Returns them, and whether that Sync is on its way already.
    pub fn skip_to_sync(&mut self) -> (Vec<PendingResponse>, bool) {
        let sync = self.entries.iter().position(|e| matches!(e.awaited, Awaited::Sync));
        let skipped: Vec<PendingResponse> =
            self.entries.drain(..sync.unwrap_or(self.entries.len())).collect();
        self.bytes = skipped.iter().fold(self.bytes, |bytes, entry| bytes.saturating_sub(entry.bytes));
        (skipped, sync.is_some())
    }

    /// Whether the server, before the next Sync, does anything behind the head that a client could take for undone by the
    /// head's error: all but to describe and to close.
    pub fn acts_behind_head(&self) -> bool {
        let harmless = |entry: &PendingResponse| {
            use Awaited::{Close, DescribePortal, DescribeStatement};
            matches!(entry.awaited, DescribeStatement(_) | DescribePortal(_) | Close)
        };
        let group = self.entries.iter().skip(1).take_while(|e| !matches!(e.awaited, Awaited::Sync));
        group.into_iter().any(|entry| !harmless(entry))
    }

    /// The Execute at the head is answered, with this CommandComplete where it is complete.
    pub fn executed(&mut self, command: &[u8]) {
        let only_reads =
            |entry: PendingResponse| entry.executed().is_some_and(|checked| checked.only_reads());
        let only_reads = self.pop().is_some_and(only_reads);
        if command.starts_with(b"BEGIN\0") || command.starts_with(b"START TRANSACTION\0") {
            self.in_block = true;
        } else if command.starts_with(b"COMMIT\0") || command.starts_with(b"ROLLBACK\0") {
            self.in_block = false;
            self.is_kept = true;
        } else {
            self.is_kept |= !only_reads && !self.in_block;
        }
    }

    /// Whether the server, since its last ReadyForQuery, has done what it keeps whatever the client is told now: it has
    /// ended a transaction block, or has executed outside one what may have done more than read, which the Sync commits.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// The server is ready for the next group.
    pub fn end_group(&mut self, status: TransactionStatus) {
        self.in_block = status != TransactionStatus::Idle;
        self.is_kept = false;
    }

    /// Whether the Sync behind the head is on its way already.
    pub fn has_sync(&self) -> bool {
        self.entries.iter().any(|e| matches!(e.awaited, Awaited::Sync))
    }

    /// The server begins to read COPY data: it ignores the Syncs before CopyDone. Returns whether CopyDone is
    /// on its way already.
    pub fn begin_copy(&mut self) -> bool {
        let end = self.entries.iter().position(|e| matches!(e.awaited, Awaited::CopyEnd));
        let mut index = 0_usize;
        self.entries.retain(|e| {
            let before_end = end.is_none_or(|end| index < end);
            index = index.saturating_add(1);
            !(before_end && matches!(e.awaited, Awaited::Sync))
        });
        self.bytes = self.entries.iter().fold(0, |bytes, entry| bytes.saturating_add(entry.bytes));
        end.is_some()
    }
}
