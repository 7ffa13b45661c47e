//! Statements of MySQL and MariaDB, by their first words: which rules each goes by.

mod ddl;
mod explain;
mod index;
mod into;
mod load;
mod prepared;
mod results;
mod set_statement;
mod unseen;
mod utility;

pub(crate) use ddl::{makes_one_of, only_defines};
pub(crate) use results::{client_file, results};
pub(crate) use unseen::names_unseen;

use crate::{
    analysis::effects::Effects,
    catalog::Catalog,
    kind::{
        is_dml,
        mysql::{self, set},
    },
    mention,
    refusal::Refusal,
    segment::Segment,
    statement::{
        Analyzed, dml,
        session::{self, Names},
    },
};

/// Analyzes one statement.
pub(crate) fn analyze(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    if let Some(inner) = explain::explained(segment) {
        return Ok(analyze(&inner, catalog, names)?.explained());
    }
    if set::is_too_deep(segment) && catalog.protects() {
        return Err(Refusal::unparsable("SET STATEMENT stands in SET STATEMENT too many times"));
    }
    if let Some(inner) = set::for_statement(segment) {
        set_statement::refuse_changed_reading(segment, &inner, catalog)?;
        return analyze(&inner, catalog, names);
    }
    match (segment.word(0), segment.word(1)) {
        ("prepare", _) => return prepared::prepare(segment, catalog, names),
        ("execute", "immediate") => return prepared::execute_immediate(segment, catalog),
        ("execute", _) => return session::execute(segment, catalog, names),
        _ => {}
    }
    unseen::refuse_stored(segment, catalog)?;
    let is_dml = is_dml(segment);
    let effects = if is_dml {
        match (mention::may_name(segment, catalog), into::clause(segment)) {
            (false, _) => Effects::default(),
            (true, None) => dml::analyze(segment, catalog)?,
            (true, Some(clause)) => into::analyze(segment, clause, catalog)?,
        }
    } else if mysql::is_deallocate(segment) {
        session::deallocate(segment, names)?
    } else {
        utility::analyze(segment, catalog)?
    };
    Ok(Analyzed {
        kind: mysql::of(segment),
        changes_catalog: mysql::changes_catalog(segment, is_dml),
        effects,
        is_dml,
    })
}
