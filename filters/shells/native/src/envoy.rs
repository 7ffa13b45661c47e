//! What the shell needs of Envoy, as traits: the module implements them over Envoy's own functions, tests by themselves.

use std::borrow::Cow;

pub use fieldveil_shell::http::{Action, Direction, Fields};

use crate::transport::Transport;

/// A filter of one connection, as its hooks see it on the thread of their worker.
pub trait Filter: Transport {
    /// What came from the client and was not passed on. It may be asked for in every hook.
    fn read_buffer(&self) -> Cow<'_, [u8]>;
    /// Puts bytes in the place of what came from the client.
    fn replace_read_buffer(&mut self, bytes: &[u8]);
    /// What comes from the server, in the hook of its bytes alone.
    fn write_buffer(&self) -> Cow<'_, [u8]>;
    /// Puts bytes in the place of what comes from the server.
    fn replace_write_buffer(&mut self, bytes: &[u8]);
    /// Passes bytes on towards the server, ahead of what is in the buffer.
    fn inject(&mut self, bytes: &[u8]);
    /// Passes on what is in the read buffer, after a hook that stopped.
    fn continue_reading(&mut self);
    /// Closes the connection on both sides, when what was written to the client has left.
    fn close(&mut self);
    /// The client's address with its port; empty over a Unix socket.
    fn source(&self) -> Vec<u8>;
    /// What the bridge tells of the client's certificate; empty if it told nothing.
    fn client_certificate(&self) -> Vec<u8>;
    /// What tells where the server is, for as long as the connection is there.
    fn server(&self) -> Box<dyn Fn() -> Server>;
    /// What calls this filter's hook for wake-ups.
    fn waker(&self) -> Box<dyn Wake>;
}

/// A filter of one request and its response, as its hooks see it on the thread of their worker. Calls that give a truth say whether
/// Envoy did it.
pub trait HttpFilter {
    /// Header fields, in order.
    fn fields(&self, fields: Fields) -> Vec<(String, Vec<u8>)>;
    /// All occurrences of a header field give way to one; None: to none.
    fn set_field(&self, fields: Fields, name: &str, value: Option<&[u8]>) -> bool;
    /// One more occurrence of a header field.
    fn add_field(&self, fields: Fields, name: &str, value: &[u8]) -> bool;
    /// What there is of a body, in the hook of its bytes.
    fn body(&self, direction: Direction) -> Cow<'_, [u8]>;
    /// Puts bytes in the place of that, in the same hook.
    fn replace_body(&self, direction: Direction, bytes: &[u8]) -> bool;
    /// Puts bytes into the buffer of a body that was held, in another hook.
    fn append_held_body(&self, direction: Direction, bytes: &[u8]) -> bool;
    /// Answers the client. Envoy may destroy the filter meanwhile.
    fn reply(&self, status: u16, headers: &[(String, String)], body: &[u8]);
    /// Sends a whole response, past Envoy's rules for answers of its own. Envoy calls hooks of the response meanwhile, and may destroy
    /// the filter.
    fn respond(&self, status: u16, headers: &[(String, String)], body: &[u8]);
    /// Cuts both directions. Envoy may destroy the filter meanwhile.
    fn reset(&self);
    /// Lets the request go on, paused before. Envoy may call hooks of the response meanwhile, and destroy the filter.
    fn continue_request(&self);
    /// The client's address with its port; empty over a Unix socket.
    fn source(&self) -> Vec<u8>;
    /// Why there is a response.
    fn response_details(&self) -> Option<Vec<u8>>;
    /// What the filter before this one says of the claims of the client's token.
    fn claims(&self) -> Option<Vec<u8>>;
    /// What calls this filter's hook for wake-ups.
    fn waker(&self) -> Box<dyn Wake>;
}

/// Where the server of a connection is.
#[derive(Debug, Default)]
pub struct Server {
    /// Its address as Envoy writes it.
    pub address: String,
    /// The version of TLS towards it; empty without TLS.
    pub tls_version: String,
}

/// Calls a hook on the thread that it belongs to, from any thread. Where that is gone meanwhile nothing happens.
pub trait Wake: Send + Sync {
    /// Calls it soon.
    fn wake(&self);
}

/// Envoy's main thread.
pub trait Main {
    /// Sends a request. Gives the number of the call; the error says why Envoy did not take it.
    fn call(
        &self,
        cluster: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        timeout_ms: u64,
    ) -> Result<u64, String>;
    /// Adds to a counter of a family, under these labels.
    fn add(&self, family: usize, labels: &[&str], by: u64);
    /// Sets a gauge.
    fn set(&self, family: usize, labels: &[&str], value: u64);
}

/// An answer to a request.
pub struct Answer<'a> {
    /// Its headers. None where there was no answer in time.
    pub headers: Vec<(&'a [u8], &'a [u8])>,
    /// Its body.
    pub body: Cow<'a, [u8]>,
}

impl Answer<'_> {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| *known == name.as_bytes())?;
        std::str::from_utf8(value).ok()
    }
}

/// Wakes nobody.
#[cfg(test)]
pub struct NoWaker;

#[cfg(test)]
impl Wake for NoWaker {
    fn wake(&self) {}
}
