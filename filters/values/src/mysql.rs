//! MySQL's and MariaDB's forms of the declared types: what a column of the type looks like, what the server sends of a
//! value, and what it makes of a parameter or a literal.
//!
//! Canonical texts are those of the crate, so that what is sealed for one server opens for the other. Values that the
//! server would read in one of several ways, round without a word where they are looked for, or refuse in strict mode, are
//! refused, and so are the zero dates, which no other server has. `timestamptz` and arrays have no form here.
//!
//! A searched character string is compared as it is, byte by byte: no collation folds its letters or pads it.

mod assign;
mod character_set;
mod column;
mod double;
mod given;
mod moment;
mod multi_byte;
mod read;
mod settings;
mod show;
mod single_byte;
mod type_code;

pub use character_set::{CharacterSet, UNREADABLE};
pub use column::{Column, check, column};
pub use read::{read_literal, read_parameter};
pub use settings::Settings;
pub use show::{
    check_canonical, encode_binary, encode_binary_to, encode_text, encode_text_to, shows_canonical,
};
