//! The responses that the server still owes, in order, one entry for each message that it answers. The entry at the head says how
//! the next message of the server is read, so that refusals and the filter's own queries keep their place among the client's
//! messages. What a description says of the entry at the head is read in `server/description.rs`.

mod syncs;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_postgres_wire::backend::TransactionStatus;
use fieldveil_sql::ClientData;

use super::own_queries::Asked;
use super::rows::TreatedColumns;
use super::statements::{Portal, Statement};
use super::undo::Undo;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::CheckedText;

/// Why the connection ends where the server sends what answers nothing.
pub const OUT_OF_PLACE: &str = "an answer to another message than the one in flight";
/// The most entries. A client that pipelines more waits for responses.
pub const MAX_IN_FLIGHT: usize = 65_536;
/// As soon as the entries, with what is known of their statements, take so many bytes, the client waits for responses.
pub const MAX_IN_FLIGHT_BYTES: usize = 16 << 20;

/// Who sent the message that a response belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The client did: the response is forwarded to it.
    Client,
    /// The filter did: the client does not see the response.
    Injected,
}

/// The kind of message that a response belongs to.
pub enum Awaited {
    /// Parse.
    Parse(Option<Rc<Statement>>),
    /// Bind, with the portal that it opens, which does not exist if the Bind fails or is skipped.
    Bind(Option<Rc<Portal>>),
    /// Describe of a statement.
    DescribeStatement(Option<Rc<Statement>>),
    /// Describe of a portal.
    DescribePortal(Option<Rc<Portal>>),
    /// Execute.
    Execute(Option<Rc<Portal>>),
    /// Close.
    Close,
    /// Query, with the number of the statement in its text that is being answered, and how its rows are treated once the
    /// RowDescription has arrived.
    Query(Rc<CheckedText>, usize, Option<Rc<TreatedColumns>>),
    /// The empty Query in the place of a COPY that the filter refused: the client is asked for the data, which is dropped.
    RefusedCopy(ClientData),
    /// FunctionCall.
    FunctionCall,
    /// Sync.
    Sync,
    /// A Sync within the data of a COPY: see `pending/syncs.rs`.
    SyncInCopy,
    /// CopyDone or CopyFail, which have no response of their own but end the mode in which the server ignores Syncs.
    CopyEnd,
    /// The Execute of one of the filter's own queries.
    OwnQuery(Asked),
    /// A message that makes the server end the session.
    End,
}

/// The response to one message.
pub struct PendingResponse {
    /// The kind of the message.
    pub awaited: Awaited,
    /// Who sent the message.
    pub origin: Origin,
    /// The error that the client gets in place of the server's, where the filter sent a message that must fail.
    pub refused: Option<ClientError>,
    /// The changes to statements and portals that are undone if the message fails or is skipped.
    pub undo: Vec<Undo>,
    /// The same for what the statements of its text prepared, each with the statement's number in the text.
    pub names: Vec<(usize, Undo)>,
    /// The number of the COPY from the client that the message begins.
    pub copy: Option<u64>,
    /// The bytes that the entry takes.
    bytes: usize,
    /// How many entries were made before it.
    number: u64,
}

impl PendingResponse {
    /// Makes the entry of a message of the client.
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

    /// Makes the entry of a message of the filter.
    pub fn injected(awaited: Awaited) -> Self {
        Self { origin: Origin::Injected, ..Self::client(awaited) }
    }

    /// Makes the entry of a message that the filter replaced by one that must fail.
    pub fn refused(awaited: Awaited, error: ClientError) -> Self {
        Self { refused: Some(error), ..Self::client(awaited) }
    }

    /// Adds the COPY from the client that the message begins.
    pub fn copy(mut self, number: Option<u64>) -> Self {
        self.copy = number;
        self
    }

    /// Adds what the message's text prepares.
    pub fn names(mut self, names: Vec<(usize, Undo)>) -> Self {
        self.names = names;
        self
    }

    /// Whether the server may answer the message with nothing.
    #[inline]
    fn may_have_no_answer(&self) -> bool {
        matches!(self.awaited, Awaited::CopyEnd | Awaited::SyncInCopy)
    }

    /// Returns the checked text that the message executes.
    pub fn executed(&self) -> Option<&Rc<CheckedText>> {
        match &self.awaited {
            Awaited::Query(checked, ..) => Some(checked),
            Awaited::Execute(Some(portal)) => Some(&portal.checked),
            _ => None,
        }
    }

    /// Counts the bytes of the entry, with what is known of a statement that came with it.
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

    /// Whether the message changes what the name of a prepared statement stands for.
    fn changes_names(&self) -> bool {
        self.undo.iter().chain(self.names.iter().map(|(_, undo)| undo)).any(Undo::is_of_name)
    }

    /// Adds what is undone if the message fails.
    pub fn undo(mut self, undo: impl IntoIterator<Item = Undo>) -> Self {
        self.undo = Vec::from_iter(undo);
        self
    }
}

/// The last message that changed what the name of a prepared statement stands for.
struct NameChange {
    /// The number of its entry.
    number: u64,
    /// Whether the server executes what comes behind it even if it fails.
    is_synced: bool,
}

/// The queue of these responses.
///
/// Large: each kind of message asks the queue another question, and none sees its entries.
#[derive(Default)]
pub struct PendingResponses {
    entries: VecDeque<PendingResponse>,
    /// How many messages were sent since the session began.
    pushed: u64,
    bytes: usize,
    /// The server was asked to send its responses to all of them.
    is_flushed: bool,
    /// The server is in a transaction block.
    in_block: bool,
    /// The server has done something since its last ReadyForQuery that stays: see [`Self::is_kept`].
    is_kept: bool,
    /// The rest of the response is not for the client.
    is_withheld: bool,
    /// The last change of a prepared statement's name.
    name_change: Option<NameChange>,
}

impl PendingResponses {
    /// Appends the entry of a message that was sent to the server.
    pub fn push(&mut self, mut entry: PendingResponse) {
        entry.bytes = entry.weigh();
        entry.number = self.pushed;
        self.pushed = self.pushed.saturating_add(1);
        if let Awaited::Parse(Some(statement)) = &entry.awaited {
            statement.parse_number.set(entry.number);
        }
        if let (Awaited::Sync, Some(change)) = (&entry.awaited, &mut self.name_change) {
            change.is_synced = true;
        }
        if entry.changes_names() {
            let is_synced = matches!(entry.awaited, Awaited::Query(..));
            self.name_change = Some(NameChange { number: entry.number, is_synced });
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

    /// Counts the bytes of all entries.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the entries take so much memory that no more statements may be sent for now.
    pub fn is_heavy(&self) -> bool {
        self.bytes >= MAX_IN_FLIGHT_BYTES
    }

    /// Whether the server is to be asked to send the responses that it has. It is asked once for all that are pending.
    pub fn is_to_be_flushed(&mut self) -> bool {
        !std::mem::replace(&mut self.is_flushed, true)
    }

    /// Whether the entries take too much memory and the server was asked for the responses, so that there will be room again.
    pub fn is_heavy_and_flushed(&self) -> bool {
        self.is_heavy() && self.is_flushed
    }

    /// Returns the entry of the message that is being answered, where the answer is not a ReadyForQuery.
    #[inline]
    pub fn head(&mut self) -> Option<&mut PendingResponse> {
        while self.entries.front().is_some_and(PendingResponse::may_have_no_answer) {
            self.pop_front();
        }
        self.entries.front_mut()
    }

    /// Returns how the rows that arrive now are treated, or None while that is not known.
    #[inline]
    pub fn treated_columns(&mut self) -> Result<Option<Rc<TreatedColumns>>, &'static str> {
        match self.head().map(|entry| &entry.awaited) {
            Some(Awaited::Query(_, _, columns)) => Ok(columns.clone()),
            Some(Awaited::Execute(Some(portal))) => Ok(portal.treated_columns()),
            _ => Err(OUT_OF_PLACE),
        }
    }

    /// Whether the rows that arrive now pass unread.
    #[inline]
    pub fn rows_pass(&mut self) -> bool {
        match self.head().map(|entry| &entry.awaited) {
            Some(Awaited::Query(checked, _, columns)) => {
                columns.as_ref().map_or(!checked.touched, |columns| columns.is_empty())
            }
            Some(Awaited::Execute(portal)) => {
                portal.as_ref().is_none_or(|portal| !portal.checked.returns_protected())
            }
            _ => false,
        }
    }

    /// Returns the plan of the statement whose response arrives now.
    pub fn plan(&mut self) -> Option<Arc<CompiledPlan>> {
        self.head()?.executed().map(|checked| Arc::clone(&checked.plan))
    }

    /// Removes the head, whose response is complete.
    pub fn pop(&mut self) -> Option<PendingResponse> {
        self.head()?;
        self.pop_front()
    }

    /// Replaces the server's response to this COPY from the client by an error.
    pub fn refuse_copy(&mut self, number: u64, error: ClientError) {
        // It is among the last that went.
        if let Some(entry) = self.entries.iter_mut().rev().find(|entry| entry.copy == Some(number)) {
            entry.refused = Some(error);
        }
    }

    /// Whether every message was answered.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(PendingResponse::may_have_no_answer)
    }

    /// Whether a Parse of this statement is not answered yet: answers come in the order of the messages.
    pub fn parses(&self, statement: &Statement) -> bool {
        self.entries.front().is_some_and(|first| first.number <= statement.parse_number.get())
    }

    /// Whether it is certain what the names of prepared statements stand for when the next message is executed: the last change
    /// was answered, or the server skips the next message if that change fails.
    pub fn names_are_settled(&self) -> bool {
        let is_open = |change: &NameChange| {
            change.is_synced && self.entries.front().is_some_and(|first| first.number <= change.number)
        };
        !self.name_change.as_ref().is_some_and(is_open)
    }

    /// Whether there is no room for another message.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= MAX_IN_FLIGHT
    }

    /// Removes the entries up to the next Sync, because the server skips these messages after an error in the extended protocol.
    /// Returns the entries, and whether that Sync was sent already.
    pub fn skip_to_sync(&mut self) -> (Vec<PendingResponse>, bool) {
        let sync = self.entries.iter().position(|e| matches!(e.awaited, Awaited::Sync));
        let before = self.entries.drain(..sync.unwrap_or(self.entries.len()));
        let is_in_copy = |entry: &PendingResponse| matches!(entry.awaited, Awaited::SyncInCopy);
        let (in_copy, skipped): (Vec<_>, Vec<_>) = before.partition(is_in_copy);
        in_copy.into_iter().rev().for_each(|entry| self.entries.push_front(entry));
        self.bytes = skipped.iter().fold(self.bytes, |bytes, entry| bytes.saturating_sub(entry.bytes));
        (skipped, sync.is_some())
    }

    /// Whether a message behind the head, before the next Sync, does something that a client would believe undone by an error of
    /// the head. Every message does, except Describe and Close.
    pub fn acts_behind_head(&self) -> bool {
        let harmless = |entry: &PendingResponse| {
            use Awaited::{Close, DescribePortal, DescribeStatement};
            matches!(entry.awaited, DescribeStatement(_) | DescribePortal(_) | Close)
        };
        let group = self.entries.iter().skip(1).take_while(|e| !matches!(e.awaited, Awaited::Sync));
        group.into_iter().any(|entry| !harmless(entry))
    }

    /// Removes the Execute at the head, and notes what it did to the transaction by its CommandComplete.
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

    /// Whether the server has done something since its last ReadyForQuery that stays even if the client gets an error now: it
    /// ended a transaction block, or it executed a writing statement outside of one, which the Sync commits.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Takes over the transaction status of a ReadyForQuery.
    pub fn end_group(&mut self, status: TransactionStatus) {
        self.in_block = status != TransactionStatus::Idle;
        self.is_kept = false;
        self.is_withheld = false;
    }

    /// Withholds the rest of the response from the client, up to ReadyForQuery, because a row of it was refused.
    pub fn withhold(&mut self) {
        self.is_withheld = true;
    }

    /// Whether the rest of the response is withheld.
    pub fn is_withheld(&self) -> bool {
        self.is_withheld
    }

    /// Whether a Sync was sent behind the head.
    pub fn has_sync(&self) -> bool {
        self.entries.iter().any(|e| matches!(e.awaited, Awaited::Sync))
    }
}
