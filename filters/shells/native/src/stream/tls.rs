//! TLS of a connection that the filter begins with the server, and the certificate that a client shows to Envoy.

use fieldveil_engine::database::{Client, Connection};
use fieldveil_engine::ports::Level;

use super::{DatabaseStream, Flow, StreamState};
use crate::envoy::{Filter, Server};
use crate::log::write_log;
use crate::refusal::Refusal;
use crate::server_tls::{Declined, NOT_STARTTLS, Opening, ServerTls, TOO_SLOW};
use crate::waiter::Waiter;
use crate::worker::now_ms;

/// Stands for the version of TLS that was begun in mid-stream, which Envoy does not tell.
const BEGUN_BY_FILTER: &str = "begun by the filter";

/// Where the server is, and that it is reached within TLS where the filter has begun it.
pub(super) fn reached(server: Box<dyn Fn() -> Server>, tls: ServerTls) -> Box<dyn Fn() -> Server> {
    if !tls.is_within() {
        return server;
    }
    Box::new(move || Server { tls_version: BEGUN_BY_FILTER.to_owned(), ..server() })
}

/// The client, with the certificate that it showed to Envoy. What a bridge before Envoy tells comes first.
pub(super) fn certified(mut client: Client, filter: &dyn Filter) -> Client {
    if let Some(names) = filter.verified_client() {
        client.note_certificate(names.subject, names.dns, names.uri);
    }
    client
}

impl<S: Connection> StreamState<S> {
    /// Asks the server for TLS, unless it was asked already. What the client sends stays in Envoy's buffer, which bounds it; its own
    /// requests for encryption are declined.
    pub(super) fn ask_for_tls(&mut self, waiter: &Waiter) {
        while let ServerTls::Wanted(declined) = self.server_tls {
            let bytes = self.filter.read_buffer();
            match declined.read(&bytes) {
                Opening::Unclear => return,
                Opening::Request(then) => {
                    let rest = bytes.get(Declined::REQUEST_BYTES..).unwrap_or_default().to_vec();
                    drop(bytes);
                    self.server_tls = ServerTls::Wanted(then);
                    self.filter.replace_read_buffer(&rest);
                    self.filter.inject_to_client(Declined::ANSWER);
                }
                Opening::Session => {
                    drop(bytes);
                    self.move_to(ServerTls::asked(now_ms()), waiter);
                    self.filter.inject(&ServerTls::REQUEST);
                }
            }
        }
    }

    /// Reads what the server says before TLS, of which the client sees nothing.
    pub(super) fn read_tls_answer(&mut self, stream: &DatabaseStream<S>, end_of_stream: bool) -> Flow {
        let said = self.filter.write_buffer();
        if said.is_empty() && !end_of_stream {
            return Flow::Continue;
        }
        let answer = self.server_tls.read_answer(&said);
        drop(said);
        let begun = answer.and_then(|()| {
            self.filter.replace_write_buffer(b"");
            if self.filter.start_server_tls() { Ok(()) } else { Err(NOT_STARTTLS) }
        });
        match begun {
            Ok(()) => {
                let deadline_ms = self.server_tls.deadline_ms().unwrap_or_default();
                self.move_to(ServerTls::Begun { deadline_ms }, &stream.waiter);
                self.resume_client(stream);
            }
            Err(refusal) => {
                self.closing = true;
                self.filter.replace_write_buffer(&refusal.tell());
                // What is put here leaves after this hook.
                stream.waiter.wake();
            }
        }
        Flow::Continue
    }

    /// The server has said something: what Envoy gives is from within TLS where that was begun.
    pub(super) fn note_server_within_tls(&mut self, waiter: &Waiter) {
        if matches!(self.server_tls, ServerTls::Begun { .. }) {
            self.move_to(ServerTls::Established, waiter);
        }
    }

    /// Returns true when the server has not gone on in time: then the client is told, and the connection ends.
    pub(super) fn is_too_slow(&mut self, waiter: &Waiter) -> bool {
        let is_late = self.server_tls.deadline_ms().is_some_and(|deadline| now_ms() >= deadline);
        // The server has nothing to say to a session that waits for something itself.
        let waits = self.session.as_ref().is_some_and(Connection::is_waiting);
        if !is_late || waits {
            return false;
        }
        waiter.set_deadline(None);
        self.refuse(&TOO_SLOW);
        true
    }

    /// Says in the log that the connection to the server ended where TLS had to begin. The client sees its own one end: Envoy tells a
    /// filter neither the reason, nor before it has closed.
    pub(super) fn log_failed_tls(&self) {
        if !self.closing && matches!(self.server_tls, ServerTls::Begun { .. }) {
            let address = (self.filter.server())().address;
            write_log(
                Level::Warn,
                &format!(
                    "the server at {address}: the connection ended where TLS had to begin; if the cluster's statistic \
                     ssl.fail_verify_error or ssl.fail_verify_san rose, correct ca or server_name in its tls, else look into \
                     the server's log"
                ),
            );
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.closing = true;
        self.filter.inject_to_client(&refusal.tell());
        self.filter.close();
    }

    fn move_to(&mut self, tls: ServerTls, waiter: &Waiter) {
        self.server_tls = tls;
        waiter.set_deadline(tls.deadline_ms());
    }
}
