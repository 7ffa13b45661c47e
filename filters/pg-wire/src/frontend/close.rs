//! Close: forget a statement or portal.

use super::{tag, target::target_message};

target_message! {
    /// Close: forget a statement or portal.
    Close = tag::CLOSE
}
