//! CopyFail: the client gives a COPY up.

use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::read::Reader;
use crate::redact::Sized;
use crate::write;

const MESSAGE: &str = "CopyFail";

/// CopyFail: the COPY must fail, for a reason the client gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CopyFail<'a> {
    /// The reason, in the client's encoding; it comes back in the server's error.
    pub reason: &'a [u8],
}

impl<'a> CopyFail<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let reason = reader.string("reason")?;
        reader.end()?;
        Ok(Self { reason })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::CopyFail, |out| write::string(out, MESSAGE, "reason", self.reason))
    }
}

impl fmt::Debug for CopyFail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("reason", &Sized(self.reason)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn copy_fail_comes_back_as_written() {
        let message = CopyFail { reason: b"no more" };
        let body = body_of(Tag::CopyFail, |out| message.encode(out));
        assert_eq!(body, b"no more\0");
        assert_eq!(CopyFail::parse(&body), Ok(message));
        check_truncations(&body, |body| CopyFail::parse(body).map(drop));
    }
}
