//! What one statement does: which rules it goes by, and what is found by them.

pub(crate) mod ddl;
pub(crate) mod dml;
pub(crate) mod mysql;
pub(crate) mod postgres;
pub(crate) mod session;

use self::session::{Names, Prepared};
use crate::{
    analysis::{SessionUse, StatementKind, effects::Effects},
    catalog::Catalog,
    dialect::Dialect,
    refusal::Refusal,
    segment::Segment,
};

/// A statement, analyzed.
pub(crate) struct Analyzed {
    pub kind: StatementKind,
    pub changes_catalog: bool,
    pub effects: Effects,
    /// Whether it is of the kind that reads or writes rows.
    pub is_dml: bool,
}

impl Analyzed {
    /// Whether it executes a prepared statement.
    pub fn executes(&self) -> bool {
        matches!(self.effects.session, Some(SessionUse::Execute { .. }))
    }

    /// The result for a statement that was not read: it may change any name, and reaches nothing protected.
    pub fn unread() -> Self {
        let effects = Effects::default();
        Self { kind: StatementKind::Other, changes_catalog: true, effects, is_dml: false }
    }

    /// What EXPLAIN does of it: what comes back is the plan, not the rows.
    pub fn explained(mut self) -> Self {
        self.kind = StatementKind::Other;
        self.effects.fields.reads.clear();
        self.effects.columns = None;
        self.effects.copy = None;
        // Nothing is prepared, nor is a cursor opened; but what EXECUTE stands for stays the session's.
        self.effects.session.take_if(|session| !matches!(session, SessionUse::Execute { .. }));
        self
    }

    /// What a PREPARE leaves for EXECUTE.
    pub fn prepared(&self) -> Option<Prepared> {
        let Some(SessionUse::Prepare { name: _, server_name, parameters, sealed, text }) =
            &self.effects.session
        else {
            return None;
        };
        let effects = Effects { copy: None, session: None, ..self.effects.clone() };
        Some(Prepared {
            server_name: server_name.clone(),
            parameters: parameters.clone(),
            sealed: sealed.clone(),
            statement: effects.into_statement(self.kind, true, true),
            text: text.clone(),
        })
    }
}

/// Analyzes one statement.
pub(crate) fn analyze(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    match segment.dialect {
        Dialect::Postgres => postgres::analyze(segment, catalog, names),
        Dialect::MySql(_) => mysql::analyze(segment, catalog, names),
    }
}

/// Whether it makes a table with its rows, or a view, by one of the names that the policy protects.
pub(crate) fn makes_one_of(segment: &Segment<'_>, catalog: &Catalog) -> bool {
    match segment.dialect {
        Dialect::Postgres => postgres::makes_one_of(segment, catalog),
        Dialect::MySql(_) => mysql::makes_one_of(segment, catalog),
    }
}

/// Whether it surely neither reads nor writes rows, nor gives a table another name or its rows to another table:
/// DROP, CREATE INDEX, and CREATE TABLE with columns alone.
pub(crate) fn only_defines(segment: &Segment<'_>) -> bool {
    match segment.dialect {
        Dialect::Postgres => postgres::only_defines(segment),
        Dialect::MySql(_) => mysql::only_defines(segment),
    }
}
