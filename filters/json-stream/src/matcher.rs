//! Many paths as one automaton.

use thiserror::Error;

use crate::Path;

/// Many paths, each with its field's number, compiled to one automaton.
#[derive(Debug)]
pub struct Matcher {}

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
        let _ = paths.into_iter();
        Ok(Self {})
    }
}
