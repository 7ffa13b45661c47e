//! LOAD DATA LOCAL INFILE into a protected table: the client's file is sealed on its way to the server, row by row.
//!
//! The server takes all of the file before it answers, and no packet tells it that the rest will not come. So what fails
//! the statement is a row, as the rewritten statement has it ([`Load::GIVES_UP`]); then what rolls back does so. For the sake of
//! the storage engines that do not, no row goes before the file's first mebibyte is sealed.

mod rows;

use std::rc::Rc;

use fieldveil_mysql_wire::column_type::ColumnType;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use fieldveil_sql::{Load, LoadCharset, ParameterUse};
use fieldveil_values::{Purpose, mysql, oid};
use zeroize::Zeroizing;

use self::rows::FileRows;
use super::pending::{Awaited, PendingResponse};
use super::seal::bad_value;
use super::{CallbackOutput, Session};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{Checked, Place, Step, Unread};
use crate::ports::Level;

/// Bytes of rows that are kept before the first of them goes.
const MAX_KEPT: usize = 1 << 20;
/// Bytes of one packet to the server, below any `max_allowed_packet` in use.
const PACKET: usize = 16 << 10;
/// The server's error for [`Load::GIVES_UP`], and for a file in another character set than is known here.
const DATA_OUT_OF_RANGE: [u8; 2] = 1690_u16.to_le_bytes();

/// A file on its way.
pub(super) struct Loading {
    checked: Rc<Checked>,
    charset: LoadCharset,
    rows: FileRows,
    /// Sealed rows that are not sent yet.
    kept: Vec<u8>,
    /// Rows go as they come.
    streams: bool,
    /// The statement is made to fail: the rest of the file goes nowhere.
    has_failed: bool,
    /// The number of the next packet to the server.
    sequence: u8,
}

impl Loading {
    /// Bytes held.
    pub fn held(&self) -> usize {
        self.kept.len().saturating_add(self.rows.held())
    }

    fn packet(&mut self, payload: &[u8], out: &mut CallbackOutput) {
        let [a, b, c, ..] = payload.len().to_le_bytes();
        out.to_server.extend_from_slice(&[a, b, c, self.sequence]);
        out.to_server.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn send(&mut self, rows: &[u8], out: &mut CallbackOutput) {
        rows.chunks(PACKET).for_each(|chunk| self.packet(chunk, out));
    }
}

impl Session {
    /// The server asks for a file, by the packet with this number. Its rows are to be sealed if the statement says so.
    pub(super) fn begin_load(&mut self, checked: &Rc<Checked>, load: Option<&Load>, number: u8) {
        self.loading = load.map(|load| {
            Box::new(Loading {
                checked: Rc::clone(checked),
                charset: load.charset,
                rows: FileRows::new(load),
                kept: Vec::new(),
                streams: false,
                has_failed: false,
                sequence: number.wrapping_add(1),
            })
        });
    }

    /// A packet of the file begins; an empty one is the file's end.
    pub(super) fn load_packet(&mut self, header: Header, is_end: bool, out: &mut CallbackOutput) -> Step {
        let Some(loading) = &mut self.loading else { return Step::Took(HEADER_LEN) };
        if is_end {
            self.end_load(header, out);
            return Step::Took(HEADER_LEN);
        }
        if loading.has_failed {
            // So that the server does not take the client for gone.
            loading.packet(b"\n", out);
        }
        Step::TookHead(HEADER_LEN, Unread::Pieces(header.payload_len))
    }

    /// A piece of the file.
    pub(super) fn load_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        self.seal_rows(out, |rows, seal, sealed| rows.push(piece, seal, sealed));
    }

    fn end_load(&mut self, header: Header, out: &mut CallbackOutput) {
        self.seal_rows(out, |rows, seal, sealed| rows.finish(seal, sealed));
        let Some(loading) = &mut self.loading else { return };
        let kept = std::mem::take(&mut loading.kept);
        loading.send(&kept, out);
        let server = loading.sequence;
        loading.packet(b"", out);
        match self.pending.head() {
            Some(entry) => entry.shift = header.sequence.wrapping_sub(server),
            // It has answered before it had the file.
            None => self.loading = None,
        }
    }

    fn seal_rows(
        &mut self,
        out: &mut CallbackOutput,
        run: impl FnOnce(&mut FileRows, &mut rows::Seal<'_>, &mut Vec<u8>) -> Result<(), ClientError>,
    ) {
        let Some(mut loading) = self.loading.take() else { return };
        if !loading.has_failed {
            let (checked, charset) = (Rc::clone(&loading.checked), loading.charset);
            let mut seal = |field, value: Option<&[u8]>| self.seal_loaded(&checked, charset, field, value);
            let mut kept = std::mem::take(&mut loading.kept);
            let sealed = run(&mut loading.rows, &mut seal, &mut kept);
            match sealed {
                Err(error) => {
                    if loading.streams {
                        // The rows before are whole.
                        loading.send(&kept, out);
                    }
                    self.give_up(&mut loading, error, out);
                }
                Ok(()) if loading.streams || kept.len() > MAX_KEPT => {
                    loading.streams = true;
                    loading.send(&kept, out);
                }
                Ok(()) => loading.kept = kept,
            }
        }
        self.loading = Some(loading);
    }

    /// What a value is sealed to, in the digits that the statement takes it in; None for NULL.
    fn seal_loaded(
        &mut self,
        checked: &Checked,
        charset: LoadCharset,
        field: usize,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, ClientError> {
        const STORE: ParameterUse = ParameterUse::Store;
        let place = Place::of(checked, field)?;
        let Place { field, stored, .. } = place;
        let Some(value) = value else {
            place.refuse_shown(STORE, None)?;
            return Ok(None);
        };
        if charset == LoadCharset::SingleByte && field.declared.oid() != oid::BYTEA && !value.is_ascii() {
            let reason = "it has other characters than ASCII's, and the file is not in UTF-8";
            return Err(bad_value(field, reason));
        }
        let (settings, code) = (self.settings.values, ColumnType::VarString.code());
        let text = mysql::read_parameter(&field.declared, &settings, Purpose::Store, code, false, value)
            .map(Zeroizing::new)
            .map_err(|error| bad_value(field, &error.to_string()))?;
        place.refuse_shown(STORE, Some(&text))?;
        let sealed = place.fit(STORE, self.core.seal(field, &text, stored, STORE)?)?;
        Ok(Some(hexadecimal(&sealed)))
    }

    /// Makes the statement fail.
    fn give_up(&mut self, loading: &mut Loading, error: ClientError, out: &mut CallbackOutput) {
        self.core.audit.note_refusal(&error);
        loading.has_failed = true;
        match loading.rows.giving_up(!loading.streams) {
            Some(row) => {
                loading.send(&row, out);
                if let Some(entry) = self.pending.head() {
                    entry.refused = Some(error);
                }
            }
            // No row has gone, and none of the server's will be read before many lines more.
            None => {
                self.core.log(Level::Error, &error.message);
                self.core.audit.note_end(Ended::Filter);
                out.close = true;
            }
        }
    }

    /// The server's answer to a statement that loaded a file: the error of its own for which it was made to fail.
    pub(super) fn load_refused(&mut self, body: &[u8]) -> Option<ClientError> {
        let loading = self.loading.take()?;
        let refused = self.pending.head().and_then(|entry: &mut PendingResponse| entry.refused.take());
        let number = body.get(1..3).filter(|_| body.first() == Some(&0xff));
        if refused.is_none() && loading.charset == LoadCharset::Unnamed && number == Some(&DATA_OUT_OF_RANGE)
        {
            return Some(ClientError::unsupported(
                "the file's character set is not told, and the server takes it for another than UTF-8",
                "Name it in the statement: CHARACTER SET utf8mb4.",
            ));
        }
        refused
    }

    /// Whether the answer that comes is to a statement that loads a file, of which all was sent.
    pub(super) fn has_loaded(&mut self) -> bool {
        let is_results = |entry: &mut PendingResponse| matches!(entry.awaited, Awaited::Results(_));
        !self.infile && self.loading.is_some() && self.pending.head().is_some_and(is_results)
    }
}

/// What is prepared would be executed as often as it is, each time with another file; no driver does so.
pub(super) fn refuse_prepared(checked: &Checked) -> Result<(), ClientError> {
    match checked.analysis.statements.iter().any(|statement| statement.load.is_some()) {
        false => Ok(()),
        true => Err(ClientError::unsupported(
            "a prepared LOAD DATA into a table with sealed columns is not supported",
            "Send it as a text: COM_QUERY, which is what clients do where no statement is prepared.",
        )),
    }
}

fn hexadecimal(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
