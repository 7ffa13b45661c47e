//! The one answer that the shell gives by itself.

use fieldveil_engine::http::Reply;

use super::Direction;

/// A held body can't be let go: its fields made too much of it.
pub fn too_large(direction: Direction) -> Reply {
    let (status, title, remedy) = match direction {
        Direction::Request => (413, "the body of the request is too large", "send it in parts"),
        Direction::Response => (502, "the body of the response is too large", "ask for less at once"),
    };
    let body = format!(
        "{{\"type\":\"urn:fieldveil:problem:too-large\",\"title\":\"{title}\",\"status\":{status},\
         \"detail\":\"{title}: with its fields treated it is more than can be held: {remedy}\",\
         \"reason\":\"with its fields treated it is more than can be held\",\"remedy\":\"{remedy}\"}}"
    );
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers =
        vec![header("content-type", "application/problem+json"), header("cache-control", "no-store")];
    Reply { status, headers, body: body.into_bytes() }
}
