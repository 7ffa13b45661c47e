//! The HTTP context: one request and its response between Envoy's callbacks and the engine.

use std::borrow::Cow;

use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::http::{Exchange, Head, Peer, Reply};
use fieldveil_engine::ports::Level;
use fieldveil_shell::address::ip;
use fieldveil_shell::http::{self, At, Direction, Fields, Host, HttpExchange, Refused};
use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::{Action, BufferType, MapType, StreamType};

use crate::callouts::Callouts;
use crate::log::write_log;
use crate::shared::Shared;
use crate::{calls, claims};

/// One request and its response.
pub struct ExchangeContext {
    exchange: HttpExchange,
    envoy: EnvoyStream,
}

/// Envoy's half of it.
struct EnvoyStream {
    shared: Shared,
    callouts: Callouts,
    /// Bytes of the body that have come with this callback. None is fetched where there is none, as when nothing but the end has come.
    size: usize,
}

/// Asks OPA and the key agent for an exchange.
impl Context for EnvoyStream {}

impl ExchangeContext {
    /// A new stream.
    pub fn new(shared: Shared) -> Self {
        let envoy = EnvoyStream { shared, callouts: Callouts::default(), size: 0 };
        Self { exchange: HttpExchange::default(), envoy }
    }

    fn body(&mut self, direction: Direction, size: usize, end_of_stream: bool) -> Action {
        self.envoy.size = size;
        action(self.exchange.body(&mut self.envoy, direction, end_of_stream))
    }
}

fn action(action: http::Action) -> Action {
    match action {
        http::Action::Continue => Action::Continue,
        http::Action::Pause => Action::Pause,
    }
}

/// The head of a direction.
fn head(direction: Direction) -> MapType {
    match direction {
        Direction::Request => MapType::HttpRequestHeaders,
        Direction::Response => MapType::HttpResponseHeaders,
    }
}

/// The body of a direction.
fn buffer(direction: Direction) -> BufferType {
    match direction {
        Direction::Request => BufferType::HttpRequestBody,
        Direction::Response => BufferType::HttpResponseBody,
    }
}

fn property(path: Vec<&str>) -> Option<Vec<u8>> {
    hostcalls::get_property(path).ok().flatten()
}

impl Host for EnvoyStream {
    fn peer(&self) -> Result<Peer, Reply> {
        let source = ip(&property(vec!["source", "address"]).unwrap_or_default());
        let payload: &str = &self.shared.jwt_payload;
        let metadata = if payload.is_empty() { None } else { property(vec!["metadata"]) };
        let claims = metadata.and_then(|metadata| claims::verified(&metadata, payload));
        Ok(Peer { source, claims: claims.unwrap_or_default() })
    }

    fn fields(&self, fields: Fields) -> Head {
        let map = match fields {
            Fields::RequestHead => MapType::HttpRequestHeaders,
            Fields::RequestTrailers => MapType::HttpRequestTrailers,
            Fields::ResponseHead => MapType::HttpResponseHeaders,
        };
        Head(hostcalls::get_map_bytes(map).unwrap_or_default())
    }

    fn response_details(&self) -> Option<Vec<u8>> {
        property(vec!["response", "code_details"])
    }

    fn body(&self, direction: Direction) -> Cow<'_, [u8]> {
        if self.size == 0 {
            return Cow::Borrowed(b"");
        }
        let bytes = hostcalls::get_buffer(buffer(direction), 0, usize::MAX);
        Cow::Owned(bytes.ok().flatten().unwrap_or_default())
    }

    fn put_body(&mut self, direction: Direction, _at: At, bytes: &[u8]) -> Result<(), Refused> {
        calls::set_body(buffer(direction), bytes)
    }

    fn set_field(&mut self, direction: Direction, name: &str, value: &[u8]) -> Result<(), Refused> {
        calls::set_header(head(direction), name, value)
    }

    fn add_field(&mut self, direction: Direction, name: &str, value: &[u8]) -> Result<(), Refused> {
        calls::add_header(head(direction), name, value)
    }

    fn remove_field(&mut self, direction: Direction, name: &str) -> Result<(), Refused> {
        calls::remove_header(head(direction), name)
    }

    fn reply(&mut self, reply: &Reply) -> Result<(), Refused> {
        let headers = reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        hostcalls::send_http_response(u32::from(reply.status), headers, Some(&reply.body))
            .map_err(|_| Refused)
    }

    fn reset(&mut self) -> Result<(), Refused> {
        // Envoy cuts both directions, whichever is named.
        calls::reset(StreamType::HttpRequest)
    }

    fn fetch(&mut self, fetch: Fetch) -> Result<(), (Fetch, String)> {
        let mut callouts = std::mem::take(&mut self.callouts);
        let sent = callouts.send(self, &self.shared.worker.borrow(), fetch);
        self.callouts = callouts;
        sent.map(|_| ())
    }

    fn has_asked(&mut self) {
        self.shared.keep_budgets();
    }

    fn log(&self, level: Level, line: &str) {
        write_log(level, line);
    }
}

impl Context for ExchangeContext {
    fn on_http_call_response(&mut self, token: u32, headers: usize, body_size: usize, _trailers: usize) {
        let Self { exchange, envoy } = self;
        let mut callouts = std::mem::take(&mut envoy.callouts);
        let received =
            callouts.receive(envoy, &mut envoy.shared.worker.borrow_mut(), token, (headers, body_size));
        envoy.callouts = callouts;
        let Some((fetch, result)) = received else { return };
        if exchange.answered(envoy, &fetch, result) == Some(http::Action::Continue)
            && calls::resume(StreamType::HttpRequest).is_err()
        {
            exchange.cut(envoy);
        }
    }

    fn on_done(&mut self) -> bool {
        self.exchange.end();
        true
    }
}

impl HttpContext for ExchangeContext {
    fn on_http_request_headers(&mut self, _headers: usize, end_of_stream: bool) -> Action {
        let shared = &self.envoy.shared;
        let exchange = Exchange::new(shared.worker.clone(), shared.ports.clone());
        action(self.exchange.request_head(&mut self.envoy, exchange, end_of_stream))
    }

    fn on_http_request_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.body(Direction::Request, size, end_of_stream)
    }

    fn on_http_request_trailers(&mut self, _trailers: usize) -> Action {
        action(self.exchange.request_trailers(&mut self.envoy))
    }

    fn on_http_response_headers(&mut self, _headers: usize, end_of_stream: bool) -> Action {
        action(self.exchange.response_head(&mut self.envoy, end_of_stream))
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.body(Direction::Response, size, end_of_stream)
    }

    fn on_http_response_trailers(&mut self, _trailers: usize) -> Action {
        action(self.exchange.response_trailers(&mut self.envoy))
    }
}
