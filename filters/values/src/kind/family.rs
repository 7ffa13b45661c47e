//! The declared types that are alike to a parameter.

/// Declared types that take the same parameters in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Characters,
    Padded,
    Integer,
    Float,
    Numeric,
    Time,
    Clock,
    Json,
    Jsonb,
    /// One type that takes its own parameters and text.
    Alone,
}

impl Family {
    pub(crate) fn is_characters(self) -> bool {
        matches!(self, Self::Characters | Self::Padded)
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Numeric)
    }
}
