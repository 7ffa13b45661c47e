//! GraphQL over HTTP: that protected values stand in the variables that the plan names, and nowhere else.
//!
//! A plan names paths such as `$.variables.ssn`, which are sealed as in any other body. But a value may also stand in the
//! document, as a literal or a variable's default, or come in a variable of another name. So an argument, an input field
//! or a key of the variables that has the **last name of a planned path** must get its value from where the plan looks,
//! or the request is refused. In answers a value stands under its field's alias, so names of planned paths of the response
//! take none.

mod body;
mod document;
mod places;
mod tree;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use self::body::GraphQlBody;
use self::document::Document;
use self::places::{Finds, PlannedPaths};
use self::tree::{GraphQlRequest, Node};
use super::problem::Problem;
use crate::field::CompiledField;

/// What to do about a value in the wrong place.
const REMEDY: &str = "Give it as a variable at the path that the catalog names, or name the path where it stands in the catalog.";

/// The variables of which protected places are made, each with a label of these.
type Bound<'p> = BTreeMap<String, &'p str>;

/// Whether a request's body may leave. `request` and `response` are the route's fields of bodies.
pub fn check(
    body: &[u8],
    request: &[Arc<CompiledField>],
    response: &[Arc<CompiledField>],
) -> Result<(), Problem> {
    let refused = |reason: &'static str, remedy: &'static str| Problem::graphql(None, reason, remedy);
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(refused("it is a batch", "Send each operation in a request of its own."));
    }
    let one = "Send one JSON object with `query` as a string and `variables` as an object, each once.";
    let body =
        GraphQlRequest::read(body).ok_or_else(|| refused("its body is not one request of GraphQL", one))?;
    let places = PlannedPaths::of(request, response)?;
    let document = match &body.query {
        // The service has it, under the name that `extensions` or another member gives.
        None => Document::default(),
        Some(text) => Document::read(text).map_err(|reason| {
            Problem::graphql(None, reason, "Send a document of the GraphQL specification of October 2021.")
        })?,
    };
    check_aliases(&document, &places)?;
    let mut bound = Bound::new();
    for (name, value) in &document.arguments {
        let inside = places.name(name);
        literal(value, &places, &[], inside, &mut bound)?;
    }
    for (name, label) in &bound {
        check_bound(name, label, &places)?;
    }
    for (name, value) in &document.defaults {
        let at = places.enter_variable(name);
        let inside = places.name(name).or_else(|| bound.get(name).copied());
        literal(value, &places, &at, inside, &mut Bound::new())?;
    }
    for (name, value) in &body.variables {
        let inside = places.name(name).or_else(|| bound.get(name).copied());
        sealed(value, &places, &places.enter_variable(name), inside)?;
    }
    Ok(())
}

/// Whether a request's target may leave: some services take query and variables from it, whatever the method.
pub fn check_target(target: &[u8]) -> Result<(), Problem> {
    let named =
        |name: Cow<'_, [u8]>| std::str::from_utf8(&name).is_ok_and(|name| tree::member(name).is_some());
    if super::query::parameter_names(target).any(named) { Err(Problem::graphql_method()) } else { Ok(()) }
}

fn check_aliases(document: &Document, places: &PlannedPaths<'_>) -> Result<(), Problem> {
    let hides = |(alias, field): &&(String, String)| {
        alias != field && (places.is_shown(alias) || places.is_shown(field))
    };
    match document.aliases.iter().find(hides) {
        Some((_, field)) => Err(Problem::graphql(
            places.shown(field),
            "an alias stands on a field that leads to a protected value, or has the name of one",
            "Ask for it under its own name, or let the catalog name it by `..` from there on.",
        )),
        None => Ok(()),
    }
}

/// A variable of which a protected place is made must be where the plan looks, whatever it holds now: the service may keep the
/// document, and take other variables with its name alone.
fn check_bound(name: &str, label: &str, places: &PlannedPaths<'_>) -> Result<(), Problem> {
    let at = places.enter_variable(name);
    if places.selected(&at).or_else(|| places.selected(&places.element(&at, 0))).is_some() {
        return Ok(());
    }
    let reason = format!("a value for {label} is a variable at which the field policy does not look");
    Err(Problem::graphql(Some(label), reason, REMEDY))
}

/// A value of the document: no literal may stand in a protected place. Variables that do are noted in `bound`.
fn literal<'p>(
    value: &Node,
    places: &PlannedPaths<'p>,
    at: &Finds,
    inside: Option<&'p str>,
    bound: &mut Bound<'p>,
) -> Result<(), Problem> {
    match value {
        Node::Null => Ok(()),
        Node::Scalar => match inside.or_else(|| places.selected(at)) {
            Some(label) => {
                let reason = format!("a value for {label} stands in the document");
                Err(Problem::graphql(Some(label), reason, REMEDY))
            }
            None => Ok(()),
        },
        Node::Variable(name) => {
            if let Some(label) = inside {
                bound.entry(name.clone()).or_insert(label);
            }
            Ok(())
        }
        Node::List(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| literal(item, places, &places.element(at, index), inside, bound)),
        Node::Object(members) => members.iter().try_for_each(|(name, value)| {
            literal(value, places, &places.member(at, name), inside.or_else(|| places.name(name)), bound)
        }),
    }
}

/// A value of the variables: all that stands in a protected place must be where the plan looks.
fn sealed(value: &Node, places: &PlannedPaths<'_>, at: &Finds, inside: Option<&str>) -> Result<(), Problem> {
    // All that is in it is sealed with it.
    if places.selected(at).is_some() {
        return Ok(());
    }
    match value {
        Node::Null => Ok(()),
        Node::Scalar | Node::Variable(_) => match inside {
            Some(label) => {
                let reason =
                    format!("a value for {label} stands in a variable where the field policy does not look");
                Err(Problem::graphql(Some(label), reason, REMEDY))
            }
            None => Ok(()),
        },
        Node::List(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| sealed(item, places, &places.element(at, index), inside)),
        Node::Object(members) => members.iter().try_for_each(|(name, value)| {
            sealed(value, places, &places.member(at, name), inside.or_else(|| places.name(name)))
        }),
    }
}

#[cfg(test)]
#[path = "graphql_tests.rs"]
mod tests;
