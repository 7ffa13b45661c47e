//! Reads the responses to COM_QUERY, COM_STMT_EXECUTE and COM_STMT_FETCH: definitions, and rows whose values are treated.

use std::rc::Rc;

use fieldveil_mysql_wire::message::peek_message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::response::ColumnDefinition41;
use fieldveil_mysql_wire::{Capabilities, WireError};
use fieldveil_sql::ClientFile;
use fieldveil_values::mysql::Settings;

use super::CallbackOutput;
use super::errors::write_error;
use super::file_transfer::{FileTransfer, refusal_of_file};
use super::pending::{Forwarding, PendingResults};
use super::responses::{Progress, ResponseContext, ServerPacket, take_changes};
use super::result_progress::{Packet, Stage};
use super::rows::Columns;
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::session_settings::SessionSettings;
use super::statements::Cursor;
use crate::audit::Ended;
use crate::client_error::{ClientError, sqlstate};
use crate::database::{Core, MAX_HELD, RowError, Step, Tally};
use crate::ports::Level;

impl PendingResults {
    /// Reads a packet of the response.
    pub fn read(
        &mut self,
        packet: ServerPacket<'_>,
        forwarding: &mut Forwarding,
        cx: &mut ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Progress, &'static str> {
        let ServerPacket { header, first, rest } = packet;
        let kind = self.progress.peek(header.payload_len, first)?;
        // A row is dropped behind one that was refused, passes, or has its values treated.
        if kind == Packet::Row {
            let step = match &self.treated_columns {
                _ if forwarding.swallowing => cx.server.drop(header),
                Some(columns) if !columns.is_empty() => self.read_row(packet, forwarding, cx, out)?,
                _ => cx.server.pass(header, forwarding.shift, out),
            };
            return Ok(Progress::More(step));
        }
        // Definitions that are the same as at the execution before are known at once.
        if kind == Packet::ColumnCount
            && let Some(step) = self.reuse_definitions(rest, forwarding, cx, out)
        {
            return Ok(Progress::More(step));
        }
        let Some(bytes) = packet.whole() else { return Ok(Progress::More(Step::More)) };
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        let number = header.sequence.wrapping_add(forwarding.shift);
        // The answer to a file may be the failure that its rows were made to cause.
        if let Stage::SealedFile(charset) = self.progress.stage
            && let Some(error) = refusal_of_file(forwarding.refused.take(), charset, body)
        {
            write_error(cx.core, &error, number, &mut out.to_client);
            return match kind {
                Packet::Error => Ok(Progress::Complete(Step::Took(bytes.len()))),
                _ => Err("it took a row that fails the statement"),
            };
        }
        let complete = self.progress.complete;
        self.progress.take(kind, body, cx.capabilities)?;
        // A request for a file is one that the statement names, or ends the session.
        if kind == Packet::FileRequest {
            if forwarding.swallowing || !names_file(self, body, &cx.sql.settings) {
                refuse_file(cx.core, number, out);
                return Ok(Progress::More(Step::Took(bytes.len())));
            }
            let load = self.executed().and_then(|statement| statement.load.as_ref());
            let file = FileTransfer::new(&self.checked, load, header.sequence);
            return Ok(Progress::File(cx.server.pass(header, forwarding.shift, out), file));
        }
        // Definitions say which columns of the rows are treated, and are kept for the next execution.
        let mut is_written = false;
        if matches!(kind, Packet::ColumnCount | Packet::Definition(_)) {
            let start = out.to_client.len();
            let settings = cx.sql.settings.values;
            is_written = match kind {
                Packet::Definition(_) => {
                    let out = (!forwarding.swallowing).then_some(&mut *out);
                    self.take_definition(body, cx.capabilities, number, out)?
                }
                _ => self.begin_definitions(&settings)?,
            };
            let written = out.to_client.get(start..).filter(|_| is_written);
            self.keep_definitions(kind, bytes, written, forwarding);
        }
        // Each other packet may end a result, or the whole response.
        let is_complete = self.take_end(kind, complete, body, cx);
        let step = match forwarding.swallowing || is_written {
            true => Step::Took(bytes.len()),
            false => cx.server.pass(header, forwarding.shift, out),
        };
        Ok(if is_complete { Progress::Complete(step) } else { Progress::More(step) })
    }

    /// The number of columns has come. No other packet is written in its place.
    fn begin_definitions(&mut self, settings: &Settings) -> Result<bool, &'static str> {
        let Stage::Definitions { columns, .. } = self.progress.stage else { return Err(MALFORMED) };
        let treats = self.checked.catalog.is_some();
        self.treated_columns = None;
        self.columns = treats.then(|| Columns::new(&self.checked, settings, self.number(), columns));
        Ok(false)
    }

    /// Takes a column's definition. Returns whether another was written in its place.
    fn take_definition(
        &mut self,
        body: &[u8],
        capabilities: Capabilities,
        number: u8,
        out: Option<&mut CallbackOutput>,
    ) -> Result<bool, &'static str> {
        let is_written = match &mut self.columns {
            Some(columns) => define(columns, body, capabilities, number, out)?,
            None => false,
        };
        if !matches!(self.progress.stage, Stage::Definitions { .. }) {
            self.treated_columns = self.columns.take().map(|columns| Rc::new(columns.finish()));
        }
        Ok(is_written)
    }

    /// Takes a packet that may end a result. Returns whether it ends the whole response.
    fn take_end(&mut self, kind: Packet, complete: usize, body: &[u8], cx: &mut ResponseContext<'_>) -> bool {
        let has_failed = kind == Packet::Error;
        let has_ended = self.progress.complete > complete || has_failed;
        let ended = has_ended.then(|| self.result_ended(kind)).flatten();
        let lost_count = has_ended && self.number().is_none();
        let is_complete = self.progress.stage == Stage::Done;
        if self.progress.has_cursor
            && is_complete
            && let Some(statement) = &self.statement
        {
            let cursor =
                Cursor { checked: Rc::clone(&self.checked), treated_columns: self.treated_columns.clone() };
            statement.cursor.replace(Some(cursor));
        }
        if let Some(statement) = ended.and_then(|number| self.checked.analysis.statements.get(number)) {
            cx.sql.names.executed(statement, has_failed, cx.core);
        } else if lost_count {
            cx.sql.names.forget();
        }
        if matches!(kind, Packet::Ok | Packet::EndOfRows) {
            take_changes(cx.core, cx.capabilities, body);
        }
        is_complete
    }

    /// Treats the values of a row.
    fn read_row(
        &self,
        packet: ServerPacket<'_>,
        forwarding: &mut Forwarding,
        cx: &mut ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let ServerPacket { header, rest, .. } = packet;
        let message = match peek_message(rest, MAX_HELD) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(Step::More),
            Err(WireError::TooLarge { .. }) => {
                let error = ClientError::limit(
                    "a row is longer than the 16 MiB that are read of one, and it has a protected column",
                    "Select the protected columns apart from the long ones.",
                );
                self.refuse_row(&error, header, forwarding, cx, out);
                return Ok(cx.server.drop(header));
            }
            Err(_) => return Err(MALFORMED),
        };
        let shift = forwarding.shift;
        let Some(columns) = &self.treated_columns else { return Err(OUT_OF_PLACE) };
        let is_binary = self.statement.is_some();
        if columns.passes(&message.payload, is_binary, cx.core) {
            return Ok(cx.server.pass(header, shift, out));
        }
        let Some(keyring) = cx.core.policy.keyring() else { return Err("rows came before the keys") };
        let mut sequence = Sequence::starting_at(message.sequence.wrapping_add(shift));
        let start = out.to_client.len();
        let body = message.payload.as_ref();
        // What is sealed in this row and the next ones is opened together, then the row is written with what was opened.
        columns.open_ahead(rest, is_binary, &keyring, cx.core.buffers().scratch.batch());
        match columns.write(body, is_binary, &keyring, &mut sequence, &mut out.to_client, cx.core) {
            Ok(()) => {
                // What was opened may take more packets, or fewer, than what was sealed.
                let after = Sequence::after(message.last_sequence.wrapping_add(shift)).next();
                forwarding.shift = shift.wrapping_add(sequence.next().wrapping_sub(after));
            }
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => {
                out.to_client.truncate(start);
                self.refuse_row(&error, header, forwarding, cx, out);
            }
        }
        Ok(Step::Took(message.total_len))
    }

    /// Gives the client an error in the place of a row that it may not have, and nothing more of this response. Where the server
    /// has written or will write something, the client could take an error for "nothing was done", so the session ends.
    fn refuse_row(
        &self,
        error: &ClientError,
        header: Header,
        forwarding: &mut Forwarding,
        cx: &mut ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) {
        forwarding.swallowing = true;
        let number = header.sequence.wrapping_add(forwarding.shift);
        cx.core.audit.count_ended(Some(&self.checked.plan), error);
        // A budget that is spent has its line already, one for all of its rows.
        if error.code != sqlstate::CONFIGURATION_LIMIT_EXCEEDED {
            cx.core.log(Level::Error, &error.message);
        }
        write_error(cx.core, error, number, &mut out.to_client);
        if !self.checked.only_reads() || cx.has_more {
            cx.core.audit.note_end(Ended::Filter);
            out.close = true;
        }
    }
}

/// Ends the session, because the server asks the client for a file that the statement does not name. A server that was taken
/// over may do so to read the client's files.
fn refuse_file(core: &mut Core, number: u8, out: &mut CallbackOutput) {
    let error = ClientError::unsupported(
        "the server asks for a file that the statement does not name",
        "Name it in LOAD DATA LOCAL INFILE as it is, and see that the server is the one that is meant.",
    );
    let plan = core.policy.plan.clone();
    core.audit.count_ended(plan.as_ref(), &error);
    core.log(Level::Error, &error.message);
    write_error(core, &error, number, &mut out.to_client);
    core.audit.note_end(Ended::Filter);
    out.close = true;
}

/// Whether the statement names the file that the server asks for.
fn names_file(answer: &PendingResults, request: &[u8], settings: &SessionSettings) -> bool {
    let named = answer.executed().and_then(|statement| statement.client_file.as_ref());
    match (named, request) {
        (Some(ClientFile::Any), _) => true,
        (Some(ClientFile::Named(name)), [_, asked @ ..]) => *name.as_bytes() == *settings.decode(asked),
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
