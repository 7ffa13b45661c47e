//! The server's CopyData.

use fieldveil_postgres_wire::backend::Tag;
use fieldveil_postgres_wire::copy_data::binary::{self, Next};
use fieldveil_postgres_wire::frame::HEADER_LEN;

use super::CopyOut;
use crate::database::RowError;
use crate::database::Tally;
use crate::field::OpenedBatch;
use crate::keyring::Keyring;
use crate::postgres::encoding::ClientEncoding;
use crate::postgres::rows;

impl CopyOut {
    /// Appends the begin of a CopyData message's body, up to its last protected value, with these treated. Gives how many
    /// bytes that took, to be followed by the rest as it is; None if more of it is needed. On an error a part may have been
    /// appended.
    pub fn begin(
        &mut self,
        body: &[u8],
        encoding: ClientEncoding,
        (keyring, tally): (&Keyring, &mut dyn Tally),
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, RowError> {
        let (started, columns) = match self {
            Self::Text(rows) => return rows.begin(body, keyring, tally, out),
            Self::Binary { started, columns } => (started, columns),
        };
        let bad = |_| RowError::Server("malformed binary data");
        let header = match *started {
            true => 0,
            false => match binary::header(body).map_err(bad)? {
                Some(Next::Header(length)) if body.len() >= length => length,
                _ => return Ok(None),
            },
        };
        let (header, row) = body.split_at_checked(header).ok_or(RowError::Server("malformed binary data"))?;
        let begun = match binary::row(row).map_err(bad)? {
            // The header alone, or the trailer.
            None if row.is_empty() => Some((0, Vec::new())),
            Some(Next::Row(None)) => Some((0, Vec::new())),
            _ => columns.begin(row, encoding, keyring, tally)?,
        };
        let Some((taken, treated)) = begun else { return Ok(None) };
        *started = true;
        out.extend_from_slice(header);
        out.extend_from_slice(&treated);
        Ok(Some(header.len().saturating_add(taken)))
    }

    /// Whether a CopyData message goes to the client as it came; as [`rows::TreatedColumns::passes`].
    pub fn passes(&mut self, body: &[u8], encoding: ClientEncoding, tally: &mut dyn Tally) -> bool {
        match self {
            Self::Text(rows) => rows.passes(body, tally),
            Self::Binary { started, columns } => *started && columns.passes(body, encoding, tally),
        }
    }

    /// Opens together what is sealed in the rows at the begin of these messages.
    pub fn open_ahead(&self, messages: &[u8], keyring: &Keyring, batch: &mut OpenedBatch) {
        match self {
            Self::Text(rows) => rows.open_ahead(messages, keyring, batch),
            Self::Binary { columns, .. } => columns.open_ahead(messages, keyring, batch, rows::next_copied),
        }
    }
}

/// Begins a message, whose length is not known yet.
pub fn begin_message(tag: Tag, out: &mut Vec<u8>) {
    out.push(tag.code());
    out.extend_from_slice(&[0; 4]);
}

/// Says the length of the message that began at `start`, and of which `rest` more bytes come. None where no message is so
/// long.
pub fn end_message(start: usize, rest: usize, out: &mut [u8]) -> Option<()> {
    let length = out.len().checked_sub(start)?.checked_sub(1)?.checked_add(rest)?;
    let length = i32::try_from(length).ok()?.to_be_bytes();
    out.get_mut(start..)?.get_mut(1..HEADER_LEN)?.copy_from_slice(&length);
    Some(())
}

/// Whether messages of the kind hold rows.
pub fn holds_row(tag: Tag) -> bool {
    matches!(tag, Tag::CopyData | Tag::DataRow)
}
