//! Why a text is refused.

/// A text that must not be forwarded, and why. It holds no literal and no part of the text but the names of
/// protected columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
#[non_exhaustive]
pub struct Refusal {
    /// Whose fault it is.
    pub class: RefusalClass,
    /// The label of the field concerned, when it is known.
    pub label: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do instead.
    pub remedy: String,
}

/// The class of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalClass {
    /// Understood, but can't be done on sealed values, or not yet (SQLSTATE 0A000).
    NotSupported,
    /// Not understood, and it may name a protected relation (SQLSTATE 0A000 all the same: PostgreSQL may
    /// well accept it).
    Unparsable,
}
