//! The paths that a plan names in requests and responses of GraphQL, and how far each is followed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldveil_json_stream::{Path, Step};
use fieldveil_plan::Place;

use crate::field::CompiledField;
use crate::http::problem::Problem;
use fieldveil_sql::sorted::sorted_once;

/// How far paths have come at one value: the number of a path, and how many of its steps are done.
pub(super) type Finds = [(usize, usize)];

/// The planned paths of one route.
pub(super) struct PlannedPaths<'p> {
    /// Of requests, those that may lead into the variables, with their labels.
    request: Vec<(Path, &'p str)>,
    /// The last name of each of these.
    names: BTreeMap<String, &'p str>,
    /// Every name on the paths of responses.
    shown: BTreeMap<String, &'p str>,
}

impl<'p> PlannedPaths<'p> {
    pub(super) fn of(
        request: &'p [Arc<CompiledField>],
        response: &'p [Arc<CompiledField>],
    ) -> Result<Self, Problem> {
        let mut places = Self { request: Vec::new(), names: BTreeMap::new(), shown: BTreeMap::new() };
        for field in request {
            if let Place::Request(path) = &field.spec.place {
                places.add_request(parse(path)?, &field.spec.label);
            }
        }
        for field in response {
            if let Place::Response(path) = &field.spec.place {
                places.add_response(&parse(path)?, &field.spec.label);
            }
        }
        Ok(places)
    }

    fn add_request(&mut self, path: Path, label: &'p str) {
        let leads_there = match path.steps().first() {
            Some(Step::Name(name)) => name == "variables",
            Some(Step::Any | Step::Descendant(_)) => true,
            Some(Step::Index(_)) | None => false,
        };
        if leads_there {
            if let Some(name) = path.steps().iter().rev().find_map(name_of) {
                self.names.entry(name.to_owned()).or_insert(label);
            }
            self.request.push((path, label));
        }
    }

    fn add_response(&mut self, path: &Path, label: &'p str) {
        // What stands above the data has no alias.
        let from = usize::from(matches!(path.steps().first(), Some(Step::Name(name)) if name == "data"));
        for name in path.steps().iter().skip(from).filter_map(name_of) {
            self.shown.entry(name.to_owned()).or_insert(label);
        }
    }

    /// The label whose values a name tells of.
    pub(super) fn name(&self, name: &str) -> Option<&'p str> {
        self.names.get(name).copied()
    }

    /// The label to whose values in responses a name leads.
    pub(super) fn shown(&self, name: &str) -> Option<&'p str> {
        self.shown.get(name).copied()
    }

    pub(super) fn is_shown(&self, name: &str) -> bool {
        self.shown(name).is_some()
    }

    /// How far the paths come at a variable.
    pub(super) fn enter_variable(&self, name: &str) -> Vec<(usize, usize)> {
        let root: Vec<_> = (0..self.request.len()).map(|path| (path, 0)).collect();
        self.member(&self.member(&root, "variables"), name)
    }

    pub(super) fn member(&self, at: &Finds, name: &str) -> Vec<(usize, usize)> {
        self.follow(at, |step| match step {
            Step::Name(known) | Step::Descendant(known) => known == name,
            Step::Any => true,
            Step::Index(_) => false,
        })
    }

    pub(super) fn element(&self, at: &Finds, index: usize) -> Vec<(usize, usize)> {
        self.follow(at, |step| match step {
            Step::Any => true,
            Step::Index(known) => usize::try_from(*known) == Ok(index),
            Step::Name(_) | Step::Descendant(_) => false,
        })
    }

    fn follow(&self, at: &Finds, fits: impl Fn(&Step) -> bool) -> Vec<(usize, usize)> {
        let mut next = Vec::new();
        for (path, done) in at {
            let Some(step) = self.request.get(*path).and_then(|(path, _)| path.steps().get(*done)) else {
                continue;
            };
            if matches!(step, Step::Descendant(_)) {
                next.push((*path, *done));
            }
            if fits(step) {
                next.push((*path, done.saturating_add(1)));
            }
        }
        sorted_once(next)
    }

    /// The label of a path that selects the value to which these have come.
    pub(super) fn selected(&self, at: &Finds) -> Option<&'p str> {
        let ends = |(path, done): &(usize, usize)| {
            self.request.get(*path).filter(|(path, _)| path.steps().len() == *done).map(|(_, label)| *label)
        };
        at.iter().find_map(ends)
    }
}

fn name_of(step: &Step) -> Option<&str> {
    match step {
        Step::Name(name) | Step::Descendant(name) => Some(name),
        Step::Index(_) | Step::Any => None,
    }
}

fn parse(path: &str) -> Result<Path, Problem> {
    path.parse().map_err(|_| {
        Problem::unavailable(
            "the field policy",
            "it names a path that cannot be followed",
            "Mend the catalog.",
        )
    })
}
