//! Values of the declared types: from what a client sends, text or binary, to the one canonical text that is
//! sealed, and back; and masks.
//!
//! The canonical text is what PostgreSQL itself prints with `DateStyle` ISO, `TimeZone` UTC, hex `bytea` and
//! the shortest exact floats, after the type's modifiers were applied as the server applies them. Input that
//! the server would read by a session's settings (`01/02/2020`, a `timestamptz` without a zone) is refused.
//! Not a general PostgreSQL type library: it assumes UTF-8 text.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::string_slice))]

mod array;
mod declared;
mod error;
mod kind;
mod mask;
pub mod mysql;
pub mod oid;
mod parameter;
mod types;

pub use array::{array_elements, array_parts, array_text, text_array};
pub use declared::DeclaredType;
pub use error::ValueError;
pub use mask::{Mask, UnknownMask};
pub use parameter::Purpose;
pub use types::bytea::bytea_from_text;
pub use types::decode_binary;
