//! An exchange that has its plan, its keys and its route: both directions go by them, to its end.

use super::body_state::BodyState;
use super::head::Head;
use super::input::ExchangeInput;
use super::limits::BodyLimits;
use super::output::ExchangeOutput;
use super::phase::ExchangePhase;
use super::problem::{Problem, Side};
use super::request;
use super::response;
use super::surroundings::Surroundings;
use super::treat::Context;
use crate::routes::Route;
use std::sync::Arc;

/// A request that was let through as far as its head, and its response.
pub(super) struct ReadyExchange {
    pub(super) context: Context,
    pub(super) route: Arc<Route>,
    pub(super) limits: BodyLimits,
    /// The request is a HEAD.
    pub(super) is_head: bool,
    pub(super) request: BodyState,
    /// None before the head of the response has come.
    pub(super) response: Option<BodyState>,
}

impl ReadyExchange {
    /// What an input does under plan and route.
    pub(super) fn take(
        mut self: Box<Self>,
        surroundings: &Surroundings,
        input: ExchangeInput<'_>,
    ) -> (ExchangePhase, ExchangeOutput) {
        let taken = match input {
            ExchangeInput::RequestBody { bytes, is_last } => {
                self.take_bytes(surroundings, Side::Request, bytes, is_last)
            }
            ExchangeInput::RequestTrailers(trailers) => {
                request::check_trailers(&self.context, &self.route, &trailers)
                    .and_then(|()| self.take_bytes(surroundings, Side::Request, &[], true))
            }
            ExchangeInput::ResponseHead { head, from_upstream, ends } => {
                self.respond(&head, from_upstream, ends)
            }
            ExchangeInput::ResponseBody { bytes, is_last } => {
                self.take_bytes(surroundings, Side::Response, bytes, is_last)
            }
            ExchangeInput::RequestHead { .. } | ExchangeInput::Fetched { .. } => Ok(ExchangeOutput::hold()),
        };
        match taken {
            Ok(output) => (ExchangePhase::Ready(self), output),
            Err(problem) => (ExchangePhase::Over, self.refuse(surroundings, &problem)),
        }
    }

    /// The way of a response, from its head on. `ends`: neither body nor trailers follow.
    fn respond(&mut self, head: &Head, from_upstream: bool, ends: bool) -> Result<ExchangeOutput, Problem> {
        // Who answers: nothing that Envoy says itself is the service's.
        if response::is_envoys_own(head, from_upstream) {
            self.response = Some(BodyState::Passing);
            return Ok(ExchangeOutput::default());
        }
        // Head: it says which header fields decide who asks, and its validators are those of what the client gets. Its body is
        // read, or passes, or is refused.
        let worker = self.context.worker.borrow();
        let varies = worker.config().http.as_ref().map(|http| http.identity.varies()).unwrap_or_default();
        let course = response::course(&self.route, self.limits, self.is_head, &varies, head, ends)?;
        drop(worker);
        // Body: its bytes go to `take_bytes` when they come, as the request's do.
        let (body, output) = BodyState::begin(course);
        self.response = Some(body);
        Ok(output)
    }

    /// Takes bytes of a body, in either direction, and with `is_last` its end.
    pub(super) fn take_bytes(
        &mut self,
        surroundings: &Surroundings,
        side: Side,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<ExchangeOutput, Problem> {
        let body = match side {
            Side::Request => &mut self.request,
            Side::Response => self.response.as_mut().ok_or_else(response::without_head)?,
        };
        // Keys: a body can take days to come, and those that are gone meanwhile are gone for it, too.
        self.context.now_ms = surroundings.now_ms();
        if let Some(keyring) = surroundings.worker.borrow().latest_keyring() {
            self.context.keyring = keyring;
        }
        // Plan: a body that may go on for ever ends with it.
        if body.outlives_plan(&self.context) {
            return Err(expired_plan());
        }
        // Values: each that the route names is treated, and all else leaves as it came.
        let (output, replaced) = body.take(&self.context, bytes, is_last)?;
        // Audit: a problem that took the body's place is a refusal, though the exchange goes on.
        replaced.iter().for_each(|problem| self.context.audit.refused(problem, self.context.now_ms));
        Ok(output)
    }

    /// Refuses the exchange. The client is told, if nobody has begun to tell it something; else the stream is reset.
    pub(super) fn refuse(&self, surroundings: &Surroundings, problem: &Problem) -> ExchangeOutput {
        let audit = Some(&self.context.audit);
        match self.response.as_ref().is_some_and(BodyState::has_left) {
            true => surroundings.reset(problem, audit),
            false => surroundings.reply(problem, audit),
        }
    }

    /// Bytes that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        self.request.held().saturating_add(self.response.as_ref().map_or(0, BodyState::held))
    }
}

fn expired_plan() -> Problem {
    Problem::unavailable("the plan", "it has expired while this was under way", "Ask again.")
}
