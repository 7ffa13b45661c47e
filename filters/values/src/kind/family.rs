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
    Bool,
    Uuid,
    Json,
    Jsonb,
    Bytea,
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
            Self::Bool => "bool",
            Self::Uuid => "uuid",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Bytea => "bytea",
        }
    }

    pub(crate) fn is_characters(self) -> bool {
        matches!(self, Self::Characters | Self::Padded)
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Numeric)
    }
}
