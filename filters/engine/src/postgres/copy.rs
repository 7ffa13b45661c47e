//! COPY between the client and a protected table: its rows are sealed on their way in, and treated by the plan on their
//! way out. Rows stream: what is held is one field that is to be sealed, or one row that is not complete.

mod binary_in;
mod client;
mod sealed_rows;
mod server;
mod text_in;
mod text_out;

pub use self::client::OUT_OF_PLACE;
pub use self::server::{begin_message, end_message, holds_row};

use std::rc::Rc;

use fieldveil_postgres_wire::copy_data::{CopyDataError, Dialect, Quotes};
use fieldveil_sql::{Copy, CopyFormat, CopyText};

use self::binary_in::BinaryIn;
use self::sealed_rows::{RowFormat, SealedRows, ValueSealer};
use self::text_in::TextIn;
pub use self::text_out::TextOut;
use super::encoding::ClientEncoding;
use super::rows::TreatedColumns;
use super::settings::Settings;
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core};
use crate::field::StoredForm;

/// A column of the data: the field it is, and how that is stored; None if it passes as it is.
pub type CopyColumn = Option<(usize, StoredForm)>;

/// Bytes of one row that are kept until the row is seen to be whole. A longer one is forwarded in pieces.
const MAX_ROW_KEPT: usize = 1 << 20;

/// What becomes of the client's CopyData.
#[derive(Default)]
pub enum Copying {
    /// It passes: nothing is copied, or nothing of it is protected.
    #[default]
    No,
    /// It is sealed.
    Sealing(Box<CopyIn>),
    /// It is dropped: the COPY has failed.
    Failed,
    /// It is dropped: the filter refused the COPY, and says why behind the data.
    Refused(Box<ClientError>),
}

impl Copying {
    /// Bytes of a row that is not whole.
    pub fn held(&self) -> usize {
        match self {
            Self::Sealing(copy) => copy.held(),
            Self::No | Self::Failed | Self::Refused(_) => 0,
        }
    }
}

/// The COPYs of a session, of which one at most is under way.
#[derive(Default)]
pub struct Copies {
    /// How many from the client into protected tables have begun.
    begun: u64,
    /// Whether the server reads the client's data.
    pub server_reads: bool,
    pub from_client: Copying,
    /// How the server's data is treated. If it is None, the data passes.
    pub from_server: Option<CopyOut>,
    /// Which of those that have begun the server took last.
    taken: Option<u64>,
    /// The server has asked for the data of a COPY, and not answered it yet.
    is_asked: bool,
    /// A COPY from the client into a protected table failed before the server took it. The client may send its rows as
    /// statements, and these must not reach the server's log.
    pub rows_may_follow: bool,
}

impl Copies {
    /// Begins a COPY from the client into a protected table, and returns its number.
    fn begin(&mut self, checked: &Rc<CheckedText>, copy: &Copy, settings: &Settings, limit: usize) -> u64 {
        self.begun = self.begun.saturating_add(1);
        let copy = CopyIn::new(self.begun, (checked, copy, settings), limit);
        self.from_client = Copying::Sealing(Box::new(copy));
        self.begun
    }

    /// The number of the last COPY from the client into a protected table.
    fn number(&self) -> u64 {
        self.begun
    }

    fn is_sealing(&self) -> bool {
        matches!(self.from_client, Copying::Sealing(_))
    }

    /// Begins to drop the data of a COPY that the filter refused.
    pub fn refuse(&mut self, error: ClientError) {
        self.from_client = Copying::Refused(Box::new(error));
    }

    /// The client has sent all data of a COPY that the filter refused. Returns what it is told.
    pub fn take_refused(&mut self) -> Option<ClientError> {
        match std::mem::take(&mut self.from_client) {
            Copying::Refused(error) => Some(*error),
            other => {
                self.from_client = other;
                None
            }
        }
    }

    /// The server failed before the client could be asked for the data of a COPY that the filter refused.
    pub fn give_up_refused(&mut self) {
        self.from_client = Copying::Failed;
        self.rows_may_follow = true;
    }

    /// Whether the data of a COPY that the filter refused is dropped.
    pub fn is_refused(&self) -> bool {
        matches!(self.from_client, Copying::Refused(_))
    }

    /// The server asks for the data of this COPY. `is_sent` says that the client has sent all of it already.
    pub fn take(&mut self, number: Option<u64>, is_sent: bool) {
        self.taken = number;
        self.is_asked = true;
        self.server_reads = !is_sent;
    }

    /// The server has answered a statement. Returns whether that was a COPY from the client.
    pub fn complete(&mut self) -> bool {
        self.from_server = None;
        std::mem::take(&mut self.is_asked)
    }

    /// The client has sent CopyDone or CopyFail. Returns whether the server is to get it.
    pub fn end_from_client(&mut self) -> bool {
        let passes = !matches!(std::mem::take(&mut self.from_client), Copying::Failed);
        self.server_reads &= !passes;
        passes
    }

    /// The server has refused the COPY of this number, or skips it. The client may still send its data, which is dropped.
    pub fn give_up(&mut self, number: Option<u64>) {
        self.rows_may_follow |= number.is_some() && number != self.taken;
        if matches!(&self.from_client, Copying::Sealing(copy) if Some(copy.number) == number) {
            self.from_client = Copying::Failed;
        }
    }

    /// The filter has sent CopyFail in the place of a row.
    fn fail(&mut self) {
        self.server_reads = false;
        self.from_client = Copying::Failed;
    }

    /// The server has sent an error, which ends a COPY in either direction.
    pub fn end_with_error(&mut self) {
        self.server_reads = false;
        self.is_asked = false;
        self.from_server = None;
    }
}

/// The data of a COPY from the client.
pub struct CopyIn {
    /// Which COPY of the session it is.
    number: u64,
    checked: Rc<CheckedText>,
    /// The encoding of the values' texts, when they have been read.
    encoding: ClientEncoding,
    rows: RowsIn,
    sealed: SealedRows,
}

enum RowsIn {
    Text(TextIn),
    Binary(BinaryIn),
}

/// The data of a COPY to the client.
pub enum CopyOut {
    /// Text or CSV.
    Text(TextOut),
    /// Binary: behind the header a row is what a DataRow is.
    Binary {
        /// Whether the header is behind.
        started: bool,
        /// How the rows are treated.
        columns: TreatedColumns,
    },
}

impl CopyIn {
    fn new(
        number: u64,
        (checked, copy, settings): (&Rc<CheckedText>, &Copy, &Settings),
        limit: usize,
    ) -> Self {
        let encoding = encoding_of(copy, settings);
        let columns = columns(checked, copy);
        let (rows, format) = match &copy.format {
            CopyFormat::Binary => (RowsIn::Binary(BinaryIn::new(columns, limit)), RowFormat::Binary),
            CopyFormat::Text(text) => {
                let is_other = settings.encoding.is_other_server();
                let rows = TextIn::new(columns, text, (encoding, is_other), limit);
                (RowsIn::Text(rows), RowFormat::Text(dialect(text)))
            }
        };
        // What is read of text is in UTF-8 already.
        let encoding = if matches!(format, RowFormat::Binary) { encoding } else { ClientEncoding::Utf8 };
        Self { number, checked: Rc::clone(checked), encoding, rows, sealed: SealedRows::new(format) }
    }

    /// Bytes of a row that is not whole.
    fn held(&self) -> usize {
        let read = match &self.rows {
            RowsIn::Text(rows) => rows.held(),
            RowsIn::Binary(rows) => rows.held(),
        };
        read.saturating_add(self.sealed.held())
    }

    /// Seals a piece of the data, or what is left if the client has sent all. Returns whole rows also where one behind them
    /// is at fault.
    fn seal(&mut self, piece: Option<&[u8]>, core: &mut Core) -> (Vec<u8>, Result<(), ClientError>) {
        let Self { checked, encoding, rows, sealed, .. } = self;
        let mut sealer = ValueSealer { core, checked, encoding: *encoding };
        let read = match (rows, piece) {
            (RowsIn::Text(rows), Some(piece)) => rows.push(piece, &mut sealer, sealed),
            (RowsIn::Text(rows), None) => rows.finish(&mut sealer, sealed),
            (RowsIn::Binary(rows), Some(piece)) => rows.push(piece, &mut sealer, sealed),
            (RowsIn::Binary(rows), None) => rows.finish(),
        };
        if read.is_err() {
            sealed.drop_row();
        }
        let is_sealed = sealed.seal(&mut sealer);
        (sealed.take_ready(), read.and(is_sealed))
    }
}

impl CopyOut {
    /// None if no column is protected. `settings` are those under which the server began it.
    pub fn new(checked: &Rc<CheckedText>, copy: &Copy, settings: &Settings) -> Option<Self> {
        let columns = columns(checked, copy);
        columns.iter().any(Option::is_some).then(|| match &copy.format {
            CopyFormat::Binary => {
                Self::Binary { started: false, columns: TreatedColumns::of_copy(checked, &columns) }
            }
            CopyFormat::Text(text) => {
                Self::Text(TextOut::new(Rc::clone(checked), &columns, text, encoding_of(copy, settings)))
            }
        })
    }
}

fn columns(checked: &CheckedText, copy: &Copy) -> Vec<CopyColumn> {
    let column = |field: usize| Some((field, checked.catalog.as_ref()?.stored(field)?));
    copy.columns.iter().map(|field| field.and_then(column)).collect()
}

/// The encoding of a COPY's data.
fn encoding_of(copy: &Copy, settings: &Settings) -> ClientEncoding {
    match &copy.format {
        CopyFormat::Text(CopyText { encoding: Some(named), .. }) => settings.encoding.named(named),
        CopyFormat::Text(_) | CopyFormat::Binary => settings.encoding.now(),
    }
}

fn dialect(text: &CopyText) -> Dialect {
    let quotes = text.csv.as_ref().map(|csv| Quotes { quote: csv.quote, escape: csv.escape });
    Dialect { delimiter: text.delimiter, null: text.null.clone(), quotes }
}

fn malformed(row: u64, error: CopyDataError) -> ClientError {
    ClientError::bad_copy(row, &error.to_string())
}
