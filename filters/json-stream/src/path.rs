//! The part of JSONPath that can be followed while a body streams by.

use std::str::FromStr;

use thiserror::Error;

/// A path of RFC 9535 whose steps are members by name, elements by index, all children, and members of a name
/// at any depth. Two spellings of one path are equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    steps: Vec<Step>,
}

/// One step of a [`Path`], from a value to some of what is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// `.name` or `['name']`: the members of that name, escapes decoded.
    Name(String),
    /// `[0]`: the element of that index.
    Index(u32),
    /// `[*]`: every member of an object, every element of an array (RFC 9535, section 2.3.2).
    Any,
    /// `..name`: the members of that name of the value itself and of all in it.
    Descendant(String),
}

/// Why a text is no path that can be followed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the JSON path {path}: at character {at}, {reason}; {remedy}")]
pub struct PathError {
    /// The text.
    pub path: String,
    /// Which of its characters begins what is at fault, counted from 1.
    pub at: usize,
    /// What is wrong.
    pub reason: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

impl Path {
    /// Its steps from the root; at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Err(PathError { path: text.into(), at: 1, reason: "it is no JSON path", remedy: "" })
    }
}
