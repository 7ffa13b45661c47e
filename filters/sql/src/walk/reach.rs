//! What the names of a statement may stand for.

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
    /// Relations with protected columns that the statement names.
    pub touched: Vec<&'c Relation>,
    /// The common table expressions in reach.
    pub ctes: Ctes<'c>,
    /// What `*` stands for, of relations that it was asked of.
    pub whole: Vec<(&'c Relation, Outputs<'c>)>,
    pub guarded: GuardedNames,
}

/// Names under which whole rows with protected values are in reach, or protected outputs of a select list.
#[derive(Default)]
pub(crate) struct GuardedNames {
    names: HashSet<String>,
    /// Whether the statement's strings are among them.
    has_strings: bool,
}

impl GuardedNames {
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn note(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Notes all strings of the statement, because one of them is a name, and it is not known which.
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
