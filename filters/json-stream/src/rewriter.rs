//! A body, read in pieces and written with its fields replaced.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::document::{Document, Ending, Kind, Scan};
use crate::framing::{Part, Splitter};
use crate::limits::Limits;
use crate::{Exceeded, Framing, Matcher, RewriteError};

/// A value that a path selects.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The field's number, as it was given with the path.
    pub field: usize,
    /// What the value is.
    pub kind: Kind,
    /// The value's text as it stood, without space around it. In events, lines of data are joined by a newline.
    pub json: &'a [u8],
}

/// What takes the place of a value.
pub enum Replacement {
    /// The value stays as it stood.
    Keep,
    /// This JSON text. In lines and events it is written on one line: newlines in it, which can only be between
    /// its tokens, become spaces.
    Json(Vec<u8>),
}

/// Rewrites one body. What no path selects leaves at once and as it came; a value that one does is kept until it
/// is whole, and nothing is looked for inside it. A member that is there twice is treated twice.
///
/// After an error nothing more can be done with the body.
pub struct Rewriter {
    document: Document,
    splitter: Splitter,
    value_bytes: usize,
    /// What came of a field's value in earlier pieces.
    held: Zeroizing<Vec<u8>>,
    /// The body's bytes up to the piece at hand.
    offset: u64,
    failed: bool,
}

impl Rewriter {
    /// A rewriter at the beginning of a body.
    pub fn new(matcher: Arc<Matcher>, framing: Framing, limits: Limits) -> Self {
        Self {
            document: Document::new(matcher, limits),
            splitter: Splitter::new(framing),
            value_bytes: limits.value_bytes,
            held: Zeroizing::new(Vec::new()),
            offset: 0,
            failed: false,
        }
    }

    /// Takes the next bytes of the body, and appends to `out` all that can leave.
    pub fn push<F, E>(&mut self, bytes: &[u8], out: &mut Vec<u8>, mut treat: F) -> Result<(), RewriteError<E>>
    where
        F: FnMut(Found<'_>) -> Result<Replacement, E>,
    {
        self.begin()?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let part = self.splitter.next(rest);
            let (taken, after) = rest.split_at_checked(part.length()).unwrap_or((rest, &[]));
            self.take(part, taken, out, &mut treat)?;
            self.offset = self.offset.saturating_add(u64::try_from(taken.len()).unwrap_or(u64::MAX));
            rest = after;
        }
        self.failed = false;
        Ok(())
    }

    /// Takes the end of the body.
    pub fn finish<F, E>(&mut self, out: &mut Vec<u8>, mut treat: F) -> Result<(), RewriteError<E>>
    where
        F: FnMut(Found<'_>) -> Result<Replacement, E>,
    {
        self.begin()?;
        while let Some(part) = self.splitter.finish() {
            self.take(part, &[], out, &mut treat)?;
        }
        // `failed` stays: nothing comes after the end.
        self.end(self.splitter.ending())
    }

    /// How many bytes of the body are kept at the moment.
    pub fn held(&self) -> usize {
        self.held.len().saturating_add(self.document.kept())
    }

    /// An error on the way leaves this set.
    fn begin<E>(&mut self) -> Result<(), RewriteError<E>> {
        match std::mem::replace(&mut self.failed, true) {
            true => Err(self.malformed("the body was given up or ended before")),
            false => Ok(()),
        }
    }

    fn take<F, E>(
        &mut self,
        part: Part,
        bytes: &[u8],
        out: &mut Vec<u8>,
        treat: &mut F,
    ) -> Result<(), RewriteError<E>>
    where
        F: FnMut(Found<'_>) -> Result<Replacement, E>,
    {
        match part {
            Part::Pass(_) => out.extend_from_slice(bytes),
            Part::Json(_) => self.json(bytes, self.offset, out, treat)?,
            Part::Wait(_) => {}
            Part::WaitedPass(waited) => out.extend_from_slice(waited),
            Part::WaitedJson(waited) => {
                let length = u64::try_from(waited.len()).unwrap_or_default();
                self.json(waited, self.offset.saturating_sub(length), out, treat)?;
            }
            Part::Break(_) => {
                self.json(b"\n", self.offset, out, treat)?;
                // The newline is the JSON text's alone; the body's own line end takes its place.
                if !self.document.is_holding() {
                    out.pop();
                }
                out.extend_from_slice(bytes);
            }
            Part::End(_, ending) => {
                self.end(ending)?;
                out.extend_from_slice(bytes);
            }
            Part::Bad(reason) => return Err(self.malformed(reason)),
        }
        Ok(())
    }

    /// Reads on in a JSON text, whose next bytes are at this offset of the body.
    fn json<F, E>(
        &mut self,
        bytes: &[u8],
        offset: u64,
        out: &mut Vec<u8>,
        treat: &mut F,
    ) -> Result<(), RewriteError<E>>
    where
        F: FnMut(Found<'_>) -> Result<Replacement, E>,
    {
        let (mut done, mut at) = (0, 0);
        loop {
            let was_holding = self.document.is_holding();
            let scan = self.document.scan(bytes, &mut at);
            let read = bytes.get(done..at).unwrap_or_default();
            if was_holding {
                self.check_length(read.len(), position(offset, done))?;
            }
            match scan.map_err(|fault| fault.at(position(offset, at)))? {
                Scan::Begins => out.extend_from_slice(read),
                Scan::Ended(field, kind) => {
                    if !self.held.is_empty() {
                        self.hold(read);
                    }
                    let json = if self.held.is_empty() { read } else { &self.held };
                    let replacement = treat(Found { field, kind, json }).map_err(RewriteError::Field)?;
                    let json = match &replacement {
                        Replacement::Keep => json,
                        Replacement::Json(json) => json,
                    };
                    write(json, self.splitter.is_by_lines(), out);
                    if !self.held.is_empty() {
                        self.held = Zeroizing::new(Vec::new());
                    }
                }
                Scan::More if was_holding => {
                    self.hold(read);
                    return Ok(());
                }
                Scan::More => {
                    out.extend_from_slice(read);
                    return Ok(());
                }
            }
            done = at;
        }
    }

    /// The limit comes before what else is wrong, so that a body fails alike wherever it is cut.
    fn check_length<E>(&self, more: usize, offset: u64) -> Result<(), RewriteError<E>> {
        let left = self.value_bytes.saturating_sub(self.held.len());
        if more > left {
            let what = Exceeded::ValueBytes;
            return Err(RewriteError::Limit { offset: position(offset, left), what });
        }
        Ok(())
    }

    /// Keeps more of a value; where it must move, what it leaves is wiped.
    fn hold(&mut self, more: &[u8]) {
        let length = self.held.len().saturating_add(more.len());
        if length > self.held.capacity() {
            let capacity = length.max(self.held.capacity().saturating_mul(2));
            let mut moved = Zeroizing::new(Vec::with_capacity(capacity));
            moved.extend_from_slice(&self.held);
            self.held = moved;
        }
        self.held.extend_from_slice(more);
    }

    fn end<E>(&mut self, ending: Ending) -> Result<(), RewriteError<E>> {
        self.document.end(ending).map_err(|fault| fault.at(self.offset))
    }

    fn malformed<E>(&self, reason: &'static str) -> RewriteError<E> {
        RewriteError::Malformed { offset: self.offset, reason }
    }
}

fn position(offset: u64, at: usize) -> u64 {
    offset.saturating_add(u64::try_from(at).unwrap_or(u64::MAX))
}

fn write(json: &[u8], on_one_line: bool, out: &mut Vec<u8>) {
    if on_one_line {
        out.extend(json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    } else {
        out.extend_from_slice(json);
    }
}
