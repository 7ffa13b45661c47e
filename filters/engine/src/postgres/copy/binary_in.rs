//! Rows of the binary format from the client.

use fieldveil_postgres_wire::copy_data::binary::{self, Next};
use zeroize::Zeroizing;

use super::{CopyColumn, SealedRows, ValueSealer, malformed};
use crate::client_error::ClientError;

/// The state between two pieces of data.
pub struct BinaryIn {
    columns: Vec<CopyColumn>,
    /// Bytes of a field that are gathered at most.
    limit: usize,
    state: Expected,
    rows: u64,
    column: usize,
    /// Bytes that are too few to tell what they are.
    held: Vec<u8>,
    /// The field that is to be sealed, as far as it came.
    field: Zeroizing<Vec<u8>>,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Header,
    Row,
    Length,
    /// So many bytes of a field that passes.
    Passing(usize),
    /// So many bytes more of a field that is to be sealed.
    Sealing(usize),
    /// Behind the trailer.
    Ended,
}

impl BinaryIn {
    pub fn new(columns: Vec<CopyColumn>, limit: usize) -> Self {
        Self {
            columns,
            limit,
            state: Expected::Header,
            rows: 0,
            column: 0,
            held: Vec::new(),
            field: Zeroizing::default(),
        }
    }

    /// Bytes of the field that is not whole.
    pub fn held(&self) -> usize {
        self.field.capacity()
    }

    pub fn push(
        &mut self,
        bytes: &[u8],
        sealer: &mut ValueSealer<'_>,
        rows: &mut SealedRows,
    ) -> Result<(), ClientError> {
        let mut joined = std::mem::take(&mut self.held);
        joined.extend_from_slice(bytes);
        let mut rest = joined.as_slice();
        while let Some(taken) = self.step(rest, sealer, rows)? {
            rest = rest.get(taken..).unwrap_or_default();
        }
        // A length or a header at most: fields are taken as they come.
        self.held = rest.to_vec();
        Ok(())
    }

    /// The client has sent all: a trailer is not needed, a whole row is.
    pub fn finish(&self) -> Result<(), ClientError> {
        if matches!(self.state, Expected::Ended | Expected::Row) && self.held.is_empty() {
            return Ok(());
        }
        Err(ClientError::bad_copy(self.row_number(), "its data ends within a row"))
    }

    fn row_number(&self) -> u64 {
        self.rows.saturating_add(1)
    }

    /// Takes in the next part; gives its bytes, or None if more are needed.
    fn step(
        &mut self,
        rest: &[u8],
        sealer: &mut ValueSealer<'_>,
        rows: &mut SealedRows,
    ) -> Result<Option<usize>, ClientError> {
        let next = match self.state {
            // The server looks at nothing more, and nothing more is sent.
            Expected::Ended => return Ok((!rest.is_empty()).then_some(rest.len())),
            Expected::Passing(left) => return Ok(self.pass(rest, left, rows)),
            Expected::Sealing(left) => return self.seal_field(rest, left, sealer, rows),
            Expected::Header => binary::header(rest),
            Expected::Row => binary::row(rest),
            Expected::Length => binary::length(rest),
        };
        match next.map_err(|error| malformed(self.row_number(), error))? {
            None => Ok(None),
            Some(Next::Header(length)) => {
                let Some(header) = rest.get(..length) else { return Ok(None) };
                rows.push(header);
                rows.end_row();
                self.state = Expected::Row;
                Ok(Some(length))
            }
            Some(Next::Row(None)) => {
                rows.push(rest.get(..2).unwrap_or_default());
                rows.end_row();
                self.state = Expected::Ended;
                Ok(Some(2))
            }
            Some(Next::Row(Some(count))) => {
                if count != self.columns.len() {
                    let reason = format!("it has {count} columns, and {} are copied", self.columns.len());
                    return Err(ClientError::bad_copy(self.row_number(), &reason));
                }
                rows.push(rest.get(..2).unwrap_or_default());
                self.column = 0;
                self.state = Expected::Length;
                self.end_row_if_due(rows);
                Ok(Some(2))
            }
            Some(Next::Length(length)) => {
                self.begin_field(rest.get(..4).unwrap_or_default(), length, rows)?;
                Ok(Some(4))
            }
        }
    }

    fn begin_field(
        &mut self,
        prefix: &[u8],
        length: Option<usize>,
        rows: &mut SealedRows,
    ) -> Result<(), ClientError> {
        let sealed = self.columns.get(self.column).copied().flatten().is_some();
        match length {
            Some(length) if sealed => {
                if length > self.limit {
                    return Err(ClientError::limit(
                        "a value of a protected column in the data of the COPY is too long to be sealed",
                        "Shorten the value, or raise limits.protected_value_bytes in the sidecar's configuration.",
                    ));
                }
                self.state = Expected::Sealing(length);
            }
            Some(length) if length > 0 => {
                rows.push(prefix);
                self.state = Expected::Passing(length);
            }
            _ => {
                rows.push(prefix);
                self.end_field(rows);
            }
        }
        Ok(())
    }

    fn pass(&mut self, rest: &[u8], left: usize, rows: &mut SealedRows) -> Option<usize> {
        let taken = left.min(rest.len());
        rows.push(rest.get(..taken).unwrap_or_default());
        match left.saturating_sub(taken) {
            0 => self.end_field(rows),
            left => self.state = Expected::Passing(left),
        }
        (taken > 0).then_some(taken)
    }

    fn seal_field(
        &mut self,
        rest: &[u8],
        left: usize,
        sealer: &mut ValueSealer<'_>,
        rows: &mut SealedRows,
    ) -> Result<Option<usize>, ClientError> {
        let taken = left.min(rest.len());
        self.field.extend_from_slice(rest.get(..taken).unwrap_or_default());
        if taken < left {
            self.state = Expected::Sealing(left.saturating_sub(taken));
            return Ok((taken > 0).then_some(taken));
        }
        let value = std::mem::take(&mut self.field);
        let Some(column) = self.columns.get(self.column).copied().flatten() else { return Ok(None) };
        rows.push_sealed(column, &value, sealer)?;
        self.end_field(rows);
        Ok(Some(taken))
    }

    fn end_field(&mut self, rows: &mut SealedRows) {
        self.column = self.column.saturating_add(1);
        self.state = Expected::Length;
        self.end_row_if_due(rows);
    }

    fn end_row_if_due(&mut self, rows: &mut SealedRows) {
        if self.column >= self.columns.len() {
            rows.end_row();
            self.rows = self.rows.saturating_add(1);
            self.state = Expected::Row;
        }
    }
}
