//! How far one direction of an exchange has come in Envoy, and what that lets the host do.

use proxy_wasm::types::{Action, BufferType, MapType, StreamType};

use crate::calls;

/// What is put back at once after a pause, at most: half of what the shipped configuration lets Envoy buffer of one
/// body (`request_body_buffer_limit`). Beyond that Envoy would answer inside of the call, and end the module.
const MAX_PUT_BACK: usize = 32 << 20;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the service.
    Request,
    /// Towards the client.
    Response,
}

impl Direction {
    /// Its head.
    pub fn head(self) -> MapType {
        match self {
            Self::Request => MapType::HttpRequestHeaders,
            Self::Response => MapType::HttpResponseHeaders,
        }
    }

    /// Its body.
    pub fn buffer(self) -> BufferType {
        match self {
            Self::Request => BufferType::HttpRequestBody,
            Self::Response => BufferType::HttpResponseBody,
        }
    }

    /// Itself.
    pub fn stream(self) -> StreamType {
        match self {
            Self::Request => StreamType::HttpRequest,
            Self::Response => StreamType::HttpResponse,
        }
    }
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

/// How far a direction has come.
pub struct Progress {
    direction: Direction,
    /// Its head came by.
    pub seen: bool,
    /// Its head has left, and can't be changed.
    pub head_left: bool,
    /// The body's callback has paused: Envoy keeps a buffer, which is empty.
    paused: bool,
}

impl Progress {
    /// At the beginning.
    pub fn new(direction: Direction) -> Self {
        Self { direction, seen: false, head_left: false, paused: false }
    }

    /// Everything so far goes on, with `body` in place of what was given, if any.
    pub fn let_go(&mut self, at: At, body: Option<Vec<u8>>) -> Result<Action, &'static str> {
        match (at, body) {
            (At::Body, Some(body)) => {
                if self.paused && body.len() > MAX_PUT_BACK {
                    return Err("a body that was held became too large to let go");
                }
                self.put(&body)?;
            }
            (At::Trailers | At::Answer, Some(body)) if !body.is_empty() => {
                if !self.paused {
                    return Err("bytes were left behind the end of a body");
                }
                if body.len() > MAX_PUT_BACK {
                    return Err("a body that was held became too large to let go");
                }
                self.put(&body)?;
            }
            // A body that is not there has nothing to be replaced.
            _ => {}
        }
        self.head_left = true;
        self.paused = false;
        Ok(Action::Continue)
    }

    /// Nothing goes on, and the exchange has taken what was given.
    pub fn keep(&mut self, at: At) -> Result<Action, &'static str> {
        if at == At::Body {
            self.put(b"")?;
            self.paused = true;
        }
        Ok(Action::Pause)
    }

    fn put(&self, bytes: &[u8]) -> Result<(), &'static str> {
        calls::set_body(self.direction.buffer(), bytes).map_err(|_| "Envoy did not take the bytes of a body")
    }
}
