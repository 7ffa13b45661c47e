//! Walks statements that write rows: what may be put into protected columns.

pub(crate) mod assigned;
mod bulk;
mod delete;
pub(crate) mod insert;
mod merge;
pub(super) mod update;
