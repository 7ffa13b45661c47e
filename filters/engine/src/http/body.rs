//! One body that is rewritten, with the head that waits for it.
//!
//! Head and body are held until the body is whole, so that what is refused of an ordinary body never left, and its length
//! is exact; past the limit both leave, and the rest follows as it comes.

use std::rc::Rc;

use fieldveil_json_stream::{Exceeded, Found, Framing, Limits, Replacement, RewriteError, Rewriter};

use super::cost;
use super::encoding::Decoder;
use super::graphql;
use super::head::Head;
use super::limits::BodyLimits;
use super::output::{self, Edit, ExchangeOutput, Flow};
use super::overrides::Posted;
use super::problem::{Problem, Side};
use super::treat::{self, Context};
use crate::field::FieldPlan;
use crate::printed::{PrintBudget, PrintedTooMuch};
use crate::routes::{BodyFields, Route};

/// Values of fields that are treated in one callback whatever came in it, in which the worker serves nobody else: 0.1 s of
/// `float8` on a processor, a quarter of a second of the slowest. A piece of the shipped configuration's size holds fewer, unless it is encoded.
const FREE_VALUES: usize = 65_536;
/// Bytes that have to come for each value beyond that. What was kept while plan and keys were awaited may hold more.
const BYTES_PER_VALUE: usize = 64;

/// A body on its way.
pub(super) struct Rewrite {
    side: Side,
    /// None where only GraphQL's document is looked at.
    fields: Option<Fields>,
    framing: Framing,
    /// Of an encoded body; what follows here speaks of it decoded.
    decoder: Option<Decoder>,
    /// The body as it came, where its document is checked when it is whole.
    graphql: Option<(Vec<u8>, Rc<Route>)>,
    head: Option<HeldHead>,
    /// What is written and has not left.
    written: Vec<u8>,
    /// Bytes that came.
    came: u64,
    /// What this callback may still do.
    work: Work,
    most: Limits,
    most_held: usize,
}

struct Fields {
    rewriter: Rewriter,
    body: BodyFields,
    /// The request whose body it is, if a member `_method` may make another one of it.
    posted: Option<Posted>,
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
        route: &Rc<Route>,
        framing: Framing,
        limits: BodyLimits,
        head: &Head,
        edits: Vec<Edit>,
    ) -> Self {
        let most = limits.of_json(side);
        let body = if side == Side::Request { &route.request } else { &route.response };
        let fields = body.clone().map(|body| Fields {
            rewriter: Rewriter::new(Rc::clone(&body.matcher), framing, most),
            body,
            posted: None,
        });
        let is_checked = route.graphql && side == Side::Request;
        Self {
            side,
            fields,
            framing,
            decoder: None,
            graphql: is_checked.then(|| (Vec::new(), Rc::clone(route))),
            head: Some(HeldHead { edits, has_length: head.first("content-length").is_some() }),
            written: Vec::new(),
            came: 0,
            work: Work::default(),
            most,
            most_held: limits.held,
        }
    }

    /// The same of a body that has to be decoded first.
    pub(super) fn decoding(self, decoder: Option<Decoder>) -> Self {
        Self { decoder, ..self }
    }

    /// It is the body of this request, of which a member `_method` may make another one.
    pub(super) fn is_posted(&mut self, posted: Option<Posted>) {
        if let Some(fields) = &mut self.fields {
            fields.posted = posted.filter(|_| fields.body.method.is_some());
        }
    }

    /// Bytes that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        let head = self.head.as_ref().map_or(0, |head| output::bytes_of(&head.edits));
        let decoder = self.decoder.as_ref().map_or(0, Decoder::held);
        let posted = self.fields.as_ref().and_then(|fields| fields.posted.as_ref()).map_or(0, Posted::bytes);
        self.held_of_body().saturating_add(head).saturating_add(decoder).saturating_add(posted)
    }

    fn held_of_body(&self) -> usize {
        let raw = self.graphql.as_ref().map_or(0, |(raw, _)| raw.len());
        let read = self.fields.as_ref().map_or(0, |fields| fields.rewriter.held());
        self.written.len().saturating_add(raw).saturating_add(read)
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
        self.work = Work::of(bytes.len());
        self.read(context, bytes, is_last)?;
        if self.graphql.is_some() && !is_last {
            return Ok(ExchangeOutput::hold());
        }
        if is_last
            && self.came > 0
            && let Some((raw, route)) = self.graphql.take()
        {
            let named =
                |body: &Option<BodyFields>| body.as_ref().map_or(Vec::new(), |body| body.places.clone());
            graphql::check(&raw, &named(&route.request), &named(&route.response))?;
        }
        // Where much is held already, what may stream does not wait: else whoever holds the most would stop all others.
        let most = if context.worker.borrow().is_crowded() { 0 } else { self.most_held };
        if is_last || self.head.is_none() || self.is_unending() || self.held_of_body() > most {
            return Ok(self.leave(is_last));
        }
        Ok(ExchangeOutput::hold())
    }

    /// Reads bytes as they came, decoded if they have to be.
    fn read(&mut self, context: &Context, bytes: &[u8], is_last: bool) -> Result<(), Problem> {
        let Some(mut decoder) = self.decoder.take() else { return self.rewrite(context, bytes, is_last) };
        let side = self.side;
        let refuse = |fault| Problem::undecodable(side, fault);
        let mut pieces = decoder.pieces(bytes);
        // Piece by piece, so that no more than one is there beside what it became.
        while let Some(piece) = pieces.next_piece().map_err(refuse)? {
            self.rewrite(context, piece, false)?;
        }
        if is_last {
            decoder.finish().map_err(refuse)?;
            return self.rewrite(context, &[], true);
        }
        self.decoder = Some(decoder);
        Ok(())
    }

    /// Takes bytes of the decoded body, and with `is_last` its end.
    fn rewrite(&mut self, context: &Context, bytes: &[u8], is_last: bool) -> Result<(), Problem> {
        self.came = self.came.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if let Some((raw, _)) = &mut self.graphql {
            raw.extend_from_slice(bytes);
            if raw.len() > self.most_held {
                let what = "the length of a GraphQL request in bytes";
                return Err(Problem::limit(self.side, what, self.most_held, "http.limits.held_body_bytes"));
            }
        }
        let Some(Fields { rewriter, body, posted }) = &mut self.fields else {
            self.written.extend_from_slice(bytes);
            return Ok(());
        };
        let side = self.side;
        let work = &mut self.work;
        let mut treat = |found: Found<'_>| -> Result<Replacement, Problem> {
            if body.method == Some(found.field) {
                if let Some(posted) = posted {
                    posted.check_member(context.plan.service.as_ref(), &found)?;
                }
                return Ok(Replacement::Keep);
            }
            // A field that the matcher invented: there is none, so nothing may pass in its place.
            let field = body.fields.get(found.field).ok_or_else(unknown_field)?;
            work.treat(side, field, &found)?;
            let replacement = match side {
                Side::Request => treat::seal(context, field, found),
                Side::Response => treat::open(context, field, found),
            }?;
            work.write(side, &replacement)?;
            Ok(replacement)
        };
        let most = self.most;
        let refuse = |error| refusal(side, most, error);
        rewriter.push(bytes, &mut self.written, &mut treat).map_err(refuse)?;
        // No byte at all is no body, whatever the head said it would be.
        if is_last && self.came > 0 {
            rewriter.finish(&mut self.written, &mut treat).map_err(refuse)?;
        }
        if is_last {
            *posted = None;
        }
        Ok(())
    }

    /// Head, if it is there, and all that is written leave.
    fn leave(&mut self, is_last: bool) -> ExchangeOutput {
        let body = std::mem::take(&mut self.written);
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

/// What one callback may do with values: the worker serves nobody else meanwhile.
#[derive(Default)]
struct Work {
    most_values: usize,
    values: usize,
    prints: PrintBudget,
}

impl Work {
    /// Of a callback in which so many bytes came, encoded if the body is.
    fn of(came: usize) -> Self {
        let most_values = FREE_VALUES.saturating_add(came / BYTES_PER_VALUE);
        Self { most_values, values: 0, prints: PrintBudget::of(came) }
    }

    /// A value is to be treated; some cost as much as many.
    fn treat(&mut self, side: Side, field: &FieldPlan, found: &Found<'_>) -> Result<(), Problem> {
        self.values = self.values.saturating_add(cost::of(field, found));
        if self.values > self.most_values {
            return Err(Problem::too_much_at_once(side, self.most_values));
        }
        Ok(())
    }

    /// It was treated.
    fn write(&mut self, side: Side, replacement: &Replacement) -> Result<(), Problem> {
        let Replacement::Json(json) = replacement else { return Ok(()) };
        self.prints.take(json.len()).map_err(|PrintedTooMuch(limit)| Problem::printed_too_much(side, limit))
    }
}

fn unknown_field() -> Problem {
    Problem::unavailable(
        "a field of the plan",
        "a path leads to none",
        "Report it: the filter's parts disagree.",
    )
}

fn refusal(side: Side, most: Limits, error: RewriteError<Problem>) -> Problem {
    let (what, limit, setting) = match error {
        RewriteError::Field(problem) => return problem,
        RewriteError::Malformed { offset, reason } => return Problem::malformed(side, offset, reason),
        RewriteError::Limit { what, .. } => match what {
            Exceeded::Depth => ("the nesting of arrays and objects", most.depth, "http.limits.json_depth"),
            Exceeded::KeyBytes => {
                ("the bytes of a member's name", most.key_bytes, "http.limits.json_key_bytes")
            }
            Exceeded::ValueBytes => {
                ("the bytes of a protected field's value", most.value_bytes, "limits.protected_value_bytes")
            }
        },
    };
    Problem::limit(side, what, limit, setting)
}
