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
    /// A type, by its name, that takes its own parameters and text.
    Alone(&'static str),
}

impl Family {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Characters => "text",
            Self::Padded => "char(n)",
            Self::Integer => "an integer",
            Self::Float => "float8",
            Self::Numeric => "numeric",
            Self::Time => "a date or timestamp",
            Self::Clock => "time",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Alone(name) => name,
        }
    }

    pub(crate) fn is_characters(self) -> bool {
        matches!(self, Self::Characters | Self::Padded)
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Numeric)
    }
}
