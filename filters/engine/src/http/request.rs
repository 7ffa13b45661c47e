//! What becomes of a request, once plan and keys are there.

use fieldveil_json_stream::Framing;
use std::sync::Arc;

use super::course::Course;
use super::graphql;
use super::head::{Head, is_alike};
use super::limits::BodyLimits;
use super::media::Media;
use super::output::Edit;
use super::overrides::{self, Posted};
use super::problem::{Problem, Side};
use super::query;
use super::search_budget::SearchBudget;
use super::treat::Context;
use super::validators;
use crate::compiled_plan::CompiledPlan;
use crate::routes::{Route, Service, Unroutable};

/// The route of a request that may go on. `ends`: nothing follows its head.
pub(super) fn route(plan: &CompiledPlan, head: &Head, ends: bool) -> Result<Arc<Route>, Problem> {
    let Some(service) = &plan.service else {
        let remedy = "Mend the policy: for protocol http its plan says what the service is.";
        return Err(Problem::unavailable("the plan", "it speaks of no service", remedy));
    };
    if !service.is_empty() {
        overrides::check_names(head)?;
    }
    // Some services take `post` for POST; routes are compared by letter.
    if method(head).bytes().any(|byte| byte.is_ascii_lowercase()) && !service.is_empty() {
        return Err(Problem::odd_method());
    }
    let path = head.first(":path").map(path_of);
    // An extended CONNECT (RFC 8441) is what an upgraded GET was. A plain one has no path: it leads wherever its peer likes.
    let method = if method(head) == "CONNECT" && path.is_some() { "GET" } else { method(head) };
    let path_text = as_text(path.unwrap_or(b"/"))?;
    let route = found(service, method, path_text)?;
    overrides::check_parameters(service, &route, head, path_text, !ends && !is_empty(head))?;
    if !route.matched && service.refuses_unmatched {
        return Err(Problem::unmatched_route());
    }
    let names_anything = !route.is_empty() || (path.is_none() && !service.is_empty());
    let is_tunnel =
        method == "CONNECT" || head.first(":protocol").is_some() || head.first("upgrade").is_some();
    if is_tunnel && names_anything {
        return Err(Problem::unsupported_protocol("an upgraded connection or a tunnel"));
    }
    if let Some(reason) = plan.denied.as_ref().filter(|_| names_anything) {
        return Err(Problem::plan_denied(reason));
    }
    if names_body(&route) && route.graphql {
        graphql::check_target(head.first(":path").unwrap_or_default())?;
    }
    Ok(route)
}

/// How the request goes on: the changes of its head, and what becomes of its body.
pub(super) fn course(
    context: &Context,
    route: &Arc<Route>,
    limits: BodyLimits,
    head: &Head,
    end_of_stream: bool,
) -> Result<Course, Problem> {
    let mut edits = Vec::new();
    seal_head(context, route, head, &mut edits)?;
    if route.response.is_some() {
        validators::ask_for_whole(head, &mut edits);
    }
    if has_weak_validators(context, route, head) {
        validators::strengthen_if_match(head, &mut edits);
    }
    if route.request.is_none() && !(route.graphql && names_body(route)) {
        return Ok(Course::Pass(edits));
    }
    validators::remove_digests(head, &mut edits);
    if end_of_stream {
        return Ok(Course::Pass(edits));
    }
    if is_empty(head) {
        return Ok(Course::Bodiless(unannounced_body(), edits));
    }
    Ok(match Media::of(head) {
        Media::Other(reason) => Course::Bodiless(Problem::media_type(Side::Request, reason), edits),
        // All but its lines of data would pass, and a service that reads JSON whatever the media type would take them.
        Media::Json(Framing::Events) => {
            Course::Bodiless(Problem::media_type(Side::Request, "events are for answers"), edits)
        }
        Media::Json(framing) if route.graphql && framing != Framing::Document => {
            let reason = "a GraphQL request is one document";
            Course::Bodiless(Problem::media_type(Side::Request, reason), edits)
        }
        Media::Json(framing) => {
            let path = as_text(path_of(head.first(":path").unwrap_or_default())).unwrap_or_default();
            let course = Course::of_json(Side::Request, route, framing, limits, head, edits);
            course.posted(Posted::of(head, path))
        }
    })
}

/// Seals what the route names in the target and in header fields.
fn seal_head(context: &Context, route: &Route, head: &Head, edits: &mut Vec<Edit>) -> Result<(), Problem> {
    let mut budget = SearchBudget::default();
    if let Some(target) = head.first(":path")
        && let Some(sealed) = query::seal_target(context, &mut budget, target, &route.query, &route.segments)?
    {
        edits.push(Edit::Set(":path".into(), sealed));
    }
    check_names(route, head.names())?;
    for (name, field) in &route.headers {
        let values = head.all(name).map(|value| query::seal_header(context, &mut budget, field, value));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        validators::set_all(name, values.into_iter(), edits);
    }
    Ok(())
}

/// Refuses a header field that services take for one that the route names: see [`is_alike`].
fn check_names<'a>(route: &Route, mut names: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    let is_twin = |name: &str, named: &str| name != named && is_alike(name, named);
    match names.find(|name| route.headers.iter().any(|(named, _)| is_twin(name, named))) {
        Some(_) => {
            Err(Problem::misplaced_header("its name with an underscore is another header to some services"))
        }
        None => Ok(()),
    }
}

/// Refuses trailers that hold what the route names as a header: they come too late to be sealed. And some services take them
/// for header fields, so that they may say what these may not.
pub(super) fn check_trailers(context: &Context, route: &Route, trailers: &Head) -> Result<(), Problem> {
    if context.plan.service.as_ref().is_some_and(|service| !service.is_empty()) {
        overrides::check_names(trailers)?;
    }
    let is_named = |name: &str| route.headers.iter().any(|(named, _)| is_alike(name, named));
    if trailers.names().any(is_named) {
        return Err(Problem::misplaced_header("it stands in the trailers"));
    }
    Ok(())
}

/// Whether clients have weak validators of this path where the service has strong ones: those of what a GET of it gives.
fn has_weak_validators(context: &Context, route: &Route, head: &Head) -> bool {
    if head.first("if-match").is_none() || route.response.is_some() {
        return route.response.is_some();
    }
    let Some(service) = &context.plan.service else { return false };
    let path = path_of(head.first(":path").unwrap_or_default());
    let found = as_text(path).and_then(|path| found(service, "GET", path));
    found.is_ok_and(|route| route.response.is_some())
}

fn as_text(path: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(path).map_err(|_| Problem::ambiguous_target("the path is not UTF-8"))
}

fn found(service: &Service, method: &str, path: &str) -> Result<Arc<Route>, Problem> {
    service.route(method, path).map_err(|error| match error {
        Unroutable::BadPath => {
            Problem::ambiguous_target("the path has dot segments, or escapes of what parts a path")
        }
        Unroutable::Unusable(reason) => {
            Problem::unavailable("the plan of this route", &reason, "Mend the service's catalog.")
        }
    })
}

/// The method, or none that a route could name.
pub(super) fn method(head: &Head) -> &str {
    head.first(":method").and_then(|method| std::str::from_utf8(method).ok()).unwrap_or_default()
}

fn path_of(target: &[u8]) -> &[u8] {
    target.split(|byte| *byte == b'?').next().unwrap_or_default()
}

fn names_body(route: &Route) -> bool {
    route.request.is_some() || route.response.is_some()
}

/// Whether the head says that nothing follows it.
pub(super) fn is_empty(head: &Head) -> bool {
    let mut lengths = head.all("content-length").peekable();
    lengths.peek().is_some() && lengths.all(|length| length.trim_ascii() == b"0")
}

fn unannounced_body() -> Problem {
    Problem::malformed(Side::Request, 0, "there is a body though its length is said to be 0")
}
