//! The stream context: one connection's bytes between Envoy's buffers and the engine.
//!
//! Each callback takes all of Envoy's buffer and puts the finished output in its place; where everything goes on as it came,
//! the buffer stays as it is. While the session waits, the client's side is paused: what comes meanwhile is left in Envoy's
//! buffer, which bounds it. Output that the server must get meanwhile (the catalog's question) is let through by resuming
//! within the pause. Bytes for the server that are made while the server's are read are sent ahead of the client's next: Envoy lets
//! a filter write to the server when it has read from the client, and not when it has read from the server.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use fieldveil_engine::audit::Ended;
use fieldveil_engine::database::{CallbackOutput, Client, Connection};
use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::ports::Level;
use fieldveil_shell::client;
use fieldveil_shell::output::{complete, forwarded, is_unchanged};
use proxy_wasm::hostcalls;
use proxy_wasm::hostcalls::set_effective_context;
use proxy_wasm::traits::{Context, StreamContext};
use proxy_wasm::types::{Action, PeerType};

use crate::fetches::Awaiting;
use crate::log::write_log;
use crate::shared::Shared;

/// Where Envoy's proxy_protocol filter puts what the bridge tells of the client's certificate, if the listener says so.
const CLIENT_CERTIFICATE: [&str; 4] = ["metadata", "filter_metadata", "fieldveil", "client_certificate"];

/// The context that Envoy calls for one connection.
pub struct Stream<S>(Rc<RefCell<StreamState<S>>>);

/// One connection. The root context calls it too, when something that it waits for has come.
struct StreamState<S> {
    id: u32,
    this: Weak<RefCell<Self>>,
    shared: Shared,
    session: Option<S>,
    /// Bytes to the server that go ahead of what the client sends next.
    ahead: Vec<u8>,
    /// The client has had the last word of this connection; nothing more passes.
    closing: bool,
}

impl<S: Connection> Stream<S> {
    /// A new connection.
    pub fn new(id: u32, shared: Shared) -> Self {
        let state = |this: &Weak<_>| {
            let (this, ahead) = (Weak::clone(this), Vec::new());
            RefCell::new(StreamState { id, this, shared, session: None, ahead, closing: false })
        };
        Self(Rc::new_cyclic(state))
    }
}

impl<S: Connection> StreamState<S> {
    fn session(&mut self) -> &mut S {
        let shared = &self.shared;
        self.session.get_or_insert_with(|| S::new(shared.worker.clone(), shared.ports.clone(), client()))
    }

    /// Gives the session what lies in Envoy's downstream buffer and puts the output in its place.
    fn client_data(&mut self) -> Action {
        let bytes = self.get_downstream_data(0, usize::MAX).unwrap_or_default();
        let mut output = self.shared.spare.take();
        self.session().client_bytes(&bytes, &mut output);
        if !self.ahead.is_empty() {
            complete(&mut output.unchanged, &bytes, &mut output.to_server);
            output.to_server.splice(..0, self.ahead.drain(..));
        }
        while self.fetch(&mut output) && !output.close && !self.session().is_waiting() {
            complete(&mut output.unchanged, &bytes, &mut output.to_server);
            self.session().resume_client(&mut output);
        }
        let to_server = forwarded(output.unchanged, &bytes, &output.to_server);
        if !is_unchanged(output.unchanged, &bytes, &output.to_server) {
            self.set_downstream_data(0, usize::MAX, to_server);
        }
        if output.close {
            self.close();
        }
        let waits = self.session().is_waiting();
        if waits && !to_server.is_empty() {
            self.resume_downstream();
        }
        self.shared.reuse(output);
        if waits { Action::Pause } else { Action::Continue }
    }

    /// Goes on with the client's side, paused before.
    fn resume_client(&mut self) {
        if self.client_data() == Action::Continue {
            self.resume_downstream();
        }
    }

    /// Has what the session wants fetched. Returns whether the session has the answer to some of it already: that it can't be
    /// asked for.
    fn fetch(&mut self, output: &mut CallbackOutput) -> bool {
        let mut answered = false;
        for fetch in std::mem::take(&mut output.fetch) {
            let waits = self.shared.fetches.borrow_mut().wait(fetch, self.this.clone());
            if let Err((fetch, reason)) = waits {
                self.answered(&fetch, Err(reason));
                answered = true;
            }
        }
        answered
    }

    /// Notes who ends the connection. Where neither side has sent a byte there is no session.
    fn note_end(&mut self, how: Ended) {
        if let Some(session) = &mut self.session {
            session.note_end(how);
        }
    }

    fn close(&self) {
        self.close_upstream();
        self.close_downstream();
    }

    fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        if let Err(reason) = &result {
            write_log(Level::Warn, &format!("{} could not be had: {reason}", fetch.part()));
        }
        self.session().answered(fetch, result);
    }
}

impl<S: Connection> Awaiting for RefCell<StreamState<S>> {
    fn take_answer(&self, fetch: &Fetch, result: &Result<(), String>) {
        let mut stream = self.borrow_mut();
        // Calls of the host are this connection's from here on. One that has ended is not known any more.
        if set_effective_context(stream.id).is_err() {
            return;
        }
        stream.answered(fetch, result.clone());
        if !stream.closing && !stream.session().is_waiting() {
            stream.resume_client();
        }
    }
}

impl<S: Connection> Context for Stream<S> {
    fn on_done(&mut self) -> bool {
        self.0.borrow_mut().on_done()
    }
}

impl<S: Connection> StreamContext for Stream<S> {
    fn on_downstream_data(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.0.borrow_mut().on_downstream_data(size, end_of_stream)
    }

    fn on_downstream_close(&mut self, peer: PeerType) {
        self.0.borrow_mut().on_downstream_close(peer);
    }

    fn on_upstream_data(&mut self, size: usize, end_of_stream: bool) -> Action {
        self.0.borrow_mut().on_upstream_data(size, end_of_stream)
    }
}

impl<S: Connection> Context for StreamState<S> {
    fn on_done(&mut self) -> bool {
        if let Some(session) = &mut self.session {
            // If nobody was seen to end it.
            session.end(Ended::Proxy);
        }
        self.shared.publish();
        true
    }
}

impl<S: Connection> StreamContext for StreamState<S> {
    fn on_downstream_data(&mut self, _size: usize, end_of_stream: bool) -> Action {
        if end_of_stream {
            self.note_end(Ended::Client);
        }
        if self.closing {
            self.set_downstream_data(0, usize::MAX, b"");
            self.close();
            return Action::Continue;
        }
        if self.session().is_waiting() {
            return Action::Pause;
        }
        self.client_data()
    }

    fn on_downstream_close(&mut self, peer: PeerType) {
        if matches!(peer, PeerType::Remote) {
            self.note_end(Ended::Client);
        }
    }

    fn on_upstream_data(&mut self, _size: usize, end_of_stream: bool) -> Action {
        if end_of_stream {
            self.note_end(Ended::Server);
        }
        if self.closing {
            self.set_upstream_data(0, usize::MAX, b"");
            return Action::Continue;
        }
        let bytes = self.get_upstream_data(0, usize::MAX).unwrap_or_default();
        let mut output = self.shared.spare.take();
        self.session().server_bytes(&bytes, &mut output);
        self.shared.keep_budgets();
        let to_client = forwarded(output.unchanged, &bytes, &output.to_client);
        if !is_unchanged(output.unchanged, &bytes, &output.to_client) {
            self.set_upstream_data(0, usize::MAX, to_client);
        }
        self.ahead.append(&mut output.to_server);
        if output.close && !to_client.is_empty() {
            // What is put here leaves after this callback: to close now would drop it, and the reason with it.
            self.closing = true;
            self.shared.closing.borrow_mut().push(self.id);
            output.close = false;
        }
        let answered = self.fetch(&mut output) && !self.session().is_waiting();
        if output.close {
            self.close();
        }
        let resumes = (output.resume || answered) && !self.closing;
        self.shared.reuse(output);
        if resumes {
            self.resume_client();
        }
        Action::Continue
    }
}

/// What Envoy knows of the client.
fn client() -> Client {
    let property = |path| hostcalls::get_property(path).ok().flatten().unwrap_or_default();
    let certificate = property(CLIENT_CERTIFICATE.to_vec());
    let (client, problem) = client::client(&property(vec!["source", "address"]), &certificate);
    if let Some(problem) = problem {
        write_log(Level::Warn, &problem);
    }
    client
}
