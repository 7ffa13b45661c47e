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
///
/// Large: it has the clauses of LOAD DATA.
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
        if !reader.takes_word("infile") || text(&mut reader).is_none() {
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
            names(&mut reader)?;
        }
        let charset = charset(&mut reader)?;
        let Dialect::MySql(dialect) = segment.dialect else { return Err(not_understood()) };
        let format = Format::read(&mut reader, dialect)?;
        let skipped = skipped(&mut reader)?;
        let list_behind = reader.at.saturating_sub(1);
        let list = list(&mut reader)?;
        let set = if reader.takes_word("set") { assignments(&mut reader)? } else { Vec::new() };
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

/// A string, also in hexadecimal digits, if it is UTF-8.
pub(super) fn text(reader: &mut Reader<'_, '_>) -> Option<String> {
    let text = match &reader.segment.tokens.get(reader.at)?.kind {
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
    reader.advance();
    Some(text)
}

/// `(name, …)`
fn names(reader: &mut Reader<'_, '_>) -> Result<(), Refusal> {
    if !reader.takes_symbol("(") {
        return Err(not_understood());
    }
    loop {
        reader.takes_name().ok_or_else(not_understood)?;
        if reader.takes_symbol(")") {
            return Ok(());
        }
        if !reader.takes_symbol(",") {
            return Err(not_understood());
        }
    }
}

/// `CHARACTER SET name`
fn charset(reader: &mut Reader<'_, '_>) -> Result<LoadCharset, Refusal> {
    let named = reader.takes_words(&["character", "set"])
        || reader.takes_words(&["char", "set"])
        || reader.takes_word("charset");
    if !named {
        return Ok(LoadCharset::Unnamed);
    }
    let name = text(reader).or_else(|| reader.takes_name()).ok_or_else(not_understood)?;
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
fn skipped(reader: &mut Reader<'_, '_>) -> Result<u64, Refusal> {
    if !reader.takes_word("ignore") {
        return Ok(0);
    }
    let token = reader.segment.tokens.get(reader.at).filter(|token| matches!(token.kind, Kind::Number));
    let number = token.and_then(|token| token.source(reader.segment.text).parse().ok());
    reader.advance();
    match number {
        Some(number) if reader.takes_word("lines") || reader.takes_word("rows") => Ok(number),
        _ => Err(not_understood()),
    }
}

/// `(column_or_variable, …)`, or `()`, which is as none.
fn list(reader: &mut Reader<'_, '_>) -> Result<Option<Vec<Item>>, Refusal> {
    if !reader.takes_symbol("(") {
        return Ok(None);
    }
    let mut items = Vec::new();
    loop {
        let at = reader.at;
        let token = reader.segment.tokens.get(at).ok_or_else(not_understood)?;
        items.push(match (token.user_variable(), token.name()) {
            (Some(_), _) => Item::Variable(at),
            (None, Some(name)) => Item::Column { name: name.to_owned(), at },
            (None, None) => return Err(not_understood()),
        });
        reader.advance();
        if reader.takes_symbol(")") {
            return Ok(Some(items));
        }
        if !reader.takes_symbol(",") {
            return Err(not_understood());
        }
    }
}

fn assignments(reader: &mut Reader<'_, '_>) -> Result<Vec<LoadAssignment>, Refusal> {
    let mut assignments = Vec::new();
    loop {
        let name = reader.takes_name().ok_or_else(not_understood)?;
        if !(reader.takes_symbol("=") || reader.takes_symbol(":=")) {
            return Err(not_understood());
        }
        let start = reader.at;
        let mut depth = 0_usize;
        while !(reader.is_end() || (depth == 0 && reader.segment.is_symbol(reader.at, ","))) {
            if reader.segment.is_symbol(reader.at, "(") {
                depth = depth.saturating_add(1);
            } else if reader.segment.is_symbol(reader.at, ")") {
                depth = depth.checked_sub(1).ok_or_else(not_understood)?;
            }
            reader.advance();
        }
        let is_named = |token: &Token| token.user_variable().is_some_and(|v| v.starts_with("fieldveil"));
        let value = reader.segment.tokens.get(start..reader.at).unwrap_or_default();
        if value.is_empty() || depth > 0 || value.iter().any(is_named) {
            return Err(not_understood());
        }
        assignments.push(LoadAssignment { name, value: start..reader.at });
        if !reader.takes_symbol(",") {
            return Ok(assignments);
        }
    }
}
