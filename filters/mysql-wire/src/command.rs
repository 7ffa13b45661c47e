//! What a client sends once it is connected: one command, then the server's answer.

mod code;

pub use code::{Answer, CommandCode};
