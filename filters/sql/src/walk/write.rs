//! Statements that write rows: what may be put into protected columns.

mod bulk;
mod delete;
pub(crate) mod insert;
mod merge;
pub(super) mod update;
