//! One exchange of HTTP: a request and its response, whose JSON bodies have fields sealed on their way to the service and
//! treated on their way back.
//!
//! It knows no Envoy: heads and bytes go in as they come, and an [`ExchangeOutput`] says what becomes of them. It assumes that it
//! sees every head, every byte and every trailer of its exchange, in order, and that what it edits is what leaves.
//!
//! A request goes through: who asks (`identity.rs`), plan and keys (`policy.rs`), its route and what that names
//! (`request.rs`), its body (`body_state.rs`, `body.rs`). A response goes under the same plan and the same route (`response.rs`).

pub mod audits;
mod body;
mod body_state;
mod cost;
pub mod encoding;
pub mod graphql;
mod head;
mod identity;
mod limits;
mod media;
mod output;
mod overrides;
mod policy;
pub mod problem;
pub mod query;
mod request;
mod response;
pub mod search_budget;
pub mod treat;
mod validators;
pub mod value;

use std::cell::RefCell;
use std::rc::Rc;

use self::audits::Handle;
use self::body_state::BodyState;
pub use self::head::{Head, Peer};
use self::limits::BodyLimits;
pub use self::output::{Edit, ExchangeOutput, Flow, Reply};
use self::policy::{PolicyLookup, PolicyReadiness};
use self::problem::{Problem, Side};
use self::request::Course;
use self::treat::Context;
use crate::fetch::Fetch;
use crate::memory::{MAX_IN_USE, MAX_WORKER};
use crate::ports::{Level, Ports};
use crate::routes::Route;
use crate::worker::Worker;

/// One request and its response.
pub struct Exchange {
    worker: Rc<RefCell<Worker>>,
    ports: Rc<RefCell<dyn Ports>>,
    asking: Option<PolicyLookup>,
    waiting: Option<WaitingRequest>,
    ready: Option<Box<Ready>>,
    request: BodyState,
    response: BodyState,
    /// The response's head has left, so that no answer can take its place.
    is_answering: bool,
    /// Refused: nothing more of it passes.
    is_over: bool,
    /// Held bytes that the worker knows of.
    held: usize,
    limits: BodyLimits,
    /// Of its principal, under its plan.
    audit: Option<Handle>,
}

/// A request whose plan or keys are not there yet.
struct WaitingRequest {
    head: Head,
    /// Nothing follows the head.
    ends: bool,
    /// The body has come to its end.
    is_whole: bool,
    /// None before they have come.
    trailers: Head,
    /// What has come of the body, once something had to be asked for.
    kept: Option<Vec<u8>>,
}

/// What an exchange goes by, to its end.
struct Ready {
    context: Context,
    route: Rc<Route>,
    /// The request is a HEAD.
    is_head: bool,
}

impl Exchange {
    /// Of a worker.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>) -> Self {
        Self {
            worker,
            ports,
            asking: None,
            waiting: None,
            ready: None,
            request: BodyState::Unseen,
            response: BodyState::Unseen,
            is_answering: false,
            is_over: false,
            held: 0,
            limits: BodyLimits::default(),
            audit: None,
        }
    }

    /// The request's head has come; `end_of_stream` if it has neither body nor trailers.
    pub fn request_head(&mut self, head: Head, who: Peer, end_of_stream: bool) -> ExchangeOutput {
        let output = match self.identify(&head, who).and_then(|()| self.check_memory(MAX_IN_USE)) {
            Ok(()) => self.proceed(WaitingRequest {
                head,
                ends: end_of_stream,
                is_whole: end_of_stream,
                trailers: Head::default(),
                kept: None,
            }),
            Err(problem) => self.refuse(&problem),
        };
        self.account(output)
    }

    /// One of the questions that this exchange wished for was answered, and the worker has taken the answer in; or it was
    /// not. The output concerns everything that was kept meanwhile.
    pub fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) -> ExchangeOutput {
        let (Some(asking), Some(waiting)) = (&mut self.asking, self.waiting.take()) else {
            // It was refused while it waited.
            return nothing(Flow::Hold);
        };
        let output = if asking.answered(fetch, result) {
            self.proceed(waiting)
        } else {
            self.waiting = Some(waiting);
            nothing(Flow::Wait)
        };
        self.account(output)
    }

    /// Bytes of the request's body.
    pub fn request_body(&mut self, bytes: &[u8], end_of_stream: bool) -> ExchangeOutput {
        let output = match &mut self.waiting {
            Some(waiting) => match waiting.keep(bytes, end_of_stream, self.limits.waiting) {
                Ok(()) => nothing(Flow::Wait),
                Err(problem) => self.refuse(&problem),
            },
            None => self.bytes(Side::Request, bytes, end_of_stream),
        };
        self.account(output)
    }

    /// The request's trailers have come, so its body has ended.
    pub fn request_trailers(&mut self, trailers: Head) -> ExchangeOutput {
        let checked = self
            .ready
            .as_ref()
            .map_or(Ok(()), |ready| request::check_trailers(&ready.context, &ready.route, &trailers));
        if let Err(problem) = checked {
            let output = self.refuse(&problem);
            return self.account(output);
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.trailers = trailers;
        }
        self.request_body(&[], true)
    }

    /// The response's head has come. `from_upstream` is false for what Envoy or this filter answered itself.
    pub fn response_head(&mut self, head: Head, from_upstream: bool, end_of_stream: bool) -> ExchangeOutput {
        // What comes from elsewhere and is a success may be an answer of the service that somebody kept.
        if self.is_over || (!from_upstream && !response::is_success(&head)) {
            self.response = BodyState::Passing;
            self.is_answering = true;
            return ExchangeOutput::default();
        }
        let output = match self.response_course(&head, end_of_stream) {
            Ok(course) => {
                let (state, output) = BodyState::begin(course, end_of_stream);
                self.response = state;
                self.is_answering = output.flow == Flow::Continue;
                output
            }
            Err(problem) => self.refuse(&problem),
        };
        self.account(output)
    }

    /// Bytes of the response's body.
    pub fn response_body(&mut self, bytes: &[u8], end_of_stream: bool) -> ExchangeOutput {
        if self.is_over {
            return ExchangeOutput::default();
        }
        let output = self.bytes(Side::Response, bytes, end_of_stream);
        self.is_answering |= output.flow == Flow::Continue;
        self.account(output)
    }

    /// The response's trailers have come, so its body has ended.
    pub fn response_trailers(&mut self) -> ExchangeOutput {
        self.response_body(&[], true)
    }

    /// Whether what is still to come of the request's body passes as it comes: it need not be given.
    pub fn lets_request_pass(&self) -> bool {
        !self.is_over && self.waiting.is_none() && matches!(self.request, BodyState::Passing)
    }

    /// The same of the response's body.
    pub fn lets_response_pass(&self) -> bool {
        !self.is_over && matches!(self.response, BodyState::Passing)
    }

    /// The exchange is over, however.
    pub fn end(&mut self) {
        self.is_over = true;
        self.forget();
        let before = std::mem::take(&mut self.held);
        self.worker.borrow_mut().holds(before, 0);
    }

    /// Bytes that are kept at the moment.
    pub fn held(&self) -> usize {
        let kept = self.waiting.as_ref().map_or(0, WaitingRequest::bytes);
        kept.saturating_add(self.request.held()).saturating_add(self.response.held())
    }

    /// Finds out whose exchange it is.
    fn identify(&mut self, head: &Head, who: Peer) -> Result<(), Problem> {
        let worker = self.worker.borrow();
        let Some(http) = &worker.config.http else {
            let remedy = "Give the filter's configuration its section `http`.";
            return Err(Problem::unavailable("the service", "the configuration names none", remedy));
        };
        self.limits = BodyLimits::of(&worker.config, http);
        let source = who.source.clone();
        let (input, result) = match identity::read(&worker.config, http, head, who) {
            Ok(input) => (input, Ok(())),
            Err(problem) => (identity::of_anybody(&worker.config, http, source), Err(problem)),
        };
        drop(worker);
        self.asking = Some(PolicyLookup::new(input));
        result
    }

    /// Goes on with a request if plan and keys are there; else asks for what is missing once, else refuses.
    fn proceed(&mut self, mut waiting: WaitingRequest) -> ExchangeOutput {
        let Some(asking) = &mut self.asking else { return nothing(Flow::Hold) };
        let now_ms = self.ports.borrow().now_ms();
        let readiness = asking.ready(&mut self.worker.borrow_mut(), now_ms);
        match readiness {
            PolicyReadiness::Ready(plan, keyring) => {
                let (worker, ports) = (Rc::clone(&self.worker), Rc::clone(&self.ports));
                let audit = Handle::of(&worker, &ports, &asking.principal, &asking.input, Some(&plan));
                let context = Context { worker, ports, plan, keyring, audit, now_ms };
                self.start(context, waiting).unwrap_or_else(|problem| self.refuse(&problem))
            }
            PolicyReadiness::Fetch(fetch) => {
                waiting.kept.get_or_insert_default();
                self.waiting = Some(waiting);
                ExchangeOutput { fetch, ..nothing(Flow::Wait) }
            }
            PolicyReadiness::Refuse(problem) => self.refuse(&problem),
        }
    }

    /// The request, with all that came of it while it waited.
    fn start(&mut self, context: Context, waiting: WaitingRequest) -> Result<ExchangeOutput, Problem> {
        let WaitingRequest { head, ends, kept, trailers, is_whole } = waiting;
        self.audit = Some(context.audit.clone());
        let route = request::route(&context.plan, &head, ends)?;
        request::check_trailers(&context, &route, &trailers)?;
        let course = request::course(&context, &route, self.limits, &head, ends)?;
        let is_head = request::method(&head) == "HEAD";
        self.ready = Some(Box::new(Ready { context, route, is_head }));
        let (state, output) = BodyState::begin(course, ends);
        self.request = state;
        let Some(kept) = kept.filter(|_| !ends) else { return Ok(output) };
        let then = self.bytes(Side::Request, &kept, is_whole);
        // What passes as it is was taken from the host meanwhile.
        let body = then.body.or(Some(kept));
        Ok(ExchangeOutput { head: [output.head, then.head].concat(), body, ..then })
    }

    fn response_course(&self, head: &Head, ends: bool) -> Result<Course, Problem> {
        let Some(ready) = &self.ready else {
            let remedy = "See that the filter stands in every filter chain that this route takes.";
            return Err(Problem::bad_response("it comes before its request was let through", remedy));
        };
        let worker = self.worker.borrow();
        let varies = worker.config.http.as_ref().map(|http| http.identity.varies()).unwrap_or_default();
        response::course(&ready.route, self.limits, ready.is_head, &varies, head, ends)
    }

    /// Bytes of a body, in either direction.
    fn bytes(&mut self, side: Side, bytes: &[u8], is_last: bool) -> ExchangeOutput {
        let Some(ready) = &mut self.ready else { return nothing(Flow::Hold) };
        let now_ms = self.ports.borrow().now_ms();
        ready.context.now_ms = now_ms;
        // A body can take days to come: keys that are gone meanwhile are gone for it, too.
        if let Some(keyring) = self.worker.borrow().latest_keyring() {
            ready.context.keyring = keyring;
        }
        let state = match side {
            Side::Request => &mut self.request,
            Side::Response => &mut self.response,
        };
        if state.outlives_plan(&ready.context) {
            let remedy = "Ask again.";
            return self.refuse(&Problem::unavailable(
                "the plan",
                "it has expired while this was under way",
                remedy,
            ));
        }
        match state.take(&ready.context, bytes, is_last) {
            Ok((output, problem)) => {
                problem.iter().for_each(|problem| ready.context.audit.refused(problem, now_ms));
                output
            }
            Err(problem) => self.refuse(&problem),
        }
    }

    /// The client is told, if nobody else has begun to tell it something; else the stream ends as what it is, broken.
    fn refuse(&mut self, problem: &Problem) -> ExchangeOutput {
        let now_ms = self.ports.borrow().now_ms();
        let unplanned = |asking: &PolicyLookup| {
            Handle::of(&self.worker, &self.ports, &asking.principal, &asking.input, None)
        };
        if let Some(audit) = self.audit.clone().or_else(|| self.asking.as_ref().map(unplanned)) {
            audit.refused(problem, now_ms);
        }
        self.is_over = true;
        self.forget();
        if self.is_answering {
            let line = format!("an exchange was reset: {}", problem.line());
            self.ports.borrow().log(Level::Warn, &line);
            return ExchangeOutput { reset: true, ..nothing(Flow::Hold) };
        }
        ExchangeOutput { reply: Some(problem.reply()), ..nothing(Flow::Hold) }
    }

    /// Lets go of everything that is kept.
    fn forget(&mut self) {
        (self.waiting, self.ready) = (None, None);
        (self.request, self.response) = (BodyState::Unseen, BodyState::Unseen);
    }

    /// Whether the module has no more than so many bytes in use.
    fn check_memory(&self, most: usize) -> Result<(), Problem> {
        if self.ports.borrow().memory_in_use() <= most { Ok(()) } else { Err(Problem::no_memory()) }
    }

    /// Tells the worker how much is held. An exchange that takes more than is left for all ends.
    fn account(&mut self, output: ExchangeOutput) -> ExchangeOutput {
        let (before, now) = (self.held, self.held());
        self.held = now;
        let within = self.worker.borrow_mut().holds(before, now);
        if within && (now <= before || self.check_memory(MAX_WORKER).is_ok()) {
            return output;
        }
        let refused = self.refuse(&Problem::no_memory());
        self.worker.borrow_mut().holds(now, 0);
        self.held = 0;
        refused
    }
}

impl WaitingRequest {
    /// Bytes that are kept of it.
    fn bytes(&self) -> usize {
        let body = self.kept.as_ref().map_or(0, Vec::capacity);
        body.saturating_add(self.head.bytes()).saturating_add(self.trailers.bytes())
    }

    fn keep(&mut self, bytes: &[u8], is_last: bool, most: usize) -> Result<(), Problem> {
        let kept = self.kept.get_or_insert_default();
        if kept.len().saturating_add(bytes.len()) > most {
            let remedy =
                "Come again in a moment; if this lasts, see that OPA and the key agent answer in time.";
            let reason = "it is still awaited, and more of the body has come than is kept meanwhile";
            return Err(Problem::unavailable("the policy", reason, remedy));
        }
        kept.extend_from_slice(bytes);
        self.is_whole |= is_last;
        Ok(())
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end();
    }
}

/// Nothing leaves.
fn nothing(flow: Flow) -> ExchangeOutput {
    ExchangeOutput { body: Some(Vec::new()), flow, ..ExchangeOutput::default() }
}
