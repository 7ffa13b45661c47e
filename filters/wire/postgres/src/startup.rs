//! The packets without a tag that open a connection.

mod first_packet;
mod message;

pub use first_packet::FirstPacket;
pub use message::{ProtocolVersion, StartupMessage};
