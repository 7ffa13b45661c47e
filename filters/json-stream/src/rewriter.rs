//! A body, read in pieces and written with its fields replaced.

use std::rc::Rc;

use crate::{Matcher, RewriteError};

/// What is the most that is taken, so that memory stays bounded whatever comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Arrays and objects in one another.
    pub depth: usize,
    /// Bytes of one object's key, as they stand between the quotes.
    pub key_bytes: usize,
    /// Bytes of one field's value, as they stand.
    pub value_bytes: usize,
}

/// What a body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON text (RFC 8259).
    Document,
    /// One JSON text a line: NDJSON, JSON Lines. Blank lines pass.
    Lines,
    /// JSON text sequences (RFC 7464).
    Sequence,
    /// Server-sent events with a JSON text in the data of each.
    Events,
}

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    String,
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
    /// An object.
    Object,
    /// An array.
    Array,
}

/// A value that a path selects.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The field's number, as it was given with the path.
    pub field: usize,
    /// What the value is.
    pub kind: Kind,
    /// The value's text as it stood, without space around it.
    pub json: &'a [u8],
}

/// What takes the place of a value.
pub enum Replacement {
    /// The value stays as it stood.
    Keep,
    /// This JSON text.
    Json(Vec<u8>),
}

/// Rewrites one body.
pub struct Rewriter {}

impl Rewriter {
    /// A rewriter at the beginning of a body.
    pub fn new(matcher: Rc<Matcher>, framing: Framing, limits: Limits) -> Self {
        let _ = (matcher, framing, limits);
        Self {}
    }

    /// Takes the next bytes of the body, and appends to `out` all that can leave.
    pub fn push<F, E>(&mut self, bytes: &[u8], out: &mut Vec<u8>, treat: F) -> Result<(), RewriteError<E>>
    where
        F: FnMut(Found<'_>) -> Result<Replacement, E>,
    {
        let _ = treat;
        out.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes the end of the body.
    pub fn finish<F, E>(&mut self, out: &mut Vec<u8>, treat: F) -> Result<(), RewriteError<E>>
    where
        F: FnMut(Found<'_>) -> Result<Replacement, E>,
    {
        let _ = (out, treat);
        Ok(())
    }

    /// How many bytes of the body are kept at the moment.
    pub fn held(&self) -> usize {
        0
    }
}
