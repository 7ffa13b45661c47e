//! Asking OPA and the key agent, from the root context or an exchange's alike.

use std::collections::HashMap;
use std::time::Duration;

use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::worker::Worker;
use fieldveil_shell::question::{MAX_BODY, Question, response};
use proxy_wasm::traits::Context;

/// The calls of one context that are not answered yet.
#[derive(Default)]
pub struct Callouts {
    open: HashMap<u32, Fetch>,
}

impl Callouts {
    /// Sends a question. Gives the number of the call; the error is the reason why Envoy did not take it.
    pub fn send(
        &mut self,
        context: &impl Context,
        worker: &Worker,
        fetch: Fetch,
    ) -> Result<u32, (Fetch, String)> {
        let question = Question::of(worker.config(), &fetch);
        let timeout = Duration::from_millis(question.timeout_ms);
        let (cluster, headers) = (question.cluster, question.headers());
        match context.dispatch_http_call(cluster, headers, question.body, Vec::new(), timeout) {
            Ok(token) => {
                self.open.insert(token, fetch);
                Ok(token)
            }
            Err(status) => {
                let reason = format!("Envoy did not take the call to cluster {cluster} ({status:?})");
                Err((fetch, reason))
            }
        }
    }

    /// Gives the answer to the worker. Returns which fetch it was and whether the worker could use it. An answer without headers
    /// is none: the call failed, also where its head had come before. The host has nothing of it then, and the SDK panics
    /// when it is asked for it.
    pub fn receive(
        &mut self,
        context: &impl Context,
        worker: &mut Worker,
        token: u32,
        (headers, body_size): (usize, usize),
    ) -> Option<(Fetch, Result<(), String>)> {
        let fetch = self.open.remove(&token)?;
        let header = |name| {
            (headers > 0).then_some(())?;
            let value = context.get_http_call_response_header_bytes(name)?;
            String::from_utf8(value).ok()
        };
        let status = header(":status");
        let size = body_size.min(MAX_BODY);
        let read = (size > 0).then(|| context.get_http_call_response_body(0, size));
        let body = read.flatten().unwrap_or_default();
        let answer = response(status.as_deref(), header("etag").as_deref(), &body);
        let result = worker.answered(&fetch, answer, crate::ports::now_ms());
        Some((fetch, result))
    }
}
