//! Asking OPA and the key agent, from the root context or an exchange's alike.

use std::collections::HashMap;
use std::time::Duration;

use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::worker::Worker;
use proxy_wasm::traits::Context;

/// Bytes of an answer that are read at most; the engine's own limits lie below.
const MAX_BODY: usize = 16 << 20;

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
        let config = &worker.config();
        let (cluster, timeout_ms) = match &fetch {
            Fetch::Plan(_) => (&config.policy.cluster, config.policy.timeout_ms),
            Fetch::Keys(_) => (&config.keys.cluster, config.keys.timeout_ms),
        };
        let target;
        let (headers, body) = match &fetch {
            Fetch::Plan(principal) => {
                let headers = vec![
                    (":method", "POST"),
                    (":path", config.policy.path.as_str()),
                    (":authority", cluster.as_str()),
                    ("content-type", "application/json"),
                ];
                (headers, Some(principal.request().as_bytes()))
            }
            Fetch::Keys(question) => {
                target = question.target(&config.keys.path);
                let mut headers =
                    vec![(":method", "GET"), (":path", target.as_str()), (":authority", cluster.as_str())];
                headers.extend(question.etag.as_deref().map(|etag| ("if-none-match", etag)));
                (headers, None)
            }
        };
        match context.dispatch_http_call(
            cluster,
            headers,
            body,
            Vec::new(),
            Duration::from_millis(timeout_ms),
        ) {
            Ok(token) => {
                self.open.insert(token, fetch);
                Ok(token)
            }
            Err(status) => {
                Err((fetch, format!("Envoy did not take the call to cluster {cluster} ({status:?})")))
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
        let body;
        let answer = match status.as_deref() {
            Some("200") => {
                let size = body_size.min(MAX_BODY);
                let read = (size > 0).then(|| context.get_http_call_response_body(0, size));
                body = read.flatten().unwrap_or_default();
                FetchResponse::Body { body: &body, etag: header("etag") }
            }
            Some("304") => FetchResponse::NotModified,
            // Envoy's own word for what it has no connection with.
            Some("503") => FetchResponse::Failed("it cannot be reached, or answered HTTP 503 itself".into()),
            Some(status) => FetchResponse::Failed(format!("it answered HTTP {status}")),
            None => FetchResponse::Failed("it did not answer in time".into()),
        };
        let result = worker.answered(&fetch, answer, crate::ports::now_ms());
        Some((fetch, result))
    }
}
