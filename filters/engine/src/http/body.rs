//! One body that is rewritten, with the head that waits for it.
//!
//! Head and body are held until the body is whole, so that what is refused of an ordinary body never left, and its length
//! is exact; past the limit both leave, and the rest follows as it comes.

use std::sync::Arc;
mod content;
mod fields;
mod work;

use fieldveil_json_stream::Framing;

use self::content::BodyContent;
use self::work::Work;
use super::encoding::Decoder;
use super::head::Head;
use super::limits::BodyLimits;
use super::output::{self, Edit, ExchangeOutput, Flow};
use super::overrides::Posted;
use super::problem::{Problem, Side};
use super::treat::Context;
use crate::routes::Route;

/// A body on its way.
pub(super) struct Rewrite {
    side: Side,
    /// None once it has left.
    head: Option<HeldHead>,
    framing: Framing,
    /// Of an encoded body.
    decoder: Option<Decoder>,
    /// What is decoded.
    content: BodyContent,
    /// Bytes that are held with the head at most.
    most_held: usize,
}

/// What changes on a head that has not left.
struct HeldHead {
    edits: Vec<Edit>,
    has_length: bool,
}

impl Rewrite {
    /// Of a body that `framing` says how to read. `edits` are made on its head when that leaves.
    pub(super) fn new(
        side: Side,
        route: &Arc<Route>,
        framing: Framing,
        limits: BodyLimits,
        head: &Head,
        edits: Vec<Edit>,
    ) -> Self {
        Self {
            side,
            head: Some(HeldHead { edits, has_length: head.first("content-length").is_some() }),
            framing,
            decoder: None,
            content: BodyContent::new(side, route, framing, limits),
            most_held: limits.held,
        }
    }

    /// The same of a body that has to be decoded first.
    pub(super) fn decoding(self, decoder: Option<Decoder>) -> Self {
        Self { decoder, ..self }
    }

    /// Sets the request whose body it is, of which a member `_method` may make another one.
    pub(super) fn set_posted(&mut self, posted: Option<Posted>) {
        self.content.set_posted(posted);
    }

    /// Bytes that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        let head = self.head.as_ref().map_or(0, |head| output::bytes_of(&head.edits));
        let decoder = self.decoder.as_ref().map_or(0, Decoder::held);
        let content = self.content.held().saturating_add(self.content.held_of_request());
        content.saturating_add(head).saturating_add(decoder)
    }

    /// Whether it may go on for ever.
    pub(super) fn is_unending(&self) -> bool {
        self.framing != Framing::Document
    }

    /// Whether its head has left.
    pub(super) fn has_left(&self) -> bool {
        self.head.is_none()
    }

    /// What is to be done when the head has come and nothing of the body.
    pub(super) fn begin(&mut self) -> ExchangeOutput {
        if self.is_unending() { self.leave(false) } else { ExchangeOutput::hold() }
    }

    /// Takes bytes, and with `is_last` the end of the body.
    pub(super) fn take(
        &mut self,
        context: &Context,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<ExchangeOutput, Problem> {
        let mut work = Work::of(bytes.len());
        self.read(context, &mut work, bytes, is_last)?;
        if is_last {
            self.content.check_document()?;
        } else if self.content.awaits_document() {
            return Ok(ExchangeOutput::hold());
        }
        // Where much is held already, what may stream does not wait: else whoever holds the most would stop all others.
        let most = if context.worker.borrow().is_crowded() { 0 } else { self.most_held };
        if is_last || self.has_left() || self.is_unending() || self.content.held() > most {
            return Ok(self.leave(is_last));
        }
        Ok(ExchangeOutput::hold())
    }

    /// Reads bytes as they came, decoded if they have to be.
    fn read(
        &mut self,
        context: &Context,
        work: &mut Work,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<(), Problem> {
        let Some(mut decoder) = self.decoder.take() else {
            return self.content.push(context, work, bytes, is_last);
        };
        let side = self.side;
        let refuse = |fault| Problem::undecodable(side, fault);
        let mut pieces = decoder.pieces(bytes);
        // Piece by piece, so that no more than one is there beside what it became.
        while let Some(piece) = pieces.next_piece().map_err(refuse)? {
            self.content.push(context, work, piece, false)?;
        }
        if is_last {
            decoder.finish().map_err(refuse)?;
            return self.content.push(context, work, &[], true);
        }
        self.decoder = Some(decoder);
        Ok(())
    }

    /// Head, if it is there, and all that is written leave.
    fn leave(&mut self, is_last: bool) -> ExchangeOutput {
        let body = self.content.take_written();
        let mut output = ExchangeOutput { flow: Flow::Continue, ..ExchangeOutput::default() };
        if let Some(HeldHead { edits, has_length }) = self.head.take() {
            output.head = edits;
            if has_length {
                let name = "content-length".to_owned();
                let length = || body.len().to_string().into_bytes();
                output.head.push(if is_last { Edit::Set(name, length()) } else { Edit::Remove(name) });
            }
        }
        output.body = Some(body);
        output
    }
}
