//! Many paths as one automaton.
//!
//! The paths become a tree ([`tree`]), which is a nondeterministic automaton over keys and indexes, and that is
//! determinized whole when it is compiled ([`build`]): then a key costs one look-up however many paths there are,
//! matching takes no memory, and two fields that could select one value are found before any body comes. A set
//! of paths with several `..name` and `[*]` can need exponentially many states, so their number is bounded;
//! paths without both need about as many as they have steps.

mod build;
mod names;
mod tree;

use std::ops::Range;

use thiserror::Error;

use crate::Path;
use names::Names;
use tree::Tree;

/// Many paths, each with its field's number, compiled to one automaton.
#[derive(Debug)]
pub struct Matcher {
    names: Names,
    states: Vec<State>,
    /// Where a key leads: the name's number and the state, by the first in each state's range.
    by_name: Vec<(u32, StateId)>,
    /// Where an index leads, likewise.
    by_index: Vec<(u32, StateId)>,
}

/// What a value is to the paths: a state of the automaton.
pub(crate) type StateId = u32;

/// Nothing is selected in this value, nor is it.
pub(crate) const DEAD: StateId = 0;

#[derive(Debug, Clone, Default)]
struct State {
    /// The field that selects a value in this state. Nothing is looked for inside one.
    field: Option<usize>,
    names: Range<usize>,
    indexes: Range<usize>,
    /// Where all other children lead. For keys what that state says of names comes first, if `inherits`: so a
    /// state need not repeat the names of every `..name` above it.
    other: StateId,
    inherits: bool,
}

/// Whether the case of letters tells keys apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// It does, as in RFC 9535.
    Told,
    /// It does not: for bodies whose reader takes one for the other.
    Ignored,
}

/// Why paths can't be one automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MatcherError {
    /// One value could be selected by two paths of different fields.
    #[error("the paths of the fields {first} and {second} can select the same value")]
    Conflict {
        /// The lower number.
        first: usize,
        /// The higher number.
        second: usize,
    },
    /// The paths together need more than the automaton may have.
    #[error("the paths need more than {limit} {what}; name fewer paths with both ..name and [*]")]
    TooLarge {
        /// What there would be too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
}

impl Matcher {
    /// Compiles paths, each with the number of the field that it selects.
    pub fn compile<'a>(paths: impl IntoIterator<Item = (&'a Path, usize)>) -> Result<Self, MatcherError> {
        Self::compile_with(paths, Case::Told)
    }

    /// The same, with keys compared as `case` says.
    pub fn compile_with<'a>(
        paths: impl IntoIterator<Item = (&'a Path, usize)>,
        case: Case,
    ) -> Result<Self, MatcherError> {
        let paths: Vec<_> = paths.into_iter().collect();
        let names = Names::of(paths.iter().flat_map(|(path, _)| path.steps()), case);
        let mut tree = Tree::default();
        for (path, field) in paths {
            tree.add(path, field, &names)?;
        }
        build::determinize(&tree, names)
    }

    /// The state of a body's outermost value.
    pub(crate) fn root(&self) -> StateId {
        build::ROOT
    }

    /// The field that selects a value in this state.
    #[inline(always)]
    pub(crate) fn field(&self, state: StateId) -> Option<usize> {
        self.state(state)?.field
    }

    /// The state of all children of a value in this state that no path names.
    pub(crate) fn other(&self, state: StateId) -> StateId {
        self.state(state).map_or(DEAD, |here| here.other)
    }

    /// Could some path speak of this key? Of most keys of a body none does.
    #[inline(always)]
    pub(crate) fn may_name(&self, key: &[u8]) -> bool {
        self.names.may_have(key)
    }

    /// The state of a member with this key, decoded, of an object in this state.
    pub(crate) fn member(&self, state: StateId, key: &[u8]) -> StateId {
        let Some(here) = self.state(state) else { return DEAD };
        if here.names.is_empty() && !here.inherits {
            return here.other;
        }
        let Some(name) = self.names.find(key) else { return here.other };
        if let Some(next) = lookup(&self.by_name, &here.names, name) {
            return next;
        }
        let inherited = self.state(here.other).filter(|_| here.inherits);
        inherited.and_then(|there| lookup(&self.by_name, &there.names, name)).unwrap_or(here.other)
    }

    /// The state of the element at this index of an array in this state.
    #[inline(always)]
    pub(crate) fn element(&self, state: StateId, index: u32) -> StateId {
        let Some(here) = self.state(state) else { return DEAD };
        if here.indexes.is_empty() {
            return here.other;
        }
        lookup(&self.by_index, &here.indexes, index).unwrap_or(here.other)
    }

    #[inline(always)]
    fn state(&self, state: StateId) -> Option<&State> {
        self.states.get(usize::try_from(state).ok()?)
    }
}

fn lookup(edges: &[(u32, StateId)], range: &Range<usize>, label: u32) -> Option<StateId> {
    let edges = edges.get(range.clone())?;
    let at = edges.binary_search_by_key(&label, |(label, _)| *label).ok()?;
    edges.get(at).map(|(_, next)| *next)
}
