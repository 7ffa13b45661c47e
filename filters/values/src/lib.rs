//! Values of the declared types: from what a client sends, text or binary, to the one canonical text that is
//! sealed, and back; and masks.
//!
//! The canonical text is what PostgreSQL itself prints with `DateStyle` ISO, `TimeZone` UTC, hex `bytea` and
//! the shortest exact floats, after the type's modifiers were applied as the server applies them. Input that
//! the server would read by a session's settings (`01/02/2020`, a `timestamptz` without a zone) is refused.
//! Not a general PostgreSQL type library: it assumes UTF-8 text.
//!
//! # Rooms
//! A client's value passes through them upwards; `filters/layering.json` lists which may use which.
//! 1. [`oid`] has the types that a client may name, and `value_use` says whether the value is stored or searched for.
//! 2. `types` reads and writes one PostgreSQL type a file, and `array` takes arrays of any type apart.
//! 3. `kind` is a scalar type with its modifier: it casts a client's value as the server would, and makes the canonical
//!    text.
//! 4. `declared` is a type as a policy declares it, scalar or array: the entrance for PostgreSQL's values.
//! 5. [`mysql`] reads what a MySQL client sends for a declared type, and writes what it gets. `mask` hides a part of a value.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::string_slice))]

mod array;
mod declared;
mod error;
mod kind;
mod mask;
pub mod mysql;
pub mod oid;
mod types;
mod value_use;

pub use array::{array_elements, array_parts, array_text, text_array};
pub use declared::DeclaredType;
pub use error::ValueError;
pub use mask::{Mask, UnknownMask};
pub use types::bytea::bytea_from_text;
pub use types::decode_binary;
pub use value_use::ValueUse;
