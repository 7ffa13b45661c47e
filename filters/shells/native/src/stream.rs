//! One connection's bytes between Envoy's buffers and the engine.
//!
//! Each hook takes all of Envoy's buffer and puts the finished output in its place; where everything goes on as it came, the buffer
//! stays as it is. While the session waits, the client's side is stopped: what comes meanwhile is left in Envoy's buffer, which
//! bounds it. Output that the server must get meanwhile (the catalog's question) is injected.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_engine::audit::Ended;
use fieldveil_engine::database::{CallbackOutput, Client, Connection};
use fieldveil_engine::ports::Level;
use fieldveil_shell::client;
use fieldveil_shell::output::{complete, forwarded, is_unchanged};

use crate::envoy::Filter;
use crate::log::write_log;
use crate::mysql_tls::Login;
use crate::server_tls::ServerTls;
use crate::waiter::Waiter;
use crate::worker::ThreadWorker;

/// Whether the bytes of a hook go on to the next filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// They do.
    Continue,
    /// They stay.
    Stop,
}

/// A connection, as Envoy's hooks see it.
pub trait Stream {
    /// Bytes came from the client.
    fn client_bytes(&self, end_of_stream: bool) -> Flow;
    /// Bytes came from the server.
    fn server_bytes(&self, end_of_stream: bool) -> Flow;
    /// The connection closes; `by_client` says that the client closed it.
    fn closes(&self, by_client: bool);
    /// Another thread woke it.
    fn woken(&self);
    /// A hook panicked: nothing passes any more.
    fn fail(&self);
}

/// The connection of one protocol.
pub struct DatabaseStream<S: Connection> {
    state: RefCell<StreamState<S>>,
    waiter: Arc<Waiter>,
    worker: Rc<ThreadWorker>,
    /// Who ended the connection. Envoy may say so in the middle of another hook.
    ended: Cell<Option<Ended>>,
    failed: Cell<bool>,
}

struct StreamState<S> {
    filter: Box<dyn Filter>,
    session: Option<S>,
    server_tls: ServerTls,
    /// Whether what is sent now goes within TLS that the filter has begun, for the session to ask.
    is_within_tls: Rc<Cell<bool>>,
    /// What a server of MySQL's protocol has said of its greeting, while TLS hangs on it.
    greeting: Vec<u8>,
    /// A login of MySQL's protocol within TLS that the filter has begun.
    login: Option<Login>,
    /// Bytes to the server that go ahead of what the client sends next.
    ahead: Vec<u8>,
    /// The client has had the last word of this connection; nothing more passes.
    closing: bool,
}

impl<S: Connection> DatabaseStream<S> {
    /// A new connection.
    pub fn new(worker: Rc<ThreadWorker>, filter: Box<dyn Filter>, server_tls: ServerTls) -> Self {
        let waiter = Arc::new(Waiter::new(filter.waker()));
        worker.begin(&waiter);
        let state = StreamState {
            filter,
            session: None,
            server_tls,
            is_within_tls: Rc::default(),
            greeting: Vec::new(),
            login: None,
            ahead: Vec::new(),
            closing: false,
        };
        Self { state: RefCell::new(state), waiter, worker, ended: Cell::new(None), failed: Cell::new(false) }
    }

    /// Runs a hook, unless the connection has failed. Where Envoy calls a hook within another one nothing passes: that is not known
    /// to happen.
    fn run<T>(&self, otherwise: T, hook: impl FnOnce(&mut StreamState<S>) -> T) -> T {
        let state = self.state.try_borrow_mut();
        match state {
            Ok(mut state) if !self.failed.get() => {
                if let Some(session) = &mut state.session
                    && let Some(how) = self.ended.take()
                {
                    session.note_end(how);
                }
                hook(&mut state)
            }
            Ok(mut state) => {
                state.drop_all();
                otherwise
            }
            Err(_) => {
                write_log(Level::Error, "Envoy called a connection's hook within another one of it");
                self.failed.set(true);
                otherwise
            }
        }
    }
}

impl<S: Connection> Stream for DatabaseStream<S> {
    fn client_bytes(&self, end_of_stream: bool) -> Flow {
        if end_of_stream {
            self.ended.set(Some(Ended::Client));
        }
        self.run(Flow::Stop, |state| {
            if state.closing {
                state.filter.replace_read_buffer(b"");
                state.filter.close();
                return Flow::Continue;
            }
            if !state.server_tls.is_ready() && !state.ask_for_tls(&self.waiter) {
                // A client that has ended its side says nothing more for which the server could be asked.
                if end_of_stream && state.server_tls.deadline_ms().is_none() {
                    state.filter.close();
                }
                return Flow::Stop;
            }
            if state.session(&self.worker).is_waiting() {
                return Flow::Stop;
            }
            state.client_data(self)
        })
    }

    fn server_bytes(&self, end_of_stream: bool) -> Flow {
        if end_of_stream {
            self.ended.set(Some(Ended::Server));
        }
        self.run(Flow::Stop, |state| {
            if state.closing {
                state.filter.replace_write_buffer(b"");
                return Flow::Continue;
            }
            if let Some(flow) = state.before_tls(self, end_of_stream) {
                return flow;
            }
            state.note_server_within_tls(&self.waiter);
            state.server_data(self)
        })
    }

    fn closes(&self, by_client: bool) {
        if by_client && self.ended.get().is_none() {
            self.ended.set(Some(Ended::Client));
        }
        if !by_client && let Ok(state) = self.state.try_borrow() {
            state.log_failed_tls();
        }
    }

    fn woken(&self) {
        if self.waiter.take_tick() {
            self.worker.tick();
        }
        let fetched = self.waiter.take_fetched();
        self.run((), |state| {
            if state.closing {
                // What was put into the buffer by the last hook has left it.
                state.filter.close();
                return;
            }
            if state.is_too_slow(&self.waiter) {
                return;
            }
            if fetched.is_empty() {
                return;
            }
            for (fetch, result) in fetched {
                if let Err(reason) = &result {
                    write_log(Level::Warn, &format!("{} could not be had: {reason}", fetch.part()));
                }
                state.session(&self.worker).answered(&fetch, result);
            }
            if !state.session(&self.worker).is_waiting() {
                state.resume_client(self);
            }
        });
    }

    fn fail(&self) {
        self.failed.set(true);
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.drop_all();
        }
    }
}

impl<S: Connection> StreamState<S> {
    /// The session, which begins when a side has sent a byte.
    fn session(&mut self, worker: &ThreadWorker) -> &mut S {
        begun(&mut self.session, self.filter.as_ref(), worker, &self.is_within_tls)
    }

    /// Nothing that is here or comes passes any more.
    fn drop_all(&mut self) {
        self.filter.replace_read_buffer(b"");
        self.filter.close();
    }

    /// Gives the session what lies in Envoy's read buffer and puts the output in its place.
    fn client_data(&mut self, stream: &DatabaseStream<S>) -> Flow {
        let mut output = stream.worker.output();
        let bytes = self.filter.read_buffer();
        let session = begun(&mut self.session, self.filter.as_ref(), &stream.worker, &self.is_within_tls);
        session.client_bytes(&bytes, &mut output);
        if !self.ahead.is_empty() {
            complete(&mut output.unchanged, &bytes, &mut output.to_server);
            output.to_server.splice(..0, self.ahead.drain(..));
        }
        ask(stream, &mut output);
        let waits = session.is_waiting();
        if !is_unchanged(output.unchanged, &bytes, &output.to_server) {
            if output.unchanged > 0 {
                complete(&mut output.unchanged, &bytes, &mut output.to_server);
            }
            drop(bytes);
            let now = if waits { &[][..] } else { &output.to_server };
            self.filter.replace_read_buffer(now);
            if waits && !output.to_server.is_empty() {
                self.send(&output.to_server);
            }
        } else if waits {
            let passed = bytes.into_owned();
            self.filter.replace_read_buffer(b"");
            self.send(&passed);
        }
        if !waits {
            self.renumber_client();
        }
        if output.close {
            self.filter.close();
        }
        stream.worker.reuse(output);
        if waits { Flow::Stop } else { Flow::Continue }
    }

    /// Goes on with the client's side, stopped before.
    fn resume_client(&mut self, stream: &DatabaseStream<S>) {
        if self.client_data(stream) == Flow::Continue {
            self.filter.continue_reading();
        }
    }

    /// Gives the session what lies in Envoy's write buffer and puts the output in its place.
    fn server_data(&mut self, stream: &DatabaseStream<S>) -> Flow {
        let mut output = stream.worker.output();
        let bytes = self.filter.write_buffer();
        let session = begun(&mut self.session, self.filter.as_ref(), &stream.worker, &self.is_within_tls);
        session.server_bytes(&bytes, &mut output);
        let sends = !forwarded(output.unchanged, &bytes, &output.to_client).is_empty();
        if !is_unchanged(output.unchanged, &bytes, &output.to_client) {
            if output.unchanged > 0 {
                complete(&mut output.unchanged, &bytes, &mut output.to_client);
            }
            drop(bytes);
            self.filter.replace_write_buffer(&output.to_client);
        }
        self.ahead.append(&mut output.to_server);
        if output.close && sends {
            // What is put here leaves after this hook: to close now would drop it, and the reason with it.
            self.closing = true;
            stream.waiter.wake();
            output.close = false;
        }
        ask(stream, &mut output);
        if output.close {
            self.filter.close();
        }
        let resumes = output.resume && !self.closing;
        stream.worker.reuse(output);
        if resumes {
            self.resume_client(stream);
        }
        Flow::Continue
    }
}

/// The session of a connection, made if there is none yet.
fn begun<'s, S: Connection>(
    session: &'s mut Option<S>,
    filter: &dyn Filter,
    worker: &ThreadWorker,
    is_within_tls: &Rc<Cell<bool>>,
) -> &'s mut S {
    session.get_or_insert_with(|| {
        let server = tls::reached(filter.server(), is_within_tls);
        S::new(Rc::clone(&worker.worker), worker.ports(server), client(filter))
    })
}

/// Has what the session wants fetched.
fn ask<S: Connection>(stream: &DatabaseStream<S>, output: &mut CallbackOutput) {
    for fetch in std::mem::take(&mut output.fetch) {
        stream.worker.sidecar.wait(fetch, &stream.waiter);
    }
}

impl<S: Connection> Drop for DatabaseStream<S> {
    fn drop(&mut self) {
        if let Some(session) = &mut self.state.get_mut().session {
            if let Some(how) = self.ended.take() {
                session.note_end(how);
            }
            // If nobody was seen to end it.
            session.end(Ended::Proxy);
        }
        self.worker.end(&self.waiter);
    }
}

/// What Envoy knows of the client.
fn client(filter: &dyn Filter) -> Client {
    let (client, problem) = client::client(&filter.source(), &filter.client_certificate());
    if let Some(problem) = problem {
        write_log(Level::Warn, &problem);
    }
    tls::certified(client, filter)
}

mod tls;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests;
