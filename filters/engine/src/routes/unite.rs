//! What several routes say together of the requests that fit all of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use fieldveil_json_stream::{Case, Matcher, MatcherError, Path as JsonPath};

use super::{BodyFields, CompiledRoute, PathOfBody, Route, Unroutable};
use crate::field::CompiledField;

/// The member of a request by which Laravel takes it for one of another method.
const METHOD: &str = "$._method";

/// What is said of each label by all routes together.
type ByLabel<'r> = HashMap<&'r str, Arc<CompiledField>>;

/// What the routes say together. The error says where they contradict each other.
pub fn unite<'r>(routes: impl IntoIterator<Item = &'r CompiledRoute>) -> Result<Route, Unroutable> {
    let routes: Vec<&CompiledRoute> = routes.into_iter().collect();
    let mut labels = ByLabel::new();
    for field in routes.iter().flat_map(|route| &route.fields) {
        let said = labels.entry(&field.spec.label).or_insert_with(|| Arc::clone(field));
        *said = field.no_looser_than(said);
    }
    Ok(Route {
        matched: routes.iter().any(|route| !route.template.is_everything()),
        graphql: routes.iter().any(|route| route.graphql),
        // Many services take a key in another case for the one that they know.
        request: body(routes.iter().flat_map(|route| &route.request), &labels, Case::Ignored)?,
        response: body(routes.iter().flat_map(|route| &route.response), &labels, Case::Told)?,
        query: named("query parameter", routes.iter().flat_map(|route| &route.query), &labels)?,
        headers: named("header", routes.iter().flat_map(|route| &route.headers), &labels)?,
        segments: named("path segment", routes.iter().flat_map(|route| &route.segments), &labels)?,
    })
}

/// As all routes together treat it.
fn treated(field: &Arc<CompiledField>, labels: &ByLabel<'_>) -> Arc<CompiledField> {
    labels.get(field.spec.label.as_str()).map_or_else(|| Arc::clone(field), |said| field.no_looser_than(said))
}

/// The fields of a body, one number for each label: what is stored and treated alike may lead to one value.
fn body<'r>(
    said: impl Iterator<Item = &'r PathOfBody>,
    labels: &ByLabel<'_>,
    case: Case,
) -> Result<Option<BodyFields>, Unroutable> {
    let mut fields: Vec<Arc<CompiledField>> = Vec::new();
    let mut places: Vec<Arc<CompiledField>> = Vec::new();
    let mut paths: Vec<(&JsonPath, usize)> = Vec::new();
    let mut seen = HashSet::new();
    for (path, field) in said {
        let label = &field.spec.label;
        let number = fields.iter().position(|known| known.spec.label == *label).unwrap_or_else(|| {
            fields.push(treated(field, labels));
            fields.len().saturating_sub(1)
        });
        if seen.insert((path, number)) {
            paths.push((path, number));
            places.push(treated(field, labels));
        }
    }
    if paths.is_empty() {
        return Ok(None);
    }
    if case == Case::Ignored
        && let Ok(member) = METHOD.parse::<JsonPath>()
        && let Ok(matcher) =
            Matcher::compile_with(paths.iter().copied().chain([(&member, fields.len())]), case)
    {
        let method = Some(fields.len());
        return Ok(Some(BodyFields { matcher: Arc::new(matcher), fields, places, method }));
    }
    let matcher = Matcher::compile_with(paths, case).map_err(|error| contradiction(error, &fields))?;
    Ok(Some(BodyFields { matcher: Arc::new(matcher), fields, places, method: None }))
}

fn contradiction(error: MatcherError, fields: &[Arc<CompiledField>]) -> Unroutable {
    let label = |number: usize| fields.get(number).map_or("", |field| field.spec.label.as_str());
    let reason = match error {
        MatcherError::Conflict { first, second } => format!(
            "JSON paths of the labels {} and {} can lead to one value; change one of them in the catalog",
            label(first),
            label(second)
        ),
        other => other.to_string(),
    };
    Unroutable::Unusable(reason.into())
}

/// What is named once by each name, under one label.
fn named<'r, N: PartialEq + Clone + std::fmt::Display + 'r>(
    what: &str,
    said: impl Iterator<Item = &'r (N, Arc<CompiledField>)>,
    labels: &ByLabel<'_>,
) -> Result<Vec<(N, Arc<CompiledField>)>, Unroutable> {
    let mut united: Vec<(N, Arc<CompiledField>)> = Vec::new();
    for (name, field) in said {
        match united.iter().find(|(known, _)| known == name) {
            None => united.push((name.clone(), treated(field, labels))),
            Some((_, known)) if known.spec.label == field.spec.label => {}
            Some((_, known)) => {
                let reason = format!(
                    "{what} {name} has the labels {} and {}; change one of them in the catalog",
                    known.spec.label, field.spec.label
                );
                return Err(Unroutable::Unusable(reason.into()));
            }
        }
    }
    Ok(united)
}
