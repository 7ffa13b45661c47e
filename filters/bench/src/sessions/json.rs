//! Bodies of JSON of 1 KB, whose ten fields are opened, sealed, or of no route.

use std::hint::black_box;

use fieldveil_engine::config::Protocol;
use fieldveil_engine::http::{Exchange, ExchangeOutput, Flow, Head, Peer};
use serde_json::{Value, json};

use super::values::{Sealer, clear};
use super::world::{KEYSET, World, plan};
use super::{Randomness, Transaction};

const FIELDS: u32 = 10;
/// So that a body in clear is of 1 KB.
const FILLED: usize = 43;
const PROTECTED: &str = "/customers";
const OTHER: &str = "/orders";

/// Requests and responses of one worker.
struct Json {
    world: World,
    sealer: Sealer,
    path: &'static str,
    /// The body that goes each way; empty: none.
    request: Vec<u8>,
    response: Vec<u8>,
    expected: Vec<u8>,
}

/// A response of a route that names no field.
pub(super) fn passing(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    made(randomness, |json, _| {
        json.path = OTHER;
        json.response = body(&clear_values())?;
        json.expected = json.response.clone();
        Ok(())
    })
}

/// A response.
pub(super) fn opened(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    made(randomness, |json, stored| {
        (json.response, json.expected) = (body(stored)?, body(&clear_values())?);
        Ok(())
    })
}

/// A request, answered with nothing.
pub(super) fn sealed(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    made(randomness, |json, _| {
        json.request = body(&clear_values())?;
        Ok(())
    })
}

fn made(
    randomness: Randomness<'_>,
    with: impl Fn(&mut Json, &[Vec<u8>]) -> Result<(), String>,
) -> Result<Box<dyn Transaction>, String> {
    let field = |way: &str| {
        json!({"in": way, "at": "$.customers[*].ssn", "label": "customer.ssn", "keyset": KEYSET, "tenant": "",
            "protection": "deterministic", "type": "text", "read": {"treatment": "reveal"}, "write": "seal"})
    };
    let route = |path: &str, fields: &[Value]| json!({"path": path, "methods": [], "except": [], "graphql": false, "fields": fields});
    let routes = [route(PROTECTED, &[field("request"), field("response")]), route(OTHER, &[])];
    let plan = plan(&[], Some(json!({"unmatched": "pass", "routes": routes})));
    let world = World::new(Protocol::Http, plan, randomness()?)?;
    let (sealer, mut random) = (Sealer::new()?, randomness()?);
    let stored: Result<Vec<_>, String> = (0..FIELDS)
        .map(|row| sealer.stored(row, &mut *random)?.into_iter().nth(1).ok_or_else(String::new))
        .collect();
    let (path, request, response, expected) = (PROTECTED, Vec::new(), Vec::new(), Vec::new());
    let mut json = Json { world, sealer, path, request, response, expected };
    with(&mut json, &stored?)?;
    json.ready()?;
    Ok(Box::new(json))
}

fn clear_values() -> Vec<Vec<u8>> {
    (0..FIELDS).map(|row| clear(row)[1].clone()).collect()
}

/// Ten customers with these values, the rest in clear.
fn body(values: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let customer = |(id, value): (usize, &Vec<u8>)| json!({"id": id, "name": format!("name {id}"), "ssn": String::from_utf8_lossy(value), "note": "x".repeat(FILLED)});
    let customers: Vec<Value> = values.iter().enumerate().map(customer).collect();
    serde_json::to_vec(&json!({ "customers": customers })).map_err(|error| error.to_string())
}

fn head(fields: &[(&str, &str)], body: &[u8]) -> Head {
    let length = body.len().to_string();
    let of_body = [("content-type", "application/json"), ("content-length", length.as_str())];
    let fields = fields.iter().chain(of_body.iter().filter(|_| !body.is_empty()));
    Head(fields.map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect())
}

/// What is left of the bytes that were given.
fn taken(output: &ExchangeOutput, given: &[u8]) -> Result<Vec<u8>, String> {
    if output.reply.is_some() || output.reset {
        return Err("it was refused".to_owned());
    }
    Ok(output.body.as_deref().unwrap_or(given).to_vec())
}

impl Json {
    fn exchange(&self) -> Exchange {
        Exchange::new(self.world.worker.clone(), self.world.ports.clone())
    }

    fn request_head(&self) -> Head {
        let method = if self.request.is_empty() { "GET" } else { "POST" };
        let fields = [(":method", method), (":path", self.path), (":scheme", "http"), (":authority", "shop")];
        head(&fields, &self.request)
    }

    /// Plan and keys are there.
    fn ready(&self) -> Result<(), String> {
        let mut exchange = self.exchange();
        let mut output = exchange.request_head(self.request_head(), Peer::default(), true);
        while !output.fetch.is_empty() {
            for fetch in std::mem::take(&mut output.fetch) {
                let result = self.world.answer(&fetch);
                let next = exchange.answered(&fetch, result);
                output.fetch.extend(next.fetch);
                output.flow = next.flow;
            }
        }
        exchange.end();
        if output.flow == Flow::Continue { Ok(()) } else { Err("plan or keys are not there".to_owned()) }
    }

    /// One exchange: each output, with what was given and whether it is the request's.
    fn exchanged(
        &self,
        mut seen: impl FnMut(ExchangeOutput, &[u8], bool) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut exchange = self.exchange();
        let ends = self.request.is_empty();
        seen(exchange.request_head(black_box(self.request_head()), Peer::default(), ends), b"", true)?;
        if !ends {
            seen(exchange.request_body(black_box(&self.request), false), &self.request, true)?;
            seen(exchange.request_body(b"", true), b"", true)?;
        }
        let ends = self.response.is_empty();
        seen(exchange.response_head(head(&[(":status", "200")], &self.response), true, ends), b"", false)?;
        if !ends {
            seen(exchange.response_body(black_box(&self.response), false), &self.response, false)?;
            seen(exchange.response_body(b"", true), b"", false)?;
        }
        exchange.end();
        Ok(())
    }
}

impl Transaction for Json {
    fn run(&mut self) -> Result<usize, String> {
        let mut bytes = 0_usize;
        self.exchanged(|output, given, _| {
            bytes = bytes.saturating_add(output.body.as_ref().map_or(given.len(), Vec::len));
            black_box(output);
            Ok(())
        })?;
        Ok(bytes)
    }

    fn check(&mut self) -> Result<(), String> {
        let (mut forth, mut back) = (Vec::new(), Vec::new());
        self.exchanged(|output, given, is_request| {
            let way = if is_request { &mut forth } else { &mut back };
            way.extend(taken(&output, given)?);
            Ok(())
        })?;
        if back != self.expected {
            return Err(format!(
                "{} other bytes came out than the {} expected",
                back.len(),
                self.expected.len()
            ));
        }
        if self.request.is_empty() {
            return if forth.is_empty() {
                Ok(())
            } else {
                Err("a request without a body has one".to_owned())
            };
        }
        let values = clear_values();
        self.sealer.check(&forth, &values.into_iter().map(|value| (1, value)).collect::<Vec<_>>())
    }
}
