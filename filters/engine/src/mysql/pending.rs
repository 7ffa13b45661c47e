//! The answers that the server still owes, in order: one entry for each command that went to it and is answered.
//! Whatever comes back is read in the light of the entry at the head, so that refusals and questions of the filter's own
//! keep their place among the client's.

use std::collections::VecDeque;
use std::rc::Rc;

use fieldveil_plan::SessionInput;
use fieldveil_sql::{Results as ResultsOf, Statement as Analyzed};

use super::catalog;
use super::definitions::Coming;
use super::preparing::Prepares;
use super::results::{Packet, Results, Stage};
use super::rows::{Columns, RowPlan};
use super::statements::{Cursor, ParameterPlaces, Statement};
use crate::client_error::ClientError;
use crate::database::Checked;
use crate::memory::size_of_all;

/// Entries held at most: one takes about 200 bytes. A client that pipelines more waits for answers.
pub const MAX_IN_FLIGHT: usize = 4_096;

/// Whose command an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The client's: the answer is passed on.
    Client,
    /// The filter's: the answer is swallowed.
    Injected,
}

/// Which command an answer belongs to.
pub enum Awaited {
    /// COM_QUERY, COM_PROCESS_INFO, COM_STMT_EXECUTE, COM_STMT_FETCH.
    Results(PendingResults),
    /// COM_STMT_PREPARE.
    Prepare(Preparing),
    /// COM_FIELD_LIST: definitions up to an EOF.
    FieldList(Rc<Checked>),
    /// A question of the filter's own.
    Asked(Asked),
    /// One packet: COM_PING and its like, COM_STATISTICS.
    Single(Single),
    /// COM_CHANGE_USER, with who the session is for then.
    ChangeUser(Box<SessionInput>),
    /// A command that the server does not get to answer: the client is told why, and the session ends.
    End,
}

/// What a command of one packet's answer does to the session once it succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// Nothing.
    Nothing,
    /// Another database, other settings: names may mean something else.
    MayChangeNames,
    /// COM_RESET_CONNECTION.
    Resets,
}

/// A statement that is being prepared.
pub struct Preparing {
    /// How far the answer has come.
    pub prepares: Prepares,
    /// The statement.
    pub statement: Rc<Statement>,
    /// What its text does; the statement's own once the server has prepared it.
    pub checked: Rc<Checked>,
    /// Its parameters in the server's form, from the first packet on.
    pub places: ParameterPlaces,
    /// The columns of its result while their definitions come.
    pub columns: Option<Columns>,
}

/// A question of the filter's own.
pub struct Asked {
    /// Which.
    pub question: Question,
    /// How far the answer has come.
    pub results: Results,
}

/// What is asked.
pub enum Question {
    /// Who the session is for, and how its texts are read.
    Identity,
    /// The catalog.
    Catalog(Box<catalog::CatalogResponse>),
}

/// An answer of results.
pub struct PendingResults {
    /// What the text does.
    pub checked: Rc<Checked>,
    /// How far the answer has come.
    pub results: Results,
    /// The number in the text of the statement whose result comes, while it is known.
    number: Option<usize>,
    /// The columns of the result that comes, while their definitions come.
    pub columns: Option<Columns>,
    /// The same definitions, to be kept with the prepared statement.
    pub coming: Option<Coming>,
    /// What its rows get.
    pub rows: Option<Rc<RowPlan>>,
    /// The prepared statement that is executed or fetched from: its rows are binary.
    pub statement: Option<Rc<Statement>>,
}

impl PendingResults {
    /// Of a text.
    pub fn text(checked: Rc<Checked>) -> Self {
        let results = Results::default();
        Self { checked, results, number: Some(0), columns: None, coming: None, rows: None, statement: None }
    }

    /// Of a prepared statement that is executed.
    pub fn execution(checked: Rc<Checked>, statement: Rc<Statement>) -> Self {
        Self { statement: Some(statement), ..Self::text(checked) }
    }

    /// Of rows that are fetched.
    pub fn fetch(Cursor { checked, rows }: Cursor, statement: Rc<Statement>) -> Self {
        Self { results: Results::rows(), rows, statement: Some(statement), ..Self::text(checked) }
    }

    /// The number in the text of the statement whose result comes, while it is known.
    pub fn number(&self) -> Option<usize> {
        self.number
    }

    /// The statement of the text whose result comes, if it is known.
    pub fn executed(&self) -> Option<&Analyzed> {
        self.checked.analysis.statements.get(self.number?)
    }

    /// A result has ended, with this packet. Returns the number of the statement that has ended with it, if it is known.
    pub fn result_ended(&mut self, packet: Packet) -> Option<usize> {
        let number = self.number?;
        let is_last = number.saturating_add(1) >= self.checked.analysis.statements.len();
        let has_ended = match self.executed()?.results {
            _ if self.results.stage == Stage::Done => true,
            ResultsOf::One => true,
            ResultsOf::UntilOk => packet == Packet::Ok,
            ResultsOf::Unknown => {
                if !is_last {
                    self.number = None;
                }
                false
            }
        };
        if has_ended && !is_last {
            self.number = Some(number.saturating_add(1));
        }
        has_ended.then_some(number)
    }
}

/// One command's answer.
pub struct PendingResponse {
    /// Which command.
    pub awaited: Awaited,
    /// Whose.
    pub origin: Origin,
    /// The error that the client gets in place of the server's: the command was replaced by one that must fail.
    pub refused: Option<ClientError>,
    /// What is added to the numbers of the server's packets on their way to the client.
    pub shift: u8,
    /// The client had an error of ours in a row's place: the rest of the answer is not for it.
    pub swallowing: bool,
    /// More of the client's commands may go before this one is answered.
    pub is_pipelined: bool,
}

impl PendingResponse {
    /// For a command of the client.
    pub fn client(awaited: Awaited) -> Self {
        Self {
            awaited,
            origin: Origin::Client,
            refused: None,
            shift: 0,
            swallowing: false,
            is_pipelined: false,
        }
    }

    /// For a command of the filter.
    pub fn injected(awaited: Awaited) -> Self {
        Self { origin: Origin::Injected, ..Self::client(awaited) }
    }

    /// For a command that was replaced by one that must fail.
    pub fn refused(awaited: Awaited, error: ClientError) -> Self {
        Self { refused: Some(error), ..Self::client(awaited) }
    }

    /// With so many packets of the client's as `client`, of which the server got `server`.
    pub fn shifted(mut self, client: u8, server: u8) -> Self {
        self.shift = client.wrapping_sub(server);
        self
    }

    /// Which others may follow before it is answered.
    pub fn pipelined(mut self) -> Self {
        self.is_pipelined = true;
        self
    }
}

/// The queue.
#[derive(Default)]
pub struct PendingResponses {
    entries: VecDeque<PendingResponse>,
}

impl PendingResponses {
    /// A command went to the server.
    pub fn push(&mut self, entry: PendingResponse) {
        self.entries.push_back(entry);
    }

    /// Bytes that all take, what is known of their statements aside.
    pub fn bytes(&self) -> usize {
        size_of_all::<PendingResponse>(self.entries.len())
    }

    /// Bytes of the catalog that is coming in.
    pub fn catalog_bytes(&self) -> usize {
        match self.entries.front().map(|entry| &entry.awaited) {
            Some(Awaited::Asked(Asked { question: Question::Catalog(answer), .. })) => answer.bytes(),
            _ => 0,
        }
    }

    /// The command that is being answered.
    pub fn head(&mut self) -> Option<&mut PendingResponse> {
        self.entries.front_mut()
    }

    /// The head's answer is complete.
    pub fn pop(&mut self) -> Option<PendingResponse> {
        self.entries.pop_front()
    }

    /// Whether every command was answered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether commands are in flight behind the one that is being answered.
    pub fn has_more(&self) -> bool {
        self.entries.len() > 1
    }

    /// Whether the client's next command may go now.
    pub fn takes_more(&self) -> bool {
        self.entries.len() < MAX_IN_FLIGHT && self.entries.iter().all(|entry| entry.is_pipelined)
    }
}
