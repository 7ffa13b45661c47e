//! `LOAD DATA … INFILE`, as both servers' manuals have it.

use std::ops::Range;

use super::format::Format;
use super::not_understood;
use crate::{
    analysis::LoadCharset,
    dialect::Dialect,
    lex::{Kind, Style, Token},
    refusal::Refusal,
    segment::{Segment, reader::Reader},
};

/// What a LOAD DATA says.
pub(super) struct Clauses {
    pub local: bool,
    pub duplicates: Option<Duplicates>,
    pub schema: Option<String>,
    pub table: String,
    /// The token of the table's name.
    pub table_at: usize,
    pub charset: LoadCharset,
    pub format: Format,
    /// `IGNORE n LINES`
    pub skipped: u64,
    /// None where it has no list.
    pub list: Option<Vec<Item>>,
    /// The token behind which a list stands.
    pub list_behind: usize,
    pub set: Vec<LoadAssignment>,
}

/// What becomes of rows that have the same value in a unique index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    Replace,
    Ignore,
}

/// What a field goes to, with its token.
pub(super) enum Item {
    Column { name: String, at: usize },
    Variable(usize),
}

/// One of `SET column = expression, …`
pub(super) struct LoadAssignment {
    pub name: String,
    /// The tokens of the expression.
    pub value: Range<usize>,
}

impl Clauses {
    pub fn read(segment: &Segment<'_>) -> Result<Self, Refusal> {
        let mut reader = Reader { segment, at: 2 };
        let _ = reader.takes_word("low_priority") || reader.takes_word("concurrent");
        let local = reader.takes_word("local");
        if !reader.takes_word("infile") || reader.text().is_none() {
            return Err(not_understood());
        }
        let duplicates = if reader.takes_word("replace") {
            Some(Duplicates::Replace)
        } else {
            reader.takes_word("ignore").then_some(Duplicates::Ignore)
        };
        if !reader.takes_words(&["into", "table"]) {
            return Err(not_understood());
        }
        let mut table = reader.takes_name().ok_or_else(not_understood)?;
        let mut schema = None;
        if reader.takes_symbol(".") {
            let name = reader.takes_name().ok_or_else(not_understood)?;
            schema = Some(std::mem::replace(&mut table, name));
        }
        let table_at = reader.at.saturating_sub(1);
        if reader.takes_word("partition") {
            reader.names()?;
        }
        let charset = reader.charset()?;
        let Dialect::MySql(dialect) = segment.dialect else { return Err(not_understood()) };
        let format = Format::read(&mut reader, dialect)?;
        let skipped = reader.skipped()?;
        let list_behind = reader.at.saturating_sub(1);
        let list = reader.list()?;
        let set = if reader.takes_word("set") { reader.assignments()? } else { Vec::new() };
        if !reader.is_end() {
            return Err(not_understood());
        }
        Ok(Self {
            local,
            duplicates,
            schema,
            table,
            table_at,
            charset,
            format,
            skipped,
            list,
            list_behind,
            set,
        })
    }
}

impl Reader<'_, '_> {
    /// A string, also in hexadecimal digits, if it is UTF-8.
    pub(super) fn text(&mut self) -> Option<String> {
        let text = match &self.segment.tokens.get(self.at)?.kind {
            Kind::Text { value, style: Style::Plain } => value.as_str().to_owned(),
            Kind::Text { value, style: Style::Hex } => {
                let byte = |pair: &[u8]| {
                    let digits = std::str::from_utf8(pair).ok().filter(|digits| digits.len() == 2)?;
                    u8::from_str_radix(digits, 16).ok()
                };
                let bytes: Option<Vec<u8>> = value.as_bytes().chunks(2).map(byte).collect();
                String::from_utf8(bytes?).ok()?
            }
            _ => return None,
        };
        self.advance();
        Some(text)
    }

    /// `(name, …)`
    fn names(&mut self) -> Result<(), Refusal> {
        if !self.takes_symbol("(") {
            return Err(not_understood());
        }
        loop {
            self.takes_name().ok_or_else(not_understood)?;
            if self.takes_symbol(")") {
                return Ok(());
            }
            if !self.takes_symbol(",") {
                return Err(not_understood());
            }
        }
    }

    /// `CHARACTER SET name`
    fn charset(&mut self) -> Result<LoadCharset, Refusal> {
        let named = self.takes_words(&["character", "set"])
            || self.takes_words(&["char", "set"])
            || self.takes_word("charset");
        if !named {
            return Ok(LoadCharset::Unnamed);
        }
        let name = self.text().or_else(|| self.takes_name()).ok_or_else(not_understood)?;
        match name.to_ascii_lowercase().as_str() {
            "utf8mb4" | "utf8mb3" | "utf8" => Ok(LoadCharset::Utf8),
            "binary" => Ok(LoadCharset::Binary),
            "latin1" | "ascii" => Ok(LoadCharset::SingleByte),
            _ => Err(Refusal::unsupported(
                "LOAD DATA of a file in another character set than utf8mb4, latin1, ascii and binary",
                "write the file in UTF-8, and load it with CHARACTER SET utf8mb4",
            )),
        }
    }

    /// `IGNORE n LINES`
    fn skipped(&mut self) -> Result<u64, Refusal> {
        if !self.takes_word("ignore") {
            return Ok(0);
        }
        let token = self.segment.tokens.get(self.at).filter(|token| matches!(token.kind, Kind::Number));
        let number = token.and_then(|token| token.source(self.segment.text).parse().ok());
        self.advance();
        match number {
            Some(number) if self.takes_word("lines") || self.takes_word("rows") => Ok(number),
            _ => Err(not_understood()),
        }
    }

    /// `(column_or_variable, …)`, or `()`, which is as none.
    fn list(&mut self) -> Result<Option<Vec<Item>>, Refusal> {
        if !self.takes_symbol("(") {
            return Ok(None);
        }
        let mut items = Vec::new();
        loop {
            let at = self.at;
            let token = self.segment.tokens.get(at).ok_or_else(not_understood)?;
            items.push(match (token.user_variable(), token.name()) {
                (Some(_), _) => Item::Variable(at),
                (None, Some(name)) => Item::Column { name: name.to_owned(), at },
                (None, None) => return Err(not_understood()),
            });
            self.advance();
            if self.takes_symbol(")") {
                return Ok(Some(items));
            }
            if !self.takes_symbol(",") {
                return Err(not_understood());
            }
        }
    }

    fn assignments(&mut self) -> Result<Vec<LoadAssignment>, Refusal> {
        let mut assignments = Vec::new();
        loop {
            let name = self.takes_name().ok_or_else(not_understood)?;
            if !(self.takes_symbol("=") || self.takes_symbol(":=")) {
                return Err(not_understood());
            }
            let start = self.at;
            let mut depth = 0_usize;
            while !(self.is_end() || (depth == 0 && self.segment.is_symbol(self.at, ","))) {
                if self.segment.is_symbol(self.at, "(") {
                    depth = depth.saturating_add(1);
                } else if self.segment.is_symbol(self.at, ")") {
                    depth = depth.checked_sub(1).ok_or_else(not_understood)?;
                }
                self.advance();
            }
            let is_named = |token: &Token| token.user_variable().is_some_and(|v| v.starts_with("fieldveil"));
            let value = self.segment.tokens.get(start..self.at).unwrap_or_default();
            if value.is_empty() || depth > 0 || value.iter().any(is_named) {
                return Err(not_understood());
            }
            assignments.push(LoadAssignment { name, value: start..self.at });
            if !self.takes_symbol(",") {
                return Ok(assignments);
            }
        }
    }
}
