//! Walks the parts of statements that only MySQL and MariaDB have, or that mean something else there.

mod insert;
pub(super) mod literal;
pub(super) mod operands;
pub(crate) mod search;
mod select;
mod update;
