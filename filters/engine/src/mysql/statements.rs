//! Prepared statements as the server has them, with what analysis said of each.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_mysql_wire::command::ParameterType;
use fieldveil_sql::Parameter;
use fieldveil_values::mysql::CharacterSet;

use super::definitions::Definitions;
use super::end_user::EndUserMentions;
use super::long_data::LongData;
use super::query::ReadyText;
use super::rows::TreatedColumns;
use crate::client_error::ClientError;
use crate::database::CheckedText;
use crate::memory::{Weight, size_of_all};

/// Prepared statements a connection may hold.
const MAX_STATEMENTS: usize = 16_384;
/// Bytes of statement text a connection may hold.
pub const MAX_STATEMENT_BYTES: usize = 16 << 20;

/// A cursor from which rows are fetched.
#[derive(Clone)]
pub struct Cursor {
    /// What analysis said of the statement when it was opened.
    pub checked: Rc<CheckedText>,
    /// What its rows get; None where nothing was protected.
    pub treated_columns: Option<Rc<TreatedColumns>>,
}

/// A prepared statement.
///
/// Large: it keeps what the server and the analysis said of one statement.
pub struct Statement {
    /// The client's text in UTF-8, with words in the place of tokens.
    pub text: Rc<[u8]>,
    /// The client's text was too long to be held: this one does to tables what it does, and the server may not get it.
    pub is_begin: bool,
    /// What the client's texts were in then.
    pub charset: CharacterSet,
    /// What the client's text says of the end user.
    pub mentions: EndUserMentions,
    /// What analysis said, renewed when plan or catalog change.
    pub checked: RefCell<Rc<CheckedText>>,
    /// The number that the client has for it.
    pub id: Cell<u32>,
    /// The number that the server has for it: another once it was prepared anew.
    pub server_id: Cell<u32>,
    /// How many parameters the client's text has.
    pub parameters: Cell<u16>,
    /// The types of the last execution's values.
    pub types: RefCell<Vec<ParameterType>>,
    /// What was sent ahead of its parameters' values.
    pub long_data: RefCell<LongData>,
    /// Its cursor, once an execution has opened one.
    pub cursor: RefCell<Option<Cursor>>,
    /// An execution has returned columns.
    pub returned: Cell<bool>,
    /// Their definitions, as they came last.
    pub definitions: RefCell<Option<Definitions>>,
    /// What it takes of memory, the analysis aside.
    weight: Weight,
}

impl Statement {
    /// One that the server has not answered yet, with what long data the connection holds.
    pub fn new(
        ReadyText { text, mentions, .. }: ReadyText<'_>,
        charset: CharacterSet,
        checked: Rc<CheckedText>,
        held: Rc<Cell<usize>>,
    ) -> Self {
        let bytes = size_of::<Self>().saturating_add(text.len()).saturating_add(mentions.len());
        Self {
            weight: checked.weight.beside(bytes),
            text: Rc::from(&*text),
            is_begin: false,
            charset,
            mentions,
            checked: RefCell::new(checked),
            id: Cell::new(0),
            server_id: Cell::new(0),
            parameters: Cell::new(0),
            types: RefCell::default(),
            long_data: RefCell::new(LongData::new(held)),
            cursor: RefCell::default(),
            returned: Cell::default(),
            definitions: RefCell::default(),
        }
    }

    /// The types that its values are sent in from now on.
    pub fn takes_types(&self, types: Vec<ParameterType>) {
        let more = size_of_all::<ParameterType>(types.capacity());
        let before = self.types.replace(types);
        let less = size_of_all::<ParameterType>(before.capacity());
        self.weight.set(self.weight.bytes().saturating_sub(less).saturating_add(more));
    }

    /// The definitions that its columns came with last.
    pub fn takes_definitions(&self, definitions: Definitions) {
        let more = definitions.bytes();
        let before = self.definitions.replace(Some(definitions));
        let less = before.map_or(0, |before| before.bytes());
        self.weight.set(self.weight.bytes().saturating_sub(less).saturating_add(more));
    }

    /// Its execution, or COM_STMT_RESET, has taken what was sent ahead, and closed its cursor.
    pub fn reset(&self) {
        self.long_data.borrow_mut().clear();
        self.cursor.take();
    }
}

/// The parameters of a text as the server has it, where one of the client's may stand for several.
pub struct ParameterPlaces {
    checked: Rc<CheckedText>,
    /// How many the client's text has.
    parameters: u16,
}

impl ParameterPlaces {
    /// Of a text with so many parameters.
    pub fn of(checked: &Rc<CheckedText>, parameters: u16) -> Self {
        Self { checked: Rc::clone(checked), parameters }
    }

    /// Of a text that has so many in the server's form.
    pub fn of_server(checked: &Rc<CheckedText>, server: usize) -> Self {
        let more = checked.more_parameters().iter();
        let more = more.take_while(|(number, _)| usize::from(*number) <= server).last();
        let more = more.map_or(0, |(_, more)| *more);
        Self::of(checked, u16::try_from(server.saturating_sub(more)).unwrap_or(u16::MAX))
    }

    /// How many the client's text has.
    pub fn len(&self) -> u16 {
        self.parameters
    }

    /// The first of the server's parameters in the place of this one of the client's.
    pub fn first(&self, index: u16) -> u16 {
        if index >= self.parameters {
            return u16::MAX;
        }
        let more = self.checked.more_parameters();
        // Those before it: numbers are from 1 on.
        let before = more.partition_point(|(number, _)| *number <= index);
        let more = before.checked_sub(1).and_then(|last| more.get(last)).map_or(0, |(_, more)| *more);
        u16::try_from(usize::from(index).saturating_add(more)).unwrap_or(u16::MAX)
    }

    /// The protected place of the client's parameter, if it stands in one.
    pub fn protected(&self, index: usize) -> Option<&Parameter> {
        let index = u16::try_from(index).ok().filter(|index| *index < self.parameters)?;
        self.checked.parameter(index.checked_add(1)?)
    }

    /// The client's parameter that this one of the server's stands for, if it is the first of them.
    pub fn client(&self, server: usize) -> Option<usize> {
        let server = u16::try_from(server).ok()?;
        let (mut from, mut to) = (0, self.parameters);
        while from < to {
            let middle = from.midpoint(to);
            match self.first(middle).cmp(&server) {
                Ordering::Less => from = middle.saturating_add(1),
                Ordering::Equal => return Some(middle.into()),
                Ordering::Greater => to = middle,
            }
        }
        None
    }
}

/// A connection's prepared statements.
#[derive(Default)]
pub struct Statements {
    by_id: HashMap<u32, Rc<Statement>>,
    /// What was prepared last, if that succeeded.
    last: Option<Rc<Statement>>,
    bytes: usize,
    /// Bytes of long data that they hold.
    long_data: Rc<Cell<usize>>,
}

impl Statements {
    /// A statement by the client's number for it; that of [`fieldveil_mysql_wire::command::LAST_STATEMENT`] is the last.
    pub fn get(&self, id: u32) -> Option<&Rc<Statement>> {
        match id {
            fieldveil_mysql_wire::command::LAST_STATEMENT => self.last.as_ref(),
            id => self.by_id.get(&id),
        }
    }

    /// Bytes that were sent ahead of parameters' values and wait.
    pub fn held(&self) -> usize {
        self.long_data.get()
    }

    /// What a new statement counts its long data by.
    pub fn counter(&self) -> Rc<Cell<usize>> {
        Rc::clone(&self.long_data)
    }

    /// Refuses one more statement, with this text, that would pass a limit.
    pub fn has_room(&self, text: &[u8]) -> Result<(), ClientError> {
        if self.bytes.saturating_add(text.len()) <= MAX_STATEMENT_BYTES && self.by_id.len() < MAX_STATEMENTS {
            return Ok(());
        }
        Err(ClientError::limit(
            &format!("the session holds {MAX_STATEMENTS} prepared statements, or 16 MiB of them"),
            "Close statements that are no longer used.",
        ))
    }

    /// The server has prepared it.
    pub fn prepared(&mut self, statement: &Rc<Statement>) {
        self.bytes = self.bytes.saturating_add(statement.text.len());
        self.by_id.insert(statement.id.get(), Rc::clone(statement));
        self.last = Some(Rc::clone(statement));
    }

    /// What was to be prepared last was not.
    pub fn failed(&mut self) {
        self.last = None;
    }

    /// The client has closed it.
    pub fn close(&mut self, id: u32) {
        if let Some(statement) = self.by_id.remove(&id) {
            self.bytes = self.bytes.saturating_sub(statement.text.len());
            if self.last.as_ref().is_some_and(|last| Rc::ptr_eq(last, &statement)) {
                self.last = None;
            }
        }
    }

    /// The server has forgotten all.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}
