//! What becomes of a service's response.

use super::course::Course;
use super::encoding::Encoding;
use super::head::Head;
use super::limits::BodyLimits;
use super::media::Media;
use super::problem::{Problem, Side};
use super::request::is_empty;
use super::validators;
use crate::routes::Route;
use std::sync::Arc;

const PARTIAL_CONTENT: u16 = 206;

/// How the response goes on. `is_head`: to a HEAD; `varies` names its header fields that decide who asks.
pub(super) fn course(
    route: &Arc<Route>,
    limits: BodyLimits,
    is_head: bool,
    varies: &str,
    head: &Head,
    end_of_stream: bool,
) -> Result<Course, Problem> {
    if route.response.is_none() {
        return Ok(Course::Pass(Vec::new()));
    }
    let status = head.status().ok_or_else(|| Problem::bad_response("it has no status", REMEDY))?;
    let mut edits = Vec::new();
    validators::loosen_response(head, varies, &mut edits);
    if is_head || matches!(status, 204 | 304) {
        // What a GET would give is of another length, and decoded.
        validators::remove(head, &["content-length"], &mut edits);
        if matches!(Encoding::of(head), Encoding::One(_)) {
            validators::remove(head, &["content-encoding"], &mut edits);
        }
        return Ok(Course::Pass(edits));
    }
    if status == PARTIAL_CONTENT {
        return Err(Problem::bad_response(
            "it is a part of a document",
            "Let the service answer whole to requests without Range.",
        ));
    }
    if end_of_stream {
        return Ok(Course::Pass(edits));
    }
    if is_empty(head) {
        let reason = "there is a body though its length is said to be 0";
        return Ok(Course::Bodiless(Problem::malformed(Side::Response, 0, reason), edits));
    }
    Ok(match Media::of(head) {
        Media::Other(reason) => {
            let problem = Problem::media_type(Side::Response, reason);
            if head.is_success() {
                return Ok(Course::Bodiless(problem, edits));
            }
            // That it failed, or is elsewhere, is told as it is; what the service says to it could hold anything.
            Course::Replace(problem.with_status(status), edits)
        }
        Media::Json(framing) => Course::of_json(Side::Response, route, framing, limits, head, edits),
    })
}

/// Whether Envoy, or this filter, says it itself. What comes from elsewhere and is a success is not that: it may be an answer of
/// the service that somebody kept.
pub(super) fn is_envoys_own(head: &Head, from_upstream: bool) -> bool {
    !from_upstream && !head.is_success()
}

/// It comes before its request was let through.
pub(super) fn unrequested() -> Problem {
    Problem::bad_response("it comes before its request was let through", BYPASSED)
}

/// Its body comes before its head.
pub(super) fn without_head() -> Problem {
    Problem::bad_response("a body comes without its head", BYPASSED)
}

const REMEDY: &str = "See what the service answers.";
const BYPASSED: &str = "See that the filter stands in every filter chain that this route takes.";
