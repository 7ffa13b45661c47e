//! CopyInResponse: the server asks for the data of a COPY.

use super::Tag;
use crate::frame::write_message;
use crate::{Format, WireError};

/// CopyInResponse, of which nothing is said about single columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyInResponse {
    /// How the data is written.
    pub format: Format,
}

impl CopyInResponse {
    /// Appends the whole message.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, Tag::CopyInResponse, |out| {
            let [_, format] = self.format.code().to_be_bytes();
            // The format is one byte, and no column follows it.
            out.extend_from_slice(&[format, 0, 0]);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_as_the_protocol_has_it() {
        for (format, code) in [(Format::Text, 0), (Format::Binary, 1)] {
            let mut out = Vec::new();
            CopyInResponse { format }.encode(&mut out).unwrap();
            assert_eq!(out, [b'G', 0, 0, 0, 7, code, 0, 0]);
        }
    }
}
