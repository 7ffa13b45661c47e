//! What the host calls: bytes of either side come in, or what the session wanted fetched has come.

use super::{Output, Session, Step, Waiting};
use crate::audit::Ended;
use crate::fetch::Fetch;
use crate::ports::Level;

impl Session {
    /// Whether the client's bytes are to be held back.
    pub fn is_waiting(&self) -> bool {
        self.core.is_waiting()
    }

    /// Bytes that this session holds of messages that are not whole.
    fn held_bytes(&self) -> usize {
        self.client.held().saturating_add(self.server.held())
    }

    /// Takes the client's bytes, first those that were held.
    pub fn client_data(&mut self, bytes: &[u8]) -> Output {
        self.core.begin_callback();
        let mut out = Output::default();
        let joined = self.client.join(bytes);
        let mut position = 0_usize;
        while !self.core.is_waiting() && !out.close {
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
        self.core.account(self.held_bytes(), &mut out);
        self.core.write_audit(&out);
        out
    }

    /// Takes the server's bytes.
    pub fn server_data(&mut self, bytes: &[u8]) -> Output {
        self.core.begin_callback();
        let mut out = Output::default();
        let waited = self.core.is_waiting();
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
                    self.core.log(
                        Level::Error,
                        &format!("the server broke the protocol: {reason}; connection closed"),
                    );
                    out.close = true;
                }
            }
        }
        self.server.keep(joined, position);
        self.core.account(self.held_bytes(), &mut out);
        self.core.write_audit(&out);
        if self.core.waiting == Waiting::Answers && !self.flight.is_full() {
            self.core.waiting = Waiting::No;
        }
        out.resume = waited && !self.core.is_waiting();
        out
    }

    /// A fetch that this session asked for has ended; the worker has taken its answer, or `result` says why
    /// not. When [`Self::is_waiting`] turns false, give the session the client's bytes again.
    pub fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        self.core.answered(fetch, result);
    }

    /// The connection has ended: the audit's last lines go out. Harmless to call twice.
    pub fn end(&mut self, how: Ended) {
        self.core.end(how);
    }

    /// Who ended it, if several do in turn: the first.
    pub fn ends(&mut self, how: Ended) {
        self.core.ends(how);
    }
}
