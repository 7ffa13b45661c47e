//! Why a value could not be sealed or opened, in no protocol's words: each protocol says it in its own.

/// What went wrong with one value of a label. It holds no part of the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// A value that was sent is not one of the declared type.
    #[error("a value for {label} cannot be sealed: {reason}")]
    BadValue {
        /// The label.
        label: String,
        /// What is wrong with it.
        reason: String,
        /// The declared type.
        declared: String,
    },
    /// A value that was sent is longer, or is printed as a longer text, than is sealed of one.
    #[error("a value for {label} is longer than the {limit} bytes that are sealed of one")]
    LongValue {
        /// The label.
        label: String,
        /// Bytes.
        limit: usize,
    },
    /// A stored value that cannot be opened.
    #[error("a stored value of {label} cannot be opened: {reason}")]
    Unreadable {
        /// The label.
        label: String,
        /// Why.
        reason: String,
    },
    /// Policy says no.
    #[error("policy does not let this principal {action} {label}")]
    Denied {
        /// The label.
        label: String,
        /// What it does not let do.
        action: &'static str,
    },
    /// A keyset that the policy names cannot be used.
    #[error("a keyset that the policy names is unavailable: {0}")]
    NoKeyset(String),
    /// A key is there and does not serve.
    #[error("a key for format-preserving values is unavailable: {0}")]
    UnfitKey(String),
    /// Asked for what the label's protection does not have.
    #[error("{0}")]
    Misused(&'static str),
}
