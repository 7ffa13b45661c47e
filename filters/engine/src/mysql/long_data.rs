//! What is sent ahead of parameters' values, until an execution takes it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use fieldveil_mysql_wire::WireError;
use fieldveil_mysql_wire::command::StmtSendLongData;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use zeroize::Zeroizing;

use super::CallbackOutput;
use super::packets::ClientPackets;
use super::statements::{ParameterPlaces, Statements};
use crate::database::{MAX_HELD, Step, Unread};

/// What one parameter takes beside its value.
const ENTRY: usize = 64;

/// What was sent ahead of one parameter's value.
pub enum Ahead {
    /// The server has it.
    Passed,
    /// It is kept, to be sealed. It may hold a value: no `Debug`.
    Kept(Zeroizing<Vec<u8>>),
    /// It is longer than what is sealed of one value, or than what a connection may hold, and was dropped.
    TooLong,
}

/// What was sent ahead for one statement, by parameter, from 0 on.
pub struct LongData {
    ahead: BTreeMap<u16, Ahead>,
    bytes: usize,
    /// What all statements of the connection hold.
    held: Rc<Cell<usize>>,
}

impl LongData {
    /// Of a statement of the connection that holds so much in all.
    pub fn new(held: Rc<Cell<usize>>) -> Self {
        Self { ahead: BTreeMap::new(), bytes: 0, held }
    }

    /// What was sent ahead of a parameter's value.
    pub fn get(&self, parameter: u16) -> Option<&Ahead> {
        self.ahead.get(&parameter)
    }

    /// Whether the server has some of it.
    pub fn has_passed(&self) -> bool {
        self.ahead.values().any(|ahead| matches!(ahead, Ahead::Passed))
    }

    /// The server gets a part.
    pub fn pass(&mut self, parameter: u16) {
        self.put(parameter, Ahead::Passed);
    }

    /// A part is too long to be looked at.
    pub fn give_up(&mut self, parameter: u16) {
        self.put(parameter, Ahead::TooLong);
    }

    /// Keeps a part of a value of at most `limit` bytes.
    pub fn keep(&mut self, parameter: u16, part: &[u8], limit: usize) {
        if self.get(parameter).is_none() {
            self.put(parameter, Ahead::Kept(Zeroizing::default()));
        }
        let is_full = self.held.get().saturating_add(part.len()) > MAX_HELD;
        match self.ahead.get_mut(&parameter) {
            Some(Ahead::Kept(kept)) if kept.len().saturating_add(part.len()) <= limit && !is_full => {
                kept.extend_from_slice(part);
                self.count(part.len());
            }
            _ => self.give_up(parameter),
        }
    }

    /// It was taken, or is not wanted any more.
    pub fn clear(&mut self) {
        self.ahead.clear();
        self.held.set(self.held.get().saturating_sub(self.bytes));
        self.bytes = 0;
    }

    fn put(&mut self, parameter: u16, ahead: Ahead) {
        if self.ahead.insert(parameter, ahead).is_none() {
            self.count(ENTRY);
        }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.set(self.held.get().saturating_add(bytes));
    }
}

impl Drop for LongData {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Statements {
    /// A part of a value that is sent ahead: it passes as it comes, if its place is not protected.
    pub fn stream_long_data(
        &self,
        client: &mut ClientPackets,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        const FIXED: usize = 7;
        let data_len = header.payload_len.checked_sub(FIXED)?;
        let fixed = rest.get(HEADER_LEN..)?.get(..FIXED)?;
        let data = StmtSendLongData::parse(fixed).ok()?;
        let Some(statement) = self.get(data.statement).cloned() else {
            // The server passes over it, too.
            return Some(client.drop(header));
        };
        let places = ParameterPlaces::of(&statement.checked.borrow(), statement.parameters.get());
        let mut long_data = statement.long_data.borrow_mut();
        if places.protected(data.parameter.into()).is_some() || statement.mentions.is_token(data.parameter) {
            if !header.is_continued() {
                return None;
            }
            // Too long for any value that is sealed; the execution is refused, for this command has no answer.
            long_data.give_up(data.parameter);
            return Some(client.drop(header));
        }
        long_data.pass(data.parameter);
        let server = statement.server_id.get();
        let parameter = places.first(data.parameter);
        let step = client.pass(header);
        if server == data.statement && parameter == data.parameter {
            return Some(step);
        }
        let [a, b, c, ..] = header.payload_len.to_le_bytes();
        let [d, e, f, g] = server.to_le_bytes();
        let [h, i] = parameter.to_le_bytes();
        let command = fixed.first().copied().unwrap_or_default();
        out.to_server.extend_from_slice(&[a, b, c, header.sequence, command, d, e, f, g, h, i]);
        Some(Step::TookHead(HEADER_LEN.saturating_add(FIXED), Unread::Pass(data_len)))
    }

    /// A part of a protected value that is sent ahead: it is kept until the execution.
    pub fn keep_long_data(&self, payload: &[u8], limit: usize) -> Result<(), WireError> {
        let data = StmtSendLongData::parse(payload)?;
        if let Some(statement) = self.get(data.statement) {
            statement.long_data.borrow_mut().keep(data.parameter, data.data, limit);
        }
        Ok(())
    }
}
