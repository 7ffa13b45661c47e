//! What a client of HTTP is told: RFC 9457 problems. Every refusal of an exchange becomes a [`Problem`] here and nowhere
//! else, so that the texts read alike and none of them can carry a value.

mod kind;
mod made;

use serde_json::json;

pub use self::kind::Kind;
use super::output::Reply;

/// Who is to blame for what cannot go on, by the direction in which it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The client's request.
    Request,
    /// The service's response.
    Response,
}

/// A refusal: what was refused, why, and what to do about it.
///
/// Large: each refusal has a constructor, so that its words stand once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    kind: Kind,
    /// What it is about and why, without the words of the title, which stands before it.
    detail: String,
    /// Why.
    reason: String,
    /// What to do about it.
    remedy: String,
    /// The label that it is about, where it is about one.
    label: Option<String>,
    /// Seconds after which asking again may help.
    retry_after: Option<u64>,
    /// The status in place of its kind's.
    as_status: Option<u16>,
}

impl Problem {
    /// With the detail `what: reason`, in which `what` names the part that the title is true of.
    fn new(kind: Kind, what: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        let reason = reason.into();
        let detail = format!("{what}: {reason}");
        Self { kind, detail, reason, remedy: remedy.into(), label: None, retry_after: None, as_status: None }
    }

    /// With the reason as its detail, for a reason that says by itself what it is about.
    fn because(kind: Kind, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        let reason = reason.into();
        let detail = reason.clone();
        Self { kind, detail, reason, remedy: remedy.into(), label: None, retry_after: None, as_status: None }
    }

    fn about(self, label: &str) -> Self {
        Self { label: Some(label.to_owned()), ..self }
    }

    fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The HTTP status that it is answered with.
    pub fn status(&self) -> u16 {
        self.as_status.unwrap_or_else(|| self.kind.status())
    }

    /// The same with the status that the service answered.
    pub fn with_status(self, status: u16) -> Self {
        Self { as_status: Some(status), ..self }
    }

    /// Its name in `type` and in statistics.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The label that it is about, where it is about one.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// One line for the log: it holds no value.
    pub fn line(&self) -> String {
        format!("{}: {} ({}); {}", self.kind.title(), self.detail, self.kind.name(), self.remedy)
    }

    /// As it is answered to the client.
    pub fn reply(&self) -> Reply {
        let mut body = json!({
            "type": format!("urn:fieldveil:problem:{}", self.kind.name()),
            "title": self.kind.title(),
            "status": self.status(),
            "detail": self.detail,
            "reason": self.reason,
            "remedy": self.remedy,
        });
        if let (Some(label), Some(body)) = (&self.label, body.as_object_mut()) {
            body.insert("label".to_owned(), json!(label));
        }
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![
            header("content-type", "application/problem+json"),
            // Whom it is for, and until when it holds, nobody between may judge.
            header("cache-control", "no-store"),
        ];
        if let Some(seconds) = self.retry_after {
            headers.push(header("retry-after", &seconds.to_string()));
        }
        if let Some(methods) = self.kind.allows() {
            headers.push(header("allow", methods));
        }
        if let Some(codings) = self.kind.accepts_encodings() {
            headers.push(header("accept-encoding", codings));
        }
        Reply { status: self.status(), headers, body: body.to_string().into_bytes() }
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
