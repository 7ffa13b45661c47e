//! What the host is to do after each call of the exchange.

use std::fmt;

use crate::fetch::Fetch;

/// The exchange's wishes after one call. Bytes may be values: `Debug` shows lengths alone.
#[derive(Default, PartialEq, Eq)]
pub struct ExchangeOutput {
    /// To be asked for; the exchange waits until each was given to [`Exchange::answered`](super::Exchange::answered).
    pub fetch: Vec<Fetch>,
    /// What changes on the head of this direction, which has not left yet.
    pub head: Vec<Edit>,
    /// Takes the place of all body bytes that were given in this call. `None`: what was given passes as it is. With
    /// [`Flow::Hold`] and [`Flow::Wait`] it is always `Some` and empty: the exchange itself keeps what it was given, and
    /// gives all of it back in a later call.
    pub body: Option<Vec<u8>>,
    /// Whether head and body may go on.
    pub flow: Flow,
    /// To be answered to the client; nothing else of this exchange passes.
    pub reply: Option<Reply>,
    /// It is too late for an answer: the stream is to be reset.
    pub reset: bool,
}

impl ExchangeOutput {
    /// Nothing leaves of what was given: the exchange keeps it until more has come.
    pub(super) fn hold() -> Self {
        Self { body: Some(Vec::new()), flow: Flow::Hold, ..Self::default() }
    }

    /// Nothing leaves of what was given: the exchange keeps it until plan and keys have come.
    pub(super) fn wait() -> Self {
        Self { flow: Flow::Wait, ..Self::hold() }
    }
}

/// Whether what the exchange has let through may go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Flow {
    /// The head, if it has not left, and the body of this call go on.
    #[default]
    Continue,
    /// Plan or keys are awaited: nothing passes, and body bytes are still to be given.
    Wait,
    /// Head and body stay, and body bytes are still to be given.
    Hold,
}

/// One change of a head.
#[derive(Clone, PartialEq, Eq)]
pub enum Edit {
    /// All occurrences of this header field give way to one of this value; it is added if there is none.
    Set(String, Vec<u8>),
    /// All occurrences of this header field go.
    Remove(String),
    /// One more occurrence of this header field, behind those that are there.
    Add(String, Vec<u8>),
}

/// Bytes that changes of a head take.
pub(super) fn bytes_of(edits: &[Edit]) -> usize {
    edits.iter().fold(0, |sum, edit| {
        let bytes = match edit {
            Edit::Set(name, value) | Edit::Add(name, value) => {
                name.capacity().saturating_add(value.capacity())
            }
            Edit::Remove(name) => name.capacity(),
        };
        size_of::<Edit>().saturating_add(bytes).saturating_add(sum)
    })
}

/// An answer of the filter's own.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Header fields, without `:status` and `content-length`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for ExchangeOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExchangeOutput")
            .field("fetch", &self.fetch)
            .field("head", &self.head)
            .field("body", &self.body.as_ref().map(Vec::len))
            .field("flow", &self.flow)
            .field("reply", &self.reply)
            .field("reset", &self.reset)
            .finish()
    }
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(name, value) => write!(f, "Set({name}, {} bytes)", value.len()),
            Self::Add(name, value) => write!(f, "Add({name}, {} bytes)", value.len()),
            Self::Remove(name) => write!(f, "Remove({name})"),
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reply({}, {} bytes)", self.status, self.body.len())
    }
}
