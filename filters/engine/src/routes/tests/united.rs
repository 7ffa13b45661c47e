//! What routes say together.

use proptest::prelude::*;
use std::sync::Arc;

use super::*;

const TREATMENTS: [&str; 7] = [
    r#"{"treatment": "reveal"}"#,
    r#"{"treatment": "reveal", "budget": {"rows": 5, "per_seconds": 60, "then": {"treatment": "null"}}}"#,
    r#"{"treatment": "mask", "format": "last4"}"#,
    r#"{"treatment": "mask", "format": "first1"}"#,
    r#"{"treatment": "conceal"}"#,
    r#"{"treatment": "null"}"#,
    r#"{"treatment": "refuse"}"#,
];

fn treated(read: &str, write: &str, on_plaintext: &str) -> Value {
    let mut field = field("response", "$.ssn", "ssn");
    field["read"] = serde_json::from_str(read).unwrap();
    field["write"] = json!(write);
    field["on_plaintext"] = json!(on_plaintext);
    field
}

/// What is said of the label by routes that say each of these.
fn said(fields: &[Value]) -> CompiledField {
    let routes: Vec<Value> = fields.iter().map(|field| route("/a", std::slice::from_ref(field))).collect();
    let route = service(&routes).route("GET", "/a").unwrap();
    let response = route.response.as_ref().unwrap();
    assert_eq!((response.fields.len(), response.places.len()), (1, 1));
    CompiledField::clone(&response.fields[0])
}

#[test]
fn strictest_treatment_counts() {
    let both =
        |one: &str, other: &str| said(&[treated(one, "seal", "refuse"), treated(other, "seal", "refuse")]);
    let [reveal, budget, last4, first1, conceal, null, refuse] = TREATMENTS;
    let alone = |read: &str| said(&[treated(read, "seal", "refuse")]);
    for (looser, stricter) in [
        (reveal, budget),
        (reveal, last4),
        (budget, last4),
        (first1, conceal),
        (last4, null),
        (conceal, null),
        (null, refuse),
        (reveal, refuse),
        (reveal, reveal),
        (budget, budget),
    ] {
        for (one, other) in [(looser, stricter), (stricter, looser)] {
            let (together, expected) = (both(one, other), alone(stricter));
            assert_eq!(
                (&together.read, &together.budget),
                (&expected.read, &expected.budget),
                "{one} {other}"
            );
        }
    }
    assert_eq!(both(last4, first1).read, ReadTreatment::Conceal);
}

#[test]
fn budget_with_fewer_rows_for_its_time_counts_and_after_it_what_both_allow() {
    let budget = |rows: u32, per_seconds: u32, then: &str| {
        let then: Value = serde_json::from_str(then).unwrap();
        let budget = json!({"rows": rows, "per_seconds": per_seconds, "then": then});
        treated(&json!({"treatment": "reveal", "budget": budget}).to_string(), "seal", "refuse")
    };
    let [_, _, last4, first1, _, null, refuse] = TREATMENTS;
    for ((one, other), (rows, per_seconds, then)) in [
        ((budget(10, 60, null), budget(10, 30, refuse)), (10, 60, ReadTreatment::Refuse)),
        ((budget(100, 60, null), budget(2, 1, null)), (100, 60, ReadTreatment::Null)),
        ((budget(60, 60, last4), budget(1, 1, first1)), (1, 1, ReadTreatment::Null)),
    ] {
        for fields in [[one.clone(), other.clone()], [other, one]] {
            let budget = said(&fields).budget.unwrap();
            assert_eq!((budget.allowance.rows, budget.allowance.per_seconds), (rows, per_seconds));
            assert_eq!(budget.then, then);
        }
    }
}

#[test]
fn strictest_counts_wherever_the_label_stands() {
    let mut searched = field("query", "ssn", "ssn");
    searched["read"] = json!({"treatment": "conceal"});
    let service = service(&[
        route("/**", &[treated(TREATMENTS[0], "refuse", "reveal")]),
        route("/a", &[searched, field("request", "$.ssn", "ssn")]),
    ]);
    let united = service.route("GET", "/a").unwrap();
    assert!(!united.query[0].1.searchable());
    assert!(!united.request.as_ref().unwrap().fields[0].writable());
    assert_eq!(united.response.as_ref().unwrap().fields[0].read, ReadTreatment::Conceal);
    // A request that fits the other alone is treated as that says.
    assert_eq!(
        service.route("GET", "/b").unwrap().response.as_ref().unwrap().fields[0].read,
        ReadTreatment::Reveal
    );
}

#[test]
fn paths_of_one_label_may_lead_to_one_value_and_have_one_number() {
    let service = service(&[
        route("/**", &[field("request", "$..card", "card"), field("request", "$..iban", "iban")]),
        route("/a", &[field("request", "$.card", "card"), field("request", "$['card']", "card")]),
    ]);
    let request = service.route("POST", "/a").unwrap().request.clone().unwrap();
    assert_eq!(request.fields.len(), 2);
    // Two spellings of one path are one.
    let places = request.places.iter().map(|field| field.spec.place.to_string());
    assert_eq!(
        places.collect::<Vec<_>>(),
        ["$..card of the request", "$..iban of the request", "$.card of the request"]
    );
}

#[test]
fn labels_that_contradict_each_other_are_unusable_for_the_requests_that_fit_both_alone() {
    for (one, other, expected) in [
        (
            field("request", "$..card", "card"),
            field("request", "$.card", "number"),
            "JSON paths of the labels card and number can lead to one value; change one of them in the catalog",
        ),
        (
            field("query", "q", "card"),
            field("query", "q", "number"),
            "query parameter q has the labels card and number; change one of them in the catalog",
        ),
        (
            field("header", "x-q", "card"),
            field("header", "x-q", "number"),
            "header x-q has the labels card and number; change one of them in the catalog",
        ),
    ] {
        let service = service(&[route("/a/**", &[one]), route("/a/b", &[other])]);
        for _ in 0..2 {
            assert_eq!(service.route("GET", "/a/b").err(), Some(Unroutable::Unusable(expected.into())));
        }
        assert!(!service.route("GET", "/a").unwrap().is_empty());
    }
    let service = service(&[
        route("/{a}/b", &[field("segment", "a", "card")]),
        route("/{b}/{c}", &[field("segment", "b", "number")]),
    ]);
    assert!(matches!(service.route("GET", "/1/b"), Err(Unroutable::Unusable(_))));
    assert_eq!(service.route("GET", "/1/c").unwrap().segments.len(), 1);
}

#[test]
fn one_set_of_routes_is_united_once() {
    let service = service(&[marked("/a/{x}", "x"), marked("/**", "all")]);
    let first = service.route("GET", "/a/1").unwrap();
    assert!(Arc::ptr_eq(&first, &service.route("PUT", "/a/2").unwrap()));
    assert!(!Arc::ptr_eq(&first, &service.route("GET", "/b").unwrap()));
}

#[test]
fn sets_that_are_remembered_are_bounded() {
    let routes: Vec<Value> = (0..2 * MAX_UNITED.get()).map(|n| marked(&format!("/{n}"), "x")).collect();
    let service = service(&routes);
    for number in 0..routes.len() {
        assert!(!service.route("GET", &format!("/{number}")).unwrap().is_empty());
    }
    assert_eq!(service.united.lock().unwrap().len(), MAX_UNITED.get());
}

proptest! {
    #[test]
    fn order_of_routes_does_not_matter(
        treatments in proptest::collection::vec((0..TREATMENTS.len(), any::<bool>(), 0..3_usize), 1..5),
        turn in any::<proptest::sample::Index>(),
    ) {
        let fields: Vec<Value> = treatments.iter().map(|(read, write, plaintext)| {
            let write = if *write { "seal" } else { "refuse" };
            treated(TREATMENTS[*read], write, ["refuse", "reveal", "null"][*plaintext])
        }).collect();
        let mut turned = fields.clone();
        turned.rotate_left(turn.index(fields.len()));
        turned.reverse();
        let (one, other) = (said(&fields), said(&turned));
        prop_assert_eq!((&one.read, &one.budget), (&other.read, &other.budget));
        prop_assert_eq!((one.spec.write, one.spec.on_plaintext), (other.spec.write, other.spec.on_plaintext));
        // Nothing is looser than what any of them says alone.
        for field in &fields {
            let alone = said(std::slice::from_ref(field));
            prop_assert!(alone.writable() || !one.writable());
            prop_assert!(alone.searchable() || !one.searchable());
            prop_assert!(alone.read == ReadTreatment::Reveal || one.read != ReadTreatment::Reveal);
        }
    }
}
