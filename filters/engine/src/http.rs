//! One exchange of HTTP: a request and its response, whose JSON bodies have fields sealed on their way to the service and
//! treated on their way back.
//!
//! It knows no Envoy: heads and bytes go in as they come, and an [`ExchangeOutput`] says what becomes of them. It assumes that it
//! sees every head, every byte and every trailer of its exchange, in order, and that what it edits is what leaves.
//!
//! An exchange is in one of the phases of `phase.rs`. `waiting.rs` has the way of a request: who asks (`identity.rs`), plan and
//! keys (`policy.rs`), its route and what that names (`request.rs`), its body (`body_state.rs`, `body.rs`). `ready.rs` has the
//! way of a response (`response.rs`), under the same plan and the same route.

pub mod audits;
mod body;
mod body_state;
mod cost;
mod course;
pub mod encoding;
pub mod graphql;
mod head;
mod held_bytes;
mod identity;
mod input;
mod limits;
mod media;
mod output;
mod overrides;
mod phase;
mod policy;
pub mod problem;
pub mod query;
mod ready;
mod request;
mod response;
pub mod search_budget;
mod surroundings;
pub mod treat;
mod validators;
pub mod value;
mod waiting;

use std::cell::RefCell;
use std::rc::Rc;

use self::body_state::BodyState;
pub use self::head::{Head, Peer};
use self::held_bytes::HeldBytes;
use self::input::ExchangeInput;
pub use self::output::{Edit, ExchangeOutput, Flow, Reply};
use self::phase::ExchangePhase;
use self::surroundings::Surroundings;
use crate::fetch::Fetch;
use crate::ports::Ports;
use crate::worker::Worker;

/// One request and its response.
pub struct Exchange {
    surroundings: Surroundings,
    phase: ExchangePhase,
    held: HeldBytes,
}

impl Exchange {
    /// Makes the exchange of a new request.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>) -> Self {
        let surroundings = Surroundings { worker, ports };
        Self { held: HeldBytes::new(surroundings.clone()), phase: ExchangePhase::New, surroundings }
    }

    /// The request's head has come; `end_of_stream` if it has neither body nor trailers.
    pub fn request_head(&mut self, head: Head, who: Peer, end_of_stream: bool) -> ExchangeOutput {
        self.take(ExchangeInput::RequestHead { head, peer: who, ends: end_of_stream })
    }

    /// A fetch that this exchange asked for has ended: the worker has taken the response, or `result` says why not. The output concerns everything that was kept meanwhile.
    pub fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) -> ExchangeOutput {
        self.take(ExchangeInput::Fetched { fetch, result })
    }

    /// Bytes of the request's body.
    pub fn request_body(&mut self, bytes: &[u8], end_of_stream: bool) -> ExchangeOutput {
        self.take(ExchangeInput::RequestBody { bytes, is_last: end_of_stream })
    }

    /// The request's trailers have come, so its body has ended.
    pub fn request_trailers(&mut self, trailers: Head) -> ExchangeOutput {
        self.take(ExchangeInput::RequestTrailers(trailers))
    }

    /// Whether the response's head says anything that this exchange goes by. It does not where the route names nothing of a
    /// response: then an empty head may be given as the service's, and all passes alike.
    pub fn reads_response_head(&self) -> bool {
        !matches!(&self.phase, ExchangePhase::Ready(exchange) if exchange.route.response.is_none())
    }

    /// The response's head has come. `from_upstream` is false for what Envoy or this filter answered itself; of a success it
    /// does not matter.
    pub fn response_head(&mut self, head: Head, from_upstream: bool, end_of_stream: bool) -> ExchangeOutput {
        self.take(ExchangeInput::ResponseHead { head, from_upstream, ends: end_of_stream })
    }

    /// Bytes of the response's body.
    pub fn response_body(&mut self, bytes: &[u8], end_of_stream: bool) -> ExchangeOutput {
        self.take(ExchangeInput::ResponseBody { bytes, is_last: end_of_stream })
    }

    /// The response's trailers have come, so its body has ended.
    pub fn response_trailers(&mut self) -> ExchangeOutput {
        self.response_body(&[], true)
    }

    /// Whether what is still to come of the request's body passes as it comes: it need not be given.
    pub fn lets_request_pass(&self) -> bool {
        matches!(&self.phase, ExchangePhase::Ready(exchange) if matches!(exchange.request, BodyState::Passing))
    }

    /// The same of the response's body.
    pub fn lets_response_pass(&self) -> bool {
        matches!(&self.phase, ExchangePhase::Ready(exchange) if matches!(exchange.response, Some(BodyState::Passing)))
    }

    /// The exchange is over, however.
    pub fn end(&mut self) {
        self.phase = ExchangePhase::Over;
        self.held.give_back();
    }

    /// Bytes that are kept at the moment.
    pub fn held(&self) -> usize {
        self.phase.held()
    }

    /// Does what the phase says of an input, and tells the worker how much is held then. An exchange that takes more than is
    /// left for all ends.
    fn take(&mut self, input: ExchangeInput<'_>) -> ExchangeOutput {
        let phase = std::mem::replace(&mut self.phase, ExchangePhase::Over);
        let (phase, output) = phase.take(&self.surroundings, input);
        match self.held.report(phase.held()) {
            Ok(()) => {
                self.phase = phase;
                output
            }
            Err(problem) => {
                let refused = phase.refuse(&self.surroundings, &problem);
                self.held.give_back();
                refused
            }
        }
    }
}
