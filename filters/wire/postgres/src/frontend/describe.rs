//! Describe: ask for the columns and parameters of a statement or portal.

use super::{Tag, target::target_message};

target_message! {
    /// Describe: ask for the columns and parameters of a statement or portal.
    Describe = Tag::Describe
}
