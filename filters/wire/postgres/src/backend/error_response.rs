//! ErrorResponse: something failed.

use std::borrow::Cow;
use std::fmt;

use super::Tag;
use crate::WireError;
use crate::frame::try_write_message;
use crate::limits::MAX_ERROR_FIELDS;
use crate::read::Reader;
use crate::write;

const MESSAGE: &str = "ErrorResponse";

/// ErrorResponse: something failed. A field is a type byte and a text.
#[derive(Clone, PartialEq, Eq)]
pub struct ErrorResponse<'a> {
    /// Types and texts in order.
    pub fields: Vec<(u8, Cow<'a, [u8]>)>,
}

impl<'a> ErrorResponse<'a> {
    /// Severity, in the server's language.
    pub const SEVERITY: u8 = b'S';
    /// Severity, never translated.
    pub const SEVERITY_NONLOCALIZED: u8 = b'V';
    /// SQLSTATE.
    pub const CODE: u8 = b'C';
    /// The one-line message.
    pub const MESSAGE: u8 = b'M';
    /// More about it.
    pub const DETAIL: u8 = b'D';
    /// What to do.
    pub const HINT: u8 = b'H';
    /// Where in the text sent, in characters from 1.
    pub const POSITION: u8 = b'P';

    /// A new error: severity (`ERROR`, `FATAL`), SQLSTATE and message.
    pub fn new(severity: &'a str, code: &'a str, message: impl Into<Cow<'a, str>>) -> Self {
        Self { fields: Vec::new() }
            .with(Self::SEVERITY, severity)
            .with(Self::SEVERITY_NONLOCALIZED, severity)
            .with(Self::CODE, code)
            .with(Self::MESSAGE, message)
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, kind: u8, text: impl Into<Cow<'a, str>>) -> Self {
        self.fields.push((
            kind,
            match text.into() {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        ));
        self
    }

    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let mut fields = Vec::new();
        loop {
            let kind = reader.u8("field type")?;
            if kind == 0 {
                break;
            }
            if fields.len() >= MAX_ERROR_FIELDS {
                return Err(too_many());
            }
            fields.push((kind, Cow::Borrowed(reader.string("field")?)));
        }
        reader.end()?;
        Ok(Self { fields })
    }

    /// The text of the first field of this type.
    pub fn field(&self, kind: u8) -> Option<&[u8]> {
        self.fields.iter().find(|(known, _)| *known == kind).map(|(_, text)| text.as_ref())
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.fields.len() > MAX_ERROR_FIELDS {
            return Err(too_many());
        }
        try_write_message(out, Tag::ErrorResponse, |out| {
            for (kind, text) in &self.fields {
                // A zero type would end the list.
                if *kind == 0 {
                    return Err(WireError::NotAString { message: MESSAGE, what: "field type" });
                }
                out.push(*kind);
                write::string(out, MESSAGE, "field", text)?;
            }
            out.push(0);
            Ok(())
        })
    }
}

fn too_many() -> WireError {
    WireError::TooMany { message: MESSAGE, what: "fields", limit: MAX_ERROR_FIELDS }
}

/// Tells the field types only: a server's error may quote the value it is about.
impl fmt::Debug for ErrorResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: String = self.fields.iter().map(|(kind, _)| char::from(*kind)).collect();
        f.debug_struct(MESSAGE).field("fields", &kinds).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn error_comes_back_as_written() {
        let error =
            ErrorResponse::new("ERROR", "42501", "canary").with(ErrorResponse::HINT, "ask".to_owned());
        let body = body_of(Tag::ErrorResponse, |out| error.encode(out));
        assert_eq!(body, b"SERROR\0VERROR\0C42501\0Mcanary\0Hask\0\0");
        let parsed = ErrorResponse::parse(&body).unwrap();
        assert_eq!(parsed, error);
        assert_eq!(parsed.field(b'C'), Some(&b"42501"[..]));
        assert_eq!(parsed.field(b'D'), None);
        check_truncations(&body, |body| ErrorResponse::parse(body).map(drop));
        assert_eq!(format!("{parsed:?}"), "ErrorResponse { fields: \"SVCMH\" }");
    }

    #[test]
    fn bytes_after_the_end_are_malformed() {
        assert_eq!(ErrorResponse::parse(b"\0\0"), Err(WireError::TrailingBytes { message: MESSAGE }));
    }

    #[test]
    fn more_fields_than_the_protocol_could_have_are_malformed() {
        let body = [b"X\0".repeat(65), b"\0".to_vec()].concat();
        assert_eq!(ErrorResponse::parse(&body), Err(too_many()));
    }

    #[test]
    fn unwritable_fields_leave_nothing_behind() {
        let mut out = b"kept".to_vec();
        assert!(ErrorResponse::new("ERROR", "0A000", "a\0b").encode(&mut out).is_err());
        assert!(ErrorResponse::new("ERROR", "0A000", "").with(0, "x").encode(&mut out).is_err());
        assert_eq!(out, b"kept");
    }
}
