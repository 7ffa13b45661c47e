//! As what type a value that is looked for is read.

/// The type that a parameter which is looked for has, where its values must be read as that type's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operand {
    /// The column's, or one whose values are compared as the column's are.
    #[default]
    Declared,
    /// `int4`, beside a wider integer.
    Int4,
    /// `int2`, beside a wider integer.
    Int2,
    /// `text`, beside `char(n)`.
    Text,
}
