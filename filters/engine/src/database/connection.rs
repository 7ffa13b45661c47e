//! What the host calls: bytes of either side come in, or what the session wanted fetched has come.

use std::cell::RefCell;
use std::rc::Rc;

use super::client::Client;
use super::inbox::Inbox;
use super::unchanged::Unchanged;
use super::{CallbackOutput, Core, Step, Waiting};
use crate::audit::Ended;
use crate::fetch::Fetch;
use crate::ports::{Level, Ports};
use crate::worker::Worker;

/// One connection to a database, as the host sees it: a [`Duplex`] of the session of either protocol.
pub trait Connection: 'static {
    /// A new connection of this client.
    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, client: Client) -> Self;

    /// Whether the client's bytes are to be held back.
    fn is_waiting(&self) -> bool;

    /// Reads the client's bytes, behind those that were held before. `out` is empty, but may have memory of its own.
    fn client_bytes(&mut self, bytes: &[u8], out: &mut CallbackOutput);

    /// Reads the server's bytes in the same way.
    fn server_bytes(&mut self, bytes: &[u8], out: &mut CallbackOutput);

    /// Reads on in the client's bytes that were held. Their output comes behind what `out` has for the server already.
    fn resume_client(&mut self, out: &mut CallbackOutput) {
        let mut more = self.client_data(b"");
        more.to_server.splice(..0, out.to_server.drain(..));
        *out = more;
    }

    /// Reads the client's bytes, and writes out also those that pass unchanged.
    fn client_data(&mut self, bytes: &[u8]) -> CallbackOutput {
        let mut out = CallbackOutput::default();
        self.client_bytes(bytes, &mut out);
        let unchanged = std::mem::take(&mut out.unchanged);
        out.to_server.extend_from_slice(bytes.get(..unchanged).unwrap_or_default());
        out
    }

    /// Reads the server's bytes, and writes out also those that pass unchanged.
    fn server_data(&mut self, bytes: &[u8]) -> CallbackOutput {
        let mut out = CallbackOutput::default();
        self.server_bytes(bytes, &mut out);
        let unchanged = std::mem::take(&mut out.unchanged);
        out.to_client.extend_from_slice(bytes.get(..unchanged).unwrap_or_default());
        out
    }

    /// A fetch that this session asked for has ended; the worker has taken its answer, or `result` says why
    /// not. When [`Self::is_waiting`] turns false, give the session the client's bytes again.
    fn answered(&mut self, fetch: &Fetch, result: Result<(), String>);

    /// The connection has ended: the last lines of its audit are written. A second call does nothing.
    fn end(&mut self, how: Ended);

    /// Notes who ends the connection; only the first note counts.
    fn note_end(&mut self, how: Ended);
}

/// What a database's protocol adds to a connection: how its messages are read, and what state they leave.
pub(crate) trait WireProtocol: 'static {
    /// Makes the session of a new connection of this client.
    fn begin(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, client: Client) -> Self;
    fn core(&self) -> &Core;
    fn core_mut(&mut self) -> &mut Core;
    /// Reads the next message of the client.
    fn read_client(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step;
    /// Reads a piece of a client's message that is read piece by piece.
    fn read_piece(&mut self, piece: &[u8], out: &mut CallbackOutput);
    /// Reads the next message of the server. The error says how it breaks the protocol.
    fn read_server(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str>;
    /// Whether enough responses have arrived for the client's waiting messages to be read.
    fn can_resume(&self) -> bool;
    /// Counts the bytes that the protocol's own state holds, besides those of messages that are not whole.
    fn bytes_of_state(&self) -> usize;
    /// Counts the bytes that the pending responses take.
    fn in_flight(&self) -> usize;
}

/// A session of a protocol, with the bytes of both directions that it has not read yet.
pub struct Duplex<P> {
    session: P,
    client: Inbox,
    server: Inbox,
}

impl<P: WireProtocol> Connection for Duplex<P> {
    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, client: Client) -> Self {
        Self { session: P::begin(worker, ports, client), client: Inbox::default(), server: Inbox::default() }
    }

    fn is_waiting(&self) -> bool {
        self.session.core().is_waiting()
    }

    fn client_bytes(&mut self, bytes: &[u8], out: &mut CallbackOutput) {
        self.session.core_mut().begin_callback();
        let joined = self.client.join(bytes);
        self.session.core_mut().begin_output(joined.from(0).len());
        let mut unchanged = Unchanged::of(&joined);
        let mut position = 0_usize;
        while !self.session.core().is_waiting() && !out.close {
            let rest = joined.from(position);
            let (passed, dropped) = self.client.due(rest.len());
            if passed > 0 || dropped > 0 {
                unchanged.pass(rest.get(..passed).unwrap_or_default(), position, &mut out.to_server);
                position = position.saturating_add(passed).saturating_add(dropped);
                unchanged.settle(&joined, position, &mut out.to_server);
                continue;
            }
            let piece = self.client.piece(rest.len());
            if piece > 0 {
                self.session.read_piece(rest.get(..piece).unwrap_or(rest), out);
                position = position.saturating_add(piece);
                unchanged.settle(&joined, position, &mut out.to_server);
                continue;
            }
            let step = self.session.read_client(rest, out);
            let done = self.client.note(&step, rest.len());
            position = unchanged.step(done, &joined, position, &mut out.to_server);
            if let Step::More = step {
                break;
            }
        }
        out.unchanged = unchanged.finish();
        self.client.keep(joined, position);
        finish(self, out);
    }

    fn server_bytes(&mut self, bytes: &[u8], out: &mut CallbackOutput) {
        self.session.core_mut().begin_answer();
        let waited = self.session.core().is_waiting();
        let joined = self.server.join(bytes);
        self.session.core_mut().begin_output(joined.from(0).len());
        // Of what is opened nothing is to stay where a buffer that was too small has been.
        out.to_client.reserve(joined.from(0).len());
        let mut unchanged = Unchanged::of(&joined);
        let mut position = 0_usize;
        while !out.close {
            let rest = joined.from(position);
            let (passed, dropped) = self.server.due(rest.len());
            if passed > 0 || dropped > 0 {
                unchanged.pass(rest.get(..passed).unwrap_or_default(), position, &mut out.to_client);
                position = position.saturating_add(passed).saturating_add(dropped);
                unchanged.settle(&joined, position, &mut out.to_client);
                continue;
            }
            match self.session.read_server(rest, out) {
                Ok(step) => {
                    let done = self.server.note(&step, rest.len());
                    position = unchanged.step(done, &joined, position, &mut out.to_client);
                    if let Step::More = step {
                        break;
                    }
                }
                Err(reason) => {
                    let line = format!("the server broke the protocol: {reason}; connection closed");
                    self.session.core().log(Level::Error, &line);
                    out.close = true;
                    unchanged.settle(&joined, position, &mut out.to_client);
                }
            }
        }
        out.unchanged = unchanged.finish();
        self.server.keep(joined, position);
        finish(self, out);
        if self.session.core().waiting == Waiting::Answers && self.session.can_resume() {
            self.session.core_mut().waiting = Waiting::No;
        }
        out.resume = waited && !self.session.core().is_waiting();
    }

    fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        self.session.core_mut().answered(fetch, result);
    }

    fn end(&mut self, how: Ended) {
        self.session.core_mut().end(how);
    }

    fn note_end(&mut self, how: Ended) {
        self.session.core_mut().audit.note_end(how);
    }
}

/// Ends a callback: the worker learns how much the connection holds, and the audit what happened.
fn finish<P: WireProtocol>(connection: &mut Duplex<P>, out: &mut CallbackOutput) {
    let Duplex { session, client, server } = connection;
    let held = client
        .memory()
        .saturating_add(server.memory())
        .saturating_add(session.bytes_of_state())
        .saturating_add(session.core().bytes_of_state());
    let in_flight = session.in_flight();
    session.core_mut().end_callback(held, in_flight, out);
}
