//! One request and its response between the hooks of an HTTP filter and the engine, for both shells.
//!
//! While an exchange holds or waits, its bytes are its own: each hook empties Envoy's buffer and pauses, and the hook that lets go
//! puts everything back. Envoy's limit of a buffer would otherwise answer for us, in the middle of a hook.

mod progress;
pub mod replies;

use std::borrow::Cow;

use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::http::{Edit, Exchange, ExchangeOutput, Flow, Head, Peer, Reply};
use fieldveil_engine::ports::Level;

use self::progress::Progress;

/// What Envoy says of an answer that the service gave, and nothing between.
const VIA_UPSTREAM: &[u8] = b"via_upstream";

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the service.
    Request,
    /// Towards the client.
    Response,
}

/// A set of header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// Of the head of a request.
    RequestHead,
    /// Of the trailers of a request.
    RequestTrailers,
    /// Of the head of a response.
    ResponseHead,
}

/// What Envoy is calling for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The head.
    Head,
    /// Bytes of the body.
    Body,
    /// The trailers.
    Trailers,
    /// An answer of OPA or of the key agent.
    Answer,
}

/// What a hook tells Envoy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// What came passes on.
    Continue,
    /// It stays.
    Pause,
}

/// Envoy did not do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// What an exchange needs of Envoy in a hook.
pub trait Host {
    /// Who asks, or what is answered where Envoy can't tell.
    fn peer(&self) -> Result<Peer, Reply>;
    /// Header fields, in order.
    fn fields(&self, fields: Fields) -> Head;
    /// Why there is a response; None where that is not known.
    fn response_details(&self) -> Option<Vec<u8>>;
    /// The bytes of a body that have come, in the hook of those.
    fn body(&self, direction: Direction) -> Cow<'_, [u8]>;
    /// Puts bytes in their place; in another hook, into the buffer of a body whose hook has paused.
    fn put_body(&mut self, direction: Direction, at: At, bytes: &[u8]) -> Result<(), Refused>;
    /// All occurrences of a header field of a head give way to one.
    fn set_field(&mut self, direction: Direction, name: &str, value: &[u8]) -> Result<(), Refused>;
    /// One more occurrence of a header field.
    fn add_field(&mut self, direction: Direction, name: &str, value: &[u8]) -> Result<(), Refused>;
    /// All occurrences of a header field go.
    fn remove_field(&mut self, direction: Direction, name: &str) -> Result<(), Refused>;
    /// Answers the client. Where the answer's head has left, Envoy makes a reset of it.
    fn reply(&mut self, reply: &Reply) -> Result<(), Refused>;
    /// Cuts both directions.
    fn reset(&mut self) -> Result<(), Refused>;
    /// Has something fetched. The error says why that can't be.
    fn fetch(&mut self, fetch: Fetch) -> Result<(), (Fetch, String)>;
    /// The engine has said what becomes of what came; nothing of that is done yet.
    fn has_asked(&mut self) {}
    /// Writes a line of the log.
    fn log(&self, level: Level, line: &str);
}

/// One request and its response.
pub struct HttpExchange {
    /// There from the request's head on.
    exchange: Option<Exchange>,
    request: Progress,
    response: Progress,
    ended: Ended,
}

/// Whether anything else may pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It goes on.
    No,
    /// The filter has answered the request: the next response to come is that answer, and passes.
    Answered,
    /// Nothing passes any more.
    Cut,
}

impl Default for HttpExchange {
    fn default() -> Self {
        Self {
            exchange: None,
            request: Progress::new(Direction::Request),
            response: Progress::new(Direction::Response),
            ended: Ended::No,
        }
    }
}

impl HttpExchange {
    /// The request's head has come, for this exchange.
    pub fn request_head(&mut self, host: &mut impl Host, exchange: Exchange, end_of_stream: bool) -> Action {
        let peer = match host.peer() {
            Ok(peer) => peer,
            Err(reply) => return self.reply(host, Direction::Request, &reply),
        };
        let head = host.fields(Fields::RequestHead);
        self.exchange = Some(exchange);
        match self.ask(host, |exchange| exchange.request_head(head, peer, end_of_stream)) {
            Some(output) => self.carry_out(host, Direction::Request, At::Head, output),
            None => Action::Pause,
        }
    }

    /// Bytes of a body have come, or its end alone.
    pub fn body(&mut self, host: &mut impl Host, direction: Direction, end_of_stream: bool) -> Action {
        let passes = self.exchange.as_ref().is_some_and(|exchange| match direction {
            Direction::Request => exchange.lets_request_pass(),
            Direction::Response => exchange.lets_response_pass(),
        });
        if passes && self.ended == Ended::No {
            return Action::Continue;
        }
        match self.read_body(host, direction, end_of_stream) {
            Some(output) => self.carry_out(host, direction, At::Body, output),
            None => self.passing(direction),
        }
    }

    /// The request's trailers have come.
    pub fn request_trailers(&mut self, host: &mut impl Host) -> Action {
        let trailers = host.fields(Fields::RequestTrailers);
        match self.ask(host, |exchange| exchange.request_trailers(trailers)) {
            Some(output) => self.carry_out(host, Direction::Request, At::Trailers, output),
            None => self.passing(Direction::Request),
        }
    }

    /// The response's head has come.
    pub fn response_head(&mut self, host: &mut impl Host, end_of_stream: bool) -> Action {
        self.response.seen = true;
        let is_read =
            self.ended == Ended::No && self.exchange.as_ref().is_some_and(Exchange::reads_response_head);
        let answer = if is_read { host.fields(Fields::ResponseHead) } else { Head::default() };
        // What cannot be told apart is taken for the service's.
        let from_upstream =
            answer.is_success() || host.response_details().is_none_or(|details| details == VIA_UPSTREAM);
        match self.ask(host, |exchange| exchange.response_head(answer, from_upstream, end_of_stream)) {
            Some(output) => self.carry_out(host, Direction::Response, At::Head, output),
            None => self.passing(Direction::Response),
        }
    }

    /// The response's trailers have come.
    pub fn response_trailers(&mut self, host: &mut impl Host) -> Action {
        match self.ask(host, Exchange::response_trailers) {
            Some(output) => self.carry_out(host, Direction::Response, At::Trailers, output),
            None => self.passing(Direction::Response),
        }
    }

    /// A fetch has ended. [`Action::Continue`]: the request, which was paused, continues.
    pub fn answered(
        &mut self,
        host: &mut impl Host,
        fetch: &Fetch,
        result: Result<(), String>,
    ) -> Option<Action> {
        let output = self.take_answer(host, fetch, result)?;
        Some(self.carry_out(host, Direction::Request, At::Answer, output))
    }

    /// Cuts the stream: what was begun must not look complete.
    pub fn cut(&mut self, host: &mut impl Host) -> Action {
        self.ended = Ended::Cut;
        if host.reset().is_err() {
            host.log(Level::Error, "Envoy did not take the reset of a stream; nothing more of it passes");
        }
        Action::Pause
    }

    /// It is over, however.
    pub fn end(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.end();
        }
    }

    fn progress(&mut self, direction: Direction) -> &mut Progress {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    /// What the exchange says to something that Envoy brings; nothing where there is none, or it is over.
    fn ask(
        &mut self,
        host: &mut impl Host,
        say: impl FnOnce(&mut Exchange) -> ExchangeOutput,
    ) -> Option<ExchangeOutput> {
        if self.ended != Ended::No {
            return None;
        }
        let output = self.exchange.as_mut().map(say);
        host.has_asked();
        output
    }

    fn read_body(
        &mut self,
        host: &mut impl Host,
        direction: Direction,
        end_of_stream: bool,
    ) -> Option<ExchangeOutput> {
        if self.ended != Ended::No {
            return None;
        }
        let exchange = self.exchange.as_mut()?;
        let bytes = host.body(direction);
        let output = match direction {
            Direction::Request => exchange.request_body(&bytes, end_of_stream),
            Direction::Response => exchange.response_body(&bytes, end_of_stream),
        };
        drop(bytes);
        host.has_asked();
        Some(output)
    }

    fn take_answer(
        &mut self,
        host: &mut impl Host,
        fetch: &Fetch,
        result: Result<(), String>,
    ) -> Option<ExchangeOutput> {
        if let Err(reason) = &result {
            host.log(Level::Warn, &format!("{} could not be had: {reason}", fetch.part()));
        }
        self.ask(host, |exchange| exchange.answered(fetch, result))
    }

    /// Does what the exchange wishes at a point of one direction.
    fn carry_out(
        &mut self,
        host: &mut impl Host,
        direction: Direction,
        at: At,
        mut output: ExchangeOutput,
    ) -> Action {
        let mut edits = std::mem::take(&mut output.head);
        while let Some((fetch, reason)) = fetch(host, &mut output) {
            let Some(next) = self.take_answer(host, &fetch, Err(reason)) else { break };
            let unsent = std::mem::replace(&mut output, next).fetch;
            output.fetch.extend(unsent);
            edits.append(&mut output.head);
        }
        if output.reset {
            return self.cut(host);
        }
        if let Some(reply) = output.reply.take() {
            return self.reply(host, direction, &reply);
        }
        if !self.progress(direction).head_left && edit(host, direction, &edits).is_err() {
            return self.fail(host, direction, "Envoy did not take a change of a head");
        }
        let placed = match output.flow {
            Flow::Continue => self.progress(direction).let_go(host, at, output.body),
            Flow::Hold | Flow::Wait => self.progress(direction).keep(host, at),
        };
        match placed {
            Ok(action) => action,
            Err(reason) => self.fail(host, direction, reason),
        }
    }

    fn reply(&mut self, host: &mut impl Host, direction: Direction, reply: &Reply) -> Action {
        let sent = host.reply(reply);
        let is_next = direction == Direction::Request && !self.response.seen;
        self.ended = if sent.is_ok() && is_next { Ended::Answered } else { Ended::Cut };
        Action::Pause
    }

    /// The shell could not do what the exchange wished.
    fn fail(&mut self, host: &mut impl Host, direction: Direction, reason: &'static str) -> Action {
        host.log(Level::Error, reason);
        let too_late = direction == Direction::Response && self.response.head_left;
        if too_late { self.cut(host) } else { self.reply(host, direction, &replies::too_large(direction)) }
    }

    /// Where the exchange is not asked.
    fn passing(&self, direction: Direction) -> Action {
        match (self.ended, direction) {
            (Ended::Answered, Direction::Response) => Action::Continue,
            // Without a request's head there is nothing that was answered but by Envoy itself.
            (Ended::No, Direction::Response) if self.exchange.is_none() => Action::Continue,
            _ => Action::Pause,
        }
    }
}

/// Has fetched what the exchange wants, up to the first that can't be.
fn fetch(host: &mut impl Host, output: &mut ExchangeOutput) -> Option<(Fetch, String)> {
    let mut wanted = std::mem::take(&mut output.fetch).into_iter();
    for fetch in wanted.by_ref() {
        if let Err(failed) = host.fetch(fetch) {
            output.fetch = wanted.collect();
            return Some(failed);
        }
    }
    None
}

/// Makes the changes of a head.
fn edit(host: &mut impl Host, direction: Direction, edits: &[Edit]) -> Result<(), Refused> {
    for edit in edits {
        match edit {
            Edit::Set(name, value) => {
                // Pseudo headers are there once, and may not be missing in between.
                if !name.starts_with(':') {
                    host.remove_field(direction, name)?;
                }
                host.set_field(direction, name, value)?;
            }
            Edit::Add(name, value) => host.add_field(direction, name, value)?,
            Edit::Remove(name) => host.remove_field(direction, name)?,
        }
    }
    Ok(())
}
