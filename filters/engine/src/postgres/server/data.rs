//! Rows on their way to the client: DataRow, CopyData, and those too long to be held.

use fieldveil_postgres_wire::Header;
use fieldveil_postgres_wire::backend::Tag;
use fieldveil_postgres_wire::frame::HEADER_LEN;

use super::{Fate, MALFORMED};
use crate::client_error::{ClientError, sqlstate};
use crate::database::{Core, RowError, Tally, Unread};
use crate::ports::Level;
use crate::postgres::copy;
use crate::postgres::pending::Awaited;
use crate::postgres::refuse::write_error;
use crate::postgres::rows;
use crate::postgres::{CallbackOutput, MAX_HELD, ReadySession, Step};

/// Why the session ends with an error in a row's place.
const IS_DONE: &str = "The session ends: the statement may have done more than read, and that is not undone.";
const MORE_IS_DONE: &str =
    "The session ends: the server executes what the client sent behind this statement in the same pipeline.";
const WAS_DONE: &str = "The session ends: what the pipeline did before is not undone.";

impl ReadySession {
    /// A message that is not whole yet, or too long to be read whole: of a row, the begin up to its last protected value
    /// is enough.
    pub(super) fn long_message(
        &mut self,
        tag: Tag,
        header: Header,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if header.total_len() <= MAX_HELD {
            return Ok(Step::More);
        }
        if self.pending.is_withheld() {
            return Ok(Step::Drop(header.total_len()));
        }
        if !copy::holds_row(tag) {
            return Err("a message too long to be read");
        }
        let begin = rest.get(HEADER_LEN..).unwrap_or_default();
        let start = out.to_client.len();
        copy::begin_message(tag, &mut out.to_client);
        let begun = self.treat_begin(tag, begin, core, &mut out.to_client);
        if !matches!(begun, Ok(Some(_))) {
            out.to_client.truncate(start);
        }
        match begun {
            Ok(None) if rest.len() < MAX_HELD => return Ok(Step::More),
            Ok(None) => {
                let error = ClientError::limit(
                    "a row is longer than the 16 MiB that are read of one, and a protected column stands behind",
                    "Select the protected columns before the long ones, or shorter ones.",
                );
                self.row_failed(&error, core, out);
            }
            Ok(Some(taken)) => {
                let left = header.body_len.saturating_sub(taken);
                copy::end_message(start, left, &mut out.to_client).ok_or(MALFORMED)?;
                return Ok(Step::TookHead(HEADER_LEN.saturating_add(taken), Unread::Pass(left)));
            }
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => {
                self.row_failed(&error, core, out);
            }
        }
        Ok(Step::Drop(header.total_len()))
    }

    /// Appends the begin of a row, up to its last protected value, with these treated. Gives how many bytes of it that took;
    /// None if more of it is needed. On an error a part may have been appended.
    pub(super) fn treat_begin(
        &mut self,
        tag: Tag,
        begin: &[u8],
        core: &mut Core,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, RowError> {
        let Some(keyring) = core.policy.keyring() else {
            return Err(RowError::Server("rows came before the keys"));
        };
        let encoding = self.settings.encoding.now();
        if tag == Tag::CopyData {
            let Some(copy) = &mut self.copies.from_server else { return Ok(Some(0)) };
            return copy.begin(begin, encoding, (&keyring, core), out);
        }
        match self.pending.treated_columns().map_err(RowError::Server)? {
            Some(columns) => {
                let begun = columns.begin(begin, encoding, &keyring, core)?;
                Ok(begun.map(|(taken, treated)| {
                    out.extend_from_slice(&treated);
                    taken
                }))
            }
            None => {
                Err(ClientError::protocol("rows of a protected table came before their description").into())
            }
        }
    }

    /// CopyData with rows of a protected table.
    pub(super) fn copy_row(
        &mut self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let encoding = self.settings.encoding.now();
        let Some(copy) = &mut self.copies.from_server else { return Ok(Fate::Pass) };
        if copy.passes(body, encoding, core) {
            return Ok(Fate::Pass);
        }
        let start = out.to_client.len();
        copy::begin_message(Tag::CopyData, &mut out.to_client);
        let begun = self.treat_begin(Tag::CopyData, body, core, &mut out.to_client);
        if !matches!(begun, Ok(Some(_))) {
            out.to_client.truncate(start);
        }
        match begun {
            Ok(Some(taken)) => {
                out.to_client.extend_from_slice(body.get(taken..).unwrap_or_default());
                copy::end_message(start, 0, &mut out.to_client).ok_or(MALFORMED)?;
            }
            Ok(None) => return Err("a CopyData message that ends within a row"),
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => self.row_failed(&error, core, out),
        }
        Ok(Fate::Taken)
    }

    /// A row comes, and maybe more behind it: what is sealed in them is opened together.
    pub(super) fn rows_come(&mut self, tag: Tag, messages: &[u8], core: &mut Core) {
        if self.pending.is_withheld() || core.buffers().scratch.batch().covers(messages) {
            return;
        }
        let Some(keyring) = core.policy.keyring() else { return };
        if tag == Tag::CopyData {
            if let Some(copy) = &self.copies.from_server {
                copy.open_ahead(messages, &keyring, core.buffers().scratch.batch());
            }
        } else if let Ok(Some(columns)) = self.pending.treated_columns() {
            columns.open_ahead(messages, &keyring, core.buffers().scratch.batch(), rows::next_selected);
        }
    }

    /// Carries a row from the server to the client.
    pub(super) fn data_row(
        &mut self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        // A row that answers one of the filter's own queries is not for the client.
        if let Some(Awaited::OwnQuery(asked)) = self.pending.head().map(|entry| &entry.awaited) {
            self.own_queries.read_row(*asked, body, core);
            return Ok(Fate::Taken);
        }
        // The description of the rows, which came before, says how each column is treated.
        let columns = self.pending.treated_columns()?;
        let keyring = core.policy.keyring();
        let (Some(columns), Some(keyring)) = (columns, keyring) else {
            let error = ClientError::protocol("rows of a protected table came before their description");
            self.row_failed(&error, core, out);
            return Ok(Fate::Taken);
        };
        // A row without protected columns passes as it came, and so does one whose values stay as they are stored.
        let encoding = self.settings.encoding.now();
        if columns.is_empty() || columns.passes(body, encoding, core) {
            return Ok(Fate::Pass);
        }
        // The row is written with its protected values opened, masked or left out, and these are counted.
        let start = out.to_client.len();
        let written = columns.write(body, encoding, &keyring, &mut out.to_client, core);
        match written {
            Ok(()) => {}
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => {
                // If a value can't be given, an error ends the response in the row's place.
                out.to_client.truncate(start);
                self.row_failed(&error, core, out);
            }
        }
        Ok(Fate::Taken)
    }

    /// A row that the client can't be given. The client gets an error in its place and nothing more of this
    /// answer. Where the server has done, or will do, more than read, an error would say too little: then
    /// the session ends.
    pub(super) fn row_failed(&mut self, error: &ClientError, core: &mut Core, out: &mut CallbackOutput) {
        let plan = self.pending.plan();
        core.audit.count_ended(plan.as_ref(), error);
        // A budget that is spent has its line already, one for all of its rows.
        if error.code != sqlstate::CONFIGURATION_LIMIT_EXCEEDED {
            core.log(Level::Error, &error.message);
        }
        let (checked, extended) = match self.pending.head().map(|e| &e.awaited) {
            Some(Awaited::Query(checked, ..)) => (Some(checked), false),
            Some(Awaited::Execute(Some(portal))) => (Some(&portal.checked), true),
            _ => (None, true),
        };
        let only_reads = checked.is_some_and(|checked| checked.only_reads());
        let why = if !only_reads {
            Some(IS_DONE)
        } else if extended && self.pending.acts_behind_head() {
            Some(MORE_IS_DONE)
        } else if self.pending.is_kept() {
            Some(WAS_DONE)
        } else {
            None
        };
        let encoding = self.settings.encoding.now();
        if let Some(why) = why {
            write_error(core, encoding, ("FATAL", error, why), &mut out.to_client);
            out.close = true;
            return;
        }
        write_error(core, encoding, ("ERROR", error, ""), &mut out.to_client);
        self.pending.withhold();
        // The client's messages up to its Sync are dropped, as the server would after an error of its own.
        if extended && !self.pending.has_sync() {
            self.pipeline.skip();
        }
    }

    /// What comes behind an error of ours is not for the client. It is read all the same: what became of statements and
    /// portals is what the server says.
    pub(super) fn swallow(
        &mut self,
        tag: Tag,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        if !copy::holds_row(tag) {
            let told = out.to_client.len();
            self.answer(tag, body, core, out)?;
            out.to_client.truncate(told);
        }
        Ok(Fate::Taken)
    }
}
