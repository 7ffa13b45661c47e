//! What the analysis of a LOAD DATA says of its file.

/// The file of a `LOAD DATA LOCAL INFILE`. What is sealed goes to the server in hexadecimal digits, which the rewritten
/// statement makes a column's value; and where the first protected field is [`Load::GIVES_UP`] in place of it, the
/// statement fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The protected field of each item of the list, in the file's order.
    pub columns: Vec<Option<usize>>,
    /// How it is written.
    pub format: LoadFormat,
    /// `CHARACTER SET`
    pub charset: LoadCharset,
    /// `IGNORE n LINES`
    pub skipped: u64,
}

impl Load {
    /// What no field that is sealed says.
    pub const GIVES_UP: &'static [u8] = b"x";
}

/// How the file of a LOAD DATA is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFormat {
    /// `FIELDS TERMINATED BY`; begins neither with a letter nor with a digit.
    pub field_end: String,
    /// `FIELDS ENCLOSED BY`; neither a letter nor a digit, as `escaped`.
    pub enclosed: Option<u8>,
    /// `FIELDS ESCAPED BY`
    pub escaped: Option<u8>,
    /// `LINES STARTING BY`
    pub line_start: String,
    /// `LINES TERMINATED BY`; not the same as `field_end`, and begins with neither, too.
    pub line_end: String,
}

/// What the bytes of a file mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadCharset {
    /// UTF-8.
    Utf8,
    /// What the server has in `character_set_database`. The rewritten statement fails if that isn't UTF-8.
    Unnamed,
    /// `binary`: bytes, those of characters in UTF-8.
    Binary,
    /// `latin1` or `ascii`.
    SingleByte,
}
