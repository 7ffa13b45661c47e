//! Keeps what the names of a statement may stand for.

use std::collections::HashSet;

use crate::{
    catalog::Relation,
    lex::Kind,
    names,
    resolve::{cte::Ctes, outputs::Outputs},
    segment::Segment,
};

/// The relations and rows in reach.
#[derive(Default)]
pub(crate) struct Reach<'c> {
    /// The relations with protected columns that the statement names.
    pub touched: Vec<&'c Relation>,
    /// The common table expressions in reach.
    pub ctes: Ctes<'c>,
    /// The columns for which `*` stands, for each relation of which this was asked.
    pub whole: Vec<(&'c Relation, Outputs<'c>)>,
    pub guarded: GuardedNames,
}

/// The names under which whole rows with protected values, or protected outputs of a select list, are in reach.
#[derive(Default)]
pub(crate) struct GuardedNames {
    names: HashSet<String>,
    /// True if the statement's strings count as such names.
    has_strings: bool,
}

impl GuardedNames {
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn note(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Notes all strings of the statement as names, because one of them is a name, and it is not known which.
    pub fn note_strings(&mut self, segment: &Segment<'_>) {
        if std::mem::replace(&mut self.has_strings, true) {
            return;
        }
        self.names.extend(segment.tokens.iter().filter_map(|token| match &token.kind {
            Kind::Text { value, .. } => Some(names::lower(value)),
            _ => None,
        }));
    }
}
