//! What the section `workload` may say, and what it takes from the environment.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]

use std::collections::BTreeMap;

use fieldveil_config::{Config, Protocol};
use fieldveil_plan::Workload;
use serde_json::{Value, json};

const NAMESPACE: &str = "FIELDVEIL_WORKLOAD_NAMESPACE";
const SERVICE_ACCOUNT: &str = "FIELDVEIL_WORKLOAD_SERVICE_ACCOUNT";
const LABELS: &str = "FIELDVEIL_WORKLOAD_LABELS";
const SPIFFE_ID: &str = "FIELDVEIL_WORKLOAD_SPIFFE_ID";

fn read(workload: Value, environment: &[(&str, &str)]) -> Result<Config, String> {
    let config = json!({
        "listener": "shop",
        "workload": workload,
        "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": 500},
        "keys": {"cluster": "keys", "path": "/v1/keysets", "timeout_ms": 500, "max_stale_seconds": 3600},
    });
    let environment = |name: &str| {
        environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    Config::from_json(config.to_string().as_bytes(), Protocol::Postgres, &environment)
        .map_err(|e| e.to_string())
}

const POD: [(&str, &str); 2] = [(NAMESPACE, "shop"), (SERVICE_ACCOUNT, "orders")];

fn labelled(labels: &str) -> Result<BTreeMap<String, String>, String> {
    let environment = [POD[0], POD[1], (LABELS, labels)];
    read(json!({"from": "environment"}), &environment).map(|config| config.workload.labels)
}

fn labels(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn workload_is_nobody_unless_told() {
    assert_eq!(read(json!({}), &POD).unwrap().workload, Workload::default());
}

#[test]
fn workload_may_be_written() {
    let written = json!({"namespace": "shop", "service_account": "orders", "spiffe_id": "spiffe://x/y",
        "labels": {"team": "billing"}});
    let workload = read(written, &[]).unwrap().workload;
    assert_eq!((&*workload.namespace, &*workload.service_account), ("shop", "orders"));
    assert_eq!((&*workload.spiffe_id, workload.labels), ("spiffe://x/y", labels(&[("team", "billing")])));
}

#[test]
fn environment_says_who_runs_where_the_configuration_asks_it() {
    let environment = [POD[0], POD[1], (LABELS, "team=billing"), (SPIFFE_ID, "spiffe://x/y")];
    let workload = read(json!({"from": "environment"}), &environment).unwrap().workload;
    assert_eq!((&*workload.namespace, &*workload.service_account), ("shop", "orders"));
    assert_eq!((&*workload.spiffe_id, workload.labels), ("spiffe://x/y", labels(&[("team", "billing")])));
    let workload = read(json!({"from": "environment"}), &POD).unwrap().workload;
    assert_eq!((&*workload.spiffe_id, workload.labels), ("", labels(&[])));
}

#[test]
fn namespace_or_service_account_that_is_missing_is_an_error_that_names_the_variable() {
    for (left_out, other) in [(NAMESPACE, POD[1]), (SERVICE_ACCOUNT, POD[0])] {
        for environment in [&[other][..], &[other, (left_out, "")]] {
            let error = read(json!({"from": "environment"}), environment).unwrap_err();
            assert!(
                error.starts_with(&format!("workload.from: {left_out} is missing or empty; set it")),
                "{error}"
            );
            assert!(error.contains("host_env_keys"), "{error}");
        }
    }
}

#[test]
fn name_that_kubernetes_does_not_have_is_refused() {
    let long = "n".repeat(64);
    for namespace in ["Shop", "shop orders", "$(POD_NAMESPACE)", "shop/orders", long.as_str()] {
        let error = read(json!({"from": "environment"}), &[(NAMESPACE, namespace), POD[1]]).unwrap_err();
        assert!(error.starts_with(&format!("workload.from: {NAMESPACE} is no name")), "{error}");
        assert!(!error.contains(namespace), "{error}");
    }
    let long = "s".repeat(254);
    assert!(read(json!({"from": "environment"}), &[POD[0], (SERVICE_ACCOUNT, &long)]).is_err());
    assert!(read(json!({"from": "environment"}), &[POD[0], (SERVICE_ACCOUNT, &long[1..])]).is_ok());
}

#[test]
fn labels_are_pairs_and_those_without_a_value_are_left_out() {
    assert_eq!(labelled("").unwrap(), labels(&[]));
    assert_eq!(labelled("team=billing").unwrap(), labels(&[("team", "billing")]));
    let found = labelled("app.kubernetes.io/name=Orders_2.x,team=,tier=a,").unwrap();
    assert_eq!(found, labels(&[("app.kubernetes.io/name", "Orders_2.x"), ("tier", "a")]));
}

#[test]
fn labels_that_kubernetes_does_not_have_are_refused() {
    let value = format!("team={}", "v".repeat(64));
    let many: Vec<String> = (0..33).map(|number| format!("l{number}=x")).collect();
    let many = many.join(",");
    let cases = [
        ("team", "label 1 has no `=`"),
        ("team=a, tier=b", "a key or a value"),
        ("tier=b,team=a,team=b", "label 3 has the key of one before it"),
        ("=a", "a key or a value"),
        ("/team=a", "a key or a value"),
        ("a/b/c=a", "a key or a value"),
        ("team=$(TEAM)", "a key or a value"),
        ("team=-a", "a key or a value"),
        ("team=a=b", "a key or a value"),
        (value.as_str(), "a key or a value"),
        (many.as_str(), "33 are more than 32"),
    ];
    for (text, expected) in cases {
        let error = labelled(text).unwrap_err();
        assert!(error.starts_with(&format!("workload.from: {LABELS}: {expected}")), "{text}: {error}");
    }
    let error = read(json!({"labels": {"team": "a b"}}), &[]).unwrap_err();
    assert!(error.starts_with("workload.labels: a key or a value"), "{error}");
}

#[test]
fn what_two_places_say_is_refused() {
    for (name, value) in [
        ("namespace", json!("shop")),
        ("service_account", json!("")),
        ("labels", json!({})),
        ("spiffe_id", json!("spiffe://x/y")),
    ] {
        let error = read(json!({"from": "environment", name: value}), &POD).unwrap_err();
        assert!(
            error.starts_with(&format!("workload.{name}: \"from\": \"environment\" says it too")),
            "{error}"
        );
    }
    let both = json!({"spiffe_id": "spiffe://x/y", "spiffe_id_from": "key_agent"});
    assert!(read(both, &[]).unwrap_err().starts_with("workload.spiffe_id: spiffe_id_from says it too"));
}

#[test]
fn unknown_names_and_sources_are_refused() {
    for (workload, expected) in [
        (json!({"pod": "x"}), "workload.pod: unknown field"),
        (json!({"from": "downward_api"}), "workload.from: unknown variant `downward_api`"),
        (json!({"spiffe_id_from": "envoy"}), "workload.spiffe_id_from: unknown variant `envoy`"),
        (json!({"labels": ["team"]}), "workload.labels: invalid type"),
    ] {
        let error = read(workload, &POD).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn spiffe_id_is_one() {
    let long = format!("spiffe://x/{}", "y".repeat(2048));
    for id in ["https://x/y", "spiffe://x/a b", "spiffe://x/\u{e9}", long.as_str()] {
        let error = read(json!({"spiffe_id": id}), &[]).unwrap_err();
        assert!(error.starts_with("workload.spiffe_id: it is no SPIFFE id"), "{error}");
        let environment = [POD[0], POD[1], (SPIFFE_ID, id)];
        assert!(read(json!({"from": "environment"}), &environment).unwrap_err().contains(SPIFFE_ID));
    }
}

#[test]
fn spiffe_id_of_the_key_agent_is_not_known_yet() {
    let environment = [POD[0], POD[1], (SPIFFE_ID, "spiffe://x/y")];
    let config = read(json!({"from": "environment", "spiffe_id_from": "key_agent"}), &environment).unwrap();
    assert!(config.spiffe_id_is_key_agents);
    assert_eq!(config.workload.spiffe_id, "");
    assert!(!read(json!({"from": "environment"}), &environment).unwrap().spiffe_id_is_key_agents);
}
