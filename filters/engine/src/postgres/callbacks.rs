//! What the host calls: bytes of either side come in, or what the session wanted fetched has come.

use super::{Output, Session, Step, Waiting};
use crate::fetch::Fetch;
use crate::ports::Level;

impl Session {
    /// Whether the client's bytes are to be held back.
    pub fn is_waiting(&self) -> bool {
        self.waiting != Waiting::No
    }

    /// Bytes that this session holds of messages that are not whole.
    fn held_bytes(&self) -> usize {
        self.client.held().saturating_add(self.server.held())
    }

    /// Takes the client's bytes, first those that were held.
    pub fn client_data(&mut self, bytes: &[u8]) -> Output {
        self.now_ms = self.ports.borrow().now_ms();
        let mut out = Output::default();
        let joined = self.client.join(bytes);
        let mut position = 0_usize;
        while !self.is_waiting() && !out.close {
            let rest = joined.from(position);
            let streamed = self.client.stream(rest, &mut out.to_server);
            if streamed > 0 {
                position = position.saturating_add(streamed);
                continue;
            }
            if self.client.feed > 0 && !rest.is_empty() {
                let piece = rest.get(..self.client.feed).unwrap_or(rest);
                self.client.feed = self.client.feed.saturating_sub(piece.len());
                position = position.saturating_add(piece.len());
                self.copy_piece(piece, &mut out);
                continue;
            }
            match self.client_step(rest, &mut out) {
                Step::Took(taken) => position = position.saturating_add(taken),
                Step::More => break,
            }
        }
        self.client.keep(joined, position);
        self.account(&mut out);
        self.write_audit(&out);
        out
    }

    /// Takes the server's bytes.
    pub fn server_data(&mut self, bytes: &[u8]) -> Output {
        self.now_ms = self.ports.borrow().now_ms();
        let mut out = Output::default();
        let waited = self.is_waiting();
        let joined = self.server.join(bytes);
        let mut position = 0_usize;
        while !out.close {
            let rest = joined.from(position);
            let streamed = self.server.stream(rest, &mut out.to_client);
            if streamed > 0 {
                position = position.saturating_add(streamed);
                continue;
            }
            match self.server_step(rest, &mut out) {
                Ok(Step::Took(taken)) => position = position.saturating_add(taken),
                Ok(Step::More) => break,
                Err(reason) => {
                    self.log(
                        Level::Error,
                        &format!("the server broke the protocol: {reason}; connection closed"),
                    );
                    out.close = true;
                }
            }
        }
        self.server.keep(joined, position);
        self.account(&mut out);
        self.write_audit(&out);
        if self.waiting == Waiting::Answers && !self.flight.is_full() {
            self.waiting = Waiting::No;
        }
        out.resume = waited && !self.is_waiting();
        out
    }

    /// Tells the worker how much is held. A connection that takes more than is left for all ends.
    fn account(&mut self, out: &mut Output) {
        let now = self.held_bytes();
        let within = self.worker.borrow_mut().holds(self.held, now);
        self.held = now;
        if !within {
            self.log(
                Level::Error,
                "the connections of this worker hold too many unfinished messages; one was closed",
            );
            out.close = true;
        }
    }

    /// A fetch that this session asked for has ended; the worker has taken its answer, or `result` says why
    /// not. When [`Self::is_waiting`] turns false, give the session the client's bytes again.
    pub fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        if let Err(reason) = result {
            self.fetch_failures.insert(part_name(fetch), reason);
        }
        if let Waiting::Fetches(outstanding) = self.waiting {
            self.waiting = match outstanding.saturating_sub(1) {
                0 => Waiting::No,
                left => Waiting::Fetches(left),
            };
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.worker.borrow_mut().holds(self.held, 0);
    }
}

fn part_name(fetch: &Fetch) -> &'static str {
    match fetch {
        Fetch::Plan(_) => "plan",
        Fetch::Keys(_) => "keys",
    }
}
