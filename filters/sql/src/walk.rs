//! The walk over one statement's tree: what it has found, and what it has accounted for.
//!
//! `statement` begins it. `write` walks the statements that write rows and `query` those that read them; each gives its
//! expressions to `expression`. A comparison goes on to `search`, and a literal or a parameter to `value`. What only
//! MySQL has is in `mysql`. `relation` resolves the names of tables. The walk collects its results in `seen_names`, `reach`,
//! `value/parameter` and `splice`; `text` knows where parts of the tree stand. Queries and expressions hold each other in
//! SQL, so these parts call each other as deep as the tree is nested.

mod expression;
pub(crate) mod mysql;
mod query;
mod reach;
mod relation;
pub(crate) mod search;
mod seen_names;
mod splice;
mod statement;
mod text;
pub(crate) mod value;
pub(crate) mod write;

use std::collections::BTreeSet;

use sqlparser::ast::Ident;

use self::{
    reach::Reach, seen_names::SeenNames, splice::Splices, text::StatementText, value::parameter::Parameters,
};
use crate::{
    analysis::FieldUses,
    catalog::{Catalog, Relation},
    mention, names,
    parse::position::Positions,
    refusal::Refusal,
    resolve::{outputs::Outputs, protected::Protected},
    segment::Segment,
};

/// The state of a walk. Every method that returns an error ends the analysis of the whole text.
///
/// Large: it has a method for each kind of node, because queries, expressions and searches hold each other as
/// deep as the tree is nested.
pub(crate) struct Walker<'a, 'c> {
    pub text: StatementText<'a>,
    pub catalog: &'c Catalog,
    pub names: SeenNames<'a>,
    pub reach: Reach<'c>,
    /// What is done with which fields.
    pub fields: FieldUses<BTreeSet<usize>>,
    pub parameters: Parameters<'c>,
    pub splices: Splices<'a>,
    /// Whether values stand where the column doesn't give them their type.
    pub untyped: bool,
    /// MySQL: the relation that `VALUES(column)` is about.
    pub inserted: Option<&'c Relation>,
}

impl<'a, 'c> Walker<'a, 'c> {
    pub fn new(segment: &'a Segment<'a>, positions: &'a Positions, catalog: &'c Catalog) -> Self {
        let text = StatementText::new(segment, positions);
        Self {
            text,
            catalog,
            names: SeenNames::new(text),
            reach: Reach::default(),
            fields: FieldUses::default(),
            parameters: Parameters::default(),
            splices: Splices::new(segment),
            untyped: false,
            inserted: None,
        }
    }

    /// Takes steps of the budget.
    pub fn spend(&self, steps: usize) -> Result<(), Refusal> {
        Ok(self.text.segment.budget.spend(steps)?)
    }

    /// Whether the text is MySQL's or MariaDB's.
    pub fn is_mysql(&self) -> bool {
        self.catalog.dialect.is_mysql()
    }

    /// Runs where the column doesn't give values their type: within ARRAY, COALESCE, CASE and a select list.
    pub fn untyped(&mut self, run: impl FnOnce(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let before = std::mem::replace(&mut self.untyped, true);
        let result = run(self);
        self.untyped = before;
        result
    }

    /// Reads the name of the table that SELECT INTO creates, and refuses the name of a protected table. A temporary one is in a
    /// schema that no policy names.
    pub fn read_created_table(&mut self, name: &Ident, is_temporary: bool) -> Result<(), Refusal> {
        let name = self.names.read(name)?;
        if !is_temporary && self.catalog.plans(&name) {
            return Err(Refusal::unsupported(
                "a table of a protected table's name would be made together with rows",
                "create the table first, and insert the rows from the application",
            ));
        }
        Ok(())
    }

    /// These columns' values go where nothing is protected.
    pub fn copied(&mut self, outputs: &Outputs<'c>) {
        self.fields.copies.extend(outputs.protected().map(|column| column.field.id));
    }

    /// Checks that the walk has met every identifier that could be a protected column, a relation of the
    /// catalog, or a row with protected values. What the parser drops, or keeps where the walk doesn't look,
    /// shows here.
    pub fn check_all_seen(&self) -> Result<(), Refusal> {
        for (index, token) in self.text.segment.tokens.iter().enumerate() {
            let Some(name) = token.name() else { continue };
            if self.names.has_read(index) {
                continue;
            }
            // A keyword without quotes is a column behind a dot only.
            let behind_dot = index.checked_sub(1).is_some_and(|dot| self.text.segment.is_symbol(dot, "."));
            if !behind_dot
                && token.source(self.text.segment.text).eq_ignore_ascii_case(name)
                && names::is_keyword(name, self.catalog.dialect)
            {
                continue;
            }
            self.spend(self.reach.touched.len())?;
            let mut columns = self.reach.touched.iter().filter_map(|relation| relation.columns.named(name));
            if let Some(protected) = columns.find_map(Protected::of) {
                return Err(Refusal::on(
                    protected.field,
                    "the column's name stands in a place that isn't understood",
                    "write the statement in a plainer form, or rename what isn't the column",
                ));
            }
            if self.reach.guarded.contains(name) || mention::is_known(name, self.catalog) {
                return Err(Refusal::unsupported(
                    "a protected table's name or alias stands in a place that isn't understood",
                    "write the statement in a plainer form, or choose another alias",
                ));
            }
        }
        Ok(())
    }
}
