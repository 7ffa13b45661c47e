//! Flush: asks the server to send what is pending.

use super::Tag;
use crate::WireError;
use crate::frame::write_message;
use crate::read::Reader;

const MESSAGE: &str = "Flush";

/// Flush: asks the server to send what is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flush;

impl Flush {
    /// Reads a body, which must be empty.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        Reader::new(MESSAGE, body).end().map(|()| Self)
    }

    /// Appends the whole message.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, Tag::Flush, |_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::body_of;

    #[test]
    fn flush_has_no_body() {
        assert_eq!(body_of(Tag::Flush, |out| Flush.encode(out)), b"");
        assert_eq!(Flush::parse(b""), Ok(Flush));
        assert_eq!(Flush::parse(b"x"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }
}
