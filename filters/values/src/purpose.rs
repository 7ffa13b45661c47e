//! What a value is for.

/// What a value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be stored: the server casts, rounds and cuts it.
    Store,
    /// To be compared with stored values: the server widens both sides and changes neither.
    Search,
}
