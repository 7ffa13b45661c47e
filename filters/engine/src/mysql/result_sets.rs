//! Reads the responses to COM_QUERY, COM_STMT_EXECUTE and COM_STMT_FETCH: definitions, and rows whose values are treated.

use std::rc::Rc;

use fieldveil_mysql_wire::message::peek_message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::response::ColumnDefinition41;
use fieldveil_mysql_wire::{Capabilities, WireError};
use fieldveil_sql::ClientFile;

use super::pending::{Awaited, PendingResponse, PendingResults};
use super::results::{Packet, Stage};
use super::rows::Columns;
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::statements::Cursor;
use super::{CallbackOutput, Session};
use crate::audit::Ended;
use crate::client_error::{ClientError, sqlstate};
use crate::database::{MAX_HELD, RowError, Step, Tally};
use crate::ports::Level;

impl Session {
    /// Reads a packet of a response that consists of results.
    pub(super) fn results_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let (shift, swallowing) = (entry.shift, entry.swallowing);
        let Awaited::Results(answer) = &mut entry.awaited else { return Err(OUT_OF_PLACE) };
        let packet = answer.results.peek(header.payload_len, first)?;
        if packet == Packet::Row {
            if swallowing {
                return Ok(self.drop_from_server(header));
            }
            return match answer.rows.as_ref().is_none_or(|rows| rows.is_empty()) {
                true => Ok(self.pass_from_server(header, shift, out)),
                false => self.row(header, rest, out),
            };
        }
        if packet == Packet::ColumnCount
            && let Some(step) = self.definitions_again(rest, out)
        {
            return Ok(step);
        }
        let Some(bytes) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        let number = header.sequence.wrapping_add(shift);
        if matches!(packet, Packet::Ok | Packet::Error)
            && self.has_loaded()
            && let Some(error) = self.load_refused(body)
        {
            drop(self.pending.pop());
            self.write_error(&error, number, &mut out.to_client);
            return match packet {
                Packet::Error => Ok(Step::Took(bytes.len())),
                _ => Err("it took a row that fails the statement"),
            };
        }
        let start = out.to_client.len();
        let written = self.take_result(packet, body, number, out)?;
        if matches!(packet, Packet::ColumnCount | Packet::Definition(_)) {
            let instead = out.to_client.get(start..).filter(|_| written);
            self.keep_definitions(packet, bytes, instead);
        }
        if swallowing {
            return Ok(Step::Took(bytes.len()));
        }
        match written {
            true => Ok(Step::Took(bytes.len())),
            false => Ok(self.pass_from_server(header, shift, out)),
        }
    }

    /// Reads a packet that is not a row. Returns whether another was written in its place.
    fn take_result(
        &mut self,
        packet: Packet,
        body: &[u8],
        number: u8,
        out: &mut CallbackOutput,
    ) -> Result<bool, &'static str> {
        let (capabilities, values) = (self.capabilities, self.settings.values);
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let (swallowing, shift) = (entry.swallowing, entry.shift);
        let Awaited::Results(answer) = &mut entry.awaited else { return Err(OUT_OF_PLACE) };
        let complete = answer.results.complete;
        answer.results.take(packet, body, capabilities)?;
        let mut written = false;
        match packet {
            Packet::ColumnCount => {
                let Stage::Definitions { columns, .. } = answer.results.stage else { return Err(MALFORMED) };
                let treats = answer.checked.catalog.is_some();
                answer.rows = None;
                answer.columns =
                    treats.then(|| Columns::new(&answer.checked, &values, answer.number(), columns));
            }
            Packet::Definition(_) => {
                if let Some(columns) = &mut answer.columns {
                    written = define(columns, body, capabilities, number, (!swallowing).then_some(out))?;
                }
                if !matches!(answer.results.stage, Stage::Definitions { .. }) {
                    answer.rows = answer.columns.take().map(|columns| Rc::new(columns.finish()));
                }
            }
            Packet::Infile if swallowing || !names_file(answer, body) => {
                self.refuse_file(number, out);
                return Ok(true);
            }
            Packet::Infile => {
                self.infile = true;
                let load = answer.executed().and_then(|statement| statement.load.clone());
                let (checked, server) = (Rc::clone(&answer.checked), number.wrapping_sub(shift));
                self.begin_load(&checked, load.as_ref(), server);
                return Ok(false);
            }
            Packet::Ok | Packet::EndOfRows | Packet::EndOfDefinitions | Packet::Error | Packet::Row => {}
        }
        self.result_ended(packet, complete, body);
        Ok(written)
    }

    /// Reads a packet that may end a result, or the whole response.
    fn result_ended(&mut self, packet: Packet, complete: usize, body: &[u8]) {
        let Some(PendingResponse { awaited: Awaited::Results(answer), .. }) = self.pending.head() else {
            return;
        };
        let has_failed = packet == Packet::Error;
        let has_ended = answer.results.complete > complete || has_failed;
        let checked = Rc::clone(&answer.checked);
        let statement = has_ended.then(|| answer.result_ended(packet)).flatten();
        let lost_count = has_ended && answer.number().is_none();
        if answer.results.has_cursor
            && let Some(statement) = &answer.statement
            && answer.results.stage == Stage::Done
        {
            let cursor = Cursor { checked: Rc::clone(&answer.checked), rows: answer.rows.clone() };
            statement.cursor.replace(Some(cursor));
        }
        let is_done = answer.results.stage == Stage::Done;
        if let Some(statement) = statement.and_then(|number| checked.analysis.statements.get(number)) {
            self.names.executed(statement, has_failed, &self.core);
        } else if lost_count {
            self.names.forget();
        }
        if is_done {
            drop(self.pending.pop());
        }
        if matches!(packet, Packet::Ok | Packet::EndOfRows) {
            self.heed_changes(body);
        }
    }

    /// Ends the session, because the server asks the client for a file that the statement does not name. A server that was taken
    /// over may do so to read the client's files.
    fn refuse_file(&mut self, number: u8, out: &mut CallbackOutput) {
        let error = ClientError::unsupported(
            "the server asks for a file that the statement does not name",
            "Name it in LOAD DATA LOCAL INFILE as it is, and see that the server is the one that is meant.",
        );
        let plan = self.core.policy.plan.clone();
        self.core.audit.count_ended(plan.as_ref(), &error);
        self.core.log(Level::Error, &error.message);
        self.write_error(&error, number, &mut out.to_client);
        self.core.audit.note_end(Ended::Filter);
        out.close = true;
    }

    /// Treats the values of a row.
    fn row(&mut self, header: Header, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        let message = match peek_message(rest, MAX_HELD) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(Step::More),
            Err(WireError::TooLarge { .. }) => {
                let error = ClientError::limit(
                    "a row is longer than the 16 MiB that are read of one, and it has a protected column",
                    "Select the protected columns apart from the long ones.",
                );
                self.row_failed(&error, header, out)?;
                return Ok(self.drop_from_server(header));
            }
            Err(_) => return Err(MALFORMED),
        };
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let shift = entry.shift;
        let Awaited::Results(answer) = &entry.awaited else { return Err(OUT_OF_PLACE) };
        let (rows, is_binary) = (answer.rows.clone().ok_or(OUT_OF_PLACE)?, answer.statement.is_some());
        let Some(keyring) = self.core.policy.keyring() else { return Err("rows came before the keys") };
        let mut sequence = Sequence::starting_at(message.sequence.wrapping_add(shift));
        let start = out.to_client.len();
        let body = message.payload.as_ref();
        rows.open_ahead(rest, is_binary, &keyring, self.core.buffers().scratch.batch());
        match rows.write(body, is_binary, &keyring, &mut sequence, &mut out.to_client, &mut self.core) {
            Ok(()) => {
                // What was opened may take more packets, or fewer, than what was sealed.
                let after = Sequence::after(message.last_sequence.wrapping_add(shift)).next();
                let more = sequence.next().wrapping_sub(after);
                if let Some(entry) = self.pending.head() {
                    entry.shift = entry.shift.wrapping_add(more);
                }
            }
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => {
                out.to_client.truncate(start);
                self.row_failed(&error, header, out)?;
            }
        }
        Ok(Step::Took(message.total_len))
    }

    /// Gives the client an error in the place of a row that it may not have, and nothing more of this response. Where the server
    /// has written or will write something, the client could take an error for "nothing was done", so the session ends.
    fn row_failed(
        &mut self,
        error: &ClientError,
        header: Header,
        out: &mut CallbackOutput,
    ) -> Result<(), &'static str> {
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        entry.swallowing = true;
        let number = header.sequence.wrapping_add(entry.shift);
        let Awaited::Results(answer) = &entry.awaited else { return Err(OUT_OF_PLACE) };
        let checked = Rc::clone(&answer.checked);
        self.core.audit.count_ended(Some(&checked.plan), error);
        // A budget that is spent has its line already, one for all of its rows.
        if error.code != sqlstate::CONFIGURATION_LIMIT_EXCEEDED {
            self.core.log(Level::Error, &error.message);
        }
        self.write_error(error, number, &mut out.to_client);
        if !checked.only_reads() || self.pending.has_more() {
            self.core.audit.note_end(Ended::Filter);
            out.close = true;
        }
        Ok(())
    }
}

/// Whether the statement names the file that the server asks for.
fn names_file(answer: &PendingResults, request: &[u8]) -> bool {
    let named = answer.executed().and_then(|statement| statement.client_file.as_ref());
    match (named, request) {
        (Some(ClientFile::Any), _) => true,
        (Some(ClientFile::Named(name)), [_, asked @ ..]) => name.as_bytes() == asked,
        (Some(ClientFile::Named(_)), []) | (None, _) => false,
    }
}

/// Reads a column's definition, and writes another one where the declared type differs from the stored one.
pub(super) fn define(
    columns: &mut Columns,
    body: &[u8],
    capabilities: Capabilities,
    number: u8,
    out: Option<&mut CallbackOutput>,
) -> Result<bool, &'static str> {
    let mut definition = ColumnDefinition41::parse(body, capabilities).map_err(|_| MALFORMED)?;
    let is_another = columns.take(&mut definition)?;
    if let Some(out) = out.filter(|_| is_another) {
        let mut sequence = Sequence::starting_at(number);
        definition.encode(capabilities, &mut sequence, &mut out.to_client).map_err(|_| MALFORMED)?;
    }
    Ok(is_another)
}
