//! Parse: prepare a statement.

use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::limits::MAX_PARAMETERS;
use crate::read::Reader;
use crate::redact::{Counted, Sized};
use crate::write;

const MESSAGE: &str = "Parse";

/// Parse: SQL text becomes a prepared statement.
#[derive(Clone, PartialEq, Eq)]
pub struct Parse<'a> {
    /// The statement's name; empty for the unnamed one. See [`crate::name::significant`].
    pub name: &'a [u8],
    /// SQL in the client's encoding, a single statement.
    pub text: &'a [u8],
    /// Type OIDs of the first parameters; 0 leaves one to the server.
    pub parameter_types: Vec<u32>,
}

impl<'a> Parse<'a> {
    /// Reads a body.
    #[expect(clippy::self_named_constructors, reason = "every message has `parse`, the one of that name too")]
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let name = reader.name("statement name")?;
        let text = reader.string("text")?;
        let count = reader.count("parameter types", MAX_PARAMETERS, 4)?;
        let mut parameter_types = Vec::with_capacity(count);
        for _ in 0..count {
            parameter_types.push(reader.u32("parameter types")?);
        }
        reader.end()?;
        Ok(Self { name, text, parameter_types })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::Parse, |out| {
            write::name(out, MESSAGE, "statement name", self.name)?;
            write::string(out, MESSAGE, "text", self.text)?;
            write::count(out, MESSAGE, "parameter types", self.parameter_types.len(), MAX_PARAMETERS)?;
            for oid in &self.parameter_types {
                out.extend_from_slice(&oid.to_be_bytes());
            }
            Ok(())
        })
    }
}

impl fmt::Debug for Parse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("name", &Sized(self.name))
            .field("text", &Sized(self.text))
            .field("parameter_types", &Counted(self.parameter_types.len()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn parse_comes_back_as_written() {
        let parse = Parse { name: b"s1", text: b"SELECT $1", parameter_types: vec![25, 0] };
        let body = body_of(Tag::Parse, |out| parse.encode(out));
        assert_eq!(body, b"s1\0SELECT $1\0\0\x02\0\0\0\x19\0\0\0\0");
        assert_eq!(Parse::parse(&body), Ok(parse));
        check_truncations(&body, |body| Parse::parse(body).map(drop));
    }

    #[test]
    fn parse_with_more_types_announced_than_sent_is_malformed() {
        let error = Parse::parse(b"\0\0\xff\xff\0\0\0\x19").unwrap_err();
        assert_eq!(error, WireError::Truncated { message: MESSAGE, what: "parameter types" });
    }

    #[test]
    fn parse_with_a_name_past_the_limit_is_malformed() {
        let body = [b"n".repeat(5_000), b"\0\0\0\0".to_vec()].concat();
        assert!(matches!(Parse::parse(&body), Err(WireError::TooMany { .. })));
    }

    #[test]
    fn debug_tells_no_text() {
        let parse = Parse { name: b"canary", text: b"canary", parameter_types: vec![] };
        assert!(!format!("{parse:?}").contains("canary"));
    }
}
