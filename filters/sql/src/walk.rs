//! The walk over one statement's tree: what it has found, and what it has accounted for.
//!
//! `statement` begins it. `write` walks the statements that write rows and `query` those that read them; each gives its
//! expressions to `expression`. A comparison goes on to `search`, and a literal or a parameter to `value`. What MySQL has
//! besides is in `mysql`. `relation` and `splice` serve all of them. Queries and expressions hold each other in SQL, so
//! these parts call each other as deep as the tree is nested.

mod expression;
pub(crate) mod mysql;
mod query;
mod relation;
pub(crate) mod search;
mod splice;
mod statement;
pub(crate) mod value;
pub(crate) mod write;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sqlparser::{
    ast::{Ident, ObjectName, ObjectNamePart},
    tokenizer::Span,
};

use self::value::parameter::{Placed, StoredAt};
use crate::{
    analysis::{Operand, Splice},
    catalog::{Catalog, Relation},
    mention, names,
    parse::position::Positions,
    refusal::Refusal,
    resolve::{cte::Ctes, outputs::Outputs, protected::Protected},
    segment::Segment,
};

/// The state of a walk. Every method that returns an error ends the analysis of the whole text.
pub(crate) struct Walker<'a, 'c> {
    pub segment: &'a Segment<'a>,
    pub positions: &'a Positions,
    pub catalog: &'c Catalog,
    /// Relations with protected columns that the statement names.
    pub touched: Vec<&'c Relation>,
    /// The common table expressions in reach.
    pub ctes: Ctes<'c>,
    /// What `*` stands for, of relations that it was asked of.
    pub whole: Vec<(&'c Relation, Outputs<'c>)>,
    /// Aliases under which whole rows with protected values are in reach.
    pub row_names: HashSet<String>,
    /// MySQL: whether the statement's strings are among them.
    pub noted_strings: bool,
    pub reads: BTreeSet<usize>,
    pub searches: BTreeSet<usize>,
    /// Fields whose ciphertexts or blind indexes are compared with each other.
    pub compares: BTreeSet<usize>,
    pub writes: BTreeSet<usize>,
    /// Fields that may hold a value already.
    pub overwrites: BTreeSet<usize>,
    /// Fields that a written NULL is stored in.
    pub nulls: BTreeSet<usize>,
    /// Fields whose envelopes go where nothing is protected.
    pub copies: BTreeSet<usize>,
    pub splices: Vec<Splice>,
    /// Whether values stand where the column doesn't give them their type.
    pub untyped: bool,
    /// EXECUTE: as what the parameter is read that values are assigned to.
    pub assigned_to: Option<Operand>,
    /// MySQL: the relation that `VALUES(column)` is about.
    pub inserted: Option<&'c Relation>,
    pub parameters: BTreeMap<u16, Placed<'c>>,
    /// Parameters that are stored, each where it stands.
    pub stored: Vec<StoredAt>,
    /// Parameters' tokens in protected places.
    pub parameter_tokens: HashSet<usize>,
    /// Identifiers' tokens whose meaning has been established.
    seen: HashSet<usize>,
}

impl<'a, 'c> Walker<'a, 'c> {
    pub fn new(segment: &'a Segment<'a>, positions: &'a Positions, catalog: &'c Catalog) -> Self {
        Self {
            segment,
            positions,
            catalog,
            touched: Vec::new(),
            ctes: Ctes::default(),
            whole: Vec::new(),
            row_names: HashSet::new(),
            noted_strings: false,
            reads: BTreeSet::new(),
            searches: BTreeSet::new(),
            compares: BTreeSet::new(),
            writes: BTreeSet::new(),
            overwrites: BTreeSet::new(),
            nulls: BTreeSet::new(),
            copies: BTreeSet::new(),
            splices: Vec::new(),
            untyped: false,
            assigned_to: None,
            inserted: None,
            parameters: BTreeMap::new(),
            stored: Vec::new(),
            parameter_tokens: HashSet::new(),
            seen: HashSet::new(),
        }
    }

    /// Takes steps of the budget.
    pub fn spend(&self, steps: usize) -> Result<(), Refusal> {
        Ok(self.segment.budget.spend(steps)?)
    }

    /// Whether the text is MySQL's or MariaDB's.
    pub fn is_mysql(&self) -> bool {
        self.catalog.dialect.is_mysql()
    }

    /// Accounts for an identifier and gives its name.
    pub fn name(&mut self, ident: &Ident) -> Result<String, Refusal> {
        let name = names::fold(ident, self.catalog.dialect)
            .ok_or_else(|| Refusal::unparsable("a name is written as a string"))?;
        self.see(ident.span);
        Ok(name)
    }

    /// The same for a name that must not be a keyword: a table, or an alias without AS. (The parser takes
    /// `ONLY customer` for a table `only` with the alias `customer`.)
    pub fn plain_name(&mut self, ident: &Ident) -> Result<String, Refusal> {
        if names::is_reserved(ident, self.catalog.dialect) {
            return Err(Refusal::unparsable("a keyword stands where a name is expected"));
        }
        self.name(ident)
    }

    fn see(&mut self, span: Span) {
        if let Some(index) = self.positions.token_at(span) {
            self.seen.insert(index);
        }
    }

    /// The parts of a name. Accounts for them.
    pub fn parts(&mut self, name: &ObjectName) -> Result<Vec<String>, Refusal> {
        let ObjectName(parts) = name;
        parts
            .iter()
            .map(|part| match part {
                ObjectNamePart::Identifier(ident) => self.name(ident),
                ObjectNamePart::Function(_) => Err(Refusal::unparsable("a name is a function's call")),
            })
            .collect()
    }

    /// The one part of a column's name in a list of columns.
    pub fn one_part(&mut self, name: &ObjectName) -> Result<String, Refusal> {
        let mut parts = self.parts(name)?;
        match (parts.pop(), parts.pop()) {
            (Some(name), None) => Ok(name),
            _ => {
                Err(Refusal::unsupported("a column is qualified where it can't be", "name the column alone"))
            }
        }
    }

    /// Runs where the column doesn't give values their type: within ARRAY, COALESCE, CASE and a select list.
    pub fn untyped(&mut self, run: impl FnOnce(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let before = std::mem::replace(&mut self.untyped, true);
        let result = run(self);
        self.untyped = before;
        result
    }

    /// The name of a table that the statement makes.
    pub fn made(&mut self, name: &Ident) -> Result<(), Refusal> {
        let name = self.name(name)?;
        if self.catalog.plans(&name) {
            return Err(Refusal::unsupported(
                "a table of a protected table's name would be made together with rows",
                "create the table first, and insert the rows from the application",
            ));
        }
        Ok(())
    }

    /// These columns' values go where nothing is protected.
    pub fn copied(&mut self, outputs: &Outputs<'c>) {
        self.copies.extend(outputs.protected().map(|column| column.field.id));
    }

    /// Checks that the walk has met every identifier that could be a protected column, a relation of the
    /// catalog, or a row with protected values. What the parser drops, or keeps where the walk doesn't look,
    /// shows here.
    pub fn check_all_seen(&self) -> Result<(), Refusal> {
        for (index, token) in self.segment.tokens.iter().enumerate() {
            let Some(name) = token.name() else { continue };
            if self.seen.contains(&index) {
                continue;
            }
            // A keyword without quotes is a column behind a dot only.
            let behind_dot = index.checked_sub(1).is_some_and(|dot| self.segment.is_symbol(dot, "."));
            if !behind_dot
                && token.source(self.segment.text).eq_ignore_ascii_case(name)
                && names::is_keyword(name, self.catalog.dialect)
            {
                continue;
            }
            self.spend(self.touched.len())?;
            let mut columns = self.touched.iter().filter_map(|relation| relation.columns.named(name));
            if let Some(protected) = columns.find_map(Protected::of) {
                return Err(Refusal::on(
                    protected.field,
                    "the column's name stands in a place that isn't understood",
                    "write the statement in a plainer form, or rename what isn't the column",
                ));
            }
            if self.row_names.contains(name) || mention::is_known(name, self.catalog) {
                return Err(Refusal::unsupported(
                    "a protected table's name or alias stands in a place that isn't understood",
                    "write the statement in a plainer form, or choose another alias",
                ));
            }
        }
        Ok(())
    }
}
