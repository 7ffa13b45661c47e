//! Which protected column a name means: the relations in reach, and what queries yield.

pub(crate) mod cte;
pub(crate) mod outputs;
pub(crate) mod protected;
pub(crate) mod scope;
pub(crate) mod view;
