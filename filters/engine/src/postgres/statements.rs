//! Prepared statements and portals as the server has them, each with its check.
//!
//! They are entered when the message is sent to the server, not when its response arrives, because clients pipeline. The [`Undo`]
//! of a message that failed or was skipped reverts what it changed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use fieldveil_postgres_wire::Format;

use super::end_user::EndUserMentions;
use super::names::SqlNames;
use super::rows::{ResultColumn, TreatedColumns};
use super::undo::{Change, Undo};
use crate::database::CheckedText;
use crate::memory::{Weight, size_of_all};

/// The most prepared statements of a connection.
pub const MAX_STATEMENTS: usize = 16_384;
/// The most bytes of statement text that a connection may hold.
pub const MAX_STATEMENT_BYTES: usize = 16 << 20;
/// The most bytes of a RowDescription that is kept with its statement.
const MAX_DESCRIPTION: usize = 1024;
/// The most portals of a connection.
pub const MAX_PORTALS: usize = 4_096;

/// A prepared statement.
///
/// Large: it keeps what the server and the analysis said of one statement.
pub struct Statement {
    /// The client's text, with words in the place of tokens.
    pub text: Rc<[u8]>,
    /// What the client's text says of the end user.
    pub said: EndUserMentions,
    /// The parameter types that the client declared; 0 is "infer".
    pub parameter_types: Vec<u32>,
    /// The result of its check, which is renewed when plan or catalog change.
    pub checked: RefCell<Rc<CheckedText>>,
    /// The last RowDescription that the server sent.
    pub columns: RefCell<Option<Vec<ResultColumn>>>,
    /// How its rows are treated, in the formats that were asked for last.
    pub treated_columns: RefCell<Option<(Vec<Format>, Rc<TreatedColumns>)>>,
    /// The RowDescription of its last portal.
    pub described: RefCell<Option<Described>>,
    /// Whether ParseComplete has arrived.
    pub confirmed: Cell<bool>,
    /// How many entries of [`PendingResponses`](super::pending::PendingResponses) were made before that of its last Parse.
    pub parse_number: Cell<u64>,
    /// How many Syncs were sent before its Parse.
    pub group: Cell<u64>,
    /// Whether the filter parsed it again because keys or tables had changed.
    pub parsed_anew: Cell<bool>,
    /// The length of its name in bytes.
    pub name_bytes: usize,
    /// The memory that it takes without its check.
    pub weight: Weight,
}

impl Statement {
    /// A statement that goes to the server behind so many Syncs. `name_bytes` is the length of its name.
    pub fn new(
        (text, said): (Rc<[u8]>, EndUserMentions),
        checked: Rc<CheckedText>,
        parameter_types: Vec<u32>,
        (name_bytes, group, weight): (usize, u64, Weight),
    ) -> Rc<Self> {
        let statement = Self {
            text,
            said,
            parameter_types,
            checked: RefCell::new(checked),
            columns: RefCell::new(None),
            treated_columns: RefCell::new(None),
            confirmed: Cell::new(false),
            parse_number: Cell::new(0),
            group: Cell::new(group),
            described: RefCell::default(),
            parsed_anew: Cell::new(false),
            name_bytes,
            weight,
        };
        statement.weigh();
        Rc::new(statement)
    }

    /// Counts the bytes of the client's text that it holds.
    fn len(&self) -> usize {
        self.text.len().saturating_add(self.said.len())
    }

    /// Counts the bytes that it takes, with its check.
    pub fn bytes(&self) -> usize {
        self.weight.bytes().saturating_add(self.checked.borrow().weight.bytes())
    }

    /// Weighs it again, with its column descriptions.
    fn weigh(&self) {
        let columns = self.columns.borrow().as_ref().map_or(0, Vec::capacity);
        let formats = self.treated_columns.borrow().as_ref().map_or(0, |(formats, _)| formats.capacity());
        let described = self.described.borrow();
        let described =
            described.as_ref().map_or(0, |known| known.came.len().saturating_add(known.goes.len()));
        let parts = [
            size_of::<Self>(),
            self.len(),
            self.name_bytes,
            size_of_all::<u32>(self.parameter_types.capacity()),
            size_of_all::<ResultColumn>(columns),
            size_of_all::<Format>(formats),
            described,
        ];
        self.weight.set(parts.into_iter().fold(0, usize::saturating_add));
    }

    /// Returns the RowDescription of a portal and how its rows are treated, if both are those of the last portal.
    pub fn portal_described(
        &self,
        checked: &Rc<CheckedText>,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<Rc<TreatedColumns>> {
        let described = self.described.borrow();
        let Described { came, goes, treated_columns } = described.as_ref()?;
        if **came != *body || !Rc::ptr_eq(&treated_columns.checked, checked) {
            return None;
        }
        out.extend_from_slice(goes);
        Some(Rc::clone(treated_columns))
    }

    /// Keeps the RowDescription of a portal, as the server sent it and as the client gets it, and how its rows are treated.
    pub fn keep_description(&self, came: &[u8], goes: &[u8], treated_columns: &Rc<TreatedColumns>) {
        if came.len() <= MAX_DESCRIPTION {
            let described = Described {
                came: came.into(),
                goes: goes.into(),
                treated_columns: Rc::clone(treated_columns),
            };
            self.described.replace(Some(described));
            self.weigh();
        }
    }

    /// Takes over the server's RowDescription.
    pub fn described(&self, columns: Vec<ResultColumn>) {
        self.treated_columns.take();
        self.columns.replace(Some(columns));
        self.weigh();
    }

    /// Returns which columns of a portal are treated and how, once its columns are known. A portal with the formats of the last one
    /// shares them.
    pub fn treated_columns(
        &self,
        checked: &Rc<CheckedText>,
        formats: &[Format],
    ) -> Option<Rc<TreatedColumns>> {
        if let Some((of, treated_columns)) = &*self.treated_columns.borrow()
            && Rc::ptr_eq(&treated_columns.checked, checked)
            && of == formats
        {
            return Some(Rc::clone(treated_columns));
        }
        let format = |index: usize| match formats {
            [] => Format::Text,
            [all] => *all,
            each => each.get(index).copied().unwrap_or_default(),
        };
        let treated_columns =
            Rc::new(TreatedColumns::new(checked, 0, self.columns.borrow().as_ref()?, format));
        self.treated_columns.replace(Some((formats.to_vec(), Rc::clone(&treated_columns))));
        self.weigh();
        Some(treated_columns)
    }

    /// Returns the parameter types for the server, which infers the stored type of sealed parameters itself.
    pub fn server_types(&self) -> Vec<u32> {
        let mut types = self.parameter_types.clone();
        for parameter in &self.checked.borrow().analysis.parameters {
            let index = usize::from(parameter.number).saturating_sub(1);
            if let Some(oid) = types.get_mut(index) {
                *oid = 0;
            }
        }
        types
    }
}

/// A RowDescription that was read before.
pub struct Described {
    /// The body that the server sent.
    came: Box<[u8]>,
    /// The message that the client got.
    goes: Box<[u8]>,
    treated_columns: Rc<TreatedColumns>,
}

/// A portal.
pub struct Portal {
    /// Its name.
    pub name: Vec<u8>,
    /// The check of its statement at the time of the Bind.
    pub checked: Rc<CheckedText>,
    /// The statement.
    pub statement: Rc<Statement>,
    /// Result format codes, as Bind gave them.
    pub result_formats: Vec<Format>,
    /// How its rows are treated, once that is known.
    pub treated_columns: OnceCell<Rc<TreatedColumns>>,
    /// The memory that it takes without its statement.
    pub weight: Weight,
}

impl Portal {
    /// Opens a portal.
    pub fn open(
        name: Vec<u8>,
        statement: &Rc<Statement>,
        checked: Rc<CheckedText>,
        result_formats: Vec<Format>,
    ) -> Rc<Self> {
        let bytes = size_of::<Self>().saturating_add(name.len()).saturating_add(name.len());
        let bytes = bytes.saturating_add(size_of_all::<Format>(result_formats.capacity()));
        let (weight, statement) = (statement.weight.beside(bytes), Rc::clone(statement));
        Rc::new(Self { name, checked, statement, result_formats, treated_columns: OnceCell::new(), weight })
    }

    /// Returns how its rows are treated, once the columns of its statement are known.
    pub fn treated_columns(&self) -> Option<Rc<TreatedColumns>> {
        if let Some(known) = self.treated_columns.get() {
            return Some(Rc::clone(known));
        }
        if self.checked.is_fetch() {
            return None;
        }
        let columns = self.statement.treated_columns(&self.checked, &self.result_formats)?;
        Some(Rc::clone(self.treated_columns.get_or_init(|| columns)))
    }
}

/// The statements and portals of a connection.
#[derive(Default)]
pub struct Statements {
    statements: HashMap<Vec<u8>, Rc<Statement>>,
    portals: HashMap<Vec<u8>, Rc<Portal>>,
    /// The statements and cursors that SQL made.
    pub by_sql: SqlNames,
    bytes: usize,
}

impl Statements {
    /// Finds a statement by its name.
    pub fn statement(&self, name: &[u8]) -> Option<&Rc<Statement>> {
        self.statements.get(name)
    }

    /// Finds a portal by its name.
    pub fn portal(&self, name: &[u8]) -> Option<&Rc<Portal>> {
        self.portals.get(name)
    }

    /// Whether one more statement with this text would exceed a limit.
    pub fn is_full(&self, name: &[u8], text: &[u8], said: &EndUserMentions) -> bool {
        let replaced = self.statements.get(name).map_or(0, |s| s.len());
        let bytes = self.bytes.saturating_sub(replaced).saturating_add(text.len()).saturating_add(said.len());
        bytes > MAX_STATEMENT_BYTES
            || (self.statements.len() >= MAX_STATEMENTS && !self.statements.contains_key(name))
    }

    /// Whether one more portal would exceed a limit.
    pub fn portals_full(&self, name: &[u8]) -> bool {
        self.portals.len() >= MAX_PORTALS && !self.portals.contains_key(name)
    }

    /// Sets or removes a statement.
    pub fn set_statement(&mut self, name: &[u8], statement: Option<Rc<Statement>>) -> Undo {
        let after = statement.clone();
        let before = match statement {
            Some(statement) => {
                self.bytes = self.bytes.saturating_add(statement.len());
                self.statements.insert(name.to_vec(), statement)
            }
            None => self.statements.remove(name),
        };
        if let Some(before) = &before {
            self.bytes = self.bytes.saturating_sub(before.len());
        }
        Undo::Statement(Change { name: name.to_vec(), before, after })
    }

    /// Sets or removes a portal.
    pub fn set_portal(&mut self, name: &[u8], portal: Option<Rc<Portal>>) -> Undo {
        self.by_sql.portal_changed(name);
        let after = portal.clone();
        let before = match portal {
            Some(portal) => self.portals.insert(name.to_vec(), portal),
            None => self.portals.remove(name),
        };
        Undo::Portal(Change { name: name.to_vec(), before, after })
    }

    /// Enters a portal. Returns what must be reverted if the Bind fails, besides the portal itself. To the server a portal's name
    /// may also be that of a cursor.
    pub fn bind_portal(&mut self, portal: &Rc<Portal>) -> Option<Undo> {
        let cursor = self.by_sql.cursors.remove(&portal.name);
        self.by_sql.portal_changed(&portal.name);
        self.portals.insert(portal.name.clone(), Rc::clone(portal));
        cursor
    }

    /// Removes a portal whose Bind failed or was skipped.
    pub fn undo_portal(&mut self, portal: &Rc<Portal>) {
        if self.portal(&portal.name).is_some_and(|now| Rc::ptr_eq(now, portal)) {
            drop(self.set_portal(&portal.name, None));
        }
    }

    /// Closes the portal or the cursor with this name. Returns what must be reverted if that fails.
    pub fn close_portal(&mut self, name: &[u8]) -> impl Iterator<Item = Undo> + use<> {
        let cursor = self.by_sql.cursors.remove(name);
        std::iter::once(self.set_portal(name, None)).chain(cursor)
    }

    /// Reverts a change, unless a later message has changed the same name again.
    pub fn undo(&mut self, undo: Undo) {
        self.by_sql.forget_quiet_cursors();
        match undo {
            Undo::Statement(change) if change.stands(self.statement(&change.name)) => {
                drop(self.set_statement(&change.name, change.before));
            }
            // The entry before is not certain, because two groups that follow each other may both have failed.
            Undo::Portal(change) if change.stands(self.portal(&change.name)) => {
                drop(self.set_portal(&change.name, None));
            }
            Undo::Prepared(change) => self.by_sql.prepared.undo(change),
            // Another Parse or DEALLOCATE came between.
            Undo::Statement(change) if !change.name.is_empty() => self.by_sql.prepared.doubt(change.name),
            Undo::Cursor(change) if change.stands(self.by_sql.cursors.get(&change.name)) => {
                drop(self.by_sql.cursors.set(change.name, change.before));
            }
            Undo::Statement(_) | Undo::Portal(_) | Undo::Cursor(_) => {}
        }
    }

    /// Lists the names of statements, but for the unnamed one.
    pub fn names(&self) -> Vec<Vec<u8>> {
        self.statements.keys().filter(|name| !name.is_empty()).cloned().collect()
    }

    /// Removes all portals, which end with their transaction.
    pub fn forget_portals(&mut self) {
        self.portals.clear();
    }
}
