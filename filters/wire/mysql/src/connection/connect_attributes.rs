//! Connection attributes: what a client tells of itself (program, version, process).

use std::fmt;

use crate::WireError;
use crate::lenenc::push_string;
use crate::read::Reader;
use crate::redact::Sized;

/// Pairs of name and value, every length in them already checked.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectAttributes<'a> {
    pairs: &'a [u8],
}

impl<'a> ConnectAttributes<'a> {
    /// Reads pairs to the end of `pairs`.
    pub(super) fn parse(message: &'static str, pairs: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(message, pairs);
        while !reader.is_empty() {
            reader.lenenc_string("name of a connection attribute")?;
            reader.lenenc_string("value of a connection attribute")?;
        }
        Ok(Self { pairs })
    }

    /// Reads the field of a message: its length, then the pairs.
    pub(crate) fn read(message: &'static str, reader: &mut Reader<'a>) -> Result<Self, WireError> {
        Self::parse(message, reader.lenenc_string("connection attributes")?)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        push_string(out, self.pairs);
    }

    /// Name and value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut reader = Reader::new("connection attributes", self.pairs);
        // `parse` has checked every length.
        std::iter::from_fn(move || Some((reader.lenenc_string("").ok()?, reader.lenenc_string("").ok()?)))
    }

    /// The value of the (first) attribute of this name.
    pub fn value(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

impl fmt::Debug for ConnectAttributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sized(self.pairs).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_by_name() {
        let attributes = ConnectAttributes::parse("x", b"\x04_pid\x0242\x0cprogram_name\x03app").unwrap();
        assert_eq!(attributes.value(b"program_name"), Some(&b"app"[..]));
        assert_eq!((attributes.iter().count(), attributes.value(b"other")), (2, None));
        assert!(!format!("{attributes:?}").contains("app"));
    }

    #[test]
    fn name_without_value_is_malformed() {
        assert!(ConnectAttributes::parse("x", b"\x01a").is_err());
    }
}
