//! What MySQL and MariaDB have besides, or in another way.

mod search;

pub use search::like_pattern;
