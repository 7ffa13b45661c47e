//! The responses that the server still owes, in order, one entry for each command that was sent and is answered. The entry at the
//! head says how the next packet of the server is read, so that refusals and the filter's own queries keep their place among
//! the client's commands.

use std::collections::VecDeque;
use std::rc::Rc;

use fieldveil_plan::SessionInput;
use fieldveil_sql::{Results as ResultsOf, Statement as Analyzed};

use super::catalog;
use super::definitions::ArrivingDefinitions;
use super::file_transfer::FileEnd;
use super::passwords::Method;
use super::prepare_progress::PrepareProgress;
use super::result_progress::{Packet, ResultProgress, Stage};
use super::rows::{Columns, TreatedColumns};
use super::statements::{Cursor, ParameterPlaces, Statement};
use crate::client_error::ClientError;
use crate::database::CheckedText;
use crate::memory::size_of_all;

/// The most entries, of about 200 bytes each. A client that pipelines more waits for responses.
pub const MAX_IN_FLIGHT: usize = 4_096;

/// Who sent the command that a response belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The client did: the response is forwarded to it.
    Client,
    /// The filter did: the client does not see the response.
    Injected,
}

/// The kind of command that a response belongs to.
pub enum Awaited {
    /// COM_QUERY, COM_PROCESS_INFO, COM_STMT_EXECUTE, COM_STMT_FETCH.
    Results(PendingResults),
    /// COM_STMT_PREPARE.
    Prepare(Preparing),
    /// COM_FIELD_LIST: definitions up to an EOF.
    FieldList(Rc<CheckedText>),
    /// A query of the filter's own.
    OwnQuery(OwnQuery),
    /// One packet: COM_PING and its like, COM_STATISTICS.
    Single(Single),
    /// COM_CHANGE_USER.
    ChangeUser(Box<UserChange>),
    /// A command that ends the session: the client gets the reason, and the server does not answer it.
    End,
}

/// How a command whose response is one packet changes the session when it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// Nothing.
    Nothing,
    /// It changes the database or settings, so that names may mean something else.
    MayChangeNames,
    /// COM_RESET_CONNECTION.
    Resets,
}

/// The change to another user, whom the server has not let in yet.
pub struct UserChange {
    /// The identity that the session has afterwards.
    pub session: SessionInput,
    /// What the client's authentication plugin sends.
    pub method: Method,
}

/// A statement that is being prepared.
pub struct Preparing {
    /// How much of the response has arrived.
    pub progress: PrepareProgress,
    /// The statement.
    pub statement: Rc<Statement>,
    /// The check of its text, which becomes the statement's own when the server has prepared it.
    pub checked: Rc<CheckedText>,
    /// Its parameters in the server's form, known from the first packet on.
    pub places: ParameterPlaces,
    /// The columns of its result, while their definitions arrive.
    pub columns: Option<Columns>,
}

impl Preparing {
    /// Makes the response to the preparation of a statement, whose text was checked.
    pub fn new(statement: Rc<Statement>, checked: Rc<CheckedText>) -> Self {
        let (progress, places) = (PrepareProgress::default(), ParameterPlaces::of(&checked, 0));
        Self { progress, statement, checked, places, columns: None }
    }
}

/// A query of the filter's own, with its response.
pub struct OwnQuery {
    /// The query.
    pub question: Question,
    /// How much of the response has arrived.
    pub progress: ResultProgress,
}

/// What the filter asks the server.
pub enum Question {
    /// The session's identity, and the settings by which its texts are read.
    Identity,
    /// The catalog.
    Catalog(Box<catalog::CatalogResponse>),
}

/// A response that consists of results.
pub struct PendingResults {
    /// The check of the text.
    pub checked: Rc<CheckedText>,
    /// How much of the response has arrived.
    pub progress: ResultProgress,
    /// The number in the text of the statement whose result arrives, as long as it is known.
    number: Option<usize>,
    /// The columns of the result, while their definitions arrive.
    pub columns: Option<Columns>,
    /// The same definitions in the form that the prepared statement keeps.
    pub arriving: Option<ArrivingDefinitions>,
    /// How the rows of the result are treated.
    pub treated_columns: Option<Rc<TreatedColumns>>,
    /// The prepared statement that is executed or fetched from: its rows are binary.
    pub statement: Option<Rc<Statement>>,
}

impl PendingResults {
    /// Makes the response to a text.
    pub fn text(checked: Rc<CheckedText>) -> Self {
        let progress = ResultProgress::default();
        Self {
            checked,
            progress,
            number: Some(0),
            columns: None,
            arriving: None,
            treated_columns: None,
            statement: None,
        }
    }

    /// Makes the response to the execution of a prepared statement.
    pub fn execution(checked: Rc<CheckedText>, statement: Rc<Statement>) -> Self {
        Self { statement: Some(statement), ..Self::text(checked) }
    }

    /// Makes the response to a fetch of rows.
    pub fn fetch(Cursor { checked, treated_columns }: Cursor, statement: Rc<Statement>) -> Self {
        Self {
            progress: ResultProgress::rows(),
            treated_columns,
            statement: Some(statement),
            ..Self::text(checked)
        }
    }

    /// Returns the number in the text of the statement whose result arrives, as long as it is known.
    pub fn number(&self) -> Option<usize> {
        self.number
    }

    /// Returns the statement of the text whose result arrives, if it is known.
    pub fn executed(&self) -> Option<&Analyzed> {
        self.checked.analysis.statements.get(self.number?)
    }

    /// Ends a result, which this packet completes. Returns the number of the statement that it completes, if it is known.
    pub fn result_ended(&mut self, packet: Packet) -> Option<usize> {
        let number = self.number?;
        let is_last = number.saturating_add(1) >= self.checked.analysis.statements.len();
        let has_ended = match self.executed()?.results {
            _ if self.progress.stage == Stage::Done => true,
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

/// How a response reaches the client.
pub struct Forwarding {
    /// Who sent the command.
    pub origin: Origin,
    /// The error that the client gets in place of the server's, where the filter sent a command that must fail.
    pub refused: Option<ClientError>,
    /// The number that is added to the sequence numbers of the server's packets before they go to the client.
    pub shift: u8,
    /// The client got an error of the filter's in the place of a row. The rest of the response is dropped.
    pub swallowing: bool,
}

/// The response to one command.
pub struct PendingResponse {
    /// The kind of the command.
    pub awaited: Awaited,
    /// How its response reaches the client.
    pub forwarding: Forwarding,
    /// Whether more of the client's commands may be sent before this one is answered.
    is_pipelined: bool,
}

impl PendingResponse {
    fn new(awaited: Awaited, origin: Origin, refused: Option<ClientError>) -> Self {
        let forwarding = Forwarding { origin, refused, shift: 0, swallowing: false };
        Self { awaited, forwarding, is_pipelined: false }
    }

    /// Makes the entry of a command of the client.
    pub fn client(awaited: Awaited) -> Self {
        Self::new(awaited, Origin::Client, None)
    }

    /// Makes the entry of a command of the filter.
    pub fn injected(awaited: Awaited) -> Self {
        Self::new(awaited, Origin::Injected, None)
    }

    /// Makes the entry of a command that the filter replaced by one that must fail.
    pub fn refused(awaited: Awaited, error: ClientError) -> Self {
        Self::new(awaited, Origin::Client, Some(error))
    }

    /// Adds the shift of sequence numbers where the client sent `client` packets and the server got `server` of them.
    pub fn shifted(mut self, client: u8, server: u8) -> Self {
        self.forwarding.shift = client.wrapping_sub(server);
        self
    }

    /// Lets other commands be sent before this one is answered.
    pub fn pipelined(mut self) -> Self {
        self.is_pipelined = true;
        self
    }
}

/// The queue of these responses.
#[derive(Default)]
pub struct PendingResponses {
    entries: VecDeque<PendingResponse>,
}

impl PendingResponses {
    /// Appends the entry of a command that was sent to the server.
    pub fn push(&mut self, entry: PendingResponse) {
        self.entries.push_back(entry);
    }

    /// Counts the bytes of all entries, without what is known of their statements.
    pub fn bytes(&self) -> usize {
        size_of_all::<PendingResponse>(self.entries.len())
    }

    /// Counts the bytes of the catalog that is arriving.
    pub fn catalog_bytes(&self) -> usize {
        match self.entries.front().map(|entry| &entry.awaited) {
            Some(Awaited::OwnQuery(OwnQuery { question: Question::Catalog(answer), .. })) => answer.bytes(),
            _ => 0,
        }
    }

    /// Returns what the client's authentication plugin sends, if it is a change of the user that is being answered.
    pub fn user_change(&self) -> Option<Method> {
        match &self.entries.front()?.awaited {
            Awaited::ChangeUser(change) => Some(change.method),
            _ => None,
        }
    }

    /// Returns the number that is added to the sequence numbers of the packets of the response that is being read.
    pub fn shift(&self) -> u8 {
        self.entries.front().map_or(0, |entry| entry.forwarding.shift)
    }

    /// Gives the client this error, in the place of the response that is awaited.
    pub fn refuse_head(&mut self, error: ClientError) {
        if let Some(entry) = self.entries.front_mut() {
            entry.forwarding.refused = Some(error);
        }
    }

    /// Gives the client this error, in the place of the response to the command that was sent last, if that has not come yet.
    pub fn refuse_last(&mut self, error: ClientError) {
        if let Some(entry) = self.entries.back_mut() {
            entry.forwarding.refused = Some(error);
        }
    }

    /// Ends the file that the head's statement loads.
    pub fn end_file(&mut self, FileEnd { number, charset, refused }: FileEnd, last_of_client: u8) {
        let Some(entry) = self.entries.front_mut() else { return };
        entry.forwarding.shift = last_of_client.wrapping_sub(number);
        if refused.is_some() {
            entry.forwarding.refused = refused;
        }
        if let Awaited::Results(results) = &mut entry.awaited
            && results.progress.stage == Stage::File
        {
            results.progress.stage = Stage::SealedFile(charset);
        }
    }

    /// Returns the entry of the command that is being answered.
    pub fn head(&mut self) -> Option<&mut PendingResponse> {
        self.entries.front_mut()
    }

    /// Removes the head, whose response is complete.
    pub fn pop(&mut self) -> Option<PendingResponse> {
        self.entries.pop_front()
    }

    /// Whether every command was answered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether commands are pending behind the one that is being answered.
    pub fn has_more(&self) -> bool {
        self.entries.len() > 1
    }

    /// Whether the client's next command may be sent now.
    pub fn takes_more(&self) -> bool {
        self.entries.len() < MAX_IN_FLIGHT && self.entries.iter().all(|entry| entry.is_pipelined)
    }
}

#[cfg(test)]
mod tests {
    use fieldveil_sql::LoadCharset;

    use super::{Awaited, FileEnd, PendingResponse, PendingResponses, Single, UserChange};
    use crate::client_error::ClientError;
    use crate::mysql::passwords::Method;

    fn single() -> PendingResponse {
        PendingResponse::client(Awaited::Single(Single::Nothing))
    }

    #[test]
    fn a_command_waits_for_those_that_are_not_pipelined() {
        let mut pending = PendingResponses::default();
        pending.push(single().pipelined());
        assert!(pending.takes_more() && !pending.has_more());
        pending.push(single());
        assert!(!pending.takes_more() && pending.has_more());
        pending.pop();
        pending.pop();
        assert!(pending.takes_more() && pending.is_empty());
    }

    #[test]
    fn a_change_of_the_user_begins_when_the_commands_before_it_are_answered() {
        let mut pending = PendingResponses::default();
        pending.push(single().pipelined());
        let change = UserChange { session: Default::default(), method: Method::Clear };
        pending.push(PendingResponse::client(Awaited::ChangeUser(Box::new(change))));
        assert!(pending.user_change().is_none());
        pending.pop();
        assert_eq!(pending.user_change(), Some(Method::Clear));
    }

    #[test]
    fn the_end_of_a_file_keeps_the_error_of_an_earlier_row() {
        let mut pending = PendingResponses::default();
        let end = || FileEnd { number: 250, charset: LoadCharset::Utf8, refused: None };
        // The server has answered before it had the file.
        pending.end_file(end(), 3);
        pending.push(single());
        pending.refuse_head(ClientError::protocol("a row"));
        pending.end_file(end(), 3);
        assert_eq!(pending.shift(), 9);
        assert!(pending.pop().is_some_and(|entry| entry.forwarding.refused.is_some()));
    }
}
