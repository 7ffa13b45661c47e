//! The phases of an exchange. Each has a type with what is known in it alone, and one function that says what an input does in it.

use super::input::ExchangeInput;
use super::output::ExchangeOutput;
use super::problem::Problem;
use super::ready::ReadyExchange;
use super::response;
use super::surroundings::Surroundings;
use super::waiting::WaitingRequest;

/// Where an exchange stands.
pub(super) enum ExchangePhase {
    /// The head of the request has not come.
    New,
    /// The plan or the keys of the request are awaited.
    Waiting(Box<WaitingRequest>),
    /// Plan, keys and route are known, and both bodies go by them.
    Ready(Box<ReadyExchange>),
    /// It was refused, or has ended, or Envoy has answered a request that waited. Nothing more of the request passes. The only
    /// response that can come is the one that the filter or Envoy gives, and that one passes.
    Over,
}

impl ExchangePhase {
    /// What an input does: the phase that follows, and what the host is to do.
    pub(super) fn take(
        self,
        surroundings: &Surroundings,
        input: ExchangeInput<'_>,
    ) -> (Self, ExchangeOutput) {
        match self {
            Self::New => take_first(surroundings, input),
            Self::Waiting(request) => request.take(surroundings, input),
            Self::Ready(exchange) => exchange.take(surroundings, input),
            Self::Over => (Self::Over, take_last(&input)),
        }
    }

    /// Refuses the exchange, which is over then. The client is sent the problem if it has no response yet; else the stream is
    /// reset.
    pub(super) fn refuse(self, surroundings: &Surroundings, problem: &Problem) -> ExchangeOutput {
        match self {
            Self::New | Self::Over => surroundings.reply(problem, None),
            Self::Waiting(request) => request.refuse(surroundings, problem),
            Self::Ready(exchange) => exchange.refuse(surroundings, problem),
        }
    }

    /// Bytes that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Waiting(request) => request.held(),
            Self::Ready(exchange) => exchange.held(),
            Self::New | Self::Over => 0,
        }
    }
}

/// What an input does in a new exchange.
fn take_first(surroundings: &Surroundings, input: ExchangeInput<'_>) -> (ExchangePhase, ExchangeOutput) {
    match input {
        ExchangeInput::RequestHead { head, peer, ends } => {
            WaitingRequest::begin(surroundings, head, peer, ends)
        }
        ExchangeInput::ResponseHead { head, from_upstream, .. } => {
            if response::is_envoys_own(&head, from_upstream) {
                return (ExchangePhase::Over, ExchangeOutput::default());
            }
            (ExchangePhase::Over, surroundings.reply(&response::unrequested(), None))
        }
        ExchangeInput::RequestBody { .. }
        | ExchangeInput::RequestTrailers(_)
        | ExchangeInput::Fetched { .. }
        | ExchangeInput::ResponseBody { .. } => (ExchangePhase::New, ExchangeOutput::hold()),
    }
}

/// What an input does in an exchange that is over.
fn take_last(input: &ExchangeInput<'_>) -> ExchangeOutput {
    match input {
        ExchangeInput::RequestHead { .. }
        | ExchangeInput::RequestBody { .. }
        | ExchangeInput::RequestTrailers(_)
        | ExchangeInput::Fetched { .. } => ExchangeOutput::hold(),
        ExchangeInput::ResponseHead { .. } | ExchangeInput::ResponseBody { .. } => ExchangeOutput::default(),
    }
}
