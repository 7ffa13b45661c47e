//! The fields of a body: each that the route names is treated where it is found.

use std::sync::Arc;

use fieldveil_json_stream::{Exceeded, Found, Framing, Limits, Replacement, RewriteError, Rewriter};

use super::work::Work;
use crate::http::overrides::Posted;
use crate::http::problem::{Problem, Side};
use crate::http::treat::{self, Context};
use crate::routes::{BodyFields, Route};

/// Writes a body anew, with its fields treated.
pub(super) struct FieldRewriter {
    rewriter: Rewriter,
    most: Limits,
    treatment: FieldTreatment,
}

/// What becomes of a value that was found.
struct FieldTreatment {
    side: Side,
    /// It names a field in this direction.
    route: Arc<Route>,
    /// The request whose body it is, if a member `_method` may make another one of it.
    posted: Option<Posted>,
}

impl FieldRewriter {
    /// Of a body that `framing` says how to read; None where the route names no field of it.
    pub(super) fn new(side: Side, route: &Arc<Route>, framing: Framing, most: Limits) -> Option<Self> {
        let treatment = FieldTreatment { side, route: Arc::clone(route), posted: None };
        let rewriter = Rewriter::new(Arc::clone(&treatment.body()?.matcher), framing, most);
        Some(Self { rewriter, most, treatment })
    }

    /// Sets the request whose body it is, of which a member `_method` may make another one.
    pub(super) fn set_posted(&mut self, posted: Option<Posted>) {
        let has_method = self.treatment.body().is_some_and(|body| body.method.is_some());
        self.treatment.posted = posted.filter(|_| has_method);
    }

    /// Takes bytes of the body, and with `is_whole` its end.
    pub(super) fn push(
        &mut self,
        context: &Context,
        work: &mut Work,
        bytes: &[u8],
        is_whole: bool,
        written: &mut Vec<u8>,
    ) -> Result<(), Problem> {
        let Self { rewriter, most, treatment } = self;
        // One closure for both, or the reader is compiled twice.
        let mut treat = |found: Found<'_>| treatment.treat(context, work, found);
        let refuse = |error| refusal(treatment.side, *most, error);
        rewriter.push(bytes, written, &mut treat).map_err(refuse)?;
        if is_whole { rewriter.finish(written, &mut treat).map_err(refuse) } else { Ok(()) }
    }

    /// Bytes of the body that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        self.rewriter.held()
    }

    /// Bytes that are kept of the request whose body it is.
    pub(super) fn held_of_request(&self) -> usize {
        self.treatment.posted.as_ref().map_or(0, Posted::bytes)
    }
}

impl FieldTreatment {
    /// The fields of the body, by the route.
    fn body(&self) -> Option<&BodyFields> {
        match self.side {
            Side::Request => self.route.request.as_ref(),
            Side::Response => self.route.response.as_ref(),
        }
    }

    fn treat(&self, context: &Context, work: &mut Work, found: Found<'_>) -> Result<Replacement, Problem> {
        let Self { side, posted, .. } = self;
        let body = self.body().ok_or_else(unknown_field)?;
        if body.method == Some(found.field) {
            if let Some(posted) = posted {
                posted.check_member(context.plan.service.as_ref(), &found)?;
            }
            return Ok(Replacement::Keep);
        }
        // A field that the matcher invented: there is none, so nothing may pass in its place.
        let field = body.fields.get(found.field).ok_or_else(unknown_field)?;
        work.treat(*side, field, &found)?;
        let replacement = match side {
            Side::Request => treat::seal(context, field, found),
            Side::Response => treat::open(context, field, found),
        }?;
        work.write(*side, &replacement)?;
        Ok(replacement)
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
