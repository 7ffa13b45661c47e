//! Sync: the end of a group of extended-protocol messages; the server answers ReadyForQuery.

use super::Tag;
use crate::WireError;
use crate::frame::write_message;
use crate::read::Reader;

const MESSAGE: &str = "Sync";

/// Sync: the end of a group of extended-protocol messages; the server answers ReadyForQuery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sync;

impl Sync {
    /// Reads a body, which must be empty.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        Reader::new(MESSAGE, body).end().map(|()| Self)
    }

    /// Appends the whole message.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, Tag::Sync, |_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::body_of;

    #[test]
    fn sync_has_no_body() {
        assert_eq!(body_of(Tag::Sync, |out| Sync.encode(out)), b"");
        assert_eq!(Sync::parse(b""), Ok(Sync));
        assert_eq!(Sync::parse(b"x"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }
}
