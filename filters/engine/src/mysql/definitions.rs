//! The definitions of the columns that a prepared statement returns: the server sends them with each execution. Where they
//! are the same bytes as those of the execution before, what the client gets and what the rows get are the same too.

use std::rc::Rc;

use fieldveil_values::mysql::Settings;

use super::pending::{Awaited, PendingResults};
use super::results::{Packet, Stage};
use super::rows::RowPlan;
use super::{CallbackOutput, Session};
use crate::database::{Checked, Step};

/// Bytes of definitions that are kept with their statement: those of some twenty columns.
const MAX_DEFINITIONS: usize = 2048;

/// Definitions of which nothing need be found out anew.
pub struct Definitions {
    /// The packets from the number of columns to the last definition, as the server sent them.
    came: Box<[u8]>,
    /// As the client got them; None where they went as they came.
    goes: Option<Box<[u8]>>,
    /// What was added to the packets' numbers.
    shift: u8,
    rows: Rc<RowPlan>,
}

impl Definitions {
    /// Bytes that they take, what the rows get aside.
    pub fn bytes(&self) -> usize {
        self.came.len().saturating_add(self.goes.as_ref().map_or(0, |goes| goes.len()))
    }

    /// Whether these bytes begin with them, and would come to the same now.
    fn are(&self, bytes: &[u8], shift: u8, checked: &Rc<Checked>, settings: &Settings) -> bool {
        self.shift == shift && self.rows.is_under(checked, settings) && bytes.starts_with(&self.came)
    }
}

/// Definitions that are coming, to be kept when all have come.
pub struct Coming {
    came: Vec<u8>,
    goes: Vec<u8>,
    shift: u8,
}

impl Coming {
    fn new(shift: u8) -> Self {
        Self { came: Vec::new(), goes: Vec::new(), shift }
    }

    /// A packet, and what was written in its place, if that is another. Returns whether all may still be kept.
    fn push(&mut self, packet: &[u8], written: Option<&[u8]>) -> bool {
        self.came.extend_from_slice(packet);
        let start = self.goes.len();
        self.goes.extend_from_slice(written.unwrap_or(packet));
        if written.is_none()
            && let Some(number) = self.goes.get_mut(start.saturating_add(3))
        {
            *number = number.wrapping_add(self.shift);
        }
        self.came.len() <= MAX_DEFINITIONS && self.goes.len() <= MAX_DEFINITIONS
    }

    fn keep(self, rows: &Rc<RowPlan>) -> Definitions {
        let goes = (self.goes != self.came).then(|| self.goes.into());
        Definitions { came: self.came.into(), goes, shift: self.shift, rows: Rc::clone(rows) }
    }
}

impl Session {
    /// Takes in all definitions at once, if they are the same as at the execution before.
    pub(super) fn definitions_again(&mut self, bytes: &[u8], out: &mut CallbackOutput) -> Option<Step> {
        let entry = self.pending.head()?;
        let Awaited::Results(answer) = &mut entry.awaited else { return None };
        let statement = answer.first_of().filter(|_| !entry.swallowing)?;
        let kept = statement.definitions.borrow();
        let settings = &self.settings.values;
        let known = kept.as_ref().filter(|known| known.are(bytes, entry.shift, &answer.checked, settings))?;
        (answer.rows, answer.columns) = (Some(Rc::clone(&known.rows)), None);
        answer.results.stage = Stage::behind_definitions(self.capabilities);
        match &known.goes {
            None => Some(Step::Pass(known.came.len())),
            Some(goes) => {
                out.to_client.extend_from_slice(goes);
                Some(Step::Took(known.came.len()))
            }
        }
    }

    /// Keeps the definitions that have come, with this packet, for the next execution of their statement. What is executed
    /// once may be so for the last time.
    pub(super) fn keep_definitions(&mut self, packet: Packet, bytes: &[u8], written: Option<&[u8]>) {
        let Some(entry) = self.pending.head() else { return };
        let (shift, swallowing) = (entry.shift, entry.swallowing);
        let Awaited::Results(answer) = &mut entry.awaited else { return };
        if packet == Packet::ColumnCount {
            let first = answer.first_of().filter(|_| answer.columns.is_some() && !swallowing);
            answer.coming =
                first.filter(|statement| statement.returned.replace(true)).map(|_| Coming::new(shift));
        }
        let Some(mut coming) = answer.coming.take() else { return };
        if !coming.push(bytes, written) {
            return;
        }
        match (&answer.rows, &answer.statement) {
            (Some(rows), Some(statement)) => statement.takes_definitions(coming.keep(rows)),
            _ => answer.coming = Some(coming),
        }
    }
}

impl PendingResults {
    /// The prepared statement whose first result comes.
    fn first_of(&self) -> Option<Rc<super::statements::Statement>> {
        self.statement.as_ref().filter(|_| self.results.complete == 0).cloned()
    }
}
