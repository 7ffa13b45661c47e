//! LOAD DATA LOCAL INFILE into a protected table: the client's file is sealed on its way to the server, row by row.
//!
//! The server takes all of the file before it answers, and no packet tells it that the rest will not come. So what fails
//! the statement is a row, as the rewritten statement has it ([`Load::GIVES_UP`]); then what rolls back does so. For the sake of
//! the storage engines that do not, no row goes before the file's first mebibyte is sealed.

mod rows;

use std::rc::Rc;

use fieldveil_mysql_wire::column_type::ColumnType;
use fieldveil_mysql_wire::packet::Header;
use fieldveil_sql::{Load, LoadCharset, ParameterUse};
use fieldveil_values::mysql::Settings;
use fieldveil_values::{ValueUse, mysql, oid};

use self::rows::FileRows;
use super::CallbackOutput;
use super::seal::bad_value;
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{BatchedRows, CheckedText, Core, Place};
use crate::field::Clear;
use crate::ports::Level;

/// Bytes of rows that are kept before the first of them goes.
const MAX_KEPT: usize = 1 << 20;
/// Bytes of one packet to the server, below any `max_allowed_packet` in use.
const PACKET: usize = 16 << 10;
/// The server's error for [`Load::GIVES_UP`], and for a file in another character set than is known here.
const DATA_OUT_OF_RANGE: [u8; 2] = 1690_u16.to_le_bytes();

/// The file that the server reads from the client.
pub(super) struct FileTransfer {
    /// A packet of the file continues in the next one, which ends that packet, and not the file, if it is empty.
    is_continued: bool,
    /// How its rows are sealed. If it is None, the file passes.
    pub sealing: Option<Box<FileSealing>>,
}

impl FileTransfer {
    /// The server asks for the file by the packet with this number. Its rows are sealed if the statement loads them into
    /// protected columns.
    pub fn new(checked: &Rc<CheckedText>, load: Option<&Load>, number: u8) -> Self {
        let sealing = load.map(|load| Box::new(FileSealing::new(checked, load, number)));
        Self { is_continued: false, sealing }
    }

    /// Takes the header of a packet. Returns true if it is the empty packet that ends the file.
    pub fn take_header(&mut self, header: Header) -> bool {
        let is_end = header.payload_len == 0 && !self.is_continued;
        self.is_continued = header.is_continued();
        is_end
    }

    /// Counts the bytes that are held of the file.
    pub fn held(&self) -> usize {
        self.sealing.as_ref().map_or(0, |sealing| sealing.held())
    }
}

/// The sealing of a file's rows.
pub(super) struct FileSealing {
    checked: Rc<CheckedText>,
    charset: LoadCharset,
    rows: FileRows,
    /// Sealed rows that are not sent yet.
    kept: Vec<u8>,
    /// Whether rows are sent as they are sealed.
    streams: bool,
    /// Whether the statement is made to fail, so that the rest of the file is dropped.
    has_failed: bool,
    /// The number of the next packet to the server.
    sequence: u8,
}

/// How a file that was sealed ended.
pub(super) struct FileEnd {
    /// The number of the packet to the server that ends it.
    pub number: u8,
    /// The character set that the statement names.
    pub charset: LoadCharset,
    /// The error for which the last rows make the statement fail.
    pub refused: Option<ClientError>,
}

impl FileSealing {
    fn new(checked: &Rc<CheckedText>, load: &Load, number: u8) -> Self {
        Self {
            checked: Rc::clone(checked),
            charset: load.charset,
            rows: FileRows::new(load),
            kept: Vec::new(),
            streams: false,
            has_failed: false,
            sequence: number.wrapping_add(1),
        }
    }

    fn held(&self) -> usize {
        self.kept.len().saturating_add(self.rows.held())
    }

    /// A packet of the file begins.
    pub fn begin_packet(&mut self, out: &mut CallbackOutput) {
        if self.has_failed {
            // The server must not take the client for gone.
            self.packet(b"\n", out);
        }
    }

    /// Seals a piece of the file. Returns the error that the client gets for the statement, if a row makes it fail.
    pub fn push(
        &mut self,
        piece: &[u8],
        core: &mut Core,
        values: &Settings,
        out: &mut CallbackOutput,
    ) -> Option<ClientError> {
        self.seal_rows(core, values, out, |rows, sealer| rows.push(piece, sealer))
    }

    /// Seals the rest of the file, and ends it.
    pub fn finish(&mut self, core: &mut Core, values: &Settings, out: &mut CallbackOutput) -> FileEnd {
        let refused = self.seal_rows(core, values, out, |rows, sealer| rows.finish(sealer));
        self.send_kept(out);
        let number = self.sequence;
        self.packet(b"", out);
        FileEnd { number, charset: self.charset, refused }
    }

    fn seal_rows(
        &mut self,
        core: &mut Core,
        values: &Settings,
        out: &mut CallbackOutput,
        run: impl FnOnce(&mut FileRows, &mut FileSealer<'_>) -> Result<(), ClientError>,
    ) -> Option<ClientError> {
        if self.has_failed {
            return None;
        }
        let Self { checked, charset, rows, kept, .. } = self;
        let mut sealer = FileSealer { core, values, checked, charset: *charset };
        let sealed = run(rows, &mut sealer);
        kept.append(&mut rows.take_ready());
        if let Err(error) = sealed {
            if self.streams {
                // The rows before are whole.
                self.send_kept(out);
            }
            self.kept = Vec::new();
            return self.give_up(core, error, out);
        }
        if self.streams || self.kept.len() > MAX_KEPT {
            self.streams = true;
            self.send_kept(out);
        }
        None
    }

    /// Makes the statement fail. Returns the error that the client gets for it, or ends the session.
    fn give_up(
        &mut self,
        core: &mut Core,
        error: ClientError,
        out: &mut CallbackOutput,
    ) -> Option<ClientError> {
        core.audit.note_refusal(&error);
        self.has_failed = true;
        match self.rows.giving_up(!self.streams) {
            Some(row) => {
                self.send(&row, out);
                Some(error)
            }
            // No row was sent, and the server skips many lines before it reads one.
            None => {
                core.log(Level::Error, &error.message);
                core.audit.note_end(Ended::Filter);
                out.close = true;
                None
            }
        }
    }

    fn send_kept(&mut self, out: &mut CallbackOutput) {
        let kept = std::mem::take(&mut self.kept);
        self.send(&kept, out);
    }

    fn send(&mut self, rows: &[u8], out: &mut CallbackOutput) {
        rows.chunks(PACKET).for_each(|chunk| self.packet(chunk, out));
    }

    fn packet(&mut self, payload: &[u8], out: &mut CallbackOutput) {
        let [a, b, c, ..] = payload.len().to_le_bytes();
        out.to_server.extend_from_slice(&[a, b, c, self.sequence]);
        out.to_server.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
    }
}

/// What seals the values of a file.
struct FileSealer<'s> {
    core: &'s mut Core,
    values: &'s Settings,
    checked: &'s CheckedText,
    charset: LoadCharset,
}

impl FileSealer<'_> {
    /// Appends a value to its row, sealed now or later. Returns false for NULL, which None stands for and which is not sealed.
    fn push(
        &mut self,
        field: usize,
        value: Option<&[u8]>,
        rows: &mut BatchedRows,
    ) -> Result<bool, ClientError> {
        const STORE: ParameterUse = ParameterUse::Store;
        let place = Place::of(self.checked, field)?;
        let field = place.field;
        let Some(value) = value else {
            place.refuse_shown(STORE, None)?;
            return Ok(false);
        };
        let is_bytes = field.declared.oid() == oid::BYTEA;
        if self.charset == LoadCharset::SingleByte && !is_bytes && !value.is_ascii() {
            let reason = "it has other characters than ASCII's, and the file is not in UTF-8";
            return Err(bad_value(field, reason));
        }
        let code = ColumnType::VarString.code();
        let text = mysql::read_parameter(&field.declared, self.values, ValueUse::Store, code, false, value)
            .map(Clear::from)
            .map_err(|error| bad_value(field, &error.to_string()))?;
        place.refuse_shown(STORE, Some(&text))?;
        let (at, batch) = rows.batch();
        match self.core.seal_or_gather(place, (&text, STORE), at, Some(batch))? {
            Some(sealed) => write_hexadecimal(&place.fit(STORE, sealed)?, rows.bytes()),
            None if rows.batch().1.is_full() => self.seal(rows)?,
            None => {}
        }
        Ok(true)
    }

    /// Seals the values that wait, and writes the digits in which the statement reads them.
    fn seal(&mut self, rows: &mut BatchedRows) -> Result<(), ClientError> {
        rows.seal(self.core, &self.checked.plan.fields, |_, sealed, out| {
            write_hexadecimal(sealed, out);
            Ok(())
        })
    }
}

/// The error that the client gets where the server answers to a sealed file by this one: the statement's own, or what the
/// server's means where the statement does not name the file's character set.
pub(super) fn refusal_of_file(
    refused: Option<ClientError>,
    charset: LoadCharset,
    body: &[u8],
) -> Option<ClientError> {
    let number = body.get(1..3).filter(|_| body.first() == Some(&0xff));
    if refused.is_none() && charset == LoadCharset::Unnamed && number == Some(&DATA_OUT_OF_RANGE) {
        return Some(ClientError::unsupported(
            "the file's character set is not told, and the server takes it for another than UTF-8",
            "Name it in the statement: CHARACTER SET utf8mb4.",
        ));
    }
    refused
}

/// What is prepared would be executed as often as it is, each time with another file; no driver does so.
pub(super) fn refuse_prepared(checked: &CheckedText) -> Result<(), ClientError> {
    match checked.analysis.statements.iter().any(|statement| statement.load.is_some()) {
        false => Ok(()),
        true => Err(ClientError::unsupported(
            "a prepared LOAD DATA into a table with sealed columns is not supported",
            "Send it as a text: COM_QUERY, which is what clients do where no statement is prepared.",
        )),
    }
}

fn write_hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
    out.reserve(bytes.len().saturating_mul(2));
    for byte in bytes {
        out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use fieldveil_mysql_wire::packet::{Header, MAX_PAYLOAD};

    use super::{DATA_OUT_OF_RANGE, FileTransfer, LoadCharset, refusal_of_file};
    use crate::client_error::ClientError;

    fn header(payload_len: usize) -> Header {
        Header { payload_len, sequence: 2 }
    }

    #[test]
    fn an_empty_packet_that_continues_another_does_not_end_the_file() {
        let mut file = FileTransfer { is_continued: false, sealing: None };
        assert!(!file.take_header(header(MAX_PAYLOAD)));
        assert!(!file.take_header(header(0)));
        assert!(file.take_header(header(0)));
        assert_eq!(file.held(), 0);
    }

    #[test]
    fn the_error_of_the_rows_comes_before_that_of_the_server() {
        let error = [&[0xff], DATA_OUT_OF_RANGE.as_slice()].concat();
        let of_rows = refusal_of_file(Some(ClientError::protocol("a row")), LoadCharset::Unnamed, &error);
        assert!(of_rows.is_some_and(|error| error.message.contains("a row")));
        let of_server = refusal_of_file(None, LoadCharset::Unnamed, &error);
        assert!(of_server.is_some_and(|error| error.hint.contains("utf8mb4")));
        assert!(refusal_of_file(None, LoadCharset::Utf8, &error).is_none());
        assert!(refusal_of_file(None, LoadCharset::Unnamed, &[0, 0, 0]).is_none());
    }
}
