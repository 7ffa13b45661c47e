//! The MySQL client/server protocol of MySQL and MariaDB: the messages that Fieldveil reads or writes, as checked types.
//!
//! What it is: [`packet`] tells where a packet ends and [`message`] joins the packets of a long message,
//! [`connection`] reads what comes before the first command, [`command`] holds what a client sends and [`response`]
//! what a server answers, one message per file. Every message has `parse(payload)`, which borrows from the payload
//! (the bytes of its packets without their headers), and `encode(&mut sequence, &mut out)`, which appends the whole
//! message in as many packets as it takes, numbered on from `sequence`. Both take the connection's
//! [`Capabilities`] where the message's layout hangs on them. What is parsed and encoded again is the same message,
//! and the same bytes where lengths came in their shortest form. [`load_data`] reads the file that a client sends for LOAD DATA.
//!
//! When not to use it: to learn what a message means in a session (that is the engine's), to read SQL or values
//! (their own crates), or for the protocol of before MySQL 4.1 and for compressed packets. It does no I/O, keeps no
//! state and never waits: `None` means that more bytes are needed.
//!
//! What it assumes: a payload handed to `parse` is complete. Nothing is assumed of its content: every length and
//! count is checked against the bytes present before memory is taken. Strings are bytes in the session's character
//! set. No error and no `Debug` output holds bytes of a message.
#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::string_slice))]

mod bitmap;
mod flags;
mod read;
mod redact;
mod write;

#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
#[cfg(test)]
mod messages_doc;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod testing;

pub mod capabilities;
pub mod charset;
pub mod column_type;
pub mod command;
pub mod connection;
pub mod error;
pub mod lenenc;
pub mod limits;
pub mod load_data;
pub mod message;
pub mod packet;
pub mod response;
pub mod status;

pub use capabilities::Capabilities;
pub use charset::Charset;
pub use column_type::{ColumnType, Layout};
pub use command::CommandCode;
pub use error::{Blame, WireError};
pub use message::Message;
pub use packet::{Header, Sequence};
pub use status::Status;
