//! What OK packets tell of changes of the session, with CLIENT_SESSION_TRACK.

use std::fmt;

use crate::WireError;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "OK_Packet";

/// Changes of the session, every length in them already checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionState<'a> {
    entries: &'a [u8],
}

/// One change of the session.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionChange<'a> {
    /// SESSION_TRACK_SYSTEM_VARIABLES: a system variable has a new value.
    SystemVariable {
        /// Its name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// SESSION_TRACK_SCHEMA: another database is in use; empty for none.
    Schema(&'a [u8]),
    /// SESSION_TRACK_STATE_CHANGE: whether anything of the session changed.
    StateChange(bool),
    /// Any other entry: transactions, GTIDs.
    Other {
        /// Its type.
        kind: u8,
        /// Its content.
        data: &'a [u8],
    },
}

const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;

impl<'a> SessionState<'a> {
    /// Checks a list of entries.
    pub fn parse(entries: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, entries);
        while !reader.is_empty() {
            let kind = reader.u8("type of a session change")?;
            let mut data = Reader::new(MESSAGE, reader.lenenc_string("session change")?);
            match kind {
                SYSTEM_VARIABLES => {
                    while !data.is_empty() {
                        data.lenenc_string("name of a system variable")?;
                        data.lenenc_string("value of a system variable")?;
                    }
                }
                SCHEMA | STATE_CHANGE => {
                    data.lenenc_string("session change")?;
                    data.end()?;
                }
                _ => {}
            }
        }
        Ok(Self { entries })
    }

    /// The entries as bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.entries
    }

    /// The changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = SessionChange<'a>> + use<'a> {
        let mut entries = Reader::new(MESSAGE, self.entries);
        let mut variables = Reader::new(MESSAGE, &[]);
        // `parse` has checked every length.
        std::iter::from_fn(move || {
            loop {
                if !variables.is_empty() {
                    let (name, value) =
                        (variables.lenenc_string("").ok()?, variables.lenenc_string("").ok()?);
                    return Some(SessionChange::SystemVariable { name, value });
                }
                let (kind, data) = (entries.u8("").ok()?, entries.lenenc_string("").ok()?);
                let mut inner = Reader::new(MESSAGE, data);
                match kind {
                    SYSTEM_VARIABLES => variables = inner,
                    SCHEMA => return Some(SessionChange::Schema(inner.lenenc_string("").ok()?)),
                    STATE_CHANGE => {
                        return Some(SessionChange::StateChange(inner.lenenc_string("").ok()? == b"1"));
                    }
                    kind => return Some(SessionChange::Other { kind, data }),
                }
            }
        })
    }
}

impl fmt::Debug for SessionState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sized(self.entries).fmt(f)
    }
}

impl fmt::Debug for SessionChange<'_> {
    // A variable's value may be anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SystemVariable { name, value } => f
                .debug_struct("SystemVariable")
                .field("name", &Sized(name))
                .field("value", &Sized(value))
                .finish(),
            Self::Schema(name) => f.debug_tuple("Schema").field(&Sized(name)).finish(),
            Self::StateChange(changed) => f.debug_tuple("StateChange").field(changed).finish(),
            Self::Other { kind, data } => {
                f.debug_struct("Other").field("kind", kind).field("data", &Sized(data)).finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_in_order() {
        let entries =
            b"\0\x0f\x0aautocommit\x03OFF\x01\x05\x04shop\x02\x02\x011\x05\x02\x01T\x00\x04\x01a\x01b";
        let state = SessionState::parse(entries).unwrap();
        let changes: Vec<_> = state.changes().collect();
        assert!(
            changes
                == [
                    SessionChange::SystemVariable { name: b"autocommit", value: b"OFF" },
                    SessionChange::Schema(b"shop"),
                    SessionChange::StateChange(true),
                    SessionChange::Other { kind: 5, data: b"\x01T" },
                    SessionChange::SystemVariable { name: b"a", value: b"b" },
                ]
        );
        assert!(!format!("{state:?} {changes:?}").contains("shop"));
    }

    #[test]
    fn broken_entries_are_malformed() {
        for entries in [&b"\x01"[..], b"\x01\x05\x04sho", b"\0\x02\x01a", b"\x01\x03\x01ab"] {
            assert!(SessionState::parse(entries).is_err());
        }
    }
}
