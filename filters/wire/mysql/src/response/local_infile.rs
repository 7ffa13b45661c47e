//! LOCAL INFILE request: the server wants a file of the client's, whose content follows in packets up to an empty one.

use std::fmt;

use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "LOCAL INFILE request";

/// LOCAL INFILE request: the server wants a file of the client's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LocalInfileRequest<'a> {
    /// The file's name, as the statement gave it.
    pub file: &'a [u8],
}

impl<'a> LocalInfileRequest<'a> {
    /// First byte of the payload.
    pub const HEADER: u8 = 0xfb;

    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self { file: Reader::of_kind(MESSAGE, payload, Self::HEADER)?.remainder() })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(Self::HEADER);
            out.extend_from_slice(self.file);
        })
    }
}

impl fmt::Debug for LocalInfileRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalInfileRequest").field("file", &Sized(self.file)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn request_comes_back_as_written() {
        let request = LocalInfileRequest { file: b"/tmp/rows.csv" };
        let payload = payload_of(|sequence, out| request.encode(sequence, out));
        assert_eq!(payload, b"\xfb/tmp/rows.csv");
        assert_eq!(LocalInfileRequest::parse(&payload), Ok(request));
        assert!(LocalInfileRequest::parse(b"").is_err());
    }
}
