//! What the statements of MySQL and MariaDB have besides, or in another way.

mod insert;
pub(super) mod literal;
pub(super) mod operands;
pub(crate) mod search;
mod select;
mod update;
