//! One exchange of HTTP: a request and its response, whose JSON bodies have fields sealed on their way to the service and
//! treated on their way back.
//!
//! It knows no Envoy: heads and bytes go in as they come, and an [`Output`] says what becomes of them. It assumes that it
//! sees every head, every byte and every trailer of its exchange, in order, and that what it edits is what leaves.

pub mod audits;
pub mod graphql;
mod head;
mod output;
pub mod problem;
pub mod query;
pub mod treat;
pub mod value;

use std::cell::RefCell;
use std::rc::Rc;

pub use self::head::{Head, Peer};
pub use self::output::{Edit, Flow, Output, Reply};
use crate::fetch::Fetch;
use crate::ports::Ports;
use crate::worker::Worker;

/// One request and its response.
pub struct Exchange {
    worker: Rc<RefCell<Worker>>,
    ports: Rc<RefCell<dyn Ports>>,
}

impl Exchange {
    /// Of a worker.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>) -> Self {
        Self { worker, ports }
    }

    /// The request's head has come; `end_of_stream` if it has neither body nor trailers.
    pub fn request_head(&mut self, _head: Head, _who: Peer, _end_of_stream: bool) -> Output {
        self.refuse()
    }

    /// One of the questions that this exchange wished for was answered, and the worker has taken the answer in; or it was not.
    pub fn answered(&mut self, _fetch: &Fetch, _result: Result<(), String>) -> Output {
        self.refuse()
    }

    /// Bytes of the request's body.
    pub fn request_body(&mut self, _bytes: &[u8], _end_of_stream: bool) -> Output {
        self.refuse()
    }

    /// The request's trailers have come, so its body has ended.
    pub fn request_trailers(&mut self) -> Output {
        self.refuse()
    }

    /// The response's head has come. `from_upstream` is false for what Envoy or this filter answered itself.
    pub fn response_head(&mut self, _head: Head, _from_upstream: bool, _end_of_stream: bool) -> Output {
        self.refuse()
    }

    /// Bytes of the response's body.
    pub fn response_body(&mut self, _bytes: &[u8], _end_of_stream: bool) -> Output {
        self.refuse()
    }

    /// The response's trailers have come, so its body has ended.
    pub fn response_trailers(&mut self) -> Output {
        self.refuse()
    }

    /// The exchange is over, however.
    pub fn end(&mut self) {}

    /// Bytes that are kept at the moment.
    pub fn held(&self) -> usize {
        0
    }

    fn refuse(&mut self) -> Output {
        let _ = (&self.worker, &self.ports);
        let reply = Reply { status: 503, headers: Vec::new(), body: Vec::new() };
        Output { body: Some(Vec::new()), reply: Some(reply), ..Output::default() }
    }
}
