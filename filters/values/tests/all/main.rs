//! Values of columns, as each server writes and reads them.
//!
//! One program for all files: each would link the whole crate again.

mod arrays;
mod jsonb;
mod mysql;
mod mysql_properties;
mod parameter;
mod postgres;
mod properties;
mod vocabulary;
