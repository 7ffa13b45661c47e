//! Terminate: the session ends.

use super::Tag;
use crate::WireError;
use crate::frame::write_message;
use crate::read::Reader;

const MESSAGE: &str = "Terminate";

/// Terminate: the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminate;

impl Terminate {
    /// Reads a body, which must be empty.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        Reader::new(MESSAGE, body).end().map(|()| Self)
    }

    /// Appends the whole message.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, Tag::Terminate, |_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::body_of;

    #[test]
    fn terminate_has_no_body() {
        assert_eq!(body_of(Tag::Terminate, |out| Terminate.encode(out)), b"");
        assert_eq!(Terminate::parse(b""), Ok(Terminate));
        assert_eq!(Terminate::parse(b"x"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }
}
