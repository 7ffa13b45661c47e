//! What PostgreSQL alone has of statements.

pub(crate) mod copy;
pub(crate) mod setting;
pub(crate) mod utility;
