//! The definitions of the columns that a prepared statement returns: the server sends them with each execution. Where they
//! are the same bytes as those of the execution before, what the client gets and what the rows get are the same too.

use std::rc::Rc;

use fieldveil_values::mysql::Settings;

use super::CallbackOutput;
use super::pending::{Forwarding, PendingResults};
use super::responses::ResponseContext;
use super::result_progress::{Packet, Stage};
use super::rows::TreatedColumns;
use super::statements::Statement;
use crate::database::{CheckedText, Step};

/// Bytes of definitions that are kept with their statement: those of some twenty columns.
const MAX_DEFINITIONS: usize = 2048;

/// Definitions of which nothing need be found out anew.
pub struct Definitions {
    /// The packets from the number of columns to the last definition, as the server sent them.
    received: Box<[u8]>,
    /// As the client got them; None where they passed unchanged.
    sent: Option<Box<[u8]>>,
    /// What was added to the packets' numbers.
    shift: u8,
    treated_columns: Rc<TreatedColumns>,
}

impl Definitions {
    /// Bytes that they take, what the rows get aside.
    pub fn bytes(&self) -> usize {
        self.received.len().saturating_add(self.sent.as_ref().map_or(0, |sent| sent.len()))
    }

    /// Whether these bytes begin with them, and would come to the same now.
    fn are(&self, bytes: &[u8], shift: u8, checked: &Rc<CheckedText>, settings: &Settings) -> bool {
        self.shift == shift
            && self.treated_columns.is_under(checked, settings)
            && bytes.starts_with(&self.received)
    }
}

/// Definitions that are coming, to be kept when all have come.
pub struct ArrivingDefinitions {
    received: Vec<u8>,
    sent: Vec<u8>,
    shift: u8,
}

impl ArrivingDefinitions {
    fn new(shift: u8) -> Self {
        Self { received: Vec::new(), sent: Vec::new(), shift }
    }

    /// A packet, and what was written in its place, if that is another. Returns whether all may still be kept.
    fn push(&mut self, packet: &[u8], written: Option<&[u8]>) -> bool {
        self.received.extend_from_slice(packet);
        let start = self.sent.len();
        self.sent.extend_from_slice(written.unwrap_or(packet));
        if written.is_none()
            && let Some(number) = self.sent.get_mut(start.saturating_add(3))
        {
            *number = number.wrapping_add(self.shift);
        }
        self.received.len() <= MAX_DEFINITIONS && self.sent.len() <= MAX_DEFINITIONS
    }

    fn keep(self, treated_columns: &Rc<TreatedColumns>) -> Definitions {
        let sent = (self.sent != self.received).then(|| self.sent.into());
        Definitions {
            received: self.received.into(),
            sent,
            shift: self.shift,
            treated_columns: Rc::clone(treated_columns),
        }
    }
}

impl PendingResults {
    /// Takes in all definitions at once, if they are the same as at the execution before.
    pub fn reuse_definitions(
        &mut self,
        bytes: &[u8],
        forwarding: &Forwarding,
        cx: &ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        let statement = self.first_of().filter(|_| !forwarding.swallowing)?;
        let kept = statement.definitions.borrow();
        let settings = &cx.sql.settings.values;
        let known =
            kept.as_ref().filter(|known| known.are(bytes, forwarding.shift, &self.checked, settings))?;
        (self.treated_columns, self.columns) = (Some(Rc::clone(&known.treated_columns)), None);
        self.progress.stage = Stage::behind_definitions(cx.capabilities);
        match &known.sent {
            None => Some(Step::Pass(known.received.len())),
            Some(sent) => {
                out.to_client.extend_from_slice(sent);
                Some(Step::Took(known.received.len()))
            }
        }
    }

    /// Keeps the definitions that have come, with this packet, for the next execution of their statement. What is executed
    /// once may be so for the last time.
    pub fn keep_definitions(
        &mut self,
        kind: Packet,
        bytes: &[u8],
        written: Option<&[u8]>,
        forwarding: &Forwarding,
    ) {
        if kind == Packet::ColumnCount {
            let first = self.first_of().filter(|_| self.columns.is_some() && !forwarding.swallowing);
            let first = first.filter(|statement| statement.returned.replace(true));
            self.arriving = first.map(|_| ArrivingDefinitions::new(forwarding.shift));
        }
        let Some(mut arriving) = self.arriving.take() else { return };
        if !arriving.push(bytes, written) {
            return;
        }
        match (&self.treated_columns, &self.statement) {
            (Some(treated_columns), Some(statement)) => {
                statement.takes_definitions(arriving.keep(treated_columns))
            }
            _ => self.arriving = Some(arriving),
        }
    }

    /// The prepared statement whose first result comes.
    fn first_of(&self) -> Option<Rc<Statement>> {
        self.statement.as_ref().filter(|_| self.progress.complete == 0).cloned()
    }
}
