//! How far one direction of an exchange has come in Envoy, and what that lets the shell do.

use super::{Action, At, Direction, Host};

/// What is put back at once after a pause, at most: half of what the shipped configuration lets Envoy buffer of one
/// body (`request_body_buffer_limit`). Beyond that Envoy would answer inside of the call, and end the WebAssembly module.
const MAX_PUT_BACK: usize = 32 << 20;

/// How far a direction has come.
pub struct Progress {
    direction: Direction,
    /// Its head came by.
    pub seen: bool,
    /// Its head has left, and can't be changed.
    pub head_left: bool,
    /// The body's hook has paused: Envoy keeps a buffer, which is empty.
    paused: bool,
}

impl Progress {
    /// At the beginning.
    pub fn new(direction: Direction) -> Self {
        Self { direction, seen: false, head_left: false, paused: false }
    }

    /// Everything so far goes on, with `body` in place of what was given, if any.
    pub fn let_go(
        &mut self,
        host: &mut impl Host,
        at: At,
        body: Option<Vec<u8>>,
    ) -> Result<Action, &'static str> {
        match (at, body) {
            (At::Body, Some(body)) => {
                if self.paused && body.len() > MAX_PUT_BACK {
                    return Err("a body that was held became too large to let go");
                }
                self.put(host, at, &body)?;
            }
            (At::Trailers | At::Answer, Some(body)) if !body.is_empty() => {
                if !self.paused {
                    return Err("bytes were left behind the end of a body");
                }
                if body.len() > MAX_PUT_BACK {
                    return Err("a body that was held became too large to let go");
                }
                self.put(host, at, &body)?;
            }
            // A body that is not there has nothing to be replaced.
            _ => {}
        }
        self.head_left = true;
        self.paused = false;
        Ok(Action::Continue)
    }

    /// Nothing goes on, and the exchange has taken what was given.
    pub fn keep(&mut self, host: &mut impl Host, at: At) -> Result<Action, &'static str> {
        if at == At::Body {
            self.put(host, at, b"")?;
            self.paused = true;
        }
        Ok(Action::Pause)
    }

    fn put(&self, host: &mut impl Host, at: At, bytes: &[u8]) -> Result<(), &'static str> {
        host.put_body(self.direction, at, bytes).map_err(|_| "Envoy did not take the bytes of a body")
    }
}
