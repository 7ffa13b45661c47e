//! The same by a whole-document reader: serde_json finds the values, and each path is followed step by step as
//! RFC 9535 tells it.

use std::fmt;

use fieldveil_json_stream::{Path, Step};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A document with each field's value marked as [`super::mark`] does, or nothing if it is no JSON.
pub fn rewrite(paths: &[(Path, usize)], body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let paths: Vec<(&[Step], usize)> = paths.iter().map(|(path, field)| (path.steps(), *field)).collect();
    let mut found = Vec::new();
    walk(raw.get(), &paths, &mut found).ok()?;
    let mut out = Vec::new();
    let mut done = 0;
    for (value, field) in found {
        let begin = value.as_ptr().addr() - text.as_ptr().addr();
        out.extend(&body[done..begin]);
        done = begin + value.len();
        out.extend(format!("<{field}:{value}>").bytes());
    }
    out.extend(&body[done..]);
    Some(out)
}

/// Finds what the paths select in a value, outermost first.
fn walk<'a>(
    json: &'a str,
    paths: &[(&[Step], usize)],
    found: &mut Vec<(&'a str, usize)>,
) -> serde_json::Result<()> {
    let selects = paths.iter().find(|(steps, _)| steps.is_empty());
    // Inside a field all is still checked.
    let paths = match selects {
        Some((_, field)) => {
            found.push((json, *field));
            &[]
        }
        None => paths,
    };
    if !json.starts_with(['{', '[']) {
        return Ok(());
    }
    for (label, value) in serde_json::from_str::<Children<'_>>(json)?.0 {
        let mut next = Vec::new();
        for (steps, field) in paths {
            let Some((step, rest)) = steps.split_first() else { continue };
            if let Step::Descendant(_) = step {
                next.push((*steps, *field));
            }
            if is_selected(step, &label) {
                next.push((rest, *field));
            }
        }
        walk(value.get(), &next, found)?;
    }
    Ok(())
}

fn is_selected(step: &Step, label: &Label) -> bool {
    match (step, label) {
        (Step::Any, _) => true,
        (Step::Name(name) | Step::Descendant(name), Label::Key(key)) => name == key,
        (Step::Index(index), Label::Index(at)) => usize::try_from(*index) == Ok(*at),
        _ => false,
    }
}

enum Label {
    Key(String),
    Index(usize),
}

/// What is directly in an object or array, keys that are there twice included.
struct Children<'a>(Vec<(Label, &'a RawValue)>);

impl<'de> Deserialize<'de> for Children<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Children(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Children<'de> {
    type Value = Self;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object or array")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.0.push((Label::Key(key), map.next_value()?));
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Self, A::Error> {
        while let Some(value) = elements.next_element()? {
            self.0.push((Label::Index(self.0.len()), value));
        }
        Ok(self)
    }
}
