//! What Describe and Close are about: a statement or a portal. The two messages differ in their tags alone.

use crate::WireError;
use crate::read::Reader;

/// The kind of thing a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A prepared statement (`S`).
    Statement,
    /// A portal (`P`).
    Portal,
}

impl Target {
    /// The byte on the wire.
    pub fn code(self) -> u8 {
        match self {
            Self::Statement => b'S',
            Self::Portal => b'P',
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        match reader.u8("target")? {
            b'S' => Ok(Self::Statement),
            b'P' => Ok(Self::Portal),
            _ => Err(WireError::UnknownCode { message: reader.message(), what: "target" }),
        }
    }
}

/// Declares a message whose body is a [`Target`] and a name, with its tests.
macro_rules! target_message {
    ($(#[$doc:meta])* $name:ident = $tag:path) => {
        const MESSAGE: &str = stringify!($name);

        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name<'a> {
            /// What the name names.
            pub target: super::Target,
            /// The name; empty for the unnamed one. See [`crate::name::significant`].
            pub name: &'a [u8],
        }

        impl<'a> $name<'a> {
            /// Reads a body.
            pub fn parse(body: &'a [u8]) -> Result<Self, crate::WireError> {
                let mut reader = crate::read::Reader::new(MESSAGE, body);
                let target = super::Target::read(&mut reader)?;
                let name = reader.name("name")?;
                reader.end()?;
                Ok(Self { target, name })
            }

            /// Appends the whole message. On an error `out` is as before.
            pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), crate::WireError> {
                crate::frame::try_write_message(out, $tag, |out| {
                    out.push(self.target.code());
                    crate::write::name(out, MESSAGE, "name", self.name)
                })
            }
        }

        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let name = crate::redact::Sized(self.name);
                f.debug_struct(MESSAGE).field("target", &self.target).field("name", &name).finish()
            }
        }

        #[cfg(test)]
        mod tests {
            use super::*;
            use crate::frontend::Target;
            use crate::testing::{body_of, check_truncations};
            use crate::WireError;

            #[test]
            fn message_comes_back_as_written() {
                for (message, expected) in [
                    ($name { target: Target::Statement, name: b"s1" }, &b"Ss1\0"[..]),
                    ($name { target: Target::Portal, name: b"" }, b"P\0"),
                ] {
                    let body = body_of($tag, |out| message.encode(out));
                    assert_eq!(body, expected);
                    assert_eq!($name::parse(&body), Ok(message));
                    check_truncations(&body, |body| $name::parse(body).map(drop));
                }
            }

            #[test]
            fn message_about_neither_statement_nor_portal_is_malformed() {
                let error = $name::parse(b"Xs1\0").unwrap_err();
                assert_eq!(error, WireError::UnknownCode { message: MESSAGE, what: "target" });
            }

            #[test]
            fn message_with_bytes_left_over_is_malformed() {
                assert_eq!($name::parse(b"S\0\0"), Err(WireError::TrailingBytes { message: MESSAGE }));
            }
        }
    };
}

pub(super) use target_message;
