//! Bind: values for a statement's parameters.

use std::borrow::Cow;
use std::fmt;

use super::Tag;
use crate::frame::try_write_message;
use crate::limits::{MAX_FORMATS, MAX_PARAMETERS};
use crate::read::Reader;
use crate::redact::{Counted, Sized};
use crate::{Format, WireError, write};

const MESSAGE: &str = "Bind";

/// The names in a Bind: the portal's, then the statement's.
pub type BindNames<'a> = (&'a [u8], &'a [u8]);

/// Bind: a statement and values make a portal.
#[derive(Clone, PartialEq, Eq)]
pub struct Bind<'a> {
    /// The portal's name; empty for the unnamed one. See [`crate::name::significant`].
    pub portal: &'a [u8],
    /// The statement's name; empty for the unnamed one.
    pub statement: &'a [u8],
    /// None, one for all, or one for each value.
    pub parameter_formats: Vec<Format>,
    /// The values in order, `None` for NULL; owned where one was replaced.
    pub values: Vec<Option<Cow<'a, [u8]>>>,
    /// None, one for all, or one for each column of the result.
    pub result_formats: Vec<Format>,
}

/// A Bind whose values are not looked at: it takes no memory for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindOutline<'a> {
    /// The portal's name, as [`Bind::portal`].
    pub portal: &'a [u8],
    /// The statement's name, as [`Bind::statement`].
    pub statement: &'a [u8],
    /// As [`Bind::result_formats`].
    pub result_formats: Vec<Format>,
}

impl<'a> BindOutline<'a> {
    /// Reads a body, and checks all of it as [`Bind::parse`] does.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let portal = reader.name("portal name")?;
        let statement = reader.name("statement name")?;
        let formats_count = reader.count("parameter formats", MAX_FORMATS, 2)?;
        for _ in 0..formats_count {
            Format::read(&mut reader)?;
        }
        let count = reader.count("values", MAX_PARAMETERS, 4)?;
        check_formats(formats_count, count)?;
        for _ in 0..count {
            reader.value("value")?;
        }
        let result_formats = formats(&mut reader, "result formats")?;
        reader.end()?;
        Ok(Self { portal, statement, result_formats })
    }
}

impl<'a> Bind<'a> {
    /// Reads a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let portal = reader.name("portal name")?;
        let statement = reader.name("statement name")?;
        let parameter_formats = formats(&mut reader, "parameter formats")?;
        let count = reader.count("values", MAX_PARAMETERS, 4)?;
        check_formats(parameter_formats.len(), count)?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(reader.value("value")?.map(Cow::Borrowed));
        }
        let result_formats = formats(&mut reader, "result formats")?;
        reader.end()?;
        Ok(Self { portal, statement, parameter_formats, values, result_formats })
    }

    /// The names of portal and statement, from the first bytes of a body; `None` until both are there.
    pub fn peek_names(prefix: &'a [u8]) -> Result<Option<BindNames<'a>>, WireError> {
        let mut reader = Reader::new(MESSAGE, prefix);
        let Some(portal) = reader.name_or_wait("portal name")? else { return Ok(None) };
        let Some(statement) = reader.name_or_wait("statement name")? else { return Ok(None) };
        Ok(Some((portal, statement)))
    }

    /// The format of the value at `index`, counted from 0.
    pub fn parameter_format(&self, index: usize) -> Format {
        Format::of(&self.parameter_formats, index)
    }

    /// The format of the result column at `index`, counted from 0. With several formats and an index past
    /// them it is text; the server refuses such a Bind, so no such column ever comes.
    pub fn result_format(&self, index: usize) -> Format {
        Format::of(&self.result_formats, index)
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, Tag::Bind, |out| {
            check_formats(self.parameter_formats.len(), self.values.len())?;
            write::name(out, MESSAGE, "portal name", self.portal)?;
            write::name(out, MESSAGE, "statement name", self.statement)?;
            write::formats(out, MESSAGE, "parameter formats", &self.parameter_formats)?;
            write::count(out, MESSAGE, "values", self.values.len(), MAX_PARAMETERS)?;
            for value in &self.values {
                write::value(out, MESSAGE, "value", value.as_deref())?;
            }
            write::formats(out, MESSAGE, "result formats", &self.result_formats)
        })
    }
}

fn formats(reader: &mut Reader<'_>, what: &'static str) -> Result<Vec<Format>, WireError> {
    let count = reader.count(what, MAX_FORMATS, 2)?;
    let mut formats = Vec::with_capacity(count);
    for _ in 0..count {
        formats.push(Format::read(reader)?);
    }
    Ok(formats)
}

/// The server's own check: none, one, or as many parameter formats as values.
fn check_formats(formats: usize, values: usize) -> Result<(), WireError> {
    if formats > 1 && formats != values {
        return Err(WireError::CountMismatch { message: MESSAGE, what: "parameter formats" });
    }
    Ok(())
}

impl fmt::Debug for Bind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("portal", &Sized(self.portal))
            .field("statement", &Sized(self.statement))
            .field("parameter_formats", &self.parameter_formats)
            .field("values", &Counted(self.values.len()))
            .field("result_formats", &self.result_formats)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    fn sample() -> Bind<'static> {
        Bind {
            portal: b"p",
            statement: b"s1",
            parameter_formats: vec![Format::Text, Format::Binary, Format::Text],
            values: vec![Some(b"canary"[..].into()), None, Some(b""[..].into())],
            result_formats: vec![Format::Binary],
        }
    }

    #[test]
    fn bind_comes_back_as_written() {
        let body = body_of(Tag::Bind, |out| sample().encode(out));
        let expected =
            b"p\0s1\0\0\x03\0\0\0\x01\0\0\0\x03\0\0\0\x06canary\xff\xff\xff\xff\0\0\0\0\0\x01\0\x01";
        assert_eq!(body, expected);
        assert_eq!(Bind::parse(&body), Ok(sample()));
        check_truncations(&body, |body| Bind::parse(body).map(drop));
    }

    #[test]
    fn outline_is_read_as_the_whole_is() {
        let outline = |body: &[u8]| {
            BindOutline::parse(body)
                .map(|outline| (outline.portal.to_vec(), outline.statement.to_vec(), outline.result_formats))
        };
        let whole = |body: &[u8]| {
            Bind::parse(body).map(|bind| (bind.portal.to_vec(), bind.statement.to_vec(), bind.result_formats))
        };
        let body = body_of(Tag::Bind, |out| sample().encode(out));
        assert!(outline(&body).is_ok());
        for have in 0..=body.len() {
            assert_eq!(outline(&body[..have]), whole(&body[..have]), "{have}");
            for byte in 0..=u8::MAX {
                let mut body = body[..have].to_vec();
                if let Some(last) = body.last_mut() {
                    *last = byte;
                }
                assert_eq!(outline(&body), whole(&body), "{have} {byte}");
                body.push(byte);
                assert_eq!(outline(&body), whole(&body), "{have} {byte}");
            }
        }
    }

    #[test]
    fn formats_follow_the_rule_of_none_one_or_each() {
        let mut bind = sample();
        assert_eq!(bind.parameter_format(1), Format::Binary);
        assert_eq!(bind.result_format(7), Format::Binary);
        bind.parameter_formats = vec![Format::Binary];
        assert_eq!(bind.parameter_format(2), Format::Binary);
        bind.parameter_formats.clear();
        assert_eq!(bind.parameter_format(0), Format::Text);
    }

    #[test]
    fn bind_with_too_few_values_is_malformed() {
        let error = Bind::parse(b"\0\0\0\0\0\x02\0\0\0\x01a\0\0").unwrap_err();
        assert_eq!(error, WireError::Truncated { message: MESSAGE, what: "values" });
    }

    #[test]
    fn bind_whose_formats_are_not_one_per_value_is_malformed() {
        let mut bind = sample();
        bind.values.pop();
        assert!(bind.encode(&mut Vec::new()).is_err());
        let error = Bind::parse(b"\0\0\0\x02\0\0\0\0\0\x01\xff\xff\xff\xff\0\0").unwrap_err();
        assert!(matches!(error, WireError::CountMismatch { .. }));
    }

    #[test]
    fn bind_with_a_length_below_minus_one_is_malformed() {
        let error = Bind::parse(b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0").unwrap_err();
        assert_eq!(error, WireError::NegativeLength { message: MESSAGE, what: "value" });
    }

    #[test]
    fn bind_with_an_unknown_format_code_is_malformed() {
        let error = Bind::parse(b"\0\0\0\x01\0\x02\0\0\0\0").unwrap_err();
        assert_eq!(error, WireError::UnknownCode { message: MESSAGE, what: "format code" });
    }

    #[test]
    fn names_are_read_before_the_values_have_come() {
        let body = body_of(Tag::Bind, |out| sample().encode(out));
        for have in 0..5 {
            assert_eq!(Bind::peek_names(&body[..have]), Ok(None));
        }
        assert_eq!(Bind::peek_names(&body[..5]), Ok(Some((&b"p"[..], &b"s1"[..]))));
    }

    #[test]
    fn name_without_end_is_not_waited_for_past_the_limit() {
        assert_eq!(Bind::peek_names(&b"n".repeat(4_096)), Ok(None));
        assert!(matches!(Bind::peek_names(&b"n".repeat(4_097)), Err(WireError::TooMany { .. })));
    }

    #[test]
    fn debug_tells_no_values() {
        let shown = format!("{:?}", sample());
        assert!(!shown.contains("canary") && !shown.contains("99"));
    }
}
