//! The way of a request from its head to the service, in three parts: [`WaitingRequest::begin`], `proceed` and `forward`. Between
//! the first and the last it may have to wait, and is kept.

use super::audits::Handle;
use super::body_state::BodyState;
use super::head::{Head, Peer};
use super::identity;
use super::input::ExchangeInput;
use super::limits::BodyLimits;
use super::output::ExchangeOutput;
use super::phase::ExchangePhase;
use super::policy::{PolicyLookup, PolicyReadiness};
use super::problem::{Problem, Side};
use super::ready::ReadyExchange;
use super::request;
use super::response;
use super::surroundings::Surroundings;
use super::treat::Context;
use crate::compiled_plan::CompiledPlan;
use crate::memory::MAX_IN_USE;
use crate::worker::Worker;
use std::sync::Arc;

/// A request whose plan or keys are not there yet.
pub(super) struct WaitingRequest {
    lookup: PolicyLookup,
    limits: BodyLimits,
    head: Head,
    /// Nothing follows the head.
    ends: bool,
    /// None while nothing had to be asked for.
    kept: Option<KeptBody>,
    /// Empty before they have come.
    trailers: Head,
}

/// What has come of a body while its request waited.
#[derive(Default)]
struct KeptBody {
    bytes: Vec<u8>,
    /// The body has come to its end.
    is_whole: bool,
}

impl WaitingRequest {
    /// The first part of a request's way: it finds who asks. `ends`: neither body nor trailers follow the head.
    pub(super) fn begin(
        surroundings: &Surroundings,
        head: Head,
        mut peer: Peer,
        ends: bool,
    ) -> (ExchangePhase, ExchangeOutput) {
        let mut worker = surroundings.worker.borrow_mut();
        let Worker { state, principals, .. } = &mut *worker;
        let config = &state.config;
        let Some(http) = &config.http else {
            return (ExchangePhase::Over, surroundings.reply(&unconfigured(), None));
        };
        // Who asks: Envoy has verified it, or the configuration trusts the header field that says it.
        let (principal, identified) = match identity::read(config, http, principals, &head, &mut peer) {
            Ok(principal) => (principal, Ok(())),
            Err(problem) => (identity::of_anybody(config, http, &peer.source), Err(problem)),
        };
        let limits = BodyLimits::of(config, http);
        drop(worker);
        let lookup = PolicyLookup::new(principal);
        let request = Self { lookup, limits, head, ends, kept: None, trailers: Head::default() };
        // Memory: past the limit no request is let in.
        match identified.and_then(|()| surroundings.check_memory(MAX_IN_USE)) {
            Ok(()) => request.proceed(surroundings),
            Err(problem) => (ExchangePhase::Over, request.refuse(surroundings, &problem)),
        }
    }

    /// What an input does while plan or keys are awaited.
    pub(super) fn take(
        mut self: Box<Self>,
        surroundings: &Surroundings,
        input: ExchangeInput<'_>,
    ) -> (ExchangePhase, ExchangeOutput) {
        let kept = match input {
            ExchangeInput::Fetched { fetch, result } => {
                if self.lookup.answered(fetch, result) {
                    return self.proceed(surroundings);
                }
                Ok(ExchangeOutput::wait())
            }
            ExchangeInput::RequestBody { bytes, is_last } => self.keep(bytes, is_last),
            ExchangeInput::RequestTrailers(trailers) => {
                self.trailers = trailers;
                self.keep(&[], true)
            }
            ExchangeInput::ResponseHead { head, from_upstream, .. } => {
                // Envoy has stopped waiting for the request, and sends nothing of it to the service.
                if response::is_envoys_own(&head, from_upstream) {
                    return (ExchangePhase::Over, ExchangeOutput::default());
                }
                Err(response::unrequested())
            }
            ExchangeInput::RequestHead { .. } | ExchangeInput::ResponseBody { .. } => {
                Ok(ExchangeOutput::hold())
            }
        };
        match kept {
            Ok(output) => (ExchangePhase::Waiting(self), output),
            Err(problem) => (ExchangePhase::Over, self.refuse(surroundings, &problem)),
        }
    }

    /// The second part of a request's way: it finds plan and keys. A request that waits comes here again when all that was asked
    /// for is answered.
    fn proceed(mut self, surroundings: &Surroundings) -> (ExchangePhase, ExchangeOutput) {
        let now_ms = surroundings.now_ms();
        // Plan and keys: the worker has them, or what is missing is asked for once, or the request is refused.
        let readiness = self.lookup.ready(&mut surroundings.worker.borrow_mut(), now_ms);
        let (plan, keyring) = match readiness {
            PolicyReadiness::Ready(plan, keyring) => (plan, keyring),
            PolicyReadiness::Fetch(fetch) => {
                self.kept.get_or_insert_default();
                let output = ExchangeOutput { fetch, ..ExchangeOutput::wait() };
                return (ExchangePhase::Waiting(Box::new(self)), output);
            }
            PolicyReadiness::Refuse(problem) => {
                return (ExchangePhase::Over, self.refuse(surroundings, &problem));
            }
        };
        // Audit: from here on all that happens is counted under this plan.
        let audit = self.audit(surroundings, Some(&plan));
        let Surroundings { worker, ports } = surroundings.clone();
        let context = Context { worker, ports, plan, keyring, audit: audit.clone(), now_ms };
        match self.forward(surroundings, context) {
            Ok((exchange, output)) => (ExchangePhase::Ready(Box::new(exchange)), output),
            Err(problem) => (ExchangePhase::Over, surroundings.reply(&problem, Some(&audit))),
        }
    }

    /// The last part of a request's way, under its plan and its keys: it leads to the service.
    fn forward(
        self,
        surroundings: &Surroundings,
        context: Context,
    ) -> Result<(ReadyExchange, ExchangeOutput), Problem> {
        let Self { lookup: _, limits, head, ends, kept, trailers } = self;
        // Route: what the plan's routes that fit its method and path name in either direction.
        let route = request::route(&context.plan, &head, ends)?;
        // Trailers that came while it waited: they are too late to be sealed.
        request::check_trailers(&context, &route, &trailers)?;
        // Head: query, path segments and header fields are sealed. Its body is read, or passes, or is refused.
        let course = request::course(&context, &route, limits, &head, ends)?;
        let (body, output) = BodyState::begin(course);
        let is_head = request::method(&head) == "HEAD";
        let mut exchange = ReadyExchange { context, route, limits, is_head, request: body, response: None };
        // Body: what came of it while the request waited; the rest goes the same way when it comes.
        let Some(KeptBody { bytes, is_whole }) = kept.filter(|_| !ends) else {
            return Ok((exchange, output));
        };
        let then = exchange.take_bytes(surroundings, Side::Request, &bytes, is_whole)?;
        // What passes as it is was taken from the host meanwhile.
        let body = then.body.or(Some(bytes));
        Ok((exchange, ExchangeOutput { head: [output.head, then.head].concat(), body, ..then }))
    }

    /// Refuses the request: nothing of it has passed, and nothing of a response.
    pub(super) fn refuse(&self, surroundings: &Surroundings, problem: &Problem) -> ExchangeOutput {
        surroundings.reply(problem, Some(&self.audit(surroundings, None)))
    }

    /// Bytes that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        let body = self.kept.as_ref().map_or(0, |kept| kept.bytes.capacity());
        body.saturating_add(self.head.bytes()).saturating_add(self.trailers.bytes())
    }

    fn keep(&mut self, bytes: &[u8], is_last: bool) -> Result<ExchangeOutput, Problem> {
        let kept = self.kept.get_or_insert_default();
        if kept.bytes.len().saturating_add(bytes.len()) > self.limits.waiting {
            let remedy =
                "Try again in a moment; if this lasts, see that OPA and the key agent answer in time.";
            let reason = "it is still awaited, and more of the body has come than is kept meanwhile";
            return Err(Problem::unavailable("the policy", reason, remedy));
        }
        kept.bytes.extend_from_slice(bytes);
        kept.is_whole |= is_last;
        Ok(ExchangeOutput::wait())
    }

    fn audit(&self, surroundings: &Surroundings, plan: Option<&Arc<CompiledPlan>>) -> Handle {
        let (Surroundings { worker, ports }, principal) = (surroundings, &self.lookup.principal);
        Handle::of(worker, ports, &principal.key, &principal.input, plan)
    }
}

fn unconfigured() -> Problem {
    let remedy = "Give the filter's configuration its section `http`.";
    Problem::unavailable("the service", "the configuration names none", remedy)
}
