//! A head as the host gives it: header fields in order, names in lower case, pseudo headers among them.

use std::fmt;

use crate::memory::size_of_all;

/// The header fields of a request or a response. They may hold tokens and values: `Debug` shows their number alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Head(pub Vec<(String, Vec<u8>)>);

impl Head {
    /// Every occurrence of a header field, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// The name of each header field.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let field = |(name, value): &(String, Vec<u8>)| name.capacity().saturating_add(value.capacity());
        let fields = self.0.iter().map(field).fold(0, usize::saturating_add);
        fields.saturating_add(size_of_all::<(String, Vec<u8>)>(self.0.capacity()))
    }

    /// The status of a response, or none if it is not there or no number.
    pub(super) fn status(&self) -> Option<u16> {
        std::str::from_utf8(self.first(":status")?).ok()?.parse().ok()
    }

    /// Returns true for the head of a response that is what was asked for, and of one without a status.
    pub fn is_success(&self) -> bool {
        self.status().is_none_or(|status| (200..300).contains(&status))
    }

    /// The first occurrence of a header field.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }
}

/// Whether services may take the one header field for the other: CGI and its heirs, among them WSGI, Rack and PHP, do not
/// tell `_`, and some of them other signs, from `-`.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    let fold = |byte: u8| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'-' };
    one.len() == other.len() && one.bytes().map(fold).eq(other.bytes().map(fold))
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({} fields)", self.0.len())
    }
}

/// Who stands behind a request, as the host knows it. Claims may say more than a log should: no `Debug`.
#[derive(Clone, Default)]
pub struct Peer {
    /// The client's address without its port.
    pub source: String,
    /// What Envoy verified of the client's token.
    pub claims: serde_json::Map<String, serde_json::Value>,
}
