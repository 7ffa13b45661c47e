use fieldveil_plan::Plan;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

use super::*;
use crate::compiled_plan::CompiledPlan;

/// `$.variables.ssn` and the like in requests, `$.data.customer.ssn` and the like in responses, under `customer.ssn`.
fn fields(place: &str, paths: &[&str]) -> Vec<Arc<CompiledField>> {
    let field = |path: &&str| {
        json!({"in": place, "at": path, "label": "customer.ssn", "keyset": "pii", "tenant": "",
            "protection": "deterministic", "type": "text", "read": {"treatment": "reveal"}, "write": "seal"})
    };
    let route = json!({"path": "/graphql", "methods": ["POST"], "except": [], "graphql": true,
        "fields": paths.iter().map(field).collect::<Vec<_>>()});
    let plan = json!({"result": {"revision": "r", "subject": "s", "ttl_seconds": 30, "max_stale_seconds": 300, "fields": [],
        "service": {"unmatched": "pass", "routes": [route]}}});
    let plan = CompiledPlan::new(Plan::from_json(plan.to_string().as_bytes()).unwrap()).unwrap();
    let route = plan.service.unwrap().route("POST", "/graphql").unwrap();
    let body = if place == "request" { &route.request } else { &route.response };
    body.as_ref().unwrap().places.clone()
}

fn check_under(paths: &[&str], body: &Value) -> Result<(), String> {
    check(body.to_string().as_bytes(), &fields("request", paths), &[]).map_err(|problem| {
        assert_eq!((problem.name(), problem.status()), ("graphql", 422));
        problem.line()
    })
}

const PLANNED: [&str; 2] = ["$.variables.ssn", "$.variables.input.ssn"];

fn passes(query: &str, variables: Value) {
    assert_eq!(check_under(&PLANNED, &json!({"query": query, "variables": variables})), Ok(()), "{query}");
}

fn is_refused(query: &str, variables: Value) {
    let refused = check_under(&PLANNED, &json!({"query": query, "variables": variables}));
    assert!(refused.unwrap_err().contains("customer.ssn"), "{query}");
}

#[test]
fn planned_variables_pass_wherever_they_are_used() {
    let ssn = || json!({"ssn": "078-05-1120"});
    passes("query($ssn: String!) { customer(ssn: $ssn) { name } }", ssn());
    passes(
        "query($ssn: String!) { c: customer(where: {ssn: {eq: $ssn}, or: [{ssn: $ssn}, {ssn: null}]}) { name } }",
        ssn(),
    );
    passes(
        "mutation M($input: New!) { create(input: $input, note: \"ssn: 1\") { id } }",
        json!({"input": ssn()}),
    );
    passes(
        "mutation M($input: New!) { create(input: $input) { id } }",
        json!({"input": {"ssn": null, "name": "Ada"}}),
    );
    passes("{ customers(first: 10, name: \"ssn\", kind: SSN) { ssn } }", json!({}));
    passes(
        "query($n: String = \"x\", $kinds: [Kind!] = [A, B]) { customers(name: $n) { ssn } }",
        json!({"n": "y"}),
    );
    passes("query($ssn: String = null) { customer(ssn: $ssn) { name } }", json!(null));
    passes("# ssn: \"1\"\n{ customers(name: \"\"\"\n ssn: \"1\" \\\"\"\" \"\"\") { name } }", json!({}));
}

#[test]
fn literal_in_place_of_a_variable_is_refused() {
    for query in [
        "{ customer(ssn: \"078-05-1120\") { name } }",
        "{ a: customer(ssn: \"078-05-1120\") { name } }",
        "{ customer(ssn: \"\"\"078-05-1120\"\"\") { name } }",
        "{ customer(ssn: 78051120) { name } }",
        "{ customer(ssn: 7.8) { name } }",
        "{ customer(ssn: true) { name } }",
        "{ customer(ssn: A078) { name } }",
        "{ customer(ssn: [\"078-05-1120\"]) { name } }",
        "{ customer(ssn: {eq: \"078-05-1120\"}) { name } }",
        "{ customer(where: {and: [{ssn: {in: [\"078-05-1120\"]}}]}) { name } }",
        "{customer(ssn#\n:#\"\n\"078-05-1120\"){name}}",
        "\u{feff}{ customer(,,,ssn,:,\"078-05-1120\",) { name } }",
        "{ customer(ssn: \"\\u0030\") { name } }",
        "mutation { create(input: {name: \"Ada\", ssn: \"078-05-1120\"}) { id } }",
        "query A { customers { name } } mutation B { create(input: {ssn: \"1\"}) { id } }",
        "{ ...F } fragment F on Query { customer(ssn: \"1\") { name } }",
        "{ ... on Query { customer(ssn: \"1\") { name } } }",
        "{ ... @include(if: true) { customer { orders(ssn: \"1\") { id } } } }",
        "{ customer @find(ssn: \"1\") { name } }",
        "query @find(ssn: \"1\") { customer { name } }",
        "query($x: Int @find(ssn: \"1\")) { customer(x: $x) { name } }",
        "subscription { changed(ssn: \"1\") { name } }",
        "query($ssn: String = \"1\") { customer(ssn: $ssn) { name } }",
        "query($ssn: String) { customer(ssn: [$ssn, \"1\"]) { name } }",
        "query($input: New = {ssn: \"1\"}) { create(input: $input) { name } }",
        "query($other: New = {a: [{ssn: \"1\"}]}) { create(input: $other) { name } }",
        "query($x: String = \"1\") { customer(ssn: $x) { name } }",
    ] {
        is_refused(query, json!({}));
    }
}

#[test]
fn document_that_takes_a_variable_of_another_name_is_refused_whatever_it_holds() {
    for query in [
        "mutation($x: String) { create(ssn: $x) { id } }",
        "mutation($x: String) { create(input: {ssn: $x}) { id } }",
        "mutation($x: [String]) { create(ssn: {in: $x}) { id } }",
    ] {
        is_refused(query, json!({}));
        is_refused(query, json!({"x": null}));
        is_refused(query, Value::Null);
    }
}

#[test]
fn value_in_a_variable_of_another_name_is_refused() {
    is_refused("query($x: String) { customer(ssn: $x) { name } }", json!({"x": "1"}));
    is_refused("query($x: [String]) { customers(ssn: {in: $x}) { name } }", json!({"x": ["1"]}));
    is_refused("query A { n } query B($x: ID) { customer(ssn: $x) { name } }", json!({"x": 1}));
    is_refused("query($o: New) { create(input: $o) { name } }", json!({"o": {"ssn": "1"}}));
    is_refused("query($o: New) { create(input: $o) { name } }", json!({"o": [{"a": {"ssn": {"eq": "1"}}}]}));
    is_refused("query($input: New) { create(input: $input) { name } }", json!({"input": [{"ssn": "1"}]}));
    is_refused(
        "query($input: New) { create(input: $input) { name } }",
        json!({"input": {"deep": {"ssn": "1"}}}),
    );
    // Used for nothing that is known to be one, in a request to which the service knows the document.
    let by_hash = json!({"extensions": {"persistedQuery": {"version": 1}}, "variables": {"o": {"ssn": "1"}}});
    assert!(check_under(&PLANNED, &by_hash).is_err());
}

#[test]
fn one_value_where_a_list_is_planned_is_refused() {
    let query = "query($ssns: [String!]) { customers(ssns: $ssns) { name } }";
    let check = |variables: Value| {
        check_under(&["$.variables.ssns[*]"], &json!({"query": query, "variables": variables}))
    };
    assert_eq!(check(json!({"ssns": ["1", null, "2"]})), Ok(()));
    assert_eq!(check(json!({"ssns": null})), Ok(()));
    // Services make a list of it.
    assert!(check(json!({"ssns": "1"})).is_err());
    assert!(
        check_under(&["$.variables.ssns[0]"], &json!({"query": query, "variables": {"ssns": ["1", "2"]}}))
            .is_err()
    );
}

#[test]
fn path_at_any_depth_finds_the_variables_that_it_seals() {
    for path in ["$..ssn", "$.variables..ssn"] {
        let pass = json!({"query": "query($o: New) { create(input: $o) { id } }", "variables": {"o": [{"ssn": "1"}]}});
        assert_eq!(check_under(&[path], &pass), Ok(()), "{path}");
        let other = json!({"query": "query($x: ID) { customer(ssn: $x) { id } }", "variables": {"x": "1"}});
        assert!(check_under(&[path], &other).is_err(), "{path}");
        let literal = json!({"query": "query($n: Int = 3) { customer(n: $n, o: {ssn: 1}) { id } }"});
        assert!(check_under(&[path], &literal).is_err(), "{path}");
        let default = json!({"query": "query($n: Int = 3) { customers(first: $n) { id } }"});
        assert_eq!(check_under(&[path], &default), Ok(()), "{path}");
    }
}

#[test]
fn persisted_query_passes_with_planned_variables() {
    for query in [json!({}), json!({"query": null})] {
        let mut body =
            json!({"extensions": {"persistedQuery": {"sha256Hash": "aa"}}, "variables": {"ssn": "1"}});
        body.as_object_mut().unwrap().extend(query.as_object().unwrap().clone());
        assert_eq!(check_under(&PLANNED, &body), Ok(()));
    }
}

#[test]
fn body_that_services_may_read_otherwise_is_refused() {
    let query = r#""{ customers { name } }""#;
    for body in [
        format!(r#"[{{"query": {query}}}]"#),
        format!("\n [{{\"query\": {query}}}]"),
        query.to_owned(),
        "null".to_owned(),
        String::new(),
        r#"{"query": 1}"#.to_owned(),
        r#"{"query": ["{ a }"]}"#.to_owned(),
        r#"{"query": {}}"#.to_owned(),
        format!(r#"{{"query": {query}, "query": "{{ customer(ssn: 1) {{ id }} }}"}}"#),
        format!(r#"{{"query": {query}, "qu\u0065ry": {query}}}"#),
        format!(r#"{{"query": {query}, "QUERY": "{{ customer(ssn: 1) {{ id }} }}"}}"#),
        format!(r#"{{"query": {query}, "Variables": {{"ssn": "1"}}}}"#),
        format!(r#"{{"query": {query}, "variableſ": {{"ssn": "1"}}}}"#),
        format!(r#"{{"query": {query}, "variables": {{}}, "variables": {{"x": 1}}}}"#),
        format!(r#"{{"query": {query}, "variables": "{{\"ssn\": 1}}"}}"#),
        format!(r#"{{"query": {query}, "variables": [{{"ssn": 1}}]}}"#),
        format!(r#"{{"query": {query}, "variables": {}1{}}}"#, "[".repeat(200), "]".repeat(200)),
        r#"{"query": "{ customers { name }"}"#.to_owned(),
        r#"{"query": ""}"#.to_owned(),
        r#"{"query": "{ c(s: \"\\ud800\") }"}"#.to_owned(),
        json!({"query": format!("{}a{}", "{a".repeat(200), "}".repeat(200))}).to_string(),
        json!({"query": format!("{{ a(b: {}1{}) }}", "[".repeat(200), "]".repeat(200))}).to_string(),
        json!({"query": format!("{{ {} }}", "a ".repeat(30_000))}).to_string(),
    ] {
        let problem =
            check(body.as_bytes(), &fields("request", &PLANNED), &[]).map(|()| body.clone()).unwrap_err();
        assert_eq!((problem.name(), problem.status()), ("graphql", 422), "{body}");
    }
}

#[test]
fn each_of_two_equal_names_in_the_variables_is_looked_at() {
    let body =
        r#"{"query": "query($o: N) { c(o: $o) { id } }", "variables": {"o": {"ssn": "1"}, "o": null}}"#;
    assert!(check(body.as_bytes(), &fields("request", &PLANNED), &[]).is_err());
    let body =
        r#"{"query": "query($o: N) { c(o: $o) { id } }", "variables": {"o": {"x": {"ssn": "1"}, "x": 1}}}"#;
    assert!(check(body.as_bytes(), &fields("request", &PLANNED), &[]).is_err());
}

#[test]
fn alias_hides_no_field_that_leads_to_a_protected_value() {
    let response = fields("response", &["$.data.customer.ssn", "$.data.all[*].ssn"]);
    let check = |query: &str| check(json!({"query": query}).to_string().as_bytes(), &[], &response);
    for query in [
        "{ customer { ssn name n: name } data: other { x: id } all { ssn } }",
        "{ customer: customer { ssn: ssn } }",
    ] {
        assert_eq!(check(query), Ok(()), "{query}");
    }
    for query in [
        "{ customer { x: ssn } }",
        "{ customer { ssn: name } }",
        "{ c: customer { ssn } }",
        "{ customer: other { ssn } }",
        "{ ...F } fragment F on Query { all { x: ssn } }",
        "{ ... on Query { some: all { ssn } } }",
    ] {
        let problem = check(query).map(|()| query.to_owned()).unwrap_err();
        assert_eq!(problem.label().is_some(), !query.contains("other") && !query.contains("name"), "{query}");
    }
}

#[test]
fn target_with_a_document_or_variables_is_refused() {
    for target in ["/graphql", "/graphql?a=b", "/graphql?operationName=A", "/query/variables?x=query"] {
        assert_eq!(check_target(target.as_bytes()), Ok(()), "{target}");
    }
    for target in ["/g?query=%7Ba%7D", "/g?a=b&variables={}", "/g?%71uery=", "/g?QUERY", "/g?a;query=1"] {
        let problem = check_target(target.as_bytes()).unwrap_err();
        assert_eq!((problem.name(), problem.status()), ("graphql-method", 405), "{target}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_document_stops_the_filter(text in "[{}()\\[\\]:$@!=.,#\"\\\\|& \n a-cA-C0-9é\u{feff}-]{0,60}") {
        let _ = Document::read(&text);
        let _ = Document::read(&format!("query($a: A = {{a: \"\"\"{text}\"\"\"}}) {{ a(b: {text}) {{ {text} }} }}"));
    }

    #[test]
    fn value_under_a_planned_name_never_leaves_as_it_is(
        name in "[a-z]{1,6}",
        wrapped in prop::collection::vec(prop::sample::select(vec!["list", "a", "input", "ssn"]), 0..4),
    ) {
        // Somewhere in the variables, below one of any name, stands a value under the planned name.
        let value = wrapped.iter().fold(json!({"ssn": "1"}), |inner, wrap| match *wrap {
            "list" => json!([inner]),
            wrap => json!({ wrap: inner }),
        });
        let variables = json!({ name.as_str(): value });
        let is_planned = variables == json!({"input": {"ssn": "1"}}) || name == "ssn" || variables["input"].get("ssn").is_some();
        let body = json!({"query": "{ customers { id } }", "variables": variables});
        prop_assert_eq!(check_under(&PLANNED, &body).is_ok(), is_planned);
    }
}
