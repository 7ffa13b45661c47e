//! Query: SQL text, one or many statements, to run at once.

use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::read::Reader;
use crate::redact::Sized;
use crate::write;

const MESSAGE: &str = "Query";

/// Query: the simple protocol's one request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// SQL in the client's encoding.
    pub text: &'a [u8],
}

impl<'a> Query<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let text = reader.string("text")?;
        reader.end()?;
        Ok(Self { text })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::Query, |out| write::string(out, MESSAGE, "text", self.text))
    }
}

impl fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("text", &Sized(self.text)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn query_comes_back_as_written() {
        let query = Query { text: b"SELECT 1" };
        let body = body_of(Tag::Query, |out| query.encode(out));
        assert_eq!(body, b"SELECT 1\0");
        assert_eq!(Query::parse(&body), Ok(query));
        check_truncations(&body, |body| Query::parse(body).map(drop));
    }

    #[test]
    fn query_with_bytes_after_its_text_is_malformed() {
        assert_eq!(Query::parse(b"a\0b\0"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }

    #[test]
    fn query_text_with_a_zero_byte_is_not_written() {
        assert!(Query { text: b"a\0b" }.encode(&mut Vec::new()).is_err());
    }

    #[test]
    fn debug_tells_no_text() {
        assert_eq!(format!("{:?}", Query { text: b"canary" }), "Query { text: <6 bytes> }");
    }
}
