//! Requests that some services take for others than they say: by a header field, or by a parameter named `_method`.
//!
//! Routes are found by the method and the path of a request. So what may say another to the service is refused, in every
//! spelling that services take for it.

use std::sync::Arc;

use fieldveil_json_stream::{Found, Kind};

use super::head::{Head, is_alike};
use super::problem::Problem;
use super::query;
use crate::routes::{Route, Service};

/// Header fields by which some services take a request for one of another method or path than it says. Gunicorn takes the first
/// two for variables of WSGI, and the first, as others do its name with `x-`, away from the path.
const HEADERS: [&str; 12] = [
    "script-name",
    "path-info",
    "x-script-name",
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-method",
    "x-original-url",
    "x-original-uri",
    "x-rewrite-url",
    "x-rewrite-uri",
    "x-override-url",
];
/// The parameter of a query or a form by which frameworks take a POST for another method: Rails, Laravel, Symfony, Express.
/// Laravel takes it from JSON too.
const PARAMETER: &[u8] = b"_method";
/// What a request can be taken for.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Refuses header fields, or trailers, that may say another method or path.
pub(super) fn check_names(head: &Head) -> Result<(), Problem> {
    let overriding = |name: &str| HEADERS.into_iter().find(|known| is_alike(known, name));
    match head.names().find_map(overriding) {
        Some(name) => Err(Problem::overridden_target(&format!("header {name}"))),
        None => Ok(()),
    }
}

/// Refuses what may say another method by a parameter, where that is another route. `has_body`: something follows the head.
pub(super) fn check_parameters(
    service: &Service,
    route: &Arc<Route>,
    head: &Head,
    path: &str,
    has_body: bool,
) -> Result<(), Problem> {
    let target = head.first(":path").unwrap_or_default();
    let in_query = query::parameter_names(target).any(|name| is_parameter(&name));
    // What stands in a form is not looked at. Only what is sent by POST is taken for something else by that.
    let in_form = has_body && is_post(head) && may_be_form(head);
    if !in_query && !in_form {
        return Ok(());
    }
    match is_other_route(service, route, path, in_query) {
        true if in_query => Err(Problem::overridden_target("the parameter _method")),
        true => Err(Problem::overridden_target("a form, by a parameter named _method,")),
        false => Ok(()),
    }
}

/// A POST, of which a member `_method` of its JSON may make another request.
pub(super) struct Posted {
    path: String,
}

impl Posted {
    /// The request, if it is one.
    pub(super) fn of(head: &Head, path: &str) -> Option<Self> {
        is_post(head).then(|| Self { path: path.to_owned() })
    }

    /// Refuses the member where another method is another route; where a service takes a method from it, it is a string.
    pub(super) fn check_member(
        &self,
        service: Option<&Arc<Service>>,
        found: &Found<'_>,
    ) -> Result<(), Problem> {
        let is_other = || {
            let route = service.and_then(|service| Some((service, service.route("POST", &self.path).ok()?)));
            route.is_none_or(|(service, route)| is_other_route(service, &route, &self.path, false))
        };
        match found.kind {
            Kind::String if is_other() => Err(Problem::overridden_target("the member _method of the body")),
            _ => Ok(()),
        }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.path.capacity()
    }
}

/// Whether another method of the path is another route. Only a query makes a GET of something else.
fn is_other_route(service: &Service, route: &Arc<Route>, path: &str, also_get: bool) -> bool {
    let is_other = |method: &str| service.route(method, path).is_ok_and(|other| !Arc::ptr_eq(&other, route));
    METHODS.into_iter().filter(|method| also_get || *method != "GET").any(is_other)
}

fn is_post(head: &Head) -> bool {
    head.first(":method") == Some(b"POST")
}

/// Whether some service reads the body as a form: Rack does so of every `multipart` and where no type is said.
fn may_be_form(head: &Head) -> bool {
    let says = |value: &[u8], part: &[u8]| value.windows(part.len()).any(|at| at.eq_ignore_ascii_case(part));
    let mut types = head.all("content-type").peekable();
    types.peek().is_none()
        || types.any(|value| says(value, b"form") || says(value, b"multipart") || has_no_type(value))
}

/// Whether a media type is left empty, or consists of parameters alone.
fn has_no_type(value: &[u8]) -> bool {
    matches!(value.trim_ascii_start().first(), None | Some(b';' | b','))
}

/// Whether some service takes a parameter of this name for [`PARAMETER`]. PHP leaves out white space in front, ends a name at a
/// NUL, and reads a dot, a space, and a bracket that is not closed, as an underscore.
fn is_parameter(name: &[u8]) -> bool {
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default().trim_ascii_start();
    let fold = |byte: &u8| if matches!(byte, b'.' | b' ' | b'[') { b'_' } else { byte.to_ascii_lowercase() };
    name.iter().map(fold).eq(PARAMETER.iter().copied())
}
