//! Close: forget a statement or portal.

use super::{Tag, target::target_message};

target_message! {
    /// Close: forget a statement or portal.
    Close = Tag::Close
}
