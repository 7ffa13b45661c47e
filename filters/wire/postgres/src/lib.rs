//! PostgreSQL wire protocol 3.0 and 3.2: the messages that Fieldveil reads or writes, as checked types.
//!
//! What it is: [`frame`] tells where a message ends, [`startup`] reads what comes before the first tagged
//! message, [`frontend`] holds what a client sends and [`backend`] what a server sends, one message per file.
//! Every message has `parse(body)`, which borrows from the body (the bytes after tag and length), and
//! `encode(&mut out)`, which appends the whole message with its tag and length. For every body that parses,
//! `encode` gives back the very same bytes.
//!
//! When not to use it: to learn what a message means in a session (that is the engine's), to read SQL or
//! values (their own crates), or for protocol 2. It does no I/O, keeps no state and never waits: `None`
//! means that more bytes are needed.
//!
//! What it assumes: a body handed to `parse` is complete, as [`frame::Header`] counts it. Nothing is assumed
//! of its content: every length and count is checked against the bytes present before memory is taken.
//! Strings are bytes in the client's encoding. No error and no `Debug` output holds bytes of a message.
#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::string_slice))]

mod read;
mod redact;
mod tag_table;
mod write;

#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
#[cfg(test)]
mod messages_doc;
#[cfg(test)]
mod testing;

pub mod backend;
pub mod copy_data;
pub mod error;
pub mod format;
pub mod frame;
pub mod frontend;
pub mod limits;
pub mod name;
pub mod startup;

pub use error::{Blame, WireError};
pub use format::Format;
pub use frame::Header;
