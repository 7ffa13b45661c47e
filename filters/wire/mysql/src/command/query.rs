//! COM_QUERY: statements as text, with query attributes before them where the capability was agreed on.

use std::fmt;

use super::CommandCode;
use super::parameter::Expected;
use crate::limits::MAX_PARAMETERS;
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "COM_QUERY";

/// The attributes of a query that has none.
pub const NO_ATTRIBUTES: &[u8] = &[0, 1];

/// COM_QUERY: statements as text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// The query attributes as they came, already checked; `None` without CLIENT_QUERY_ATTRIBUTES. A server
    /// never puts them in the statement's place.
    pub attributes: Option<&'a [u8]>,
    /// The statements, in the session's character set.
    pub text: &'a [u8],
}

impl<'a> Query<'a> {
    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::Query.byte())?;
        if !capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            return Ok(Self { attributes: None, text: reader.remainder() });
        }
        let all = reader.rest();
        read_attributes(&mut reader)?;
        let text = reader.remainder();
        let attributes = all.get(..all.len().saturating_sub(text.len()));
        Ok(Self { attributes, text })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(
        &self,
        capabilities: Capabilities,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        if self.attributes.is_some() != capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "query attributes" });
        }
        try_write_message(out, sequence, |out| {
            out.push(CommandCode::Query.byte());
            out.extend_from_slice(self.attributes.unwrap_or_default());
            out.extend_from_slice(self.text);
            Ok(())
        })
    }
}

fn read_attributes(reader: &mut Reader<'_>) -> Result<(), WireError> {
    let count = reader.count("query attributes", MAX_PARAMETERS, 0)?;
    if reader.lenenc("sets of query attributes")? != 1 {
        return Err(WireError::UnknownCode { message: MESSAGE, what: "number of sets of query attributes" });
    }
    if count == 0 {
        return Ok(());
    }
    let (_, sends_types) =
        Expected { message: MESSAGE, count, named: true, types: &[], has_long_data: &|_| false }
            .read(reader)?;
    if !sends_types {
        return Err(WireError::UnknownCode { message: MESSAGE, what: "flag of types" });
    }
    Ok(())
}

impl fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("attributes", &self.attributes.map(Sized))
            .field("text", &Sized(self.text))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    const ATTRIBUTES: Capabilities = Capabilities::QUERY_ATTRIBUTES;

    #[test]
    fn query_comes_back_as_written() {
        let query = Query { attributes: None, text: b"SELECT 'canary'" };
        let payload = payload_of(|sequence, out| query.encode(Capabilities::NONE, sequence, out));
        assert_eq!(payload, b"\x03SELECT 'canary'");
        assert_eq!(Query::parse(&payload, Capabilities::NONE), Ok(query));
        assert!(!format!("{query:?}").contains("canary"));
    }

    #[test]
    fn attributes_are_told_from_the_text() {
        for attributes in [NO_ATTRIBUTES, b"\x02\x01\x02\x01\xfd\0\x05trace\xfd\0\x04none\x02ab"] {
            let query = Query { attributes: Some(attributes), text: b"SELECT 1" };
            let payload = payload_of(|sequence, out| query.encode(ATTRIBUTES, sequence, out));
            assert_eq!(Query::parse(&payload, ATTRIBUTES), Ok(query));
            for have in 0..attributes.len() {
                assert!(Query::parse(&payload[..=have], ATTRIBUTES).is_err());
            }
        }
    }

    #[test]
    fn broken_attributes_are_malformed() {
        for payload in [
            &b"\x03\0\x02SELECT 1"[..],     // two sets
            b"\x03\x01\x01\0\0abSELECT 1",  // no types
            b"\x03\xfd\0\0\x01\x01",        // too many
            b"\x03\x01\x01\0\x01\x06\0\0a", // NULL by type alone
        ] {
            assert!(Query::parse(payload, ATTRIBUTES).is_err());
        }
    }
}
