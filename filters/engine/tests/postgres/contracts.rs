//! Holds the engine to the contract files: it can carry out every plan in them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_plan::{Place, Plan};
use serde_json::{Value, json};

/// Name and content of each.
fn contracts() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/contract");
    let cases = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).map(|case| {
        let text = std::fs::read(case.path().join("data.json")).unwrap();
        (case.file_name().into_string().unwrap(), serde_json::from_slice(&text).unwrap())
    });
    cases.collect()
}

/// A path that fits a route's, and a method.
fn fitting(route: &Value) -> (String, String) {
    let path = route["path"].as_str().unwrap();
    let segments = path.split('/').filter(|segment| !matches!(*segment, "" | "**"));
    let segments = segments.map(|segment| if segment.starts_with('{') { "7" } else { segment });
    let path = segments.fold(String::new(), |path, segment| path + "/" + segment);
    let method = route["methods"].get(0).and_then(Value::as_str).unwrap_or("PATCH");
    (method.to_owned(), path)
}

#[test]
fn every_field_of_every_route_is_found_by_a_request_that_fits() {
    let mut routes = 0;
    for (case, contract) in contracts() {
        let Some(said) = contract["plan"].get("service") else { continue };
        let plan = Plan::from_json(json!({"result": contract["plan"]}).to_string().as_bytes()).unwrap();
        let service = CompiledPlan::new(plan).unwrap().service.unwrap();
        assert_eq!(service.refuses_unmatched, said["unmatched"] == "refuse", "{case}");
        for wanted in said["routes"].as_array().unwrap() {
            let (method, path) = fitting(wanted);
            let route = service.route(&method, &path).unwrap();
            assert!(route.matched || wanted["path"] == "/**", "{case}: {path}");
            let bodies = [&route.request, &route.response].into_iter().flatten();
            let mut found: Vec<&Place> =
                bodies.flat_map(|body| &body.places).map(|field| &field.spec.place).collect();
            found.extend(route.query.iter().chain(&route.headers).map(|(_, field)| &field.spec.place));
            found.extend(route.segments.iter().map(|(_, field)| &field.spec.place));
            for field in wanted["fields"].as_array().unwrap() {
                let at = field["at"].as_str().unwrap().to_owned();
                let place = match field["in"].as_str().unwrap() {
                    "request" => Place::Request(at),
                    "response" => Place::Response(at),
                    "query" => Place::Query(at),
                    "header" => Place::Header(at),
                    _ => Place::Segment(at),
                };
                assert!(found.contains(&&place), "{case}: {method} {path}: {place}");
            }
            routes += 1;
        }
    }
    assert!(routes > 0, "no contract has routes");
}

#[test]
fn every_plan_of_the_contracts_can_be_carried_out() {
    for (case, contract) in contracts() {
        let plan = Plan::from_json(json!({"result": contract["plan"]}).to_string().as_bytes()).unwrap();
        let compiled = CompiledPlan::new(plan.clone()).unwrap_or_else(|error| panic!("{}: {error}", case));
        assert!(compiled.says(&plan), "{}", case);
        assert_eq!(compiled.fields.len(), plan.fields.len(), "{}", case);
    }
}
