//! What a service gets of a request, and what it does not.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::http_support::*;
use serde_json::{Value, json};

#[test]
fn named_field_is_sealed_and_all_else_leaves_as_it_came() {
    let sidecar = Sidecar::under(customers());
    let stored =
        sidecar.stored("POST", "/customers", "{ \"b\":1.50,\n \"ssn\" : \"078-05-1120\", \"b\":[ ] }");
    let (before, rest) = stored.split_at(stored.find("fv1.").unwrap());
    let (envelope, after) = rest.split_at(rest.find('"').unwrap());
    assert_eq!((before, after), ("{ \"b\":1.50,\n \"ssn\" : \"", "\", \"b\":[ ] }"));
    assert!(envelope.len() > 40);
}

#[test]
fn request_that_says_two_methods_or_paths_is_refused_where_anything_is_named() {
    let names = [
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-original-method",
        "x-original-url",
        "x-original-uri",
        "x-rewrite-url",
        "x-rewrite-uri",
        "x-override-url",
        // As CGI, WSGI and others read them.
        "x_http_method_override",
        "x-http_method-override",
        "x.http.method.override",
        "x_original_url",
        // As gunicorn reads them, and applications behind a proxy.
        "script_name",
        "path-info",
        "x-script-name",
    ];
    for name in names {
        let protected = Sidecar::under(customers());
        let mut exchange = protected.exchange();
        exchange.request("GET", "/elsewhere", &[(name, "PUT")], b"");
        assert_eq!(exchange.refused(), 400, "{name}");

        let mut exchange = protected.exchange();
        exchange.request_head("POST", "/customers", &[JSON], false);
        exchange.request_body(b"{}", false);
        exchange.request_trailers_with(name);
        assert_eq!(exchange.refused(), 400, "{name} in the trailers");

        let free = Sidecar::under(plan(&[]));
        let mut exchange = free.exchange();
        exchange.request("GET", "/elsewhere", &[(name, "PUT")], b"");
        assert!(exchange.upstream.has_ended, "{name}");
    }
}

#[test]
fn parameter_that_may_make_another_request_of_it_is_refused_where_that_is_another_route() {
    let field = field("request", "$.ssn", "customer.ssn");
    let mut named = route("/customers", &[field]);
    named["methods"] = json!(["PATCH"]);
    let sidecar = Sidecar::under(plan(&[named]));
    let form = ("content-type", "Application/X-WWW-Form-Urlencoded");
    for (target, headers) in [
        ("/customers?_method=PATCH", vec![]),
        ("/customers?a=1&%5Fmethod=patch", vec![JSON]),
        ("/customers?a;_METHOD=PATCH", vec![]),
        // As PHP reads names.
        ("/customers?.method=PATCH", vec![]),
        ("/customers?+_method=PATCH", vec![]),
        ("/customers?[method=PATCH", vec![]),
        ("/customers?%20.method%00x=PATCH", vec![JSON]),
        ("/customers?_method%00=PATCH", vec![]),
        // What Rack takes for a form.
        ("/customers", vec![]),
        ("/customers", vec![("content-type", "")]),
        ("/customers", vec![("content-type", "; charset=utf-8")]),
        ("/customers", vec![("content-type", "multipart/mixed; boundary=x")]),
        ("/customers", vec![("content-type", "Multipart/Related; boundary=x")]),
        ("/customers", vec![form]),
        ("/customers/", vec![("content-type", "multipart/form-data; boundary=x")]),
    ] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", target, &headers, b"_method=PATCH&ssn=078-05-1120");
        assert_eq!(exchange.refused(), 400, "{target}");
    }
    // Elsewhere they are the service's own.
    for (method, target, headers) in [
        ("POST", "/others?_method=PATCH", vec![form]),
        ("POST", "/customers?method=PATCH", vec![JSON]),
        ("POST", "/customers?method[]=PATCH&a_method=PATCH&_method_=PATCH", vec![JSON]),
        ("POST", "/customers", vec![("content-type", "text/plain")]),
        ("POST", "/others", vec![]),
        ("GET", "/customers", vec![]),
    ] {
        let mut exchange = sidecar.exchange();
        exchange.request(method, target, &headers, b"a=1");
        assert!(exchange.upstream.has_ended, "{target}");
    }
    // Nothing is said by a body that is not there.
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[], b"");
    assert!(exchange.upstream.has_ended);
    // Where routes name no methods, no method is another route.
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers?_method=PUT", &[JSON], br#"{"ssn":"078-05-1120"}"#);
    assert!(!exchange.upstream.text().contains("078"));
}

#[test]
fn member_that_may_make_another_request_of_it_is_refused_where_that_is_another_route() {
    let on = |methods: Value, at: &str| {
        let mut named = route("/customers", &[field("request", at, "customer.ssn")]);
        named["methods"] = methods;
        named
    };
    let sidecar = Sidecar::under(plan(&[on(json!(["POST"]), "$.ssn"), on(json!(["PATCH"]), "$.card")]));
    let sent = |sidecar: &Sidecar, method: &str, body: &str| {
        let mut exchange = sidecar.exchange();
        exchange.request(method, "/customers", &[JSON], body.as_bytes());
        if exchange.upstream.has_ended { Ok(exchange.upstream.text()) } else { Err(exchange.refused()) }
    };
    for key in ["_method", "_METHOD", "\\u005fmethod"] {
        assert_eq!(
            sent(&sidecar, "POST", &format!("{{\"{key}\":\"PATCH\",\"card\":\"1\"}}")),
            Err(400),
            "{key}"
        );
    }
    for body in
        [r#"{"_method":null}"#, r#"{"_method":{"a":[1]},"_method":2}"#, r#"{"a":{"_method":"PATCH"}}"#]
    {
        assert_eq!(sent(&sidecar, "POST", body), Ok(body.to_owned()));
    }
    let member = r#"{"_method":"PATCH"}"#;
    assert_eq!(sent(&sidecar, "PATCH", member), Ok(member.to_owned()));
    // Where no method is another route it is the service's own.
    assert_eq!(sent(&Sidecar::under(customers()), "POST", member), Ok(member.to_owned()));
    // Where it is a field it is sealed.
    let field = Sidecar::under(plan(&[on(json!(["POST"]), "$._method")]));
    assert!(sent(&field, "POST", member).unwrap().contains("fv1."));
}

#[test]
fn key_in_another_case_is_the_services_to_take_for_the_named_one_and_is_sealed() {
    for key in ["SSN", "Ssn", "\\u0053sn", "s\u{17f}n"] {
        let sidecar = Sidecar::under(customers());
        let stored =
            sidecar.stored("POST", "/customers", &format!("{{\"{key}\":\"078-05-1120\",\"ssns\":1}}"));
        assert!(stored.contains(&format!("\"{key}\":\"fv1.")), "{stored}");
        assert!(stored.ends_with(",\"ssns\":1}") && !stored.contains("078"));
        // An answer says what the service calls it.
        assert_eq!(sidecar.shown("/customers", &stored), stored);
    }
}

#[test]
fn method_in_lower_case_is_refused_where_anything_is_named() {
    for method in ["post", "Post", "pOST"] {
        let sidecar = Sidecar::under(customers());
        let mut exchange = sidecar.exchange();
        exchange.request(method, "/customers", &[JSON], br#"{"ssn":"078-05-1120"}"#);
        assert_eq!(exchange.refused(), 400, "{method}");
    }
    let sidecar = Sidecar::under(plan(&[]));
    let mut exchange = sidecar.exchange();
    exchange.request("post", "/customers", &[JSON], b"{}");
    assert_eq!(exchange.upstream.text(), "{}");
}

#[test]
fn named_header_is_refused_under_its_twin_with_underscores_and_in_trailers() {
    let names_header = || plan(&[route("/people", &[field("header", "x-ssn", "customer.ssn")])]);
    let sidecar = Sidecar::under(names_header());
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/people", &[("x_ssn", "078-05-1120")], b"");
    assert_eq!(exchange.refused(), 400);
    for name in ["x-ssn", "x_ssn"] {
        let sidecar = Sidecar::under(names_header());
        let mut exchange = sidecar.exchange();
        exchange.request_head("POST", "/people", &[], false);
        exchange.request_body(b"x", false);
        exchange.request_trailers_with(name);
        assert_eq!(exchange.reply().unwrap().0, 400, "{name}");
        assert!(!exchange.upstream.has_ended, "{name}");
    }
}

#[test]
fn content_length_is_that_of_what_leaves() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], br#"{"ssn":"078-05-1120"}"#);
    assert_eq!(exchange.upstream.header("content-length"), [exchange.upstream.body.len().to_string()]);
}

#[test]
fn what_comes_without_a_length_leaves_without_one() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(br#"{"ssn":"078-05-1120"}"#, true);
    assert!(exchange.upstream.header("content-length").is_empty());
    assert!(exchange.upstream.text().contains("fv1."));
}

#[test]
fn request_of_which_nothing_is_named_leaves_as_it_came_byte_for_byte() {
    let sidecar = Sidecar::under(customers());
    let headers = [
        ("content-type", "text/html"),
        ("content-encoding", "gzip"),
        ("content-digest", "sha-256=:x:"),
        ("range", "bytes=0-3"),
        ("if-match", "W/\"a\""),
        ("accept-encoding", "gzip"),
        ("upgrade", "websocket"),
    ];
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/elsewhere?ssn=078-05-1120", &headers, b"\x1f\x8b not {json");
    let mut expected = head(
        &[
            (":method", "POST"),
            (":path", "/elsewhere?ssn=078-05-1120"),
            (":scheme", "http"),
            (":authority", "shop"),
        ],
        &headers,
    );
    expected.0.push(("content-length".into(), b"12".to_vec()));
    assert_eq!(exchange.upstream.head.as_ref().unwrap(), &expected);
    assert_eq!(exchange.upstream.body, b"\x1f\x8b not {json");
    let answer = [("etag", "\"a\""), ("accept-ranges", "bytes"), ("content-type", "image/png")];
    exchange.respond(206, &answer, b"{\"ssn\":");
    assert_eq!(exchange.client.header("etag"), ["\"a\""]);
    assert_eq!(exchange.client.head.as_ref().unwrap().0.len(), 5);
    assert_eq!(exchange.client.body, b"{\"ssn\":");
}

#[test]
fn malformed_request_is_refused_and_nothing_of_it_is_forwarded() {
    let sidecar = Sidecar::under(customers());
    for body in
        ["{\"a\":1", "{\"ssn\":\"078-05-1120\"},", "{\"ssn\":\"078-05-1120\"} x", "ssn=1", "\u{feff}{}"]
    {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[JSON], body.as_bytes());
        assert_eq!(exchange.refused(), 400, "{body}");
    }
}

#[test]
fn value_of_another_kind_is_refused_and_nothing_of_it_is_forwarded() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], br#"{"ssn":78051120}"#);
    assert_eq!(exchange.refused(), 422);
    assert_eq!(exchange.reply().unwrap().1["label"], "customer.ssn");
    assert_eq!(sidecar.count("http.refused.invalid-value"), 1);
}

#[test]
fn policy_that_lets_nobody_write_refuses() {
    let denied = with(field("request", "$.ssn", "customer.ssn"), "write", json!("refuse"));
    let sidecar = Sidecar::under(plan(&[route("/customers", &[denied])]));
    let mut exchange = sidecar.exchange();
    exchange.request("POST", "/customers", &[JSON], br#"{"ssn":"078-05-1120"}"#);
    assert_eq!(exchange.refused(), 403);
    assert_eq!(sidecar.stored("POST", "/customers", r#"{"name":"x"}"#), r#"{"name":"x"}"#);
}

#[test]
fn null_is_not_a_value() {
    let sidecar = Sidecar::under(customers());
    assert_eq!(sidecar.stored("POST", "/customers", r#"{"ssn": null}"#), r#"{"ssn": null}"#);
}

#[test]
fn held_body_leaves_at_its_end_and_one_past_the_limit_streams_without_a_length() {
    let http = json!({"service": "shop", "limits": {"held_body_bytes": 150}});
    let sidecar = Sidecar::configured(customers(), http);
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON, ("content-length", "200")], false);
    exchange.request_body(br#"{"ssn":"078-05-1120","a":""#, false);
    assert!(exchange.upstream.head.is_none());
    exchange.request_body(&[b'x'; 100], false);
    assert!(exchange.upstream.header("content-length").is_empty());
    let sent = exchange.upstream.body.len();
    exchange.request_body(b"yyyy", false);
    assert_eq!(exchange.upstream.body.len(), sent + 4, "it does not leave as it comes");
    exchange.request_body(b"\"}", true);
    assert!(exchange.upstream.json()["ssn"].as_str().unwrap().starts_with("fv1."));
}

#[test]
fn error_after_the_head_left_is_answered_while_the_client_has_no_answer_and_resets_when_it_has() {
    let http = json!({"service": "shop", "limits": {"held_body_bytes": 8}});
    let sidecar = Sidecar::configured(customers(), http);
    for is_answering in [false, true] {
        let mut exchange = sidecar.exchange();
        exchange.request_head("POST", "/customers", &[JSON], false);
        exchange.request_body(br#"{"a":"xxxxxxxxxxxxxxxxxx","#, false);
        assert!(exchange.upstream.head.is_some());
        if is_answering {
            exchange.response_head(200, &[("content-type", "text/event-stream")], false);
        }
        exchange.request_body(br#""ssn":1}"#, true);
        assert_eq!(exchange.reset, is_answering);
        assert_eq!(exchange.reply().map(|(status, _)| status), (!is_answering).then_some(422));
        assert!(!exchange.upstream.has_ended);
    }
}

#[test]
fn body_that_ends_with_trailers_is_whole_before_them() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(br#"{"ssn":"078-05-1120"}"#, false);
    assert!(exchange.upstream.head.is_none());
    exchange.request_trailers();
    assert!(exchange.upstream.text().contains("fv1.") && exchange.upstream.has_trailers);
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(br#"{"ssn":"078-05-1120""#, false);
    exchange.request_trailers();
    assert_eq!(exchange.refused(), 400);
}

#[test]
fn request_without_a_body_passes_whatever_its_head_says() {
    let sidecar = Sidecar::under(customers());
    for headers in [&[][..], &[("content-type", "text/html")], &[("content-length", "0")], &[JSON]] {
        let mut exchange = sidecar.exchange();
        exchange.request_head("DELETE", "/customers", headers, true);
        assert!(exchange.upstream.has_ended && exchange.upstream.body.is_empty());
        // HTTP/2 may tell it in an empty frame.
        let mut exchange = sidecar.exchange();
        exchange.request_head("DELETE", "/customers", headers, false);
        exchange.request_body(b"", true);
        assert!(exchange.upstream.has_ended && exchange.upstream.head.is_some(), "{headers:?}");
    }
}

#[test]
fn body_where_the_head_says_there_is_none_is_refused() {
    let sidecar = Sidecar::under(customers());
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON, ("content-length", "0")], false);
    exchange.request_body(b"{}", true);
    assert_eq!(exchange.refused(), 400);
}

#[test]
fn limits_are_told_by_413() {
    let mut config = config(json!({"service": "shop", "limits": {"json_depth": 4, "json_key_bytes": 8}}));
    config["limits"] = json!({"protected_value_bytes": 32});
    let sidecar = Sidecar::with_config(customers(), &config);
    let long = format!(r#"{{"ssn":"{}"}}"#, "x".repeat(64));
    for body in ["[[[[[]]]]]", r#"{"aaaaaaaaaaaaaaaa":1}"#, long.as_str()] {
        let mut exchange = sidecar.exchange();
        exchange.request("POST", "/customers", &[JSON], body.as_bytes());
        assert_eq!(exchange.refused(), 413, "{body}");
    }
}

#[test]
fn digests_of_what_was_sent_do_not_reach_the_service() {
    let sidecar = Sidecar::under(customers());
    let digests =
        [JSON, ("content-digest", "a"), ("repr-digest", "a"), ("digest", "a"), ("content-md5", "a")];
    let mut exchange = sidecar.exchange();
    exchange.request("PUT", "/customers", &digests, b"{}");
    for (name, _) in &digests[1..] {
        assert!(exchange.upstream.header(name).is_empty(), "{name}");
    }
}

#[test]
fn both_directions_go_on_independently() {
    let sidecar =
        Sidecar::configured(customers(), json!({"service": "shop", "limits": {"held_body_bytes": 8}}));
    let mut exchange = sidecar.exchange();
    exchange.request_head("POST", "/customers", &[JSON], false);
    exchange.request_body(br#"{"a":"xxxxxxxxxxxxxxxxxx""#, false);
    exchange.respond(200, &[JSON], br#"{"ok":true}"#);
    assert_eq!(exchange.client.text(), r#"{"ok":true}"#);
    exchange.request_body(br#","ssn":"078-05-1120"}"#, true);
    assert!(exchange.upstream.text().contains("fv1."));
}
