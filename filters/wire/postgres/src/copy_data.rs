//! What CopyData carries: rows in the text, CSV and binary formats of COPY (PostgreSQL manual, COPY, "File Formats").
//!
//! CopyData messages may end anywhere in a row. So [`Scanner`] says where a field ends and keeps
//! what it needs to go on in the next piece; [`text`] and [`csv`] read and write one field, [`binary`] all parts of its format.

pub mod binary;
pub mod csv;
mod scanner;
pub mod text;

use thiserror::Error;

pub use scanner::{Found, Scanner};

/// How rows of text are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    /// Between two fields.
    pub delimiter: u8,
    /// What stands for NULL.
    pub null: Vec<u8>,
    /// The quotes of CSV; None for the text format.
    pub quotes: Option<Quotes>,
}

/// The quotes of CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotes {
    /// Around a field.
    pub quote: u8,
    /// Before a quote within a field.
    pub escape: u8,
}

/// Why the data of a COPY can't be read. It holds none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CopyDataError {
    /// A carriage return without a newline behind it.
    #[error("a carriage return stands alone; end lines with a newline, and write \\r for one in a value")]
    CarriageReturn,
    /// `\.` within a line.
    #[error("the end-of-data marker stands within a line")]
    Marker,
    /// Not the header of the binary format.
    #[error("the data does not begin with the header of the binary format")]
    Header,
    /// A length or a count in the binary format that can't be.
    #[error("a length or a count is not one of the binary format")]
    Length,
}
