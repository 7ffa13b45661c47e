//! The server's CopyData.

use fieldveil_postgres_wire::backend::Tag;
use fieldveil_postgres_wire::copy_data::binary::{self, Next};

use super::CopyOut;
use crate::database::RowError;
use crate::database::Tally;
use crate::keyring::Keyring;
use crate::postgres::encoding::ClientEncoding;

impl CopyOut {
    /// The begin of a CopyData message's body, up to its last protected value, with these treated. Gives how many bytes
    /// that took and what comes in their place, to be followed by the rest as it is; None if more of it is needed.
    pub fn begin(
        &mut self,
        body: &[u8],
        encoding: ClientEncoding,
        keyring: &Keyring,
        tally: &mut dyn Tally,
    ) -> Result<Option<(usize, Vec<u8>)>, RowError> {
        let (started, columns) = match self {
            Self::Text(rows) => return rows.begin(body, keyring, tally),
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
        Ok(Some((header.len().saturating_add(taken), [header, treated.as_slice()].concat())))
    }
}

/// The head of a message whose body is `treated` and `rest` more bytes.
pub fn head(tag: Tag, treated: &[u8], rest: usize) -> Option<Vec<u8>> {
    let length = i32::try_from(treated.len().checked_add(rest)?.checked_add(4)?).ok()?;
    let mut head = vec![tag.code()];
    head.extend_from_slice(&length.to_be_bytes());
    head.extend_from_slice(treated);
    Some(head)
}

/// Whether messages of the kind hold rows.
pub fn holds_row(tag: Tag) -> bool {
    matches!(tag, Tag::CopyData | Tag::DataRow)
}
