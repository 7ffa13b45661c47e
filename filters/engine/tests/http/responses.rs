//! What a client gets of a response, and what it does not.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::http_support::*;
use fieldveil_engine::http::Flow;
use serde_json::{Value, json};

/// A sidecar for a reader with this treatment, and the envelope of the canary.
fn reading(read: Value) -> (Sidecar, String) {
    let envelope = envelope(CANARY);
    let field = with(field("response", "$.ssn", "customer.ssn"), "read", read);
    (Sidecar::under(plan(&[route("/customers", &[field])])), envelope)
}

fn envelope(value: &str) -> String {
    let stored = Sidecar::under(customers()).stored("POST", "/customers", &json!({"ssn": value}).to_string());
    serde_json::from_str::<Value>(&stored).unwrap()["ssn"].as_str().unwrap().to_owned()
}

fn document(ssn: &str) -> String {
    format!("{{ \"ssn\" : \"{ssn}\" ,\"n\":1.000}}")
}

#[test]
fn sealed_value_is_revealed_and_all_else_leaves_as_it_came() {
    let (sidecar, envelope) = reading(json!({"treatment": "reveal"}));
    assert_eq!(sidecar.shown("/customers", &document(&envelope)), document(CANARY));
}

#[test]
fn masked_value_shows_a_part() {
    let (sidecar, envelope) = reading(json!({"treatment": "mask", "format": "last4"}));
    let shown = sidecar.shown("/customers", &document(&envelope));
    assert!(shown.contains("1120") && !shown.contains("078"), "{shown}");
}

#[test]
fn concealed_value_stays_as_it_is_with_the_body_around_it() {
    let (sidecar, envelope) = reading(json!({"treatment": "conceal"}));
    assert_eq!(sidecar.shown("/customers", &document(&envelope)), document(&envelope));
}

#[test]
fn nulled_value_is_null() {
    let (sidecar, envelope) = reading(json!({"treatment": "null"}));
    let expected = document("?").replace("\"?\"", "null");
    assert_eq!(sidecar.shown("/customers", &document(&envelope)), expected);
}

#[test]
fn refused_field_refuses_the_response_wherever_it_occurs_and_nothing_of_it_is_shown() {
    let (sidecar, envelope) = reading(json!({"treatment": "refuse"}));
    for body in [document(&envelope), r#"{"ssn":null}"#.to_owned()] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[JSON], body.as_bytes());
        let (status, problem) = exchange.reply().unwrap();
        assert_eq!((status, problem["label"].as_str()), (403, Some("customer.ssn")));
        assert!(exchange.client.body.is_empty());
    }
    assert_eq!(sidecar.shown("/customers", r#"{"name":"x"}"#), r#"{"name":"x"}"#);
}

#[test]
fn budget_spends_a_row_for_each_value_and_refuses_with_the_time_to_come_again() {
    let budget = json!({"rows": 2, "per_seconds": 60, "then": {"treatment": "refuse"}});
    let (sidecar, envelope) = reading(json!({"treatment": "reveal", "budget": budget}));
    for _ in 0..2 {
        assert_eq!(sidecar.shown("/customers", &document(&envelope)), document(CANARY));
    }
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.respond(200, &[JSON], document(&envelope).as_bytes());
    assert_eq!(exchange.reply().unwrap().0, 429);
    let reply = exchange.reply.unwrap();
    let after = reply.headers.iter().find(|(name, _)| name == "retry-after").unwrap();
    assert!((1..=64).contains(&after.1.parse::<u64>().unwrap()));
    sidecar.pass(120_000);
    assert_eq!(sidecar.shown("/customers", &document(&envelope)), document(CANARY));
}

#[test]
fn plaintext_among_envelopes_is_told_from_them_and_refused_unless_policy_lets_it_through() {
    for (rule, expected) in
        [("refuse", None), ("null", Some(r#"{"ssn":null}"#)), ("reveal", Some(r#"{"ssn":"078-05-1120"}"#))]
    {
        let field = with(field("response", "$.ssn", "customer.ssn"), "on_plaintext", json!(rule));
        let sidecar = Sidecar::under(plan(&[route("/customers", &[field])]));
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[JSON], br#"{"ssn":"078-05-1120"}"#);
        assert_eq!(exchange.reply().map(|(status, _)| status), expected.is_none().then_some(502), "{rule}");
        if let Some(expected) = expected {
            assert_eq!(exchange.client.text(), expected);
        }
    }
}

#[test]
fn malformed_response_is_answered_by_502_while_it_is_held_and_resets_after() {
    let http = json!({"service": "shop", "limits": {"held_body_bytes": 32}});
    let sidecar = Sidecar::configured(customers(), http);
    for padding in [0, 100] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        let body = format!("{{\"a\":\"{}\"", "x".repeat(padding));
        exchange.response_head(200, &[JSON], false);
        exchange.response_body(body.as_bytes(), false);
        exchange.response_body(b"]", true);
        assert_eq!(exchange.reset, padding > 0);
        assert_eq!(exchange.reply().map(|(status, _)| status), (padding == 0).then_some(502));
        assert!(!exchange.client.has_ended);
    }
    assert!(sidecar.log().contains("reset"), "an operator is told");
}

#[test]
fn value_that_cannot_be_opened_after_the_head_left_resets_and_no_part_of_it_leaves() {
    let http = json!({"service": "shop", "limits": {"held_body_bytes": 32}});
    let sidecar = Sidecar::configured(customers(), http);
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.response_head(200, &[JSON], false);
    exchange.response_body(&[br#"{"a":""#, &[b'x'; 100][..], br#"","ssn":"fv1.AAAA"#].concat(), false);
    assert!(exchange.client.head.is_some() && !exchange.client.body.ends_with(b"AAAA"));
    exchange.response_body(b"\"}", true);
    assert!(exchange.reset && !exchange.client.body.ends_with(b"AAAA"));
}

#[test]
fn length_of_a_response_is_that_of_what_leaves() {
    let (sidecar, envelope) = reading(json!({"treatment": "reveal"}));
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.respond(200, &[JSON], document(&envelope).as_bytes());
    assert_eq!(exchange.client.header("content-length"), [exchange.client.body.len().to_string()]);
}

#[test]
fn response_without_a_body_passes() {
    let sidecar = Sidecar::under(customers());
    for (method, status, headers) in [
        ("GET", 200, &[("content-length", "0")][..]),
        ("GET", 204, &[]),
        ("GET", 304, &[("etag", "\"a\"")]),
        ("HEAD", 200, &[JSON, ("content-length", "17")]),
        ("HEAD", 200, &[("content-type", "text/html"), ("content-length", "17")]),
        ("DELETE", 200, &[]),
    ] {
        for in_a_frame in [false, true] {
            let mut exchange = sidecar.exchange();
            exchange.request(method, "/customers", &[], b"");
            exchange.response_head(status, headers, !in_a_frame);
            if in_a_frame {
                exchange.response_body(b"", true);
            }
            assert!(exchange.client.has_ended && exchange.client.head.is_some(), "{method} {status}");
            if method == "HEAD" {
                assert!(exchange.client.header("content-length").is_empty(), "a GET's is another");
            }
        }
    }
}

#[test]
fn answers_of_envoy_itself_pass_untouched() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    let own = head(&[(":status", "503")], &[("content-type", "text/plain"), ("etag", "\"a\"")]);
    let output = exchange.exchange.response_head(own, false, false);
    assert_eq!(output, fieldveil_engine::http::ExchangeOutput::default());
    let output = exchange.exchange.response_body(b"upstream connect error", true);
    assert_eq!(output, fieldveil_engine::http::ExchangeOutput::default());
}

#[test]
fn head_of_a_response_is_read_unless_the_route_names_nothing_of_a_response() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.answers = false;
    assert!(exchange.exchange.reads_response_head());
    exchange.request_head("GET", "/elsewhere", &[], true);
    assert!(exchange.exchange.reads_response_head(), "it waits for its plan");
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    assert!(exchange.exchange.reads_response_head());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[], b"");
    assert!(!exchange.exchange.reads_response_head());
    // None of these is taken for another than the next, so that an empty one can stand for all.
    for (status, from_upstream) in [("200", true), ("206", true), ("401", true), ("503", false), ("?", false)]
    {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/elsewhere", &[], b"");
        let output = exchange.exchange.response_head(head(&[(":status", status)], &[]), from_upstream, false);
        assert_eq!(output, fieldveil_engine::http::ExchangeOutput::default());
        assert!(exchange.exchange.lets_response_pass());
    }
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/elsewhere", &[], b"");
    let output = exchange.exchange.response_head(head(&[], &[]), true, false);
    assert_eq!(output, fieldveil_engine::http::ExchangeOutput::default());
    assert!(exchange.exchange.lets_response_pass());
}

#[test]
fn own_answers_pass_untouched() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], b"{");
    assert_eq!(exchange.refused(), 400);
    let own = head(&[(":status", "400")], &[("content-type", "application/problem+json")]);
    let output = exchange.exchange.response_head(own, false, false);
    assert_eq!(output, fieldveil_engine::http::ExchangeOutput::default());
    let output = exchange.exchange.response_body(b"{}", true);
    assert_eq!(output, fieldveil_engine::http::ExchangeOutput::default());
    exchange.exchange.end();
}

#[test]
fn error_of_the_service_in_another_media_type_keeps_its_status_and_head_and_loses_its_body() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    let headers =
        [("content-type", "text/html"), ("www-authenticate", "Basic"), ("content-encoding", "gzip")];
    exchange.response_head(401, &headers, false);
    exchange.response_body(b"<p>078-05-1120 ", false);
    exchange.response_body(b"is unknown</p>", true);
    assert_eq!(exchange.client.header(":status"), ["401"]);
    assert_eq!(exchange.client.header("www-authenticate"), ["Basic"]);
    assert_eq!(exchange.client.header("content-type"), ["application/problem+json"]);
    assert_eq!(exchange.client.header("cache-control"), ["no-store"]);
    assert!(exchange.client.header("content-encoding").is_empty());
    assert_eq!(exchange.client.header("content-length"), [exchange.client.body.len().to_string()]);
    assert_eq!(exchange.client.json()["status"], 401);
    assert!(!exchange.client.text().contains("078"));
}

#[test]
fn answer_that_somebody_kept_is_treated_as_the_services() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    let kept = head(&[(":status", "200")], &[JSON]);
    let output = exchange.exchange.response_head(kept, false, false);
    assert_eq!(output.flow, Flow::Hold);
    let output = exchange.exchange.response_body(br#"{"ssn":"078-05-1120"}"#, true);
    assert_eq!(output.reply.unwrap().status, 502);
}

#[test]
fn answers_vary_by_who_asks() {
    let identity = json!({"jwt_payload": "claims", "user_header": "x-user", "headers": ["x-team"]});
    let http = json!({"service": "shop", "identity": identity});
    let sidecar = Sidecar::configured(customers(), http);
    for status in [200, 304] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.response_head(status, &[JSON, ("vary", "accept")], true);
        assert_eq!(exchange.client.header("vary"), ["accept", "authorization, x-user, x-team"]);
    }
}

#[test]
fn redirect_with_an_ordinary_text_keeps_its_place() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], b"{}");
    let headers =
        [("content-type", "text/plain"), ("location", "/customers/7"), ("content-range", "bytes 0-8/9")];
    exchange.respond(303, &headers, b"See Other");
    assert_eq!(exchange.client.header(":status"), ["303"]);
    assert_eq!(exchange.client.header("location"), ["/customers/7"]);
    assert!(exchange.client.header("content-range").is_empty());
    assert!(!exchange.client.text().contains("See Other"));
}

#[test]
fn response_that_no_request_was_let_through_for_is_not_shown() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.response_head(200, &[JSON], false);
    assert_eq!(exchange.reply().unwrap().0, 502);
}

#[test]
fn lines_sequences_and_events_leave_as_they_come() {
    let (sidecar, envelope) = reading(json!({"treatment": "reveal"}));
    for (media, before, after) in [
        ("application/x-ndjson", "", "\n"),
        ("application/json-seq", "\u{1e}", "\n"),
        ("text/event-stream; charset=utf-8", "id: 1\ndata: ", "\n\n"),
    ] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.response_head(200, &[("content-type", media), ("content-length", "9")], false);
        assert!(exchange.client.header("content-length").is_empty(), "{media}");
        for _ in 0..3 {
            exchange.client.body.clear();
            exchange.response_body(format!("{before}{{\"ssn\":\"{envelope}\"}}{after}").as_bytes(), false);
            let shown = String::from_utf8(exchange.client.body.clone()).unwrap();
            assert_eq!(shown, format!("{before}{{\"ssn\":\"{CANARY}\"}}{after}"), "{media}");
        }
        exchange.response_body(b"", true);
        assert!(exchange.client.has_ended);
    }
}

#[test]
fn stream_of_events_opens_nothing_with_keys_that_are_gone() {
    let (sidecar, envelope) = reading(json!({"treatment": "reveal"}));
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.response_head(200, &[("content-type", "text/event-stream")], false);
    let event = format!("data: {{\"ssn\":\"{envelope}\"}}\n\n");
    exchange.response_body(event.as_bytes(), false);
    let now_ms = sidecar.now();
    let fetch = sidecar.worker.borrow_mut().fetch_keys(now_ms);
    let other = keys_among("bc");
    let answer = fieldveil_engine::fetch::FetchResponse::Body { body: &other, etag: None };
    sidecar.worker.borrow_mut().answered(&fetch, answer, now_ms).unwrap();
    exchange.response_body(event.as_bytes(), false);
    assert!(exchange.reset);
}

#[test]
fn stream_of_events_ends_when_its_plan_has_expired() {
    let mut plan = customers();
    plan["expires_at"] = json!(1_010);
    let sidecar = Sidecar::under(plan);
    let mut exchange = sidecar.exchange();
    exchange.request("GET", "/customers", &[], b"");
    exchange.response_head(200, &[("content-type", "text/event-stream")], false);
    exchange.response_body(b"data: {}\n\n", false);
    assert!(!exchange.reset);
    sidecar.pass(10_000);
    exchange.response_body(b"data: {}\n\n", false);
    assert!(exchange.reset);
}

#[test]
fn no_debug_log_or_error_holds_a_value() {
    let (sidecar, envelope) = reading(json!({"treatment": "reveal"}));
    let mut exchange = sidecar.exchange();
    let headers = [("authorization", "Bearer 078-05-1120")];
    let pseudo = [(":method", "GET"), (":path", "/customers?ssn=078-05-1120")];
    let output = exchange.exchange.request_head(head(&pseudo, &headers), exchange.peer.clone(), true);
    assert!(!format!("{output:?} {:?}", head(&pseudo, &headers)).contains("078"));
    exchange.take_fetches(output);
    let output = exchange.exchange.response_head(head(&[(":status", "200")], &[JSON]), true, false);
    assert!(!format!("{output:?}").contains("078"));
    let output = exchange.exchange.response_body(document(&envelope).as_bytes(), true);
    assert!(String::from_utf8_lossy(output.body.as_ref().unwrap()).contains(CANARY));
    assert!(!format!("{output:?} {output:#?}").contains("078"));
    for body in [r#"{"ssn":"078-05-1120"#, r#"{"ssn":"078-05-1120"}"#, r#"078-05-1120"#] {
        let mut exchange = sidecar.exchange();
        exchange.request("GET", "/customers", &[], b"");
        exchange.respond(200, &[JSON], body.as_bytes());
        assert!(!String::from_utf8_lossy(&exchange.reply.as_ref().unwrap().body).contains("078"));
        assert!(!format!("{:?}", exchange.reply).contains("078"));
    }
    assert!(!sidecar.log().contains("078"));
}
