//! One direction of an exchange: what becomes of its body, from the head on.

use super::body::Rewrite;
use super::course::Course;
use super::output::{self, Edit, ExchangeOutput, Flow};
use super::problem::Problem;
use super::treat::Context;
use super::validators;

/// Where one direction stands once its head has come.
pub(super) enum BodyState {
    /// What comes passes as it is.
    Passing,
    /// Head and what follows are held until it is known whether there is a body.
    Empty(Box<Empty>),
    /// The body's fields are treated.
    Rewriting(Box<Rewrite>),
    /// Something else has taken the body's place.
    Dropping,
}

/// A head whose body must not pass.
pub(super) struct Empty {
    problem: Problem,
    edits: Vec<Edit>,
    /// The problem takes the body's place behind this head; else nothing of it passes.
    replaces: bool,
}

impl BodyState {
    /// As the course says, from the head on.
    pub(super) fn begin(course: Course) -> (Self, ExchangeOutput) {
        let empty = |problem, edits, replaces| {
            (Self::Empty(Box::new(Empty { problem, edits, replaces })), ExchangeOutput::hold())
        };
        match course {
            Course::Pass(edits) => {
                (Self::Passing, ExchangeOutput { head: edits, ..ExchangeOutput::default() })
            }
            Course::Bodiless(problem, edits) => empty(problem, edits, false),
            Course::Replace(problem, edits) => empty(problem, edits, true),
            Course::Rewrite(mut rewrite) => {
                let output = rewrite.begin();
                (Self::Rewriting(rewrite), output)
            }
        }
    }

    /// Bytes that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Rewriting(rewrite) => rewrite.held(),
            Self::Empty(empty) => output::bytes_of(&empty.edits),
            Self::Passing | Self::Dropping => 0,
        }
    }

    /// Whether its head has left, so that nothing can take its place.
    pub(super) fn has_left(&self) -> bool {
        match self {
            Self::Passing | Self::Dropping => true,
            Self::Rewriting(rewrite) => rewrite.has_left(),
            Self::Empty(_) => false,
        }
    }

    /// Whether it is of a kind that may go on for ever, under a plan that has ended.
    pub(super) fn outlives_plan(&self, context: &Context) -> bool {
        matches!(self, Self::Rewriting(rewrite) if rewrite.is_unending())
            && context.plan.has_expired(context.now_ms)
    }

    /// Takes bytes of the body, and with `is_last` its end. A problem that only takes the body's place comes with the
    /// output.
    pub(super) fn take(
        &mut self,
        context: &Context,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<(ExchangeOutput, Option<Problem>), Problem> {
        let output = match self {
            Self::Passing => ExchangeOutput::default(),
            Self::Dropping => ExchangeOutput { body: Some(Vec::new()), ..ExchangeOutput::default() },
            Self::Empty(_) if bytes.is_empty() && !is_last => ExchangeOutput::hold(),
            Self::Empty(empty) if bytes.is_empty() => {
                let head = std::mem::take(&mut empty.edits);
                *self = Self::Passing;
                ExchangeOutput {
                    head,
                    body: Some(Vec::new()),
                    flow: Flow::Continue,
                    ..ExchangeOutput::default()
                }
            }
            Self::Empty(empty) if empty.replaces => {
                let problem = empty.problem.clone();
                let output = replaced(std::mem::take(&mut empty.edits), &problem);
                *self = Self::Dropping;
                return Ok((output, Some(problem)));
            }
            Self::Empty(empty) => return Err(empty.problem.clone()),
            Self::Rewriting(rewrite) => {
                let output = rewrite.take(context, bytes, is_last)?;
                if is_last {
                    *self = Self::Passing;
                }
                output
            }
        };
        Ok((output, None))
    }
}

/// The problem as the body behind a head that stays.
fn replaced(mut edits: Vec<Edit>, problem: &Problem) -> ExchangeOutput {
    let reply = problem.reply();
    let own = ["content-encoding", "content-language", "content-range", "etag", "last-modified"];
    edits.retain(|edit| !matches!(edit, Edit::Set(name, _) | Edit::Add(name, _) if own.contains(&name.as_str()) || name == "cache-control"));
    edits.extend(own.map(|name| Edit::Remove(name.to_owned())));
    validators::set_headers(&reply.headers, &mut edits);
    edits.push(Edit::Set("content-length".into(), reply.body.len().to_string().into_bytes()));
    ExchangeOutput { head: edits, body: Some(reply.body), flow: Flow::Continue, ..ExchangeOutput::default() }
}
