//! Exchanges that wait for plan and keys, and those for which there are none.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::http_support::*;
use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::http::ExchangeOutput;
use serde_json::json;

#[test]
fn first_request_waits_for_plan_and_keys_and_what_comes_meanwhile_is_kept() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    exchange.request_head("POST", "/customers", &[JSON, ("content-length", "21")], false);
    assert_eq!(exchange.asked.len(), 2);
    assert!(matches!(exchange.asked[..], [Fetch::Plan(_), Fetch::Keys(_)]));
    exchange.request_body(br#"{"ssn":"#, false);
    exchange.request_body(br#""078-05-1120"}"#, true);
    assert!(exchange.upstream.head.is_none());
    assert!(exchange.exchange.held() >= 21);
    exchange.answer();
    assert!(exchange.upstream.json()["ssn"].as_str().unwrap().starts_with("fv1."));
    assert_eq!(exchange.exchange.held(), 0);
}

#[test]
fn next_request_of_the_principal_waits_for_nothing_and_another_principals_does() {
    let http = json!({"service": "shop", "identity": {"user_header": "x-user"}});
    let sidecar = Sidecar::configured(customers(), http);
    for (user, asked) in [("ada", 2), ("ada", 0), ("bob", 1), ("ada", 0)] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[JSON, ("x-user", user)], b"{}");
        assert_eq!(exchange.asked.len(), asked, "{user}");
        assert!(exchange.upstream.has_ended);
    }
}

#[test]
fn body_of_which_nothing_is_named_passes_whole_after_it_has_waited() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    exchange.request_head("POST", "/elsewhere", &[("content-length", "9")], false);
    exchange.request_body(b"not ", false);
    exchange.answer();
    assert_eq!(exchange.upstream.body, b"not ");
    exchange.request_body(b"{json", true);
    assert_eq!(exchange.upstream.text(), "not {json");
    assert_eq!(exchange.upstream.header("content-length"), ["9"]);
}

#[test]
fn trailers_that_come_while_it_waits_end_the_body() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(br#"{"ssn":"078-05-1120"}"#, false);
    exchange.request_trailers();
    exchange.answer();
    assert!(exchange.upstream.text().contains("fv1."));
}

#[test]
fn request_that_envoy_answers_itself_while_it_waits_is_over() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(br#"{"ssn":"078-"#, false);
    let own = head(&[(":status", "504")], &[("content-type", "text/plain")]);
    assert_eq!(exchange.exchange.response_head(own, false, false), ExchangeOutput::default());
    assert_eq!(exchange.exchange.response_body(b"stream timeout", false), ExchangeOutput::default());
    assert_eq!(exchange.exchange.response_trailers(), ExchangeOutput::default());
    assert_eq!(exchange.exchange.held(), 0);
    exchange.answer();
    exchange.request_body(br#"05-1120"}"#, true);
    assert!(exchange.upstream.head.is_none() && exchange.upstream.body.is_empty());
}

#[test]
fn more_than_is_kept_while_it_waits_is_refused() {
    let http = json!({"service": "shop", "limits": {"waiting_body_bytes": 65_536}});
    let sidecar = Sidecar::configured(customers(), http);
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    exchange.request_head("POST", "/customers", &[JSON], false);
    for _ in 0..16 {
        exchange.request_body(&[b' '; 4096], false);
    }
    assert!(!exchange.is_over());
    exchange.request_body(b" ", false);
    assert_eq!(exchange.refused(), 503);
    assert_eq!(exchange.exchange.held(), 0);
    // The answer comes all the same.
    exchange.answer();
}

#[test]
fn without_opa_nothing_passes_whatever_the_route_names() {
    let mut sidecar = Sidecar::under(customers());
    sidecar.plan = Err("connection refused".into());
    for path in ["/customers", "/elsewhere"] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", path, &[JSON], b"{}");
        assert_eq!(exchange.refused(), 503);
        assert!(exchange.reply().unwrap().1["reason"].as_str().unwrap().contains("connection refused"));
        let reply = exchange.reply.unwrap();
        assert!(reply.headers.contains(&("retry-after".into(), "1".into())));
    }
}

#[test]
fn without_keys_nothing_passes() {
    let mut sidecar = Sidecar::under(customers());
    sidecar.keys = Err("connection refused".into());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[], b"");
    assert_eq!(exchange.refused(), 503);
    sidecar.keys = Ok(json!({"revision": "none", "keysets": {}}).to_string().into_bytes());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[], b"");
    assert_eq!(exchange.refused(), 503);
}

#[test]
fn plan_is_used_while_opa_is_away_until_it_is_too_old() {
    let mut sidecar = Sidecar::under(customers());
    sidecar.stored("POST", "/customers", "{}");
    sidecar.plan = Err("away".into());
    sidecar.pass(299_000);
    sidecar.stored("POST", "/customers", "{}");
    sidecar.pass(2_000);
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], b"{}");
    assert_eq!(exchange.refused(), 503);
}

#[test]
fn expired_plan_is_not_used() {
    let mut plan = customers();
    plan["expires_at"] = json!(1_010);
    let mut sidecar = Sidecar::under(plan.clone());
    sidecar.stored("POST", "/customers", "{}");
    sidecar.pass(10_000);
    // What OPA answers has expired, too.
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], b"{}");
    assert_eq!(exchange.refused(), 503);
    plan["expires_at"] = json!(2_000);
    sidecar.plan = Ok(plan);
    sidecar.stored("POST", "/customers", "{}");
}

#[test]
fn denied_plan_refuses_where_something_is_named_and_nowhere_else() {
    let mut plan = customers();
    plan["denied"] = json!("the token is not valid");
    let sidecar = Sidecar::under(plan);
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], b"{}");
    assert_eq!(exchange.refused(), 403);
    assert!(exchange.reply().unwrap().1["detail"].as_str().unwrap().contains("the token is not valid"));
    assert_eq!(sidecar.stored("POST", "/elsewhere", "{}"), "{}");
}

#[test]
fn unmatched_requests_pass_or_are_refused_as_the_plan_says() {
    let mut plan = customers();
    plan["service"]["unmatched"] = json!("refuse");
    plan["revision"] = json!("another");
    let sidecar = Sidecar::under(plan);
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[], b"");
    assert_eq!(exchange.refused(), 403);
    sidecar.stored("POST", "/customers", "{}");
}

#[test]
fn plan_without_a_service_is_of_no_use() {
    let mut plan = customers();
    plan.as_object_mut().unwrap().remove("service");
    let sidecar = Sidecar::under(plan);
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[], b"");
    assert_eq!(exchange.refused(), 503);
}

#[test]
fn answer_is_under_the_plan_of_its_request() {
    let sidecar = Sidecar::under(customers());
    let envelope = serde_json::from_str::<serde_json::Value>(&sidecar.stored(
        "POST",
        "/customers",
        r#"{"ssn":"078-05-1120"}"#,
    ))
    .unwrap();
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    let Fetch::Plan(principal) = sidecar.exchange_asking() else { panic!("no plan") };
    let other = json!({"result": plan(&[])}).to_string().into_bytes();
    let answer = fieldveil_engine::fetch::FetchResponse::Body { body: &other, etag: None };
    sidecar.worker.borrow_mut().answered(&Fetch::Plan(principal), answer, sidecar.now()).unwrap();
    exchange.respond(200, &[JSON], envelope.to_string().as_bytes());
    assert_eq!(exchange.client.json()["ssn"], CANARY);
    assert_eq!(sidecar.shown("/customers", &envelope.to_string()), envelope.to_string());
}

#[test]
fn bytes_that_all_exchanges_hold_are_bounded() {
    let http = json!({"service": "shop", "limits": {"waiting_body_bytes": 16_777_216}});
    let sidecar = Sidecar::configured(customers(), http);
    let mut exchanges = Vec::new();
    let refused = (0..16).find_map(|_| {
        let mut exchange = sidecar.exchange();
        exchange.answers = false;
        exchange.request_head("POST", "/customers", &[JSON], false);
        exchange.request_body(&vec![b' '; 16 << 20], false);
        let refused = exchange.reply().map(|(status, _)| status);
        exchanges.push(exchange);
        refused
    });
    assert_eq!(refused, Some(503));
    drop(exchanges);
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(&vec![b' '; 16 << 20], false);
    assert!(!exchange.is_over(), "what ended exchanges held is free again");
}

#[test]
fn client_that_leaves_while_it_waits_leaves_nothing_behind() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(b"{}", true);
    exchange.exchange.end();
    assert_eq!(exchange.exchange.held(), 0);
    // Another one asks for itself.
    sidecar.stored("POST", "/customers", "{}");
}

#[test]
fn request_waits_for_who_runs_here_before_a_plan_is_asked_for() {
    let mut config = config(json!({"service": "shop"}));
    config["workload"] = json!({"spiffe_id_from": "key_agent"});
    let mut sidecar = Sidecar::with_config(customers(), &config);
    let said = |id: &str| {
        let mut answer: serde_json::Value = serde_json::from_slice(&keys()).unwrap();
        answer["workload"] = json!({ "spiffe_id": id });
        Ok(answer.to_string().into_bytes())
    };
    let asked = |sidecar: &Sidecar| {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[JSON], br#"{"ssn":"078-05-1120"}"#);
        assert_eq!(exchange.upstream.has_ended, exchange.reply.is_none());
        let asked = exchange.asked.iter().map(|fetch| match fetch {
            Fetch::Keys(_) => "keys".to_owned(),
            Fetch::Plan(principal) => {
                let request: serde_json::Value = serde_json::from_str(principal.request()).unwrap();
                request["input"]["workload"]["spiffe_id"].as_str().unwrap().to_owned()
            }
        });
        (asked.collect::<Vec<_>>(), exchange.reply.map(|reply| reply.status))
    };
    assert_eq!(asked(&sidecar), (vec!["keys".to_owned()], Some(503)), "the agent says no id");
    sidecar.keys = said("spiffe://x/orders");
    assert_eq!(asked(&sidecar), (vec!["keys".to_owned(), "spiffe://x/orders".to_owned()], None));
    assert_eq!(asked(&sidecar), (vec![], None));
    sidecar.keys = said("spiffe://x/jobs");
    sidecar.pass(601_000);
    let (questions, status) = asked(&sidecar);
    assert_eq!((questions.last().unwrap().as_str(), status), ("spiffe://x/jobs", None));
}

#[test]
fn other_spelling_of_a_header_that_says_who_asks_is_refused() {
    let identity = json!({"user_header": "x-user", "purpose_header": "x-purpose", "headers": ["x-team"]});
    let http = json!({"service": "shop", "identity": identity});
    let sidecar = Sidecar::configured(customers(), http);
    for (name, status) in [("x_user", 400), ("x.purpose", 400), ("x_team", 400), ("x_users", 200)] {
        for others in [&[][..], &[("x-user", "ada"), ("x-purpose", "billing"), ("x-team", "shop")]] {
            let mut exchange = sidecar.exchange();
            exchange.request("GET", "/elsewhere", &[others, &[(name, "admin")]].concat(), b"");
            match status {
                200 => assert!(exchange.upstream.has_ended, "{name}"),
                status => assert_eq!(exchange.refused(), status, "{name}"),
            }
        }
    }
}
