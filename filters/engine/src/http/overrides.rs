//! Requests that some services take for others than they say: by a header field, or by a parameter named `_method`.
//!
//! Routes are found by the method and the path of a request. So what may say another to the service is refused, in every
//! spelling that services take for it.

use std::rc::Rc;

use super::head::{Head, is_alike};
use super::problem::Problem;
use super::query;
use crate::routes::{Route, Service};

/// Header fields by which some services take a request for one of another method or path than it says.
const HEADERS: [&str; 9] = [
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

/// Refuses what may say another method by a parameter, where that is another route.
pub(super) fn check_parameters(
    service: &Service,
    route: &Rc<Route>,
    head: &Head,
    path: &str,
) -> Result<(), Problem> {
    let target = head.first(":path").unwrap_or_default();
    let in_query = query::parameter_names(target).any(|name| name.eq_ignore_ascii_case(PARAMETER));
    // What stands in a form is not looked at. Only what is sent by POST is taken for something else by that.
    let is_form = |value: &[u8]| value.windows(4).any(|part| part.eq_ignore_ascii_case(b"form"));
    let in_form = head.first(":method") == Some(b"POST") && head.all("content-type").any(is_form);
    if !in_query && !in_form {
        return Ok(());
    }
    let is_other = |method: &str| service.route(method, path).is_ok_and(|other| !Rc::ptr_eq(&other, route));
    match METHODS.into_iter().filter(|method| in_query || *method != "GET").any(is_other) {
        true if in_query => Err(Problem::overridden_target("the parameter _method")),
        true => Err(Problem::overridden_target("a form, by a parameter named _method,")),
        false => Ok(()),
    }
}
