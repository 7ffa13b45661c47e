//! How much of a command's response has arrived: the stages that the protocol's documentation names for COM_QUERY,
//! COM_STMT_EXECUTE and COM_STMT_FETCH.

use fieldveil_mysql_wire::Capabilities;
use fieldveil_mysql_wire::lenenc::Lenenc;
use fieldveil_mysql_wire::limits::MAX_COLUMNS;
use fieldveil_mysql_wire::packet::MAX_PAYLOAD;
use fieldveil_mysql_wire::status::Status;
use fieldveil_sql::LoadCharset;

/// What the server sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// A result's first packet.
    #[default]
    First,
    /// The definition of a column.
    Definitions {
        /// The column's number, from 0 on.
        next: usize,
        /// How many there are.
        columns: usize,
    },
    /// The EOF between definitions and rows.
    EndOfDefinitions,
    /// Rows.
    Rows,
    /// The client sends a file, and the server answers afterwards.
    File,
    /// The answer to a file in this character set, which was sealed and sent completely.
    SealedFile(LoadCharset),
    /// Nothing.
    Done,
}

impl Stage {
    /// Returns the stage behind the last definition.
    pub fn behind_definitions(capabilities: Capabilities) -> Self {
        if capabilities.has(Capabilities::DEPRECATE_EOF) { Self::Rows } else { Self::EndOfDefinitions }
    }
}

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// OK: a statement without a result set.
    Ok,
    /// ERR: the command ends.
    Error,
    /// How many columns a result set has.
    ColumnCount,
    /// The definition of the column with this number.
    Definition(usize),
    /// EOF behind the definitions.
    EndOfDefinitions,
    /// A row.
    Row,
    /// The end of the rows.
    EndOfRows,
    /// The server asks for a file.
    FileRequest,
}

/// The results of one command, while they arrive.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResultProgress {
    /// What the server sends next.
    pub stage: Stage,
    /// How many results are complete.
    pub complete: usize,
    /// Whether the last result set is to be fetched from a cursor.
    pub has_cursor: bool,
}

const MALFORMED: &str = "a malformed packet";

impl ResultProgress {
    /// Begins the response to COM_STMT_FETCH, which has rows only.
    pub fn rows() -> Self {
        Self { stage: Stage::Rows, ..Self::default() }
    }

    /// Whether the next packet is a row, by its length and its first byte.
    #[inline]
    pub fn is_row(&self, length: usize, first: u8) -> bool {
        self.stage == Stage::Rows && first != 0xff && (first != 0xfe || length >= MAX_PAYLOAD)
    }

    /// Says what the next packet is, by its length and its first byte.
    pub fn peek(&self, length: usize, first: u8) -> Result<Packet, &'static str> {
        Ok(match (self.stage, first) {
            (Stage::First | Stage::Definitions { .. } | Stage::EndOfDefinitions | Stage::Rows, 0xff) => {
                Packet::Error
            }
            (Stage::First, 0x00) => Packet::Ok,
            (Stage::First, 0xfb) => Packet::FileRequest,
            (Stage::First, _) => Packet::ColumnCount,
            (Stage::Definitions { next, .. }, _) => Packet::Definition(next),
            (Stage::EndOfDefinitions, 0xfe) => Packet::EndOfDefinitions,
            // A row may begin with a value of 16 MiB or more, whose length begins with the same byte.
            (Stage::Rows, 0xfe) if length < MAX_PAYLOAD => Packet::EndOfRows,
            (Stage::Rows, _) => Packet::Row,
            // The client's file is at its end, or the server did not want it.
            (Stage::File | Stage::SealedFile(_), 0x00) => Packet::Ok,
            (Stage::File | Stage::SealedFile(_), 0xff) => Packet::Error,
            (Stage::EndOfDefinitions | Stage::File | Stage::SealedFile(_) | Stage::Done, _) => {
                return Err("an answer to another command than the one in flight");
            }
        })
    }

    /// Moves on behind a packet that [`Self::peek`] has named. The body is needed unless the packet is a row.
    pub fn take(
        &mut self,
        packet: Packet,
        body: &[u8],
        capabilities: Capabilities,
    ) -> Result<(), &'static str> {
        match packet {
            Packet::Row => {}
            Packet::Error => self.stage = Stage::Done,
            Packet::FileRequest => self.stage = Stage::File,
            Packet::ColumnCount => {
                let Some(Lenenc::Integer { value, len: _ }) = Lenenc::peek(body) else {
                    return Err(MALFORMED);
                };
                let columns = usize::try_from(value).ok().filter(|count| (1..=MAX_COLUMNS).contains(count));
                self.stage = Stage::Definitions { next: 0, columns: columns.ok_or(MALFORMED)? };
            }
            Packet::Definition(_) => {
                let Stage::Definitions { next, columns } = self.stage else { return Err(MALFORMED) };
                let next = next.saturating_add(1);
                self.stage = match next < columns {
                    true => Stage::Definitions { next, columns },
                    false => Stage::behind_definitions(capabilities),
                };
            }
            Packet::EndOfDefinitions => {
                let status = status(body, capabilities).ok_or(MALFORMED)?;
                if status.has(Status::CURSOR_EXISTS) {
                    self.has_cursor = true;
                    self.result_ended(status);
                } else {
                    self.stage = Stage::Rows;
                }
            }
            Packet::EndOfRows | Packet::Ok => {
                let status = status(body, capabilities).ok_or(MALFORMED)?;
                self.has_cursor |= status.has(Status::CURSOR_EXISTS);
                self.result_ended(status);
            }
        }
        Ok(())
    }

    fn result_ended(&mut self, status: Status) {
        self.complete = self.complete.saturating_add(1);
        let more = status.has(Status::MORE_RESULTS_EXISTS);
        self.stage = if more { Stage::First } else { Stage::Done };
    }
}

/// The status in an OK packet, or in an EOF.
pub fn status(body: &[u8], capabilities: Capabilities) -> Option<Status> {
    let (first, mut rest) = body.split_first()?;
    if *first == 0xfe && !capabilities.has(Capabilities::DEPRECATE_EOF) {
        // Warnings, status.
        return rest.get(2..)?.first_chunk().map(|status| Status::from_bits(u16::from_le_bytes(*status)));
    }
    // Affected rows, last id.
    for _ in 0..2 {
        let Lenenc::Integer { value: _, len } = Lenenc::peek(rest)? else { return None };
        rest = rest.get(len..)?;
    }
    rest.first_chunk().map(|status| Status::from_bits(u16::from_le_bytes(*status)))
}
