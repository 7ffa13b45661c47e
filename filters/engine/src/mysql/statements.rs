//! Prepared statements as the server has them, with what analysis said of each.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_mysql_wire::command::ParameterType;
use fieldveil_sql::{Form, Parameter};

use super::definitions::Definitions;
use super::end_user::Said;
use super::long_data::LongData;
use super::rows::RowPlan;
use crate::database::Checked;
use crate::memory::{Weight, size_of_all};

/// Prepared statements a connection may hold.
pub const MAX_STATEMENTS: usize = 16_384;
/// Bytes of statement text a connection may hold.
pub const MAX_STATEMENT_BYTES: usize = 16 << 20;

/// A cursor from which rows are fetched.
#[derive(Clone)]
pub struct Cursor {
    /// What analysis said of the statement when it was opened.
    pub checked: Rc<Checked>,
    /// What its rows get; None where nothing was protected.
    pub rows: Option<Rc<RowPlan>>,
}

/// A prepared statement.
pub struct Statement {
    /// The client's text, with words in the place of tokens.
    pub text: Rc<[u8]>,
    /// What the client's text says of the end user.
    pub said: Said,
    /// What analysis said, renewed when plan or catalog change.
    pub checked: RefCell<Rc<Checked>>,
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
    pub fn new(text: &[u8], said: Said, checked: Rc<Checked>, held: Rc<Cell<usize>>) -> Self {
        let bytes = size_of::<Self>().saturating_add(text.len()).saturating_add(said.len());
        Self {
            weight: checked.weight.beside(bytes),
            text: Rc::from(text),
            said,
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
#[derive(Default)]
pub struct Places {
    /// By parameter of the client's, the first of the server's in its place, and what protected place it stands in.
    places: Vec<(usize, Option<Parameter>)>,
}

impl Places {
    /// Of a text with so many parameters.
    pub fn of(checked: &Checked, parameters: u16) -> Self {
        let mut places = vec![(0, None); parameters.into()];
        for parameter in &checked.analysis.parameters {
            let place = parameter.number.checked_sub(1).and_then(|index| places.get_mut(usize::from(index)));
            if let Some((_, protected)) = place {
                *protected = Some(*parameter);
            }
        }
        let mut next = 0_usize;
        for (first, protected) in &mut places {
            *first = next;
            next = next.saturating_add(protected.map_or(1, |parameter| envelopes(checked, &parameter)));
        }
        Self { places }
    }

    /// Of a text that has so many in the server's form.
    pub fn of_server(checked: &Checked, server: usize) -> Self {
        let more: usize = checked
            .analysis
            .parameters
            .iter()
            .filter(|parameter| usize::from(parameter.number) <= server)
            .map(|parameter| envelopes(checked, parameter).saturating_sub(1))
            .sum();
        Self::of(checked, u16::try_from(server.saturating_sub(more)).unwrap_or(u16::MAX))
    }

    /// How many the client's text has.
    pub fn len(&self) -> u16 {
        u16::try_from(self.places.len()).unwrap_or(u16::MAX)
    }

    /// The first of the server's parameters in the place of this one of the client's.
    pub fn first(&self, index: u16) -> u16 {
        let place = self.places.get(usize::from(index));
        place.and_then(|(first, _)| u16::try_from(*first).ok()).unwrap_or(u16::MAX)
    }

    /// The protected place of the client's parameter, if it stands in one.
    pub fn protected(&self, index: usize) -> Option<&Parameter> {
        self.places.get(index)?.1.as_ref()
    }

    /// The client's parameter that this one of the server's stands for, if it is the first of them.
    pub fn client(&self, server: usize) -> Option<usize> {
        self.places.binary_search_by_key(&server, |(first, _)| *first).ok()
    }
}

/// How many parameters the server has in the place of one of the client's.
pub fn envelopes(checked: &Checked, parameter: &Parameter) -> usize {
    if parameter.form != Form::Envelopes {
        return 1;
    }
    let keys = checked.catalog.as_ref().and_then(|catalog| catalog.keys.get(parameter.field));
    keys.map_or(1, Vec::len).max(1)
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

    /// Whether one more statement with this text would pass a limit.
    pub fn is_full(&self, text: &[u8]) -> bool {
        self.bytes.saturating_add(text.len()) > MAX_STATEMENT_BYTES || self.by_id.len() >= MAX_STATEMENTS
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
