//! `FIELDS …` and `LINES …`: how the file is written.

use super::{grammar::text, not_understood};
use crate::{analysis::LoadFormat, dialect::MySqlDialect, refusal::Refusal, segment::reader::Reader};

/// Characters that fields and lines end with, and lines start by, at most: each is looked for at every place of the file.
const MAX_MARK: usize = 64;

/// What the clauses say.
pub(super) struct Format {
    field_end: String,
    enclosed: String,
    escaped: String,
    line_start: String,
    line_end: String,
}

impl Format {
    /// `[{FIELDS | COLUMNS} …] [LINES …]`
    pub fn read(reader: &mut Reader<'_, '_>, dialect: MySqlDialect) -> Result<Self, Refusal> {
        let escaped = if dialect.no_backslash_escapes { "" } else { "\\" };
        let mut format = Self {
            field_end: "\t".to_owned(),
            enclosed: String::new(),
            escaped: escaped.to_owned(),
            line_start: String::new(),
            line_end: "\n".to_owned(),
        };
        if reader.takes_word("fields") || reader.takes_word("columns") {
            while let Some(part) = format.field_part(reader) {
                *part = text(reader).ok_or_else(not_understood)?;
            }
        }
        if reader.takes_word("lines") {
            while let Some(part) = format.line_part(reader) {
                *part = text(reader).ok_or_else(not_understood)?;
            }
        }
        Ok(format)
    }

    fn field_part(&mut self, reader: &mut Reader<'_, '_>) -> Option<&mut String> {
        if reader.takes_words(&["terminated", "by"]) {
            Some(&mut self.field_end)
        } else if reader.takes_words(&["optionally", "enclosed", "by"])
            || reader.takes_words(&["enclosed", "by"])
        {
            Some(&mut self.enclosed)
        } else {
            reader.takes_words(&["escaped", "by"]).then_some(&mut self.escaped)
        }
    }

    fn line_part(&mut self, reader: &mut Reader<'_, '_>) -> Option<&mut String> {
        if reader.takes_words(&["terminated", "by"]) {
            Some(&mut self.line_end)
        } else {
            reader.takes_words(&["starting", "by"]).then_some(&mut self.line_start)
        }
    }

    /// As it can be sealed.
    pub fn checked(&self) -> Result<LoadFormat, Refusal> {
        let Self { field_end, enclosed, escaped, line_start, line_end } = self;
        if field_end.is_empty() {
            return Err(Refusal::unsupported(
                "LOAD DATA of fields of fixed width, or that end with nothing, isn't sealed",
                "write the file with FIELDS TERMINATED BY a character",
            ));
        }
        if line_end.is_empty() || line_end == field_end {
            return Err(Refusal::unsupported(
                "LOAD DATA of lines that end with nothing, or as fields do, isn't sealed",
                "write the file with LINES TERMINATED BY another character than its fields",
            ));
        }
        let all = [field_end, enclosed, escaped, line_start, line_end];
        if all.iter().any(|text| text.len() > MAX_MARK) {
            return Err(Refusal::unsupported(
                format!(
                    "LOAD DATA of fields or lines that end or start with more than {MAX_MARK} characters isn't sealed"
                ),
                "use commas, tabs, quotes or the like",
            ));
        }
        let begins = [field_end, enclosed, escaped, line_end];
        let is_word = |text: &&String| text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !all.iter().all(|text| text.is_ascii()) || begins.iter().any(is_word) {
            return Err(Refusal::unsupported(
                "LOAD DATA of fields or lines that end, are enclosed or escaped with letters, digits or what isn't ASCII",
                "use commas, tabs, quotes or the like",
            ));
        }
        let single = |text: &String| match text.as_bytes() {
            [] => Ok(None),
            [byte] => Ok(Some(*byte)),
            // The servers say no, too.
            _ => Err(not_understood()),
        };
        let (enclosed, escaped) = (single(enclosed)?, single(escaped)?);
        let (field_end, line_start, line_end) = (field_end.clone(), line_start.clone(), line_end.clone());
        Ok(LoadFormat { field_end, enclosed, escaped, line_start, line_end })
    }
}
