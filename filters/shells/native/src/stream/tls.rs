//! TLS of a connection that the filter begins with the server, and the certificate that a client shows to Envoy.

use std::cell::Cell;
use std::rc::Rc;

use fieldveil_engine::database::{Client, Connection};
use fieldveil_engine::ports::Level;

use super::{DatabaseStream, Flow, StreamState};
use crate::envoy::{Filter, Server};
use crate::log::write_log;
use crate::mysql_tls::{Login, offers_tls, ssl_request};
use crate::refusal::{NO_TLS, NOT_STARTTLS, Refusal, TOO_SLOW};
use crate::server_tls::{Declined, Opening, ServerTls};
use crate::waiter::Waiter;
use crate::worker::now_ms;

/// Stands for the version of TLS that was begun in mid-stream, which Envoy does not tell.
const BEGUN_BY_FILTER: &str = "begun by the filter";

/// Bytes of the names of a client's certificate: as many as a bridge tells. Rules and audit see all of them or none.
const MAX_NAMES: usize = 8 << 10;

/// Where the server is, and that it is reached within TLS where the filter has begun it.
pub(super) fn reached(
    server: Box<dyn Fn() -> Server>,
    is_within_tls: &Rc<Cell<bool>>,
) -> Box<dyn Fn() -> Server> {
    let is_within_tls = Rc::clone(is_within_tls);
    Box::new(move || {
        let server = server();
        if is_within_tls.get() {
            Server { tls_version: BEGUN_BY_FILTER.to_owned(), ..server }
        } else {
            server
        }
    })
}

/// The client, with the certificate that it showed to Envoy. What a bridge before Envoy tells comes first.
pub(super) fn certified(mut client: Client, filter: &dyn Filter) -> Client {
    let Some(names) = filter.verified_client() else { return client };
    let alternatives = names.dns.iter().chain(&names.uri);
    if alternatives.fold(names.subject.len(), |sum, name| sum.saturating_add(name.len())) > MAX_NAMES {
        write_log(
            Level::Warn,
            "the client's certificate has more than 8 KiB of names, and counts for nothing",
        );
    } else {
        client.note_certificate(names.subject, names.dns, names.uri);
    }
    client
}

impl<S: Connection> StreamState<S> {
    /// Asks the server for TLS, unless it was asked already. What the client sends stays in Envoy's buffer, which bounds it. Returns
    /// true when TLS has begun.
    pub(super) fn ask_for_tls(&mut self, waiter: &Waiter) -> bool {
        match self.server_tls {
            ServerTls::Wanted(_) => self.ask_postgres(waiter),
            ServerTls::Offered => {
                if let Some(request) = ssl_request(&self.filter.read_buffer()) {
                    self.move_to(ServerTls::leaving(now_ms()), waiter);
                    self.filter.inject(&request);
                    self.filter.come_again();
                }
            }
            ServerTls::Leaving { turns: 1.., .. } => {
                self.take_turn();
                self.filter.come_again();
            }
            ServerTls::Leaving { deadline_ms, .. } if self.filter.start_server_tls() => {
                self.login = Some(Login::default());
                self.move_to(ServerTls::Begun { deadline_ms }, waiter);
                return true;
            }
            ServerTls::Leaving { .. } => self.refuse(&NOT_STARTTLS),
            _ => {}
        }
        false
    }

    fn take_turn(&mut self) {
        if let ServerTls::Leaving { turns, .. } = &mut self.server_tls {
            *turns = turns.saturating_sub(1);
        }
    }

    /// A client's own requests for encryption are declined.
    fn ask_postgres(&mut self, waiter: &Waiter) {
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

    /// Reads what the server says before TLS. Gives what becomes of it, unless it is for the session.
    pub(super) fn before_tls(&mut self, stream: &DatabaseStream<S>, end_of_stream: bool) -> Option<Flow> {
        match self.server_tls {
            ServerTls::Wanted(_) | ServerTls::Asked { .. } => {
                Some(self.read_tls_answer(stream, end_of_stream))
            }
            ServerTls::Greeting => {
                self.greeting.extend_from_slice(&self.filter.write_buffer());
                match offers_tls(&self.greeting) {
                    None => {}
                    Some(true) => self.move_to(ServerTls::Offered, &stream.waiter),
                    Some(false) => {
                        self.end_with(&NO_TLS, stream);
                        return Some(Flow::Continue);
                    }
                }
                None
            }
            // In clear, a session that has had nothing of its client takes no more than that the server gives up.
            _ => None,
        }
    }

    /// The client sees nothing of it.
    fn read_tls_answer(&mut self, stream: &DatabaseStream<S>, end_of_stream: bool) -> Flow {
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
            Err(refusal) => self.end_with(&refusal, stream),
        }
        Flow::Continue
    }

    /// The server has said something: what Envoy gives is from within TLS where that was begun.
    pub(super) fn note_server_within_tls(&mut self, waiter: &Waiter) {
        if matches!(self.server_tls, ServerTls::Begun { .. }) {
            self.move_to(ServerTls::Established, waiter);
        }
        if let Some(login) = &mut self.login {
            let mut bytes = self.filter.write_buffer().into_owned();
            login.read_server(&mut bytes);
            self.filter.replace_write_buffer(&bytes);
            if login.is_over() {
                self.login = None;
            }
        }
    }

    /// Passes bytes on towards the server.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        match &mut self.login {
            Some(login) => {
                let mut bytes = bytes.to_vec();
                login.write_server(&mut bytes);
                self.filter.inject(&bytes);
            }
            None => self.filter.inject(bytes),
        }
    }

    /// Changes what lies in Envoy's read buffer, to be passed on, into what the server is to get.
    pub(super) fn renumber_client(&mut self) {
        if let Some(login) = &mut self.login {
            let mut bytes = self.filter.read_buffer().into_owned();
            login.write_server(&mut bytes);
            self.filter.replace_read_buffer(&bytes);
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

    /// Outside of the hook of the server's bytes.
    fn refuse(&mut self, refusal: &Refusal) {
        self.closing = true;
        let told = self.told(refusal);
        self.filter.inject_to_client(&told);
        self.filter.close();
    }

    /// Within that hook: what is put into the buffer leaves after it.
    fn end_with(&mut self, refusal: &Refusal, stream: &DatabaseStream<S>) {
        self.closing = true;
        let told = self.told(refusal);
        self.filter.replace_write_buffer(&told);
        stream.waiter.wake();
    }

    /// As the client of this protocol is told.
    fn told(&self, refusal: &Refusal) -> Vec<u8> {
        match self.server_tls {
            ServerTls::Greeting => refusal.tell_mysql(0),
            // Behind the client's answer.
            ServerTls::Offered | ServerTls::Leaving { .. } => refusal.tell_mysql(2),
            _ if self.login.is_some() => refusal.tell_mysql(2),
            _ => refusal.tell(),
        }
    }

    fn move_to(&mut self, tls: ServerTls, waiter: &Waiter) {
        self.server_tls = tls;
        self.is_within_tls.set(tls.is_within());
        waiter.set_deadline(tls.deadline_ms());
    }
}
