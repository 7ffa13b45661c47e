//! What a value is used for: to be stored, or to be searched for.

/// What a value is used for. For the analysis of SQL it is `ParameterUse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueUse {
    /// To be stored: the server casts, rounds and cuts it.
    Store,
    /// To be compared with stored values: the server widens both sides and changes neither.
    Search,
}
