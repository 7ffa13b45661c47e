//! What the host calls: bytes of either side come in.

use super::{Output, Session};
use crate::database::{Step, Waiting};
use crate::ports::Level;

impl Session {
    /// Takes the client's bytes, first those that were held.
    pub fn client_data(&mut self, bytes: &[u8]) -> Output {
        self.core.begin_callback();
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
            match self.client_step(rest, &mut out) {
                Step::Took(taken) => position = position.saturating_add(taken),
                Step::More => break,
            }
        }
        self.client.keep(joined, position);
        self.account(&mut out);
        self.core.write_audit(&out);
        out
    }

    /// Takes the server's bytes.
    pub fn server_data(&mut self, bytes: &[u8]) -> Output {
        self.core.begin_callback();
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
                    self.core.log(
                        Level::Error,
                        &format!("the server broke the protocol: {reason}; connection closed"),
                    );
                    out.close = true;
                }
            }
        }
        self.server.keep(joined, position);
        self.account(&mut out);
        self.core.write_audit(&out);
        if self.core.waiting == Waiting::Answers && self.may_go_on() {
            self.core.waiting = Waiting::No;
        }
        out.resume = waited && !self.is_waiting();
        out
    }

    /// Tells the worker how many bytes of messages that are not whole this session holds.
    fn account(&mut self, out: &mut Output) {
        let held =
            self.client.held().saturating_add(self.server.held()).saturating_add(self.statements.held());
        self.core.account(held, out);
    }
}
