//! A protected field, as columns have it and refusals name it.

/// A protected field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Index into the plan's fields.
    pub id: usize,
    /// The label, which says whose ciphertexts may be compared with whose.
    pub label: String,
    /// Whether equal values have equal ciphertexts (deterministic).
    pub equality: bool,
    /// Whether equal values have equal blind indexes at the start of their envelopes.
    pub indexed: bool,
    /// How many ciphertexts a value may have, where equal values have equal ones under one key.
    pub envelopes: Envelopes,
    /// The declared type.
    pub declared: Declared,
    /// The same in words, with its modifiers and without spaces: `numeric(10,2)`.
    pub type_name: String,
}

/// How many ciphertexts one value of a field may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Envelopes {
    /// One, whatever keys come.
    One,
    /// One, while the keyset has one enabled key.
    OneNow,
    /// One for each enabled key of the keyset.
    Several,
}

/// A declared type, as far as a cast to it changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// `text`, `varchar`
    Characters,
    /// `char(n)`, `bpchar`
    Padded,
    /// `int2`, `int4`, `int8`
    Integer,
    /// `numeric`
    Numeric,
    /// `float8`
    Float,
    /// `bool`
    Boolean,
    /// `date`
    Date,
    /// `time`
    Time,
    /// `timestamp`
    Timestamp,
    /// `timestamptz`
    TimestampTz,
    /// `uuid`
    Uuid,
    /// `json`
    Json,
    /// `jsonb`
    Jsonb,
    /// `bytea`
    Bytea,
    /// Any other: no cast is known to change nothing.
    Other,
}
