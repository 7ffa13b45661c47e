//! One request and its response, as the hooks of Envoy's HTTP filter see them.
//!
//! What may call back into these hooks, or end the stream and with it this, is done when the exchange is free again: to answer, to
//! cut, to let a paused request continue. Envoy has a filter object of its own for each stream, here "Envoy's half".

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::http::{Exchange, Head, Peer, Reply};
use fieldveil_engine::ports::Level;
use fieldveil_shell::address::ip;
use fieldveil_shell::http::{Action, At, Direction, Fields, Host, HttpExchange, Refused};

use crate::claims;
use crate::envoy::HttpFilter;
use crate::log::write_log;
use crate::memory;
use crate::waiter::Waiter;
use crate::worker::ThreadWorker;

/// A stream of HTTP, as Envoy's hooks see it. Envoy may destroy its half within any of these calls; the module then says so by
/// [`ExchangeStream::destroyed`], and keeps this until the call returns.
pub struct ExchangeStream {
    filter: Box<dyn HttpFilter>,
    worker: Rc<ThreadWorker>,
    state: RefCell<ExchangeState>,
    /// The client was answered by the filter or by Envoy: what comes of a response is that answer.
    answered: Cell<bool>,
    /// A response's head has come.
    has_response: Cell<bool>,
    /// Nothing passes any more.
    failed: Cell<bool>,
    /// Envoy's half is gone.
    gone: Cell<bool>,
}

#[derive(Default)]
struct ExchangeState {
    exchange: HttpExchange,
    /// There when the exchange has waited for something.
    waiter: Option<Arc<Waiter>>,
}

/// What is done when the exchange is free again.
#[derive(Default)]
enum Then {
    #[default]
    Nothing,
    Reply(Reply),
    Reset,
}

impl ExchangeStream {
    /// A new stream.
    pub fn new(worker: Rc<ThreadWorker>, filter: Box<dyn HttpFilter>) -> Self {
        Self {
            filter,
            worker,
            state: RefCell::default(),
            answered: Cell::new(false),
            has_response: Cell::new(false),
            failed: Cell::new(false),
            gone: Cell::new(false),
        }
    }

    /// The request's head has come.
    pub fn request_head(&self, end_of_stream: bool) -> Action {
        self.run(Direction::Request, |exchange, host| {
            let worker = &host.stream.worker;
            let new = Exchange::new(Rc::clone(&worker.worker), worker.exchange_ports());
            exchange.request_head(host, new, end_of_stream)
        })
    }

    /// Bytes of a body have come, or its end.
    pub fn body(&self, direction: Direction, end_of_stream: bool) -> Action {
        self.run(direction, |exchange, host| exchange.body(host, direction, end_of_stream))
    }

    /// The request's trailers have come.
    pub fn request_trailers(&self) -> Action {
        self.run(Direction::Request, |exchange, host| exchange.request_trailers(host))
    }

    /// The response's head has come.
    pub fn response_head(&self, end_of_stream: bool) -> Action {
        self.run(Direction::Response, |exchange, host| {
            host.stream.has_response.set(true);
            exchange.response_head(host, end_of_stream)
        })
    }

    /// The response's trailers have come.
    pub fn response_trailers(&self) -> Action {
        self.run(Direction::Response, |exchange, host| exchange.response_trailers(host))
    }

    /// Another thread woke it.
    pub fn woken(&self) {
        let waiter = self.state.try_borrow().ok().and_then(|state| state.waiter.clone());
        for (fetch, result) in waiter.map(|waiter| waiter.take_fetched()).unwrap_or_default() {
            let mut answer = Some(result);
            let action = self.run(Direction::Request, |exchange, host| {
                let answered = answer.take().and_then(|result| exchange.answered(host, &fetch, result));
                answered.unwrap_or(Action::Pause)
            });
            if action == Action::Continue && !self.gone.get() {
                self.filter.continue_request();
            }
        }
    }

    /// A hook panicked: the stream is cut.
    pub fn fail(&self) {
        if !self.failed.replace(true) && !self.gone.get() {
            self.filter.reset();
        }
    }

    /// It is over, however. Envoy destroys its half later, and of many at once.
    pub fn end(&self) {
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.exchange.end();
        }
    }

    /// Envoy's half is gone.
    pub fn destroyed(&self) {
        self.gone.set(true);
    }

    fn run(
        &self,
        direction: Direction,
        hook: impl FnOnce(&mut HttpExchange, &mut HookHost<'_>) -> Action,
    ) -> Action {
        if self.answered.get() {
            return if direction == Direction::Response { Action::Continue } else { Action::Pause };
        }
        if self.failed.get() || self.gone.get() {
            return Action::Pause;
        }
        let Ok(mut state) = self.state.try_borrow_mut() else {
            // In the middle of a hook nothing can come but Envoy's own answer, to something that it could not do.
            let is_answer = direction == Direction::Response && !self.has_response.get();
            if is_answer {
                self.answered.set(true)
            } else {
                self.failed.set(true)
            }
            return self.run(direction, hook);
        };
        memory::look();
        let ExchangeState { exchange, waiter } = &mut *state;
        let mut host = HookHost { stream: self, waiter, then: Then::Nothing };
        let action = hook(exchange, &mut host);
        let then = mem::take(&mut host.then);
        drop(state);
        self.worker.publish_when_due();
        if self.gone.get() || self.answered.get() {
            return Action::Pause;
        }
        match then {
            Then::Nothing => return action,
            Then::Reply(reply) => self.reply(&reply),
            Then::Reset => self.fail(),
        }
        Action::Pause
    }

    /// Answers the client.
    fn reply(&self, reply: &Reply) {
        if self.has_response.get() {
            // Envoy puts the answer in its place, past these hooks, or cuts it. What else comes of the service's may not pass.
            self.failed.set(true);
            self.filter.reply(reply.status, &reply.headers, &reply.body);
            return;
        }
        self.answered.set(true);
        // Envoy makes a success of what it answers to gRPC by itself, unless it is told a status of gRPC.
        let fields = self.filter.fields(Fields::RequestHead);
        let is_grpc = |(name, value): &(String, Vec<u8>)| {
            name == "content-type" && value.starts_with(b"application/grpc")
        };
        if fields.iter().any(is_grpc) {
            self.filter.respond(reply.status, &reply.headers, &reply.body);
        } else {
            self.filter.reply(reply.status, &reply.headers, &reply.body);
        }
    }
}

impl Drop for ExchangeStream {
    fn drop(&mut self) {
        self.state.get_mut().exchange.end();
        self.worker.publish();
    }
}

/// Envoy, in one hook of a stream.
struct HookHost<'s> {
    stream: &'s ExchangeStream,
    waiter: &'s mut Option<Arc<Waiter>>,
    then: Then,
}

/// What Envoy says of a call.
fn done(did: bool) -> Result<(), Refused> {
    if did { Ok(()) } else { Err(Refused) }
}

/// The header fields of a direction's head.
fn head(direction: Direction) -> Fields {
    match direction {
        Direction::Request => Fields::RequestHead,
        Direction::Response => Fields::ResponseHead,
    }
}

impl Host for HookHost<'_> {
    fn peer(&self) -> Result<Peer, Reply> {
        let filter = &self.stream.filter;
        let source = ip(&filter.source());
        if !self.stream.worker.has_claims() {
            return Ok(Peer { source, ..Peer::default() });
        }
        let claims = claims::verified(filter.claims().as_deref())?;
        Ok(Peer { source, claims })
    }

    fn fields(&self, fields: Fields) -> Head {
        Head(self.stream.filter.fields(fields))
    }

    fn response_details(&self) -> Option<Vec<u8>> {
        self.stream.filter.response_details()
    }

    fn body(&self, direction: Direction) -> Cow<'_, [u8]> {
        self.stream.filter.body(direction)
    }

    fn put_body(&mut self, direction: Direction, at: At, bytes: &[u8]) -> Result<(), Refused> {
        done(match at {
            At::Body => self.stream.filter.replace_body(direction, bytes),
            At::Head | At::Trailers | At::Answer => self.stream.filter.append_held_body(direction, bytes),
        })
    }

    fn set_field(&mut self, direction: Direction, name: &str, value: &[u8]) -> Result<(), Refused> {
        done(self.stream.filter.set_field(head(direction), name, Some(value)))
    }

    fn add_field(&mut self, direction: Direction, name: &str, value: &[u8]) -> Result<(), Refused> {
        done(self.stream.filter.add_field(head(direction), name, value))
    }

    fn remove_field(&mut self, direction: Direction, name: &str) -> Result<(), Refused> {
        done(self.stream.filter.set_field(head(direction), name, None))
    }

    fn reply(&mut self, reply: &Reply) -> Result<(), Refused> {
        self.then = Then::Reply(reply.clone());
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Refused> {
        self.then = Then::Reset;
        Ok(())
    }

    fn fetch(&mut self, fetch: Fetch) -> Result<(), (Fetch, String)> {
        let waker = || Arc::new(Waiter::new(self.stream.filter.waker()));
        let waiter = self.waiter.get_or_insert_with(waker);
        self.stream.worker.sidecar.wait(fetch, waiter);
        Ok(())
    }

    fn log(&self, level: Level, line: &str) {
        write_log(level, line);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
