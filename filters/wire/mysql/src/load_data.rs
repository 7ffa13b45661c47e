//! What a client sends for LOAD DATA LOCAL INFILE: lines of fields, as the statement says that they are written (MySQL
//! manual, LOAD DATA, "Field and Line Handling").
//!
//! The content may be cut anywhere. So [`Scanner`] says where a field ends and keeps what it needs to go on when more has
//! come, and [`LineScanner`] where a line does that nobody reads; [`Field`] reads a field. They do what both servers'
//! `READ_INFO` does, byte by byte: for single-byte character sets, and for UTF-8 that is valid, while [`Format::is_ascii`].

mod field;
mod scanner;

pub use field::Field;
pub use scanner::{End, Found, LineScanner, Scanner, line_start};

/// How the content is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// FIELDS TERMINATED BY; not empty, and not the same as `line_end`.
    pub field_end: Vec<u8>,
    /// FIELDS ENCLOSED BY. Whether it is OPTIONALLY is of no account here: every field may go without.
    pub enclosed: Option<u8>,
    /// FIELDS ESCAPED BY.
    pub escaped: Option<u8>,
    /// LINES STARTING BY; may be empty.
    pub line_start: Vec<u8>,
    /// LINES TERMINATED BY; not empty.
    pub line_end: Vec<u8>,
}

impl Format {
    /// Whether no byte of it can be a part of a character of several bytes.
    pub fn is_ascii(&self) -> bool {
        let single = [self.enclosed, self.escaped];
        [&self.field_end, &self.line_start, &self.line_end].iter().all(|text| text.is_ascii())
            && single.iter().flatten().all(u8::is_ascii)
    }

    /// Whether a text that begins with a letter or a digit, and has nothing else, is read as it stands.
    pub fn takes_words(&self) -> bool {
        let first = [self.field_end.first(), self.line_end.first()];
        let all = first.into_iter().flatten().chain(&self.enclosed).chain(&self.escaped);
        all.copied().all(|byte| !byte.is_ascii_alphanumeric())
    }
}

impl Default for Format {
    /// What a statement that says nothing means.
    fn default() -> Self {
        Self {
            field_end: b"\t".to_vec(),
            enclosed: None,
            escaped: Some(b'\\'),
            line_start: Vec::new(),
            line_end: b"\n".to_vec(),
        }
    }
}

/// Whether `text` stands at a place; None where the bytes end before that can be told. Behind the last byte nothing comes
/// if `last`.
fn stands(bytes: &[u8], at: usize, text: &[u8], last: bool) -> Option<bool> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.len() >= text.len() {
        return Some(rest.starts_with(text));
    }
    (last || !text.starts_with(rest)).then_some(false)
}
