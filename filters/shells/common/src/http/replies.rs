//! The answers that the shell gives by itself.

use fieldveil_engine::http::Reply;

use super::Direction;

/// A held body can't be let go: its fields made too much of it.
pub fn too_large(direction: Direction) -> Reply {
    let (status, title, remedy) = match direction {
        Direction::Request => (413, "the body of the request is too large", "send it in parts"),
        Direction::Response => (502, "the body of the response is too large", "ask for less at once"),
    };
    let reason = "with its fields treated it is more than can be held";
    problem(status, "too-large", title, reason, remedy)
}

/// The sidecar is not set up as it must be.
pub fn unavailable(reason: &str, remedy: &str) -> Reply {
    problem(503, "unavailable", "A part is not available", reason, remedy)
}

/// A problem, whose texts hold nothing that JSON would escape.
fn problem(status: u16, kind: &str, title: &str, reason: &str, remedy: &str) -> Reply {
    let body = format!(
        "{{\"type\":\"urn:fieldveil:problem:{kind}\",\"title\":\"{title}\",\"status\":{status},\
         \"detail\":\"{title}: {reason}: {remedy}\",\"reason\":\"{reason}\",\"remedy\":\"{remedy}\"}}"
    );
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers =
        vec![header("content-type", "application/problem+json"), header("cache-control", "no-store")];
    Reply { status, headers, body: body.into_bytes() }
}
