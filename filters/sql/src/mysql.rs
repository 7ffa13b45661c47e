//! What MySQL and MariaDB have besides, or in another way.

mod binary;
mod insert;
mod literal;
pub(crate) mod load;
mod operands;
mod reading;
mod search;
mod select;
pub(crate) mod statement;
mod update;
mod view;

pub use binary::binary_as_hexadecimal;
pub(crate) use literal::is_date;
pub(crate) use operands::operands;
pub(crate) use reading::{Reading, end_of_strings};
pub use search::like_pattern;
pub use view::{ViewSource, view_sources};
