//! The HTTP requests that ask OPA and the key agent, and their answers.

use fieldveil_engine::config::Config;
use fieldveil_engine::fetch::{Fetch, FetchResponse};

/// Bytes of an answer that are read at most; the engine's own limits lie below.
pub const MAX_BODY: usize = 16 << 20;

/// A request as Envoy sends it.
pub struct Question<'q> {
    /// The cluster that is asked.
    pub cluster: &'q str,
    /// How long an answer may take.
    pub timeout_ms: u64,
    method: &'static str,
    path: String,
    /// The validator of what is held, and the type of the body.
    more: Option<(&'static str, &'q str)>,
    /// The body, if there is one.
    pub body: Option<&'q [u8]>,
}

impl<'q> Question<'q> {
    /// The request for what is to be fetched.
    pub fn of(config: &'q Config, fetch: &'q Fetch) -> Self {
        match fetch {
            Fetch::Plan(principal) => Self {
                cluster: &config.policy.cluster,
                timeout_ms: config.policy.timeout_ms,
                method: "POST",
                path: config.policy.path.clone(),
                more: Some(("content-type", "application/json")),
                body: Some(principal.request().as_bytes()),
            },
            Fetch::Keys(question) => Self {
                cluster: &config.keys.cluster,
                timeout_ms: config.keys.timeout_ms,
                method: "GET",
                path: question.target(&config.keys.path),
                more: question.etag.as_deref().map(|etag| ("if-none-match", etag)),
                body: None,
            },
        }
    }

    /// Its headers.
    pub fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = vec![(":method", self.method), (":path", &self.path), (":authority", self.cluster)];
        headers.extend(self.more);
        headers
    }
}

/// What an answer with this status says. Without a status there was none in time.
pub fn response<'b>(status: Option<&str>, etag: Option<&str>, body: &'b [u8]) -> FetchResponse<'b> {
    match status {
        Some("200") => FetchResponse::Body { body, etag: etag.map(str::to_owned) },
        Some("304") => FetchResponse::NotModified,
        // Envoy's own word for what it has no connection with.
        Some("503") => FetchResponse::Failed("it cannot be reached, or answered HTTP 503 itself".into()),
        Some(status) => FetchResponse::Failed(format!("it answered HTTP {status}")),
        None => FetchResponse::Failed("it did not answer in time".into()),
    }
}
