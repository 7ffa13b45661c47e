//! Describe: ask for the shape of a statement or portal.

use std::fmt;

use super::{Target, tag};
use crate::WireError;
use crate::frame::try_write_message;
use crate::read::Reader;
use crate::redact::Sized;
use crate::write;

const MESSAGE: &str = "Describe";

/// Describe: ask for the shape of a statement or portal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Describe<'a> {
    /// What the name names.
    pub target: Target,
    /// The name; empty for the unnamed one. See [`crate::name::significant`].
    pub name: &'a [u8],
}

impl<'a> Describe<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let target = Target::read(&mut reader)?;
        let name = reader.name("name")?;
        reader.end()?;
        Ok(Self { target, name })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, tag::DESCRIBE, |out| {
            out.push(self.target.code());
            write::name(out, MESSAGE, "name", self.name)
        })
    }
}

impl fmt::Debug for Describe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("target", &self.target).field("name", &Sized(self.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn describe_comes_back_as_written() {
        for (message, expected) in [
            (Describe { target: Target::Statement, name: b"s1" }, &b"Ss1\0"[..]),
            (Describe { target: Target::Portal, name: b"" }, b"P\0"),
        ] {
            let body = body_of(tag::DESCRIBE, |out| message.encode(out));
            assert_eq!(body, expected);
            assert_eq!(Describe::parse(&body), Ok(message));
            check_truncations(&body, |body| Describe::parse(body).map(drop));
        }
    }

    #[test]
    fn describe_of_neither_statement_nor_portal_is_malformed() {
        let error = Describe::parse(b"Xs1\0").unwrap_err();
        assert_eq!(error, WireError::UnknownCode { message: MESSAGE, what: "target" });
    }

    #[test]
    fn describe_with_bytes_left_over_is_malformed() {
        assert_eq!(Describe::parse(b"S\0\0"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }
}
