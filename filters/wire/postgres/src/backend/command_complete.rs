//! CommandComplete: a statement is done.

use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::read::Reader;
use crate::redact::Sized;
use crate::write;

const MESSAGE: &str = "CommandComplete";

/// CommandComplete: a statement is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CommandComplete<'a> {
    /// The command tag, for example `INSERT 0 1`.
    pub tag: &'a [u8],
}

impl<'a> CommandComplete<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let tag = reader.string("command tag")?;
        reader.end()?;
        Ok(Self { tag })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::CommandComplete, |out| {
            write::string(out, MESSAGE, "command tag", self.tag)
        })
    }
}

impl fmt::Debug for CommandComplete<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("tag", &Sized(self.tag)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn command_complete_comes_back_as_written() {
        let message = CommandComplete { tag: b"INSERT 0 1" };
        let body = body_of(Tag::CommandComplete, |out| message.encode(out));
        assert_eq!(body, b"INSERT 0 1\0");
        assert_eq!(CommandComplete::parse(&body), Ok(message));
        check_truncations(&body, |body| CommandComplete::parse(body).map(drop));
    }
}
