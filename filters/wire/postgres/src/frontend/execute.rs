//! Execute: run a portal.

use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::read::Reader;
use crate::redact::Sized;
use crate::write;

const MESSAGE: &str = "Execute";

/// Execute: run a portal, to its end or for some rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Execute<'a> {
    /// The portal's name; empty for the unnamed one.
    pub portal: &'a [u8],
    /// Most rows to send; 0 or less means all.
    pub max_rows: i32,
}

impl<'a> Execute<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let portal = reader.name("portal name")?;
        let max_rows = reader.i32("row limit")?;
        reader.end()?;
        Ok(Self { portal, max_rows })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::Execute, |out| {
            write::name(out, MESSAGE, "portal name", self.portal)?;
            out.extend_from_slice(&self.max_rows.to_be_bytes());
            Ok(())
        })
    }
}

impl fmt::Debug for Execute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("portal", &Sized(self.portal))
            .field("max_rows", &self.max_rows)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn execute_comes_back_as_written() {
        let execute = Execute { portal: b"p", max_rows: 50 };
        let body = body_of(Tag::Execute, |out| execute.encode(out));
        assert_eq!(body, b"p\0\0\0\0\x32");
        assert_eq!(Execute::parse(&body), Ok(execute));
        check_truncations(&body, |body| Execute::parse(body).map(drop));
    }

    #[test]
    fn execute_with_bytes_left_over_is_malformed() {
        assert_eq!(Execute::parse(b"\0\0\0\0\0\0"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }
}
