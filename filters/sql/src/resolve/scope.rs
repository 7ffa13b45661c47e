//! Name resolution: which protected column, if any, a reference means.

use std::collections::HashSet;

use crate::{
    catalog::Relation,
    mention, names,
    refusal::Refusal,
    resolve::{outputs::Outputs, protected::Protected},
};

/// What a name in FROM stands for.
#[derive(Clone)]
pub(crate) enum Source<'c> {
    Relation(&'c Relation),
    /// A sub-select or a common table expression.
    Derived(Outputs<'c>),
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
            Source::Derived(outputs) => outputs.first_protected().is_some(),
            Source::Unknown => false,
        }
    }

    fn lookup(&self, name: &str) -> Lookup<'c> {
        match &self.source {
            Source::Relation(relation) => match relation.columns.named(name) {
                Some(column) => Lookup::Found(Protected::of(column)),
                None => Lookup::Absent,
            },
            Source::Derived(outputs) => match outputs.named(name) {
                Some(named) if named.several => Lookup::Ambiguous,
                Some(named) => Lookup::Found(named.protected),
                None if outputs.has_unnamed() => Lookup::Unknown,
                None => Lookup::Absent,
            },
            Source::Unknown => Lookup::Unknown,
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
    pub merged: HashSet<String>,
    pub outer: Option<&'s Scope<'s, 'c>>,
}

/// Relations in one FROM. Every name is looked up in each.
const MAX_RANGES: usize = 128;

const QUALIFY: &str = "qualify the column with its table's name or alias";

impl<'s, 'c> Scope<'s, 'c> {
    pub fn within(outer: Option<&'s Scope<'s, 'c>>) -> Self {
        Self { ranges: Vec::new(), merged: HashSet::new(), outer }
    }

    /// Adds a range behind the others.
    pub fn push(&mut self, range: Range<'c>) -> Result<(), Refusal> {
        self.extend(vec![range])
    }

    /// Adds ranges behind the others.
    pub fn extend(&mut self, ranges: Vec<Range<'c>>) -> Result<(), Refusal> {
        if self.ranges.len().saturating_add(ranges.len()) > MAX_RANGES {
            return Err(Refusal::unparsable("too many relations are in one FROM"));
        }
        self.ranges.extend(ranges);
        Ok(())
    }

    /// Ranges that a name may be looked up in, here and around.
    pub fn reach(&self) -> usize {
        let mut ranges = 0_usize;
        let mut scope = Some(self);
        while let Some(this) = scope {
            ranges = ranges.saturating_add(this.ranges.len());
            scope = this.outer;
        }
        ranges
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
            if found.is_empty() && this.ranges.iter().any(|r| r.name.as_deref() == Some(name) && r.bears()) {
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
                if found.len() > 1 && !this.merged.contains(name) {
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
