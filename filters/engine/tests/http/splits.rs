//! Bodies cut in any places, held to any limit, against an implementation that reads whole documents: what leaves is the same.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::panic)]

use std::sync::Arc;

use crate::http_support::*;
use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::field::{self, CompiledField, Scratch, StoredForm};
use fieldveil_engine::keyring::Keyring;
use fieldveil_plan::Plan;
use fieldveil_values::ValueUse;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone)]
enum Step {
    Name(&'static str),
    Index(usize),
    Any,
    Descendant(&'static str),
}

const NAMES: [&str; 4] = ["a", "b", "ssn", "é\"\\"];

fn spelled(path: &[Step]) -> String {
    let quoted = |name: &str| format!("'{}'", name.replace('\\', "\\\\"));
    path.iter().fold("$".to_owned(), |text, step| match step {
        Step::Name(name) if name.is_ascii() && name.len() < 4 && !name.contains('"') => {
            format!("{text}.{name}")
        }
        Step::Name(name) => format!("{text}[{}]", quoted(name)),
        Step::Index(index) => format!("{text}[{index}]"),
        Step::Any => format!("{text}[*]"),
        Step::Descendant(name) => format!("{text}..{name}"),
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..NAMES.len()).prop_map(|at| Step::Name(NAMES[at])),
        1 => (0..3_usize).prop_map(Step::Index),
        1 => Just(Step::Any),
        1 => (0..3_usize).prop_map(|at| Step::Descendant(NAMES[at])),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e6..1.0e6).prop_map(|n: f64| json!(n)),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("\u{0}\n\"\\/\u{1f600}")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map((0..NAMES.len()).prop_map(|at| NAMES[at].to_owned()), inner, 0..4)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// Seals what the paths select, outermost first, in a whole document. `at` says how far each path has come.
fn seal_whole(value: &mut Value, paths: &[Vec<Step>], at: &[(usize, usize)], seal: &dyn Fn(&str) -> String) {
    let children: Vec<(Result<String, usize>, &mut Value)> = match value {
        Value::Object(members) => members.iter_mut().map(|(name, child)| (Ok(name.clone()), child)).collect(),
        Value::Array(elements) => elements.iter_mut().enumerate().map(|(i, child)| (Err(i), child)).collect(),
        _ => return,
    };
    for (place, child) in children {
        let mut next = Vec::new();
        for (path, come) in at {
            let step = &paths[*path][*come];
            if matches!(step, Step::Descendant(_)) {
                next.push((*path, *come));
            }
            let fits = match (step, &place) {
                (Step::Any, _) => true,
                (Step::Name(name) | Step::Descendant(name), Ok(known)) => name == known,
                (Step::Index(index), Err(known)) => index == known,
                _ => false,
            };
            if fits {
                next.push((*path, *come + 1));
            }
        }
        if next.iter().any(|(path, come)| *come == paths[*path].len()) {
            if !child.is_null() {
                *child = Value::from(seal(&child.to_string()));
            }
        } else {
            seal_whole(child, paths, &next, seal);
        }
    }
}

/// A `json` under one label, wherever the paths lead.
fn plan_of(paths: &[Vec<Step>]) -> Value {
    let any = |place: &str, path: &Vec<Step>| {
        with(field(place, &spelled(path), "customer.any"), "type", json!("json"))
    };
    let mut known = std::collections::BTreeSet::new();
    let paths: Vec<_> = paths.iter().filter(|path| known.insert(spelled(path))).collect();
    let fields = paths.iter().flat_map(|path| [any("request", path), any("response", path)]);
    plan(&[route("/x", &fields.collect::<Vec<_>>())])
}

fn sealing(plan: &Value) -> (Arc<CompiledField>, Keyring) {
    let plan = Plan::from_json(json!({ "result": plan }).to_string().as_bytes()).unwrap();
    let route = CompiledPlan::new(plan).unwrap().service.unwrap().route("POST", "/x").unwrap();
    (Arc::clone(&route.request.as_ref().unwrap().fields[0]), Keyring::from_json(&keys(), None).unwrap())
}

const FRAMINGS: [(&str, &str, &str); 4] = [
    ("application/json", "", ""),
    ("application/x-ndjson", "", "\n"),
    ("application/json-seq", "\u{1e}", "\n"),
    ("text/event-stream", "event: x\ndata: ", "\n\n"),
];

const EVENTS: usize = 3;

fn framed(framing: usize, documents: &[Value], write: impl Fn(&Value) -> String) -> String {
    let (_, before, after) = FRAMINGS[framing];
    let most = if framing == 0 { 1 } else { documents.len() };
    documents.iter().take(most).map(|document| format!("{before}{}{after}", write(document))).collect()
}

/// Sends a body in pieces as long as these say, in turn.
fn send(exchange: &mut Dialogue<'_>, is_request: bool, body: &[u8], cuts: &[usize]) {
    let mut rest = body;
    let mut cuts = cuts.iter().cycle();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
        rest = after;
        match is_request {
            true => exchange.request_body(piece, false),
            false => exchange.response_body(piece, false),
        }
    }
    match is_request {
        true => exchange.request_body(b"", true),
        false => exchange.response_body(b"", true),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bodies_in_pieces_are_sealed_as_whole_documents_are_and_opened_to_what_they_were(
        documents in prop::collection::vec(document(), 1..4),
        paths in prop::collection::vec(prop::collection::vec(step(), 1..4), 1..4),
        framing in 0..FRAMINGS.len(),
        cuts in prop::collection::vec(1..40_usize, 1..6),
        held in prop_oneof![Just(1_usize), Just(16), Just(200), Just(65_536)],
        is_pretty in any::<bool>(),
    ) {
        let plan = plan_of(&paths);
        let (field, keyring) = sealing(&plan);
        let sidecar = Sidecar::configured(plan, json!({"service": "shop", "limits": {"held_body_bytes": held}}));
        let media = [("content-type", FRAMINGS[framing].0)];
        let is_pretty = is_pretty && framing == 0;
        let write = |document: &Value| match is_pretty {
            true => serde_json::to_string_pretty(document).unwrap(),
            false => document.to_string(),
        };
        let body = framed(framing, &documents, write);

        let seal = |text: &str| {
            let (mut random, mut scratch) = (TestPorts::default(), Scratch::default());
            let value = field::FieldValue { bytes: text.as_bytes(), how: StoredForm::Armored };
            let (most, mut sealed) = (usize::MAX, Vec::new());
            field.seal_into(&keyring, &mut random, ValueUse::Store, value, most, &mut scratch, &mut sealed).unwrap();
            String::from_utf8(sealed).unwrap()
        };
        let start: Vec<_> = (0..paths.len()).map(|path| (path, 0)).collect();
        let mut sealed = documents.clone();
        sealed.iter_mut().for_each(|document| seal_whole(document, &paths, &start, &seal));
        let expected = framed(framing, &sealed, Value::to_string);

        let mut exchange = sidecar.exchange();
        // Events are for answers.
        let stored = if framing == EVENTS {
            exchange.request("POST", "/x", &[], b"");
            expected
        } else {
            exchange.request_head("POST", "/x", &media, false);
            send(&mut exchange, true, body.as_bytes(), &cuts);
            prop_assert_eq!(exchange.reply(), None);
            let stored = exchange.upstream.text();
            if !is_pretty {
                prop_assert_eq!(&stored, &expected);
            }
            stored
        };

        exchange.response_head(200, &media, false);
        send(&mut exchange, false, stored.as_bytes(), &cuts);
        prop_assert!(!exchange.is_over());
        prop_assert_eq!(exchange.client.text(), body);
        prop_assert_eq!(exchange.exchange.held(), 0);
    }
}

#[test]
fn a_body_is_the_same_at_every_split_in_both_directions() {
    let sidecar = Sidecar::under(customers());
    let body = "{\"a\" :[1.0,\"\\ud83d\\ude00é\"],\n\"s\\u0073n\": \"078-05-1120\" ,\"b\":{\"ssn\":1}} ";
    let stored = sidecar.stored("POST", "/customers", body);
    for held in [1, 40, 65_536] {
        let http = json!({"service": "shop", "limits": {"held_body_bytes": held}});
        let sidecar = Sidecar::configured(customers(), http);
        for at in 1..stored.len() {
            let mut exchange = sidecar.exchange();
            exchange.request_head("POST", "/customers", &[JSON], false);
            send(&mut exchange, true, body.as_bytes(), &[at.min(body.len() - 1), body.len()]);
            assert_eq!(exchange.upstream.text(), stored, "{at}");
            exchange.response_head(200, &[JSON], false);
            send(&mut exchange, false, stored.as_bytes(), &[at, stored.len()]);
            assert_eq!(exchange.client.text(), body, "{at}");
        }
    }
}
