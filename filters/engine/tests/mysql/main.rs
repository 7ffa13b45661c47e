//! Sessions of MySQL and MariaDB, driven as Envoy drives them.
//!
//! One program for all files: each would link the whole engine again.

#[path = "../mysql_support/mod.rs"]
mod mysql_support;
#[path = "../support/mod.rs"]
mod support;

mod bytes;
mod certificates;
mod character_sets;
mod concealed;
mod cursors;
mod definitions;
mod insert_batches;
mod load;
mod local_infile;
mod other_meaning;
mod passwords;
mod prepared;
mod questions;
mod search_by_writing;
mod splits;
mod streamed;
mod tokens;
mod views;
