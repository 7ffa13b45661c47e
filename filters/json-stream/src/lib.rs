//! Finds fields by path in JSON that streams by, hands out each value whole, and writes another in its place.
//!
//! What it is: a [`Path`] is the part of JSONPath (RFC 9535) that can be followed while a body passes, a
//! [`Matcher`] is many of them as one automaton, and a [`Rewriter`] reads a body piece by piece, however it is
//! cut, copies all that no path selects byte for byte and at once, and asks what to write for each value that
//! one does. [`Framing`] says what a body is: one document, lines, a sequence or events.
//!
//! When not to use it: to keep a document, to change its shape, or for paths that look back or ahead. It knows
//! no types, no policy and no HTTP. It does no I/O and never waits.
//!
//! What it assumes: nothing of the bytes. They are held to RFC 8259 strictly, to UTF-8 and to [`Limits`], and
//! memory is bounded by these limits whatever the body's length. No error holds bytes of a body.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::string_slice))]

mod document;
mod error;
mod framing;
mod limits;
mod matcher;
mod path;
mod plain;
mod rewriter;
mod string;

pub use document::Kind;
pub use error::{Exceeded, RewriteError};
pub use framing::Framing;
pub use limits::Limits;
pub use matcher::{Case, Matcher, MatcherError};
pub use path::{Path, PathError, Step};
pub use rewriter::{Found, Replacement, Rewriter};
pub use string::{NotAString, StringText, read_string, write_string};
