//! The walk over one statement's tree: what it has found, and what it has accounted for.

mod expression;
pub(crate) mod mysql;
mod query;
pub(crate) mod search;
mod statement;
pub(crate) mod value;
pub(crate) mod write;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sqlparser::{
    ast::{Ident, ObjectName, ObjectNamePart},
    tokenizer::Span,
};
use zeroize::Zeroizing;

use self::value::parameter::{Placed, StoredAt};
use crate::{
    analysis::{Form, Operand, ParameterUse, Replacement, Splice},
    catalog::{Catalog, Relation, RelationKind},
    mention, names,
    parse::position::Positions,
    refusal::Refusal,
    resolve::{
        cte::{CteRange, Ctes},
        outputs::Outputs,
        protected::Protected,
        scope::{Range, Source},
        view,
    },
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

    /// What a table's name in FROM stands for.
    pub fn range(&mut self, name: &ObjectName, alias: Option<&Ident>) -> Result<Range<'c>, Refusal> {
        self.relation(name, alias, true)
    }

    /// What the name of a statement's target stands for: never a common table expression.
    pub fn target(&mut self, name: &ObjectName, alias: Option<&Ident>) -> Result<Range<'c>, Refusal> {
        self.relation(name, alias, false)
    }

    fn relation(
        &mut self,
        name: &ObjectName,
        alias: Option<&Ident>,
        or_cte: bool,
    ) -> Result<Range<'c>, Refusal> {
        if let Some(range) = self.dual(name, alias) {
            return Ok(range);
        }
        for part in &name.0 {
            if part.as_ident().is_some_and(|ident| names::is_reserved(ident, self.catalog.dialect)) {
                return Err(Refusal::unparsable("a keyword stands where a table is expected"));
            }
        }
        let parts = self.parts(name)?;
        let alias = alias.map(|ident| self.plain_name(ident)).transpose()?;
        let (schema, table) = match parts.as_slice() {
            [table] => (None, table),
            [schema, table] | [_, schema, table] => (Some(schema), table),
            _ => return Err(Refusal::unparsable("a table's name has too many parts")),
        };
        let cte = match schema {
            None if or_cte => self.ctes.named(table),
            _ => None,
        };
        if let Some(CteRange { name: _, outputs }) = cte {
            let Some(outputs) = outputs else {
                return Err(Refusal::unsupported(
                    "a common table expression is used before its first part is known",
                    "define it before it is used, and put the part without itself first",
                ));
            };
            let source = Source::Derived(outputs.clone());
            let range = Range { name: Some(alias.unwrap_or_else(|| table.clone())), schema: None, source };
            self.note_row(&range);
            return Ok(range);
        }
        let relation = self.named(schema, table);
        if let Some(view) = relation.filter(|view| view.kind == RelationKind::UnseenView && !or_cte) {
            return Err(view::unseen(view, self.catalog.dialect));
        }
        // Its columns are as little known as those of a table that isn't protected.
        let relation = relation.filter(|view| view.kind != RelationKind::UnseenView);
        if let Some(relation) = relation.filter(|_| self.catalog.is_exact()) {
            check_case(relation, name)?;
        }
        let own_schema = relation.map(|r| self.catalog.fold(&r.schema).into_owned());
        let own_schema = own_schema.or_else(|| schema.cloned());
        let source = match relation {
            Some(view) if view.kind == RelationKind::View && !or_cte => {
                return Err(self.view(view));
            }
            Some(relation) => Source::Relation(self.touch(relation)?),
            None => Source::Unknown,
        };
        let range = Range {
            schema: alias.is_none().then_some(own_schema),
            name: Some(alias.unwrap_or_else(|| table.clone())),
            source,
        };
        self.note_row(&range);
        Ok(range)
    }

    /// The refusal to write to a view.
    pub fn view(&self, view: &Relation) -> Refusal {
        view::written(view, self.catalog.dialect)
    }

    /// The relation of the catalog that a table's folded name means.
    fn named(&self, schema: Option<&String>, table: &str) -> Option<&'c Relation> {
        let catalog = self.catalog;
        catalog.named(table).find(|relation| {
            schema.map_or(relation.visible, |schema| catalog.is_name(&relation.schema, schema))
        })
    }

    /// Remembers the name of a range whose whole row must not be used.
    pub fn note_row(&mut self, range: &Range<'c>) {
        if let Some(name) = range.name.as_ref().filter(|_| range.bears()) {
            self.row_names.insert(name.clone());
        }
    }

    fn touch(&mut self, relation: &'c Relation) -> Result<&'c Relation, Refusal> {
        if relation.kind == RelationKind::OpaqueView {
            return Err(view::opaque(relation, self.catalog.dialect));
        }
        if self.touched.iter().any(|touched| std::ptr::eq(*touched, relation)) {
            return Ok(relation);
        }
        self.searches.extend(&relation.searches);
        self.compares.extend(&relation.compares);
        if relation.kind == RelationKind::Table && !mention::is_protected(relation) {
            return Err(Refusal::unsupported(
                format!(
                    "rows of a table with sealed columns are reached through {}",
                    names::quote(&relation.name, self.catalog.dialect)
                ),
                "name the table that the policy protects",
            ));
        }
        self.touched.push(relation);
        Ok(relation)
    }

    /// Puts the sealed value in the place of tokens `first..=last`.
    pub fn seal(
        &mut self,
        at: Protected<'c>,
        use_: ParameterUse,
        tokens: (usize, usize),
        form: Form,
        value: Zeroizing<String>,
    ) {
        let with = Replacement::Seal { field: at.field.id, use_, form, value };
        self.splice(tokens, with);
    }

    /// Replaces tokens `first..=last`.
    pub fn splice(&mut self, (first, last): (usize, usize), with: Replacement) {
        let range = |index: usize| self.segment.tokens.get(index).map(|token| token.range.clone());
        if let (Some(first), Some(last)) = (range(first), range(last)) {
            let offset = self.segment.offset;
            let range = first.start.saturating_add(offset)..last.end.saturating_add(offset);
            self.splices.push(Splice { range, with });
        }
    }

    /// Inserts text right before a token.
    pub fn insert_before(&mut self, index: usize, text: &str) {
        if let Some(token) = self.segment.tokens.get(index) {
            let at = token.range.start.saturating_add(self.segment.offset);
            self.splices.push(Splice { range: at..at, with: Replacement::Text(text.to_owned()) });
        }
    }

    /// Inserts text right behind a token.
    pub fn insert_behind(&mut self, index: usize, text: String) {
        self.splice_behind(index, Replacement::Text(text));
    }

    /// Inserts something right behind a token.
    pub fn splice_behind(&mut self, index: usize, with: Replacement) {
        if let Some(token) = self.segment.tokens.get(index) {
            let at = token.range.end.saturating_add(self.segment.offset);
            self.splices.push(Splice { range: at..at, with });
        }
    }

    /// Tokens `first..=last` as they stand in the text.
    pub fn source(&self, (first, last): (usize, usize)) -> String {
        let range = |index: usize| self.segment.tokens.get(index).map(|token| token.range.clone());
        let source = range(first).zip(range(last)).and_then(|(f, l)| self.segment.text.get(f.start..l.end));
        source.unwrap_or_default().to_owned()
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

/// Where the server tells tables apart by letter case, another spelling of a protected table's name is another table's.
fn check_case(relation: &Relation, name: &ObjectName) -> Result<(), Refusal> {
    let written = name.0.iter().rev().map(|part| part.as_ident().map(|ident| ident.value.as_str()));
    let own = [relation.name.as_str(), relation.schema.as_str()];
    if written.zip(own).all(|(written, own)| written == Some(own)) {
        return Ok(());
    }
    Err(Refusal::unsupported(
        "a table's name is that of a table with sealed columns but for its letter case",
        "write the name as the database has it",
    ))
}
