//! What a view stands upon, as the query says that a MySQL or MariaDB keeps of it. The server has written that query itself: each
//! name in backticks, each table with its database, and strings with backslashes whatever a session's `sql_mode` is.

use std::collections::HashSet;

use crate::{
    dialect::{Dialect, MySqlDialect},
    lex::{Kind, Token, lex},
};

/// A relation in the query of a view, its name as it is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSource {
    /// Its database; None where the query tells none.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
}

/// The relations that the query of a view reads, common table expressions aside; None if that can't be told.
#[must_use]
pub fn view_sources(query: &str, dialect: MySqlDialect) -> Option<Vec<ViewSource>> {
    let tokens = lex(query, Dialect::MySql(dialect.of_views())).ok()?;
    let reading = ViewReader { query, tokens: &tokens };
    let ctes = reading.ctes();
    let mut open: Vec<SelectLevel> = Vec::new();
    let mut level = SelectLevel::default();
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        match reading.word(at) {
            "select" => level = SelectLevel { selects: true, in_from: false },
            "from" if level.selects => level.in_from = true,
            "where" | "group" | "having" | "order" | "limit" | "union" | "except" | "intersect"
            | "window" | "procedure" | "for" | "lock" => level.in_from = false,
            _ if reading.is(at, "(") => {
                // Brackets around joins; those around what a join compares, or a function is given, hold no table.
                let in_from = level.in_from && reading.begins_item(at);
                open.push(std::mem::replace(&mut level, SelectLevel { selects: false, in_from }));
            }
            _ if reading.is(at, ")") => level = open.pop()?,
            _ if level.in_from && reading.begins_item(at) => {
                found.extend(reading.source(at).filter(|source| !is_cte(source, &ctes)));
            }
            _ => {}
        }
    }
    open.is_empty().then_some(found)
}

/// Where a pair of brackets is read.
#[derive(Default)]
struct SelectLevel {
    /// A SELECT began in it: a FROM is that of the SELECT, not of `trim(… from …)`.
    selects: bool,
    in_from: bool,
}

fn is_cte(source: &ViewSource, ctes: &HashSet<String>) -> bool {
    source.schema.is_none() && ctes.contains(&source.name.to_lowercase())
}

struct ViewReader<'q> {
    query: &'q str,
    tokens: &'q [Token],
}

impl ViewReader<'_> {
    /// The unquoted word at a place, in lower case.
    fn word(&self, at: usize) -> &str {
        match self.tokens.get(at).map(|token| &token.kind) {
            Some(Kind::Word { value, quoted: false }) => value,
            _ => "",
        }
    }

    fn is(&self, at: usize, symbol: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_symbol(self.query, symbol))
    }

    /// The name at a place, as it is written.
    fn name(&self, at: usize) -> Option<String> {
        let token = self.tokens.get(at)?;
        let written = token.source(self.query);
        token.name()?;
        let quoted = written.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        Some(quoted.map_or_else(|| written.to_owned(), |name| name.replace("``", "`")))
    }

    /// Whether an item of FROM may begin here.
    fn begins_item(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        matches!(self.word(before), "from" | "join" | "straight_join")
            || self.is(before, ",")
            || self.is(before, "(")
    }

    /// The table at the beginning of an item of FROM; None of a function.
    fn source(&self, at: usize) -> Option<ViewSource> {
        let first = self.name(at)?;
        let behind = at.saturating_add(1);
        if self.is(behind, ".") {
            let name = self.name(at.saturating_add(2))?;
            return Some(ViewSource { schema: Some(first), name });
        }
        let is_other = self.is(behind, "(") || matches!(self.word(at), "lateral" | "values");
        (!is_other).then_some(ViewSource { schema: None, name: first })
    }

    /// The names of common table expressions, in lower case: `name AS (` and `name (column, …) AS (`.
    fn ctes(&self) -> HashSet<String> {
        let names =
            (0..self.tokens.len()).filter(|at| self.word(*at) == "as" && self.is(at.saturating_add(1), "("));
        let names = names.filter_map(|at| {
            let mut name = at.checked_sub(1)?;
            if self.is(name, ")") {
                name = (0..name).rev().find(|open| self.is(*open, "("))?.checked_sub(1)?;
            }
            self.name(name)
        });
        names.map(|name| name.to_lowercase()).collect()
    }
}
