//! What a PostgreSQL text does with protected columns, and what to put in place of its literals.
//!
//! [`analyze`] takes a text (of a Query or a Parse message) and a [`Catalog`] of the relations that matter, and
//! gives an [`Analysis`]: which protected fields each statement reads, searches and writes, which byte ranges of
//! the text are literals to be sealed, and which parameters will carry values to be sealed. Or it gives a
//! [`Refusal`], which names the label where it is known, the reason, and the remedy.
//!
//! # Rules
//! - **Whitelist.** What isn't known to be right for sealed values is refused, and so is what isn't understood.
//! - **Two readings.** A lexer of our own follows PostgreSQL's rules; where the parser's tokens differ from its
//!   tokens, nothing is believed. The tree, written out again, must be the text. Every word of the text that
//!   could be a protected column or table must have been met by the walk.
//! - **The text stays.** Literals are replaced by byte range; all else is forwarded as it came.
//! - **Nothing told.** No refusal holds a literal or any of the text but names of the catalog.
//!
//! # When not to use it
//! For another dialect than PostgreSQL's; as an access control (functions in the server can do anything); for a
//! text that isn't UTF-8.
//!
//! # What it assumes
//! - `standard_conforming_strings` is on, and the client's encoding is UTF-8. The server reports both.
//! - The catalog is that of the session now. After a statement with `changes_catalog` it must be read again,
//!   and, when that was in a transaction, once more when the transaction ends.
//! - A label stands for one keyset, one tenant and one declared type: columns of one label may be compared, and
//!   values copied between them.

mod analysis;
mod cast;
mod catalog;
mod ddl;
mod delete;
mod dml;
mod expr;
mod faithful;
mod from;
mod function;
mod insert;
mod items;
mod lexer;
mod mention;
mod names;
mod operands;
mod position;
mod predicate;
mod query;
mod refusal;
mod scope;
mod segment;
mod select;
mod setting;
mod statement;
mod update;
mod utility;
mod value;
mod walker;

pub use analysis::{Analysis, Parameter, ParameterUse, Replacement, Splice, Statement, StatementKind};
pub use catalog::{Catalog, Column, Field, Relation, RelationKind, Stored};
pub use refusal::{Refusal, RefusalClass};

use lexer::Unread;
use statement::Analyzed;

/// Analyzes one text, which may hold several statements.
///
/// # Errors
/// A [`Refusal`] when the text can't be seen to be safe. Nothing of it may be forwarded then.
pub fn analyze(text: &str, catalog: &Catalog) -> Result<Analysis, Refusal> {
    let segments = match segment::split(text) {
        Ok(segments) => segments,
        Err(why) => return unread(text, &why, catalog),
    };
    let mut analysis = Analysis::default();
    let mut before = Before::default();
    for segment in &segments {
        let Analyzed { kind, changes_catalog, effects, is_dml } = statement::analyze(segment, catalog)?;
        let may_name = mention::may_name(segment, catalog);
        if is_dml && (before.reshaped || (before.renamed && may_name)) {
            return Err(Refusal::unsupported(
                "one text changes what names mean, and then reads or writes rows",
                "send the statements one by one",
            ));
        }
        let planned = mention::names_any(segment, &catalog.planned);
        if (planned && statement::makes_with_rows(segment))
            || (before.renamed && (planned || may_name) && !statement::only_defines(segment))
        {
            return Err(Refusal::unsupported(
                "one text changes what names mean, or makes a protected table, and goes on with such a table",
                "send the statement on the protected table separately",
            ));
        }
        before.renamed |= changes_catalog;
        before.reshaped |= changes_catalog && may_name;
        if segments.len() > 1 && !effects.parameters.is_empty() {
            return Err(Refusal::unsupported(
                "a text of several statements has parameters",
                "send the statements one by one",
            ));
        }
        analysis.statements.push(Statement {
            kind,
            touched: effects.touched,
            reads: effects.reads,
            searches: effects.searches,
            writes: effects.writes,
            changes_catalog,
        });
        analysis.splices.extend(effects.splices);
        analysis.parameters.extend(effects.parameters);
    }
    Ok(analysis)
}

/// What the statements before may have done to the catalog, which was read before all of them.
#[derive(Default)]
struct Before {
    /// A name may mean another relation.
    renamed: bool,
    /// A relation of the catalog was changed too: rows of it may be reached by names that aren't in the catalog,
    /// such as a partition's.
    reshaped: bool,
}

/// A text whose tokens can't be told apart, which the server will most likely not accept either; or one of too
/// many, which it may.
fn unread(text: &str, why: &Unread, catalog: &Catalog) -> Result<Analysis, Refusal> {
    if mention::may_reach(text, catalog) {
        return Err(match why {
            Unread::Doubt => {
                Refusal::unparsable("the text's words and literals can't be told apart with certainty")
            }
            Unread::TooLong => Refusal {
                remedy: "send shorter statements, or use parameters".to_owned(),
                ..Refusal::unparsable("the text is too long to be analyzed")
            },
        });
    }
    Ok(Analysis { statements: vec![Statement::unread()], ..Analysis::default() })
}
