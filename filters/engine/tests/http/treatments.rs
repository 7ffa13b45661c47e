//! What readers and writers of JSON get of a field, as the policy says, and what is told of it.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;

use crate::support::http::*;
use crate::support::keys::*;
use crate::support::*;
use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::field::StoredForm;
use fieldveil_engine::http::problem::Problem;
use fieldveil_engine::http::query::{seal_header, seal_target};
use fieldveil_engine::http::search_budget::SearchBudget;
use fieldveil_engine::http::treat;
use fieldveil_plan::Plan;
use serde_json::{Value, json};

const SSN: &str = r#""078-05-1120""#;

fn reading(read: Value) -> Value {
    field("value", "deterministic", "text", read, "seal")
}

fn treatment(name: &str) -> Value {
    reading(json!({"treatment": name}))
}

/// The envelope of the canary, as a service answers with it.
fn stored(treated: &Treated) -> String {
    json!(String::from_utf8(treated.stored(CANARY, StoredForm::Armored)).unwrap()).to_string()
}

fn name_and_status(problem: &Problem) -> (&'static str, u16) {
    (problem.name(), problem.status())
}

#[test]
fn reader_gets_what_the_treatment_says() {
    let open = |read| {
        let treated = Treated::under(&[reading(read)]);
        treated.open(&stored(&treated))
    };
    assert_eq!(open(json!({"treatment": "reveal"})), Ok(Some(SSN.to_owned())));
    assert_eq!(
        open(json!({"treatment": "mask", "format": "last4"})),
        Ok(Some(r#""***-**-1120""#.to_owned()))
    );
    assert_eq!(open(json!({"treatment": "conceal"})), Ok(None));
    assert_eq!(open(json!({"treatment": "null"})), Ok(Some("null".to_owned())));
    let refused = open(json!({"treatment": "refuse"})).unwrap_err();
    assert_eq!(name_and_status(&refused), ("denied", 403));
    assert_eq!(refused.label(), Some("customer.value"));
}

#[test]
fn what_a_reader_was_shown_in_a_values_place_does_not_replace_the_value() {
    let mask = |format: &str| json!({"treatment": "mask", "format": format});
    let partial = mask("partial(2,\"--\",2)");
    let past_budget = budget(mask("last4"))["read"].clone();
    let cases = [
        (mask("last4"), json!("***-**-1120"), true),
        (mask("last4"), json!(CANARY), false),
        (mask("email"), json!("a***@e***.com"), true),
        (mask("email"), json!("ada@example.com"), false),
        (partial.clone(), json!("07--20"), true),
        (partial.clone(), json!("--"), true),
        (partial, json!(CANARY), false),
        (json!({"treatment": "null"}), Value::Null, true),
        (json!({"treatment": "null"}), json!(CANARY), false),
        (mask("last4"), Value::Null, false),
        (past_budget, json!("***-**-1120"), true),
        (json!({"treatment": "reveal"}), json!("***-**-1120"), false),
        (json!({"treatment": "reveal"}), Value::Null, false),
    ];
    for (read, value, is_refused) in cases {
        let refused = Treated::under(&[reading(read.clone())]).seal(&value.to_string());
        assert_eq!(refused.is_err(), is_refused, "{value} by {read}");
        if let Err(problem) = refused {
            assert_eq!(name_and_status(&problem), ("invalid-value", 422));
        }
    }
}

#[test]
fn masked_date_is_a_string_too() {
    let read = json!({"treatment": "mask", "format": "year"});
    let treated = Treated::under(&[field("value", "randomized", "date", read, "seal")]);
    let sealed = treated.seal(r#""1980-05-17""#).unwrap().unwrap();
    assert_eq!(treated.open(&sealed).unwrap().as_deref(), Some(r#""1980-01-01""#));
}

#[test]
fn refused_field_refuses_where_it_is_null_too() {
    let treated = Treated::under(&[treatment("refuse")]);
    assert_eq!(treated.open("null").unwrap_err().status(), 403);
    let treated =
        Treated::under(&[field("value", "deterministic", "text", json!({"treatment": "reveal"}), "refuse")]);
    for sent in [SSN, "null", "1"] {
        assert_eq!(name_and_status(&treated.seal(sent).unwrap_err()), ("denied", 403), "{sent}");
    }
}

#[test]
fn plaintext_among_envelopes_gets_what_the_policy_says() {
    let open = |on_plaintext: &str, read: &str, type_name: &str, answered: &str| {
        let mut field = value_of("deterministic", type_name);
        field["read"] = json!({"treatment": read});
        field["on_plaintext"] = json!(on_plaintext);
        let treated = Treated::under(&[field]);
        let opened = treated.open(answered);
        (
            opened.map_err(|problem| problem.status()),
            treated.counts().get("plaintext.customer.value").copied(),
        )
    };
    let some = |json: &str| Ok(Some(json.to_owned()));
    for (type_name, answered) in
        [("text", SSN), ("int4", "7"), ("json", r#"{"a": 1}"#), ("text", r#""\ud800""#)]
    {
        assert_eq!(open("refuse", "reveal", type_name, answered), (Err(502), None), "{answered}");
        assert_eq!(open("null", "reveal", type_name, answered), (some("null"), Some(1)), "{answered}");
        assert_eq!(open("refuse", "conceal", type_name, answered), (Err(502), None), "{answered}");
        assert_eq!(open("reveal", "conceal", type_name, answered), (some("null"), Some(1)), "{answered}");
    }
    assert_eq!(open("reveal", "reveal", "text", SSN), (some(SSN), Some(1)));
    assert_eq!(open("reveal", "reveal", "int4", "7"), (some("7"), Some(1)));
    assert_eq!(open("reveal", "reveal", "numeric(10,2)", "1.5"), (some("1.50"), Some(1)));
    assert_eq!(open("reveal", "reveal", "jsonb", r#"{"a":1}"#), (some(r#"{"a": 1}"#), Some(1)));
    // Not of the type: nobody knows what a mask would have to hide.
    assert_eq!(open("reveal", "reveal", "int4", SSN), (Err(502), None));
    assert_eq!(open("reveal", "reveal", "text", r#""\ud800""#), (Err(502), None));
}

#[test]
fn masks_hide_plaintext_that_is_let_through() {
    let mut field = reading(json!({"treatment": "mask", "format": "last4"}));
    field["on_plaintext"] = json!("reveal");
    assert_eq!(Treated::under(&[field]).open(SSN), Ok(Some(r#""***-**-1120""#.to_owned())));
}

#[test]
fn value_of_another_label_tenant_or_protection_does_not_open() {
    let open = |field: Value| {
        let treated = Treated::under(&[value_of("deterministic", "text")]);
        Treated::under(&[field]).open(&stored(&treated)).map_err(|problem| name_and_status(&problem))
    };
    let base = value_of("deterministic", "text");
    assert_eq!(open(base.clone()), Ok(Some(SSN.to_owned())));
    for (member, value) in [("label", "customer.other"), ("tenant", "acme"), ("protection", "randomized")] {
        let mut other = base.clone();
        other[member] = json!(value);
        assert_eq!(open(other), Err(("unreadable-value", 502)), "{member}");
    }
    let treated = Treated::under(&[base]);
    let mut broken = stored(&treated).into_bytes();
    broken[20] ^= 1;
    assert_eq!(treated.open(&String::from_utf8(broken).unwrap()).unwrap_err().status(), 502);
}

#[test]
fn same_value_of_two_tenants_is_sealed_unequal() {
    let sealed = |tenant: &str| {
        let mut field = value_of("deterministic", "text");
        field["tenant"] = json!(tenant);
        Treated::under(&[field]).seal(SSN).unwrap().unwrap()
    };
    assert_eq!(sealed("acme"), sealed("acme"));
    assert_ne!(sealed("acme"), sealed("other"));
}

#[test]
fn keyset_that_is_not_there_makes_it_unavailable() {
    let mut field = value_of("deterministic", "text");
    (field["keyset"], field["tenant"]) = (json!("pii/acme"), json!("acme"));
    let problem = Treated::under(&[field]).seal(SSN).unwrap_err();
    assert_eq!(name_and_status(&problem), ("unavailable", 503));
    let reply = problem.reply();
    assert!(reply.headers.contains(&("retry-after".into(), "1".into())));
}

fn budget(then: Value) -> Value {
    reading(json!({"treatment": "reveal", "budget": {"rows": 2, "per_seconds": 60, "then": then}}))
}

#[test]
fn each_value_spends_one_of_the_budget_and_those_past_it_get_what_it_says() {
    for (then, past) in [
        (json!({"treatment": "null"}), Ok(Some("null".to_owned()))),
        (json!({"treatment": "mask", "format": "last4"}), Ok(Some(r#""***-**-1120""#.to_owned()))),
        (json!({"treatment": "refuse"}), Err(("budget-spent", 429))),
    ] {
        let treated = Treated::under(&[budget(then.clone())]);
        let stored = stored(&treated);
        for _ in 0..2 {
            assert_eq!(treated.open(&stored), Ok(Some(SSN.to_owned())));
        }
        assert_eq!(treated.open("null"), Ok(None), "what is null spends nothing");
        assert_eq!(treated.open(&stored).map_err(|problem| name_and_status(&problem)), past, "{then}");
        assert_eq!(treated.counts()["budget_spent.customer.value"], 1);
        assert_eq!(treated.ports.borrow().lines.borrow().len(), 1, "one line for the log");
        let budgets = json!([{"label": "customer.value", "rows": 2, "per_seconds": 60, "then": then["treatment"], "count": 1}]);
        assert_eq!(treated.lines()[0]["budgets"], budgets);
    }
}

#[test]
fn refusal_for_a_spent_budget_says_when_to_come_again() {
    let treated = Treated::under(&[budget(json!({"treatment": "refuse"}))]);
    let stored = stored(&treated);
    let problem = (0..3).find_map(|_| treated.open(&stored).err()).unwrap();
    let reply = problem.reply();
    let after = reply.headers.iter().find(|(name, _)| name == "retry-after").unwrap();
    assert!((60..=64).contains(&after.1.parse().unwrap()), "{after:?}");
    // What can be found by guessing cannot while nothing is shown.
    let searched = treat::search(&treated.ctx, treated.field(), CANARY.as_bytes()).unwrap_err();
    assert_eq!(name_and_status(&searched), ("budget-spent", 429));
}

#[test]
fn budget_is_the_subjects_whatever_the_protocol() {
    let treated = Treated::under(&[budget(json!({"treatment": "null"}))]);
    let allowance = treated.field().budget.as_ref().unwrap().allowance;
    let (subject, label) = (Arc::clone(&treated.ctx.plan.subject), Arc::from("customer.value"));
    treated.ctx.worker.borrow_mut().budgets().spend(&subject, &label, allowance, 2, treated.ctx.now_ms);
    assert_eq!(treated.open(&stored(&treated)), Ok(Some("null".to_owned())));
}

fn searching(treated: &Treated, target: &str) -> Result<Option<String>, Problem> {
    let mut again = CompiledPlan::new(Plan::from_json(&plan(&treated.fields)).unwrap()).unwrap();
    let field = Arc::new(again.fields.remove(0));
    let query = ["ssn", "né e"].map(|name| (name.to_owned(), Arc::clone(&field)));
    let sealed =
        seal_target(&treated.ctx, &mut SearchBudget::default(), target.as_bytes(), &query, &[(1, field)])?;
    Ok(sealed.map(|sealed| String::from_utf8(sealed).unwrap()))
}

fn sealed(treated: &Treated, text: &str) -> String {
    String::from_utf8(treated.stored(text, StoredForm::Armored)).unwrap()
}

#[test]
fn named_parameters_are_sealed_and_all_other_bytes_stay() {
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    let envelope = sealed(&treated, CANARY);
    for (target, expected) in [
        ("/a", "/a"),
        ("/a/?x=%zz&&y", "/a/?x=%zz&&y"),
        ("/a?ssn", "/a?ssn"),
        ("/a?ssn=078-05-1120", "/a?ssn=E"),
        ("/a?b=%41+c&ssn=078%2D05-112%30&&d=", "/a?b=%41+c&ssn=E&&d="),
        ("/a?%73sn=078-05-1120", "/a?%73sn=E"),
        ("/a?ssn=078-05-1120&ssn=078-05-1120", "/a?ssn=E&ssn=E"),
        ("/a?SSN=078-05-1120&xssn=2&ss%256e=3", "/a?SSN=E&xssn=2&ss%256e=3"),
        ("/a?n%C3%A9+e=078-05-1120", "/a?n%C3%A9+e=E"),
        ("/a?n%c3%a9%20e=078-05-1120", "/a?n%c3%a9%20e=E"),
        ("/a/078-05-1120", "/a/E"),
        ("/a/078%2d05-1120/b?x", "/a/E/b?x"),
        ("/a/078-05-1120;v=1/", "/a/E;v=1/"),
        ("//078-05-1120", "//E"),
        ("/a?/078-05-1120", "/a?/078-05-1120"),
        ("*", "*"),
    ] {
        let sealed = searching(&treated, target).unwrap().unwrap_or_else(|| target.to_owned());
        assert_eq!(sealed.replace(&envelope, "E"), expected, "{target}");
    }
    assert_eq!(
        searching(&treated, "/a?ssn=a%2Bb+c").unwrap(),
        Some(format!("/a?ssn={}", sealed(&treated, "a+b c")))
    );
    assert_eq!(searching(&treated, "/a/a%2Bb+c").unwrap(), Some(format!("/a/{}", sealed(&treated, "a+b+c"))));
}

#[test]
fn target_that_servers_read_in_several_ways_is_refused() {
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    for target in
        ["/a?ssn=%", "/a?ssn=%4", "/a?ssn=%zz", "/a/%g0", "/a?b=1;ssn=2", "/a?b;ss%6e=2", "/a?b=1;ssn"]
    {
        let problem = searching(&treated, target).unwrap_err();
        assert_eq!(name_and_status(&problem), ("ambiguous-target", 400), "{target}");
    }
    for target in ["/a?ssn=%ff", "/a?ssn=%00", "/a/%ff"] {
        assert_eq!(searching(&treated, target).unwrap_err().status(), 422, "{target}");
    }
}

#[test]
fn sealed_text_stands_for_itself_in_a_target() {
    let mut field = value_of("format_preserving", "text");
    field["alphabet"] = json!("alphanumeric");
    let treated = Treated::under(&[field]);
    let target = searching(&treated, "/a?ssn=Ada%20Lovelace%201815").map_err(|problem| problem.status());
    // The alphabet has no spaces.
    assert_eq!(target, Err(422));
    let target = searching(&treated, "/a?ssn=AdaLovelace1815").unwrap().unwrap();
    assert_eq!(target.len(), "/a?ssn=AdaLovelace1815".len());
}

#[test]
fn headers_lose_the_space_around_them_and_nothing_else() {
    let treated = Treated::under(&[value_of("deterministic", "text")]);
    let header = |value: &[u8]| {
        seal_header(&treated.ctx, &mut SearchBudget::default(), treated.field(), value)
            .map_err(|problem| problem.status())
    };
    assert_eq!(header(b" \t078-05-1120 "), Ok(sealed(&treated, CANARY).into_bytes()));
    assert_eq!(header(b"a b,c"), Ok(sealed(&treated, "a b,c").into_bytes()));
    assert_eq!(header(b""), Ok(sealed(&treated, "").into_bytes()));
    assert_eq!(header(b"\xff"), Err(422));
}

#[test]
fn only_who_sees_values_may_look_for_them() {
    let search = |field: Value, text: &str| {
        let treated = Treated::under(&[field]);
        treat::search(&treated.ctx, treated.field(), text.as_bytes())
            .map_err(|problem| name_and_status(&problem))
    };
    for name in ["conceal", "null", "refuse"] {
        assert_eq!(search(treatment(name), CANARY), Err(("denied", 403)), "{name}");
    }
    assert!(search(reading(json!({"treatment": "mask", "format": "last4"})), CANARY).is_ok());
    for protection in ["randomized", "indexed"] {
        assert_eq!(search(value_of(protection, "text"), CANARY), Err(("denied", 403)), "{protection}");
    }
    assert_eq!(search(value_of("deterministic", "numeric"), "1"), Err(("denied", 403)));
    assert_eq!(search(value_of("deterministic", "int4"), "x"), Err(("invalid-value", 422)));
    // Nothing stored equals it.
    assert_eq!(search(value_of("deterministic", "numeric(10,2)"), "1.234"), Err(("invalid-value", 422)));
    assert!(search(value_of("deterministic", "int4"), "+7").is_ok());
}

#[test]
fn several_keys_leave_nothing_to_look_for() {
    let treated = Treated::under_keys(&[value_of("deterministic", "text")], &keys_among("ab"));
    let problem = treat::search(&treated.ctx, treated.field(), CANARY.as_bytes()).unwrap_err();
    assert_eq!(name_and_status(&problem), ("several-keys", 503));
    assert!(told(&problem)["remedy"].as_str().unwrap().starts_with("Reseal"));
    assert!(treated.seal(SSN).is_ok());
}

#[test]
fn short_text_that_stands_for_too_long_a_value_is_refused() {
    let treated =
        Treated::under(&[field("value", "randomized", "jsonb", json!({"treatment": "reveal"}), "seal")]);
    let longest = vec!["1e4000"; 1000].join(",");
    let refused = treated.seal(&format!("[{longest}]")).unwrap_err();
    assert_eq!(name_and_status(&refused).1, 413);
    assert!(treated.seal("[1e4000]").is_ok());
}
