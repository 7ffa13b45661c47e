//! The bounds of the memory that a body takes.

/// What is the most that is taken, so that memory stays bounded whatever comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Arrays and objects in one another.
    pub depth: usize,
    /// Bytes of one object's key, as they stand between the quotes.
    pub key_bytes: usize,
    /// Bytes of one field's value, as they stand.
    pub value_bytes: usize,
}
