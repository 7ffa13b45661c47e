//! What the host calls: bytes of either side come in, or what the session wanted fetched has come.

use std::cell::RefCell;
use std::rc::Rc;

use super::unchanged::Unchanged;
use super::{Core, Inbox, Output, Step, Waiting};
use crate::audit::Ended;
use crate::fetch::Fetch;
use crate::ports::{Level, Ports};
use crate::worker::Worker;

/// One connection to a database, whichever protocol it speaks.
pub trait Connection: 'static {
    /// A new connection from `source`, the client's address.
    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self;

    /// Whether the client's bytes are to be held back.
    fn is_waiting(&self) -> bool;

    /// Takes the client's bytes, first those that were held. `out` is as new, but may have memory.
    fn client_bytes(&mut self, bytes: &[u8], out: &mut Output);

    /// Takes the server's bytes, likewise.
    fn server_bytes(&mut self, bytes: &[u8], out: &mut Output);

    /// Goes on with what was held of the client's bytes, behind what stands in `out` for the server.
    fn client_again(&mut self, out: &mut Output) {
        let mut more = self.client_data(b"");
        more.to_server.splice(..0, out.to_server.drain(..));
        *out = more;
    }

    /// Takes the client's bytes, and writes what goes on of them.
    fn client_data(&mut self, bytes: &[u8]) -> Output {
        let mut out = Output::default();
        self.client_bytes(bytes, &mut out);
        let unchanged = std::mem::take(&mut out.unchanged);
        out.to_server.extend_from_slice(bytes.get(..unchanged).unwrap_or_default());
        out
    }

    /// Takes the server's bytes, likewise.
    fn server_data(&mut self, bytes: &[u8]) -> Output {
        let mut out = Output::default();
        self.server_bytes(bytes, &mut out);
        let unchanged = std::mem::take(&mut out.unchanged);
        out.to_client.extend_from_slice(bytes.get(..unchanged).unwrap_or_default());
        out
    }

    /// A fetch that this session asked for has ended; the worker has taken its answer, or `result` says why
    /// not. When [`Self::is_waiting`] turns false, give the session the client's bytes again.
    fn answered(&mut self, fetch: &Fetch, result: Result<(), String>);

    /// The connection has ended: the audit's last lines go out. Harmless to call twice.
    fn end(&mut self, how: Ended);

    /// Who ended it, if several do in turn: the first.
    fn ends(&mut self, how: Ended);
}

/// What is each protocol's own of it.
pub(crate) trait Protocol: 'static {
    /// A new connection.
    fn begin(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self;
    fn core(&self) -> &Core;
    fn core_mut(&mut self) -> &mut Core;
    /// Bytes from the client.
    fn client(&mut self) -> &mut Inbox;
    /// Bytes from the server.
    fn server(&mut self) -> &mut Inbox;
    /// What the client's next bytes come to.
    fn next_of_client(&mut self, rest: &[u8], out: &mut Output) -> Step;
    /// A piece of a message of the client's that is read piece by piece.
    fn piece(&mut self, _piece: &[u8], _out: &mut Output) {}
    /// What the server's next bytes come to, or how they break the protocol.
    fn next_of_server(&mut self, rest: &[u8], out: &mut Output) -> Result<Step, &'static str>;
    /// Whether what waited for answers may go on.
    fn goes_on(&self) -> bool;
    /// Bytes that it holds beside those of messages that are not whole.
    fn held_besides(&self) -> usize;
    /// Bytes that what is in flight takes.
    fn in_flight(&self) -> usize;
}

impl<P: Protocol> Connection for P {
    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        Self::begin(worker, ports, source)
    }

    fn is_waiting(&self) -> bool {
        self.core().is_waiting()
    }

    fn client_bytes(&mut self, bytes: &[u8], out: &mut Output) {
        self.core_mut().begin_callback();
        let joined = self.client().join(bytes);
        self.core_mut().begin_prints(joined.from(0).len());
        let mut unchanged = Unchanged::of(&joined);
        let mut position = 0_usize;
        while !self.core().is_waiting() && !out.close {
            let rest = joined.from(position);
            let (passed, dropped) = self.client().due(rest.len());
            if passed > 0 || dropped > 0 {
                unchanged.pass(rest.get(..passed).unwrap_or_default(), position, &mut out.to_server);
                position = position.saturating_add(passed).saturating_add(dropped);
                unchanged.settle(&joined, position, &mut out.to_server);
                continue;
            }
            let feed = self.client().feed;
            if feed > 0 && !rest.is_empty() {
                let piece = rest.get(..feed).unwrap_or(rest);
                self.client().feed = feed.saturating_sub(piece.len());
                position = position.saturating_add(piece.len());
                self.piece(piece, out);
                unchanged.settle(&joined, position, &mut out.to_server);
                continue;
            }
            let step = self.next_of_client(rest, out);
            position = unchanged.step(&step, &joined, position, &mut out.to_server);
            if let Step::More = step {
                break;
            }
        }
        out.unchanged = unchanged.finish();
        self.client().keep(joined, position);
        finish(self, out);
    }

    fn server_bytes(&mut self, bytes: &[u8], out: &mut Output) {
        self.core_mut().begin_answer();
        let waited = self.core().is_waiting();
        let joined = self.server().join(bytes);
        self.core_mut().begin_prints(joined.from(0).len());
        // Of what is opened nothing is to stay where a buffer that was too small has been.
        out.to_client.reserve(joined.from(0).len());
        let mut unchanged = Unchanged::of(&joined);
        let mut position = 0_usize;
        while !out.close {
            let rest = joined.from(position);
            let (passed, dropped) = self.server().due(rest.len());
            if passed > 0 || dropped > 0 {
                unchanged.pass(rest.get(..passed).unwrap_or_default(), position, &mut out.to_client);
                position = position.saturating_add(passed).saturating_add(dropped);
                unchanged.settle(&joined, position, &mut out.to_client);
                continue;
            }
            match self.next_of_server(rest, out) {
                Ok(step) => {
                    position = unchanged.step(&step, &joined, position, &mut out.to_client);
                    if let Step::More = step {
                        break;
                    }
                }
                Err(reason) => {
                    let line = format!("the server broke the protocol: {reason}; connection closed");
                    self.core().log(Level::Error, &line);
                    out.close = true;
                    unchanged.settle(&joined, position, &mut out.to_client);
                }
            }
        }
        out.unchanged = unchanged.finish();
        self.server().keep(joined, position);
        finish(self, out);
        if self.core().waiting == Waiting::Answers && self.goes_on() {
            self.core_mut().waiting = Waiting::No;
        }
        out.resume = waited && !self.core().is_waiting();
    }

    fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        self.core_mut().answered(fetch, result);
    }

    fn end(&mut self, how: Ended) {
        self.core_mut().end(how);
    }

    fn ends(&mut self, how: Ended) {
        self.core_mut().ends(how);
    }
}

/// The callback ends: what is held is told to the worker, and what happened to the audit.
fn finish(session: &mut impl Protocol, out: &mut Output) {
    let held = session
        .client()
        .memory()
        .saturating_add(session.server().memory())
        .saturating_add(session.held_besides())
        .saturating_add(session.core().held_by_all());
    let in_flight = session.in_flight();
    session.core_mut().account(held, in_flight, out);
    session.core_mut().write_audit(out);
}
