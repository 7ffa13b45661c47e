//! Name resolution: which protected column, if any, a reference means.

use std::rc::Rc;

use crate::{
    catalog::{Column, Field, Relation},
    mention, names,
    refusal::Refusal,
};

/// A protected column.
#[derive(Clone, Copy)]
pub(crate) struct Protected<'c> {
    pub column: &'c Column,
    pub field: &'c Field,
    /// Whether the server may no longer say which table's column it is.
    pub lost: bool,
    /// Whether it is cast to text.
    pub cast: bool,
}

impl<'c> Protected<'c> {
    pub fn of(column: &'c Column) -> Option<Self> {
        column.field.as_ref().map(|field| Self { column, field, lost: false, cast: false })
    }

    /// The same behind an expression.
    pub fn lost(self) -> Self {
        Self { lost: true, ..self }
    }

    /// The same behind a cast to text.
    pub fn cast(self) -> Self {
        Self { cast: true, ..self.lost() }
    }

    /// Whether a value of the one can be put in the other as it is stored.
    pub fn is_interchangeable_with(self, other: Protected<'_>) -> bool {
        self.field.label == other.field.label && self.column.stored == other.column.stored
    }

    /// Whether equality between the two is equality of their values.
    pub fn is_comparable_with(self, other: Protected<'_>) -> bool {
        self.is_interchangeable_with(other) && self.field.equality && other.field.equality
    }
}

/// A column that a query yields: its name, if it surely has one, and the protected column it is.
#[derive(Clone)]
pub(crate) struct Output<'c> {
    pub name: Option<String>,
    pub protected: Option<Protected<'c>>,
    /// Whether it is NULL in every row.
    pub null: bool,
    /// Whether it is a number or a boolean that is written in the text, which decides the type of what stands beside.
    pub number: bool,
}

impl<'c> Output<'c> {
    /// A table's column, or something that holds nothing protected.
    pub fn new(name: Option<String>, protected: Option<Protected<'c>>) -> Self {
        Self { name, protected, null: false, number: false }
    }
}

/// What a query yields.
#[derive(Clone, Default)]
pub(crate) struct Outputs<'c> {
    pub columns: Vec<Output<'c>>,
    /// Whether there are columns besides that aren't known (and not protected), so that positions aren't either.
    pub open: bool,
}

impl<'c> Outputs<'c> {
    /// Nothing is known of them but that none is protected.
    pub fn unknown() -> Self {
        Self { columns: Vec::new(), open: true }
    }

    pub fn protected(&self) -> impl Iterator<Item = Protected<'c>> {
        self.columns.iter().filter_map(|column| column.protected)
    }

    /// With other names for the first columns, as an alias with a list gives them.
    pub fn renamed(mut self, names: Vec<String>) -> Result<Self, Refusal> {
        if names.is_empty() {
            return Ok(self);
        }
        if let Some(protected) = self.protected().next().filter(|_| self.open) {
            return Err(Refusal::on(
                protected.field,
                "columns are renamed by position, and not all positions are known",
                "name the columns in the select list",
            ));
        }
        for (column, name) in self.columns.iter_mut().zip(names) {
            column.name = Some(name);
        }
        // Where positions aren't known, the names given may be those of others.
        if self.open {
            return Ok(Self::unknown());
        }
        Ok(self)
    }
}

/// What a name in FROM stands for.
#[derive(Clone)]
pub(crate) enum Source<'c> {
    Relation(&'c Relation),
    /// A sub-select or a common table expression.
    Derived(Rc<Outputs<'c>>),
    /// Anything that holds nothing protected; its columns aren't known.
    Unknown,
}

impl<'c> Source<'c> {
    /// The relation of the catalog that it is, if it is one.
    pub fn relation(&self) -> Option<&'c Relation> {
        match self {
            Source::Relation(relation) => Some(relation),
            Source::Derived(_) | Source::Unknown => None,
        }
    }
}

/// One name in FROM.
#[derive(Clone)]
pub(crate) struct Range<'c> {
    /// The alias, or the relation's name.
    pub name: Option<String>,
    /// Where no alias hides it: Some(schema) as written or, for a relation of the catalog, as it is.
    pub schema: Option<Option<String>>,
    pub source: Source<'c>,
}

/// What an unqualified name means.
pub(crate) enum Meaning<'c> {
    Protected(Protected<'c>),
    /// A column that isn't protected.
    Plain,
    /// No column: the server won't accept it, or it is no column's name there.
    Nothing,
}

enum Lookup<'c> {
    Found(Option<Protected<'c>>),
    Ambiguous,
    Absent,
    Unknown,
}

impl<'c> Range<'c> {
    /// Whether a reference to the whole row would bring a protected value.
    pub fn bears(&self) -> bool {
        match &self.source {
            Source::Relation(relation) => mention::is_protected(relation),
            Source::Derived(outputs) => outputs.protected().next().is_some(),
            Source::Unknown => false,
        }
    }

    fn lookup(&self, name: &str) -> Lookup<'c> {
        match &self.source {
            Source::Relation(relation) => match relation.columns.iter().find(|c| c.name == name) {
                Some(column) => Lookup::Found(Protected::of(column)),
                None => Lookup::Absent,
            },
            Source::Derived(outputs) => {
                let mut matching = outputs.columns.iter().filter(|c| c.name.as_deref() == Some(name));
                match (matching.next(), matching.next()) {
                    (Some(column), None) => Lookup::Found(column.protected),
                    (Some(_), Some(_)) => Lookup::Ambiguous,
                    (None, _) if outputs.open || outputs.columns.iter().any(|c| c.name.is_none()) => {
                        Lookup::Unknown
                    }
                    (None, _) => Lookup::Absent,
                }
            }
            Source::Unknown => Lookup::Unknown,
        }
    }

    /// The range's columns, for `*`.
    pub fn outputs(&self) -> Outputs<'c> {
        match &self.source {
            Source::Relation(relation) => {
                let mut columns: Vec<&Column> =
                    relation.columns.iter().filter(|c| !c.is_invisible()).collect();
                columns.sort_by_key(|column| column.number);
                let output = |c: &'c Column| Output::new(Some(c.name.clone()), Protected::of(c));
                Outputs { columns: columns.into_iter().map(output).collect(), open: false }
            }
            Source::Derived(outputs) => outputs.as_ref().clone(),
            Source::Unknown => Outputs::unknown(),
        }
    }

    /// Whether `qualifier` (the last part is the table's name) means this range.
    pub fn is(&self, qualifier: &[String]) -> bool {
        let (schema, name) = match qualifier {
            [name] => (None, name),
            [.., schema, name] => (Some(schema), name),
            [] => return false,
        };
        self.name.as_ref() == Some(name)
            && match (schema, &self.schema) {
                (None, _) => true,
                (Some(_), None) => false,
                // An unknown relation written without a schema may be in any.
                (Some(_), Some(None)) => true,
                (Some(schema), Some(Some(own))) => schema == own,
            }
    }
}

/// The names of one FROM, within those of the queries around it.
#[derive(Default)]
pub(crate) struct Scope<'s, 'c> {
    pub ranges: Vec<Range<'c>>,
    /// Columns merged by JOIN … USING: no ambiguity between the sides.
    pub merged: Vec<String>,
    pub outer: Option<&'s Scope<'s, 'c>>,
}

/// Relations in one FROM. Every name is looked up in each.
const MAX_RANGES: usize = 128;

const QUALIFY: &str = "qualify the column with its table's name or alias";

impl<'s, 'c> Scope<'s, 'c> {
    pub fn within(outer: Option<&'s Scope<'s, 'c>>) -> Self {
        Self { ranges: Vec::new(), merged: Vec::new(), outer }
    }

    /// What an unqualified name means.
    ///
    /// A name that several relations of one FROM have is an error to the server, so of the candidates in one
    /// FROM the known one is it. But a relation whose columns aren't known may hide a candidate further out.
    pub fn unqualified(&self, name: &str) -> Result<Meaning<'c>, Refusal> {
        let mut unknown_inside = false;
        let mut scope = Some(self);
        while let Some(this) = scope {
            let mut found: Vec<Option<Protected<'c>>> = Vec::new();
            let mut unknown = false;
            for range in &this.ranges {
                match range.lookup(name) {
                    Lookup::Found(column) => found.push(column),
                    Lookup::Ambiguous => return Err(ambiguous()),
                    Lookup::Absent => {}
                    Lookup::Unknown => unknown = true,
                }
            }
            if found.is_empty() && this.ranges.iter().any(|r| r.bears() && r.name.as_deref() == Some(name)) {
                return Err(whole_row());
            }
            let known = found.first().copied();
            if let Some(protected) = found.iter().flatten().next() {
                if unknown_inside {
                    return Err(Refusal::on(
                        protected.field,
                        "an unqualified name may mean this column or one of a relation nearer to it",
                        QUALIFY,
                    ));
                }
                if found.len() > 1 && !this.merged.iter().any(|merged| merged == name) {
                    return Err(Refusal { label: Some(protected.field.label.clone()), ..ambiguous() });
                }
            }
            if let Some(known) = known {
                return Ok(known.map_or(Meaning::Plain, Meaning::Protected));
            }
            unknown_inside |= unknown;
            scope = this.outer;
        }
        Ok(if unknown_inside || names::is_system_column(name) { Meaning::Plain } else { Meaning::Nothing })
    }

    /// Whether some range surely has a column of this name.
    pub fn knows(&self, name: &str) -> bool {
        let has = |range: &Range<'c>| matches!(range.lookup(name), Lookup::Found(_));
        self.ranges.iter().any(has) || self.outer.is_some_and(|outer| outer.knows(name))
    }

    /// What `qualifier.name` means.
    pub fn qualified(&self, qualifier: &[String], name: &str) -> Result<Option<Protected<'c>>, Refusal> {
        let range = self.range(qualifier)?;
        match range.lookup(name) {
            Lookup::Found(column) => Ok(column),
            Lookup::Ambiguous => Err(ambiguous()),
            Lookup::Unknown if !range.bears() => Ok(None),
            Lookup::Absent if names::is_system_column(name) || !range.bears() => Ok(None),
            // `c.f` is also the function `f` of the whole row.
            Lookup::Absent | Lookup::Unknown => Err(Refusal::unsupported(
                "a qualified name is no known column of a relation with protected columns",
                "name columns of the table only, and give each column of a sub-select a name",
            )),
        }
    }

    /// The nearest range that the qualifier means.
    pub fn range(&self, qualifier: &[String]) -> Result<&Range<'c>, Refusal> {
        let mut scope = Some(self);
        while let Some(this) = scope {
            if let Some(range) = this.ranges.iter().find(|range| range.is(qualifier)) {
                return Ok(range);
            }
            scope = this.outer;
        }
        Err(Refusal::unsupported(
            "a qualified name names no relation of the statement",
            "qualify columns with the table's name or alias as FROM has it",
        ))
    }

    /// Two ranges of one name make a reference doubtful.
    pub fn check_names(&self) -> Result<(), Refusal> {
        if self.ranges.len() > MAX_RANGES {
            return Err(Refusal::unparsable("too many relations are in one FROM"));
        }
        for (index, range) in self.ranges.iter().enumerate() {
            let again =
                self.ranges.iter().skip(index.saturating_add(1)).find(|other| other.name == range.name);
            if range.name.is_some() && again.is_some_and(|other| other.bears() || range.bears()) {
                return Err(Refusal::unsupported(
                    "two relations of one FROM have the same name, and one has protected columns",
                    "give each an alias of its own",
                ));
            }
        }
        Ok(())
    }
}

fn ambiguous() -> Refusal {
    Refusal::unsupported("a column name means several columns", QUALIFY)
}

fn whole_row() -> Refusal {
    Refusal::unsupported(
        "a whole row that holds sealed values is used as one value",
        "name the columns one by one",
    )
}
