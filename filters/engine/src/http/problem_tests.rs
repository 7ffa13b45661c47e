use serde_json::Value;

use super::*;
use crate::http::encoding::Fault;

fn all() -> Vec<Problem> {
    vec![
        Problem::malformed(Side::Request, 7, "a comma is missing"),
        Problem::ambiguous_target("it has a bad percent sign"),
        Problem::ambiguous_identity("x-user", "it comes twice"),
        Problem::denied("customer.ssn", "read"),
        Problem::unmatched_route(),
        Problem::unsupported_protocol("a WebSocket"),
        Problem::graphql_method(),
        Problem::limit(Side::Request, "the depth of its arrays and objects", 1000, "http.limits.json_depth"),
        Problem::media_type(Side::Request, "its content-type is text/plain"),
        Problem::content_encoding(Side::Request, "r"),
        Problem::invalid_value("customer.ssn", "it is not a valid int4", "int4"),
        Problem::shown_instead("customer.ssn", "it is sealed already"),
        Problem::graphql(Some("customer.ssn"), "a literal", "Use a variable."),
        Problem::budget_spent("customer.ssn", crate::budgets::Allowance { rows: 1, per_seconds: 60 }, 30),
        Problem::bad_response("it is a part of one", "Ask for it whole."),
        Problem::unreadable("customer.ssn", "it was sealed under another label"),
        Problem::unavailable("the policy (OPA)", "it does not answer", "Start it."),
        Problem::several_keys("customer.ssn", "pii"),
        Problem::content_encoding(Side::Response, "r"),
        Problem::malformed(Side::Response, 7, "a comma is missing"),
        Problem::limit(Side::Response, "a value", 1, "limits.protected_value_bytes"),
        Problem::media_type(Side::Response, "its content-type is text/plain"),
    ]
}

#[test]
fn every_problem_is_told_as_rfc_9457_has_it() {
    for problem in all() {
        let reply = problem.reply();
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        for member in ["type", "title", "detail", "reason", "remedy"] {
            assert!(body[member].as_str().is_some_and(|text| !text.is_empty()), "{member} of {problem:?}");
        }
        assert_eq!(body["type"], format!("urn:fieldveil:problem:{}", problem.name()));
        assert_eq!(body["status"], reply.status);
        assert_eq!(body.get("label").and_then(Value::as_str), problem.label());
        let header =
            |name: &str| reply.headers.iter().find(|(known, _)| known == name).map(|(_, v)| v.as_str());
        assert_eq!(header("content-type"), Some("application/problem+json"));
        assert_eq!(header("cache-control"), Some("no-store"));
        assert_eq!(
            header("retry-after").is_some(),
            matches!(problem.kind, Kind::BudgetSpent | Kind::Unavailable)
        );
        assert_eq!(header("allow").is_some(), reply.status == 405);
        assert!(body["remedy"].as_str().unwrap().ends_with('.'), "{problem:?}");
        assert!(problem.line().contains(problem.name()));
    }
}

#[test]
fn whose_fault_it_is_decides_the_status() {
    let statuses: Vec<u16> = all().iter().map(Problem::status).collect();
    let client = [400, 400, 400, 403, 403, 403, 405, 413, 415, 415, 422, 422, 422, 429];
    assert_eq!(statuses, [&client[..], &[502, 502, 503, 503, 502, 502, 502, 502]].concat());
}

#[test]
fn detail_does_not_repeat_the_title_that_stands_before_it() {
    let others = [
        Problem::too_much_at_once(Side::Request, 1),
        Problem::head_too_large("customer.ssn", "more than 1 of its values are looked for"),
        Problem::output_too_long(Side::Response, 1),
        Problem::undecodable(Side::Request, Fault::Malformed("it ends early")),
        Problem::undecodable(Side::Response, Fault::Malformed("it ends early")),
        Problem::odd_method(),
        Problem::misplaced_header("it is a trailer"),
        Problem::overridden_target("header x-http-method-override"),
        Problem::plan_denied("the token is not valid: it has expired"),
        Problem::long_value("customer.ssn", 1),
        Problem::no_memory(),
        Problem::no_keyset("keyset pii is not served by the key agent"),
    ];
    let of = |text: &str| text.to_lowercase().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for problem in all().into_iter().chain(others) {
        let (title, detail) = (of(problem.kind.title()), of(&problem.detail));
        // Both may name the same thing, as "a stored value" is; four words in a row say the same of it.
        for words in title.windows(title.len().min(4)) {
            assert!(!detail.windows(words.len()).any(|said| said == words), "{}", problem.line());
        }
    }
}
