//! Remembers the identifiers whose meaning is known.

use std::collections::HashSet;

use sqlparser::{
    ast::{Ident, ObjectName, ObjectNamePart},
    tokenizer::Span,
};

use crate::{names, refusal::Refusal, walk::text::StatementText};

/// Reads names, and remembers which of the text's identifiers it has read.
pub(crate) struct SeenNames<'a> {
    text: StatementText<'a>,
    /// The tokens of those identifiers.
    seen: HashSet<usize>,
}

impl<'a> SeenNames<'a> {
    pub fn new(text: StatementText<'a>) -> Self {
        Self { text, seen: HashSet::new() }
    }

    /// Returns true if the identifier at this token has been read.
    pub fn has_read(&self, token: usize) -> bool {
        self.seen.contains(&token)
    }

    /// Marks an identifier as read, and returns its name.
    pub fn read(&mut self, ident: &Ident) -> Result<String, Refusal> {
        let name = names::fold(ident, self.text.segment.dialect)
            .ok_or_else(|| Refusal::unparsable("a name is written as a string"))?;
        self.see(ident.span);
        Ok(name)
    }

    /// Does the same for a name that must not be a keyword: that of a table, or an alias without AS. The parser takes
    /// `ONLY customer` for a table `only` with the alias `customer`.
    pub fn read_plain(&mut self, ident: &Ident) -> Result<String, Refusal> {
        if names::is_reserved(ident, self.text.segment.dialect) {
            return Err(Refusal::unparsable("a keyword stands where a name is expected"));
        }
        self.read(ident)
    }

    fn see(&mut self, span: Span) {
        if let Some(index) = self.text.token_at(span) {
            self.seen.insert(index);
        }
    }

    /// Marks the parts of a name as read, and returns them.
    pub fn read_parts(&mut self, name: &ObjectName) -> Result<Vec<String>, Refusal> {
        let ObjectName(parts) = name;
        parts
            .iter()
            .map(|part| match part {
                ObjectNamePart::Identifier(ident) => self.read(ident),
                ObjectNamePart::Function(_) => Err(Refusal::unparsable("a name is a function's call")),
            })
            .collect()
    }

    /// Marks a column's name in a list of columns as read, and returns its only part.
    pub fn read_one(&mut self, name: &ObjectName) -> Result<String, Refusal> {
        let mut parts = self.read_parts(name)?;
        match (parts.pop(), parts.pop()) {
            (Some(name), None) => Ok(name),
            _ => {
                Err(Refusal::unsupported("a column is qualified where it can't be", "name the column alone"))
            }
        }
    }
}
