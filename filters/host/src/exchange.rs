//! The HTTP context: one request and its response between Envoy's callbacks and the engine.
//!
//! While an exchange holds or waits, its bytes are its own: each callback empties Envoy's buffer and pauses, and the call that
//! lets go puts everything back. Envoy's limit of a buffer would otherwise answer for us, in the middle of a callback.

use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::http::{Edit, Exchange, ExchangeOutput, Flow, Head, Peer, Reply};
use fieldveil_engine::ports::Level;
use fieldveil_shell::address::ip;
use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::{Action, MapType, StreamType};

use crate::callouts::Callouts;
use crate::claims;
use crate::direction::{At, Direction, Progress};
use crate::log::write_log;
use crate::shared::Shared;
use crate::{answers, calls};

/// What Envoy says of an answer that the service gave, and nothing between.
const VIA_UPSTREAM: &[u8] = b"via_upstream";

/// One request and its response.
pub struct HttpExchange {
    shared: Shared,
    /// There from the request's head on.
    exchange: Option<Exchange>,
    callouts: Callouts,
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

impl HttpExchange {
    /// A new stream.
    pub fn new(shared: Shared) -> Self {
        Self {
            shared,
            exchange: None,
            callouts: Callouts::default(),
            request: Progress::new(Direction::Request),
            response: Progress::new(Direction::Response),
            ended: Ended::No,
        }
    }

    fn progress(&mut self, direction: Direction) -> &mut Progress {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    fn peer(&self) -> Peer {
        let property = |path| hostcalls::get_property(path).ok().flatten().unwrap_or_default();
        let source = ip(&property(vec!["source", "address"]));
        let payload: &str = &self.shared.jwt_payload;
        let claims =
            if payload.is_empty() { None } else { claims::verified(&property(vec!["metadata"]), payload) };
        Peer { source, claims: claims.unwrap_or_default() }
    }

    /// What the exchange says to something that Envoy brings; nothing where there is none, or it is over.
    fn ask(&mut self, say: impl FnOnce(&mut Exchange) -> ExchangeOutput) -> Option<ExchangeOutput> {
        if self.ended != Ended::No {
            return None;
        }
        let output = self.exchange.as_mut().map(say);
        self.shared.keep_budgets();
        output
    }

    /// Does what the exchange wishes at a point of one direction.
    fn carry_out(&mut self, direction: Direction, at: At, output: ExchangeOutput) -> Action {
        let mut output = output;
        let mut edits = std::mem::take(&mut output.head);
        while let Some((fetch, reason)) = self.fetch(&mut output) {
            let Some(next) = self.answered(&fetch, Err(reason)) else { break };
            let unsent = std::mem::replace(&mut output, next).fetch;
            output.fetch.extend(unsent);
            edits.append(&mut output.head);
        }
        if output.reset {
            return self.cut(direction);
        }
        if let Some(reply) = output.reply.take() {
            return self.reply(direction, &reply);
        }
        let progress = self.progress(direction);
        if !progress.head_left && edit(direction, &edits).is_err() {
            return self.fail(direction, "Envoy did not take a change of a head");
        }
        let placed = match output.flow {
            Flow::Continue => self.progress(direction).let_go(at, output.body),
            Flow::Hold | Flow::Wait => self.progress(direction).keep(at),
        };
        match placed {
            Ok(action) => action,
            Err(reason) => self.fail(direction, reason),
        }
    }

    /// Sends what the exchange wants fetched, up to the first that Envoy does not take.
    fn fetch(&mut self, output: &mut ExchangeOutput) -> Option<(Fetch, String)> {
        let mut wanted = std::mem::take(&mut output.fetch).into_iter();
        for fetch in wanted.by_ref() {
            let mut callouts = std::mem::take(&mut self.callouts);
            let sent = callouts.send(self, &self.shared.worker.borrow(), fetch);
            self.callouts = callouts;
            if let Err(failed) = sent {
                output.fetch = wanted.collect();
                return Some(failed);
            }
        }
        None
    }

    fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) -> Option<ExchangeOutput> {
        if let Err(reason) = &result {
            write_log(Level::Warn, &format!("{} could not be had: {reason}", fetch.part()));
        }
        self.ask(|exchange| exchange.answered(fetch, result))
    }

    /// Answers the client. Where the answer's head has left, Envoy makes a reset of it.
    fn reply(&mut self, direction: Direction, reply: &Reply) -> Action {
        let headers = reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let sent = hostcalls::send_http_response(u32::from(reply.status), headers, Some(&reply.body));
        let is_next = direction == Direction::Request && !self.response.seen;
        self.ended = if sent.is_ok() && is_next { Ended::Answered } else { Ended::Cut };
        Action::Pause
    }

    /// Cuts the stream: what was begun must not look complete.
    fn cut(&mut self, direction: Direction) -> Action {
        self.ended = Ended::Cut;
        // Envoy cuts both directions, whichever is named.
        if calls::reset(direction.stream()).is_err() {
            write_log(Level::Error, "Envoy did not take the reset of a stream; nothing more of it passes");
        }
        Action::Pause
    }

    /// The host could not do what the exchange wished.
    fn fail(&mut self, direction: Direction, reason: &'static str) -> Action {
        write_log(Level::Error, reason);
        let too_late = direction == Direction::Response && self.response.head_left;
        if too_late { self.cut(direction) } else { self.reply(direction, &answers::too_large(direction)) }
    }

    /// `size` bytes of a body have come. None is fetched where there is none, as when nothing but the end has come.
    fn body(&mut self, direction: Direction, size: usize, end_of_stream: bool) -> Action {
        let passes = self.exchange.as_ref().is_some_and(|exchange| match direction {
            Direction::Request => exchange.lets_request_pass(),
            Direction::Response => exchange.lets_response_pass(),
        });
        if passes && self.ended == Ended::No {
            return Action::Continue;
        }
        let fetch = || hostcalls::get_buffer(direction.buffer(), 0, usize::MAX).ok().flatten();
        let bytes = if size == 0 { Vec::new() } else { fetch().unwrap_or_default() };
        let output = self.ask(|exchange| match direction {
            Direction::Request => exchange.request_body(&bytes, end_of_stream),
            Direction::Response => exchange.response_body(&bytes, end_of_stream),
        });
        drop(bytes);
        match output {
            Some(output) => self.carry_out(direction, At::Body, output),
            None => self.passing(direction),
        }
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

/// Makes the changes of a head.
fn edit(direction: Direction, edits: &[Edit]) -> Result<(), calls::Refused> {
    let map = direction.head();
    for edit in edits {
        match edit {
            Edit::Set(name, value) => {
                // Pseudo headers are there once, and may not be missing in between.
                if !name.starts_with(':') {
                    calls::remove_header(map, name)?;
                }
                calls::set_header(map, name, value)?;
            }
            Edit::Add(name, value) => calls::add_header(map, name, value)?,
            Edit::Remove(name) => calls::remove_header(map, name)?,
        }
    }
    Ok(())
}

/// Whether the service gave the response. What cannot be told apart is taken for the service's.
fn is_from_upstream() -> bool {
    let details = hostcalls::get_property(vec!["response", "code_details"]).ok().flatten();
    details.is_none_or(|details| details == VIA_UPSTREAM)
}

fn head(map: MapType) -> Head {
    Head(hostcalls::get_map_bytes(map).unwrap_or_default())
}

impl Context for HttpExchange {
    fn on_http_call_response(&mut self, token: u32, headers: usize, body_size: usize, _trailers: usize) {
        let mut callouts = std::mem::take(&mut self.callouts);
        let received =
            callouts.receive(self, &mut self.shared.worker.borrow_mut(), token, (headers, body_size));
        self.callouts = callouts;
        let Some((fetch, result)) = received else { return };
        let Some(output) = self.answered(&fetch, result) else { return };
        if self.carry_out(Direction::Request, At::Answer, output) == Action::Continue
            && calls::resume(StreamType::HttpRequest).is_err()
        {
            self.cut(Direction::Request);
        }
    }

    fn on_done(&mut self) -> bool {
        if let Some(exchange) = &mut self.exchange {
            exchange.end();
        }
        true
    }
}

impl HttpContext for HttpExchange {
    fn on_http_request_headers(&mut self, _headers: usize, end_of_stream: bool) -> Action {
        let peer = self.peer();
        let shared = &self.shared;
        self.exchange = Some(Exchange::new(shared.worker.clone(), shared.ports.clone()));
        let head = head(MapType::HttpRequestHeaders);
        match self.ask(|exchange| exchange.request_head(head, peer, end_of_stream)) {
            Some(output) => self.carry_out(Direction::Request, At::Head, output),
            None => Action::Pause,
        }
    }

    fn on_http_request_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.body(Direction::Request, size, end_of_stream)
    }

    fn on_http_request_trailers(&mut self, _trailers: usize) -> Action {
        let trailers = head(MapType::HttpRequestTrailers);
        match self.ask(|exchange| exchange.request_trailers(trailers)) {
            Some(output) => self.carry_out(Direction::Request, At::Trailers, output),
            None => self.passing(Direction::Request),
        }
    }

    fn on_http_response_headers(&mut self, _headers: usize, end_of_stream: bool) -> Action {
        self.response.seen = true;
        let is_read =
            self.ended == Ended::No && self.exchange.as_ref().is_some_and(Exchange::reads_response_head);
        let answer = if is_read { head(MapType::HttpResponseHeaders) } else { Head::default() };
        let from_upstream = answer.is_success() || is_from_upstream();
        match self.ask(|exchange| exchange.response_head(answer, from_upstream, end_of_stream)) {
            Some(output) => self.carry_out(Direction::Response, At::Head, output),
            None => self.passing(Direction::Response),
        }
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.body(Direction::Response, size, end_of_stream)
    }

    fn on_http_response_trailers(&mut self, _trailers: usize) -> Action {
        match self.ask(Exchange::response_trailers) {
            Some(output) => self.carry_out(Direction::Response, At::Trailers, output),
            None => self.passing(Direction::Response),
        }
    }
}
