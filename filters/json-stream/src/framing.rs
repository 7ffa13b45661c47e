//! Where in a body its JSON texts are.
//!
//! Each framing is asked for the next [`Part`] of the bytes at hand, and gives one of at least a byte unless it
//! says so. None keeps bytes of a body.

mod events;
mod lines;
mod sequence;

use crate::document::Ending;
use events::Events;
use lines::Lines;
use sequence::Sequence;

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

/// What the next bytes of a body are, and how many they are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// They pass as they stand.
    Pass(usize),
    /// They are of a JSON text.
    Json(usize),
    /// They may be of a JSON text, which is known later: nothing leaves yet.
    Wait(usize),
    /// No bytes: those that waited, which were these, are of a JSON text.
    WaitedJson(&'static [u8]),
    /// No bytes: those that waited, which were these, pass.
    WaitedPass(&'static [u8]),
    /// They pass, and before them is a line's end within a JSON text.
    Break(usize),
    /// They pass, and before them a JSON text ends.
    End(usize, Ending),
    /// They are not what the framing says.
    Bad(&'static str),
}

impl Part {
    /// How many bytes it is of those at hand.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Pass(length)
            | Self::Json(length)
            | Self::Wait(length)
            | Self::Break(length)
            | Self::End(length, _) => *length,
            Self::WaitedJson(_) | Self::WaitedPass(_) | Self::Bad(_) => 0,
        }
    }
}

/// A framing and how far it is read.
#[derive(Debug)]
pub(crate) enum Splitter {
    Document,
    Lines(Lines),
    Sequence(Sequence),
    Events(Events),
}

impl Splitter {
    pub(crate) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Document => Self::Document,
            Framing::Lines => Self::Lines(Lines),
            Framing::Sequence => Self::Sequence(Sequence::default()),
            Framing::Events => Self::Events(Events::default()),
        }
    }

    /// What these bytes begin with; there is at least one.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Part {
        match self {
            Self::Document => Part::Json(bytes.len()),
            Self::Lines(lines) => lines.next(bytes),
            Self::Sequence(sequence) => sequence.next(bytes),
            Self::Events(events) => events.next(bytes),
        }
    }

    /// What is left to do at the body's end, until there is nothing.
    pub(crate) fn finish(&mut self) -> Option<Part> {
        match self {
            Self::Events(events) => events.finish(),
            _ => None,
        }
    }

    /// What may be at the body's end.
    pub(crate) fn ending(&self) -> Ending {
        match self {
            Self::Document => Ending { blank: false, number: true },
            Self::Lines(_) => lines::ENDING,
            Self::Sequence(sequence) => sequence.ending(),
            Self::Events(_) => events::ENDING,
        }
    }

    /// Must a value stay on one line?
    pub(crate) fn is_by_lines(&self) -> bool {
        matches!(self, Self::Lines(_) | Self::Events(_))
    }
}

/// How many bytes come before one that is looked for; all if it isn't there.
fn before(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| is_it(*byte)).unwrap_or(bytes.len())
}
