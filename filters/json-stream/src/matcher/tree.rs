//! The paths as a tree: what two paths begin with alike is there once.

use std::collections::BTreeMap;

use super::MatcherError;
use super::names::Names;
use crate::{Path, Step};

/// A node's place in the tree.
pub(super) type NodeId = usize;

/// The paths' common beginning.
pub(super) const TOP: NodeId = 0;

/// A place between two steps, and the steps that lead on.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The field of the paths that end here.
    pub(super) field: Option<usize>,
    pub(super) names: BTreeMap<u32, NodeId>,
    pub(super) indexes: BTreeMap<u32, NodeId>,
    pub(super) any: Option<NodeId>,
    pub(super) descendants: BTreeMap<u32, NodeId>,
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Tree {
    pub(super) fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(node)
    }

    pub(super) fn add(&mut self, path: &Path, field: usize, names: &Names) -> Result<(), MatcherError> {
        let mut at = TOP;
        for step in path.steps() {
            at = self.step(at, step, names).unwrap_or(TOP);
        }
        let Some(end) = self.nodes.get_mut(at) else { return Ok(()) };
        match end.field.replace(field) {
            Some(other) if other != field => Err(conflict(other, field)),
            _ => Ok(()),
        }
    }

    /// The node that a step leads to, made if it is not there yet. Every name of a path has a number.
    fn step(&mut self, at: NodeId, step: &Step, names: &Names) -> Option<NodeId> {
        let new = self.nodes.len();
        let node = self.nodes.get_mut(at)?;
        let next = match step {
            Step::Name(name) => *node.names.entry(names.find(name.as_bytes())?).or_insert(new),
            Step::Descendant(name) => *node.descendants.entry(names.find(name.as_bytes())?).or_insert(new),
            Step::Index(index) => *node.indexes.entry(*index).or_insert(new),
            Step::Any => *node.any.get_or_insert(new),
        };
        if next == new {
            self.nodes.push(Node::default());
        }
        Some(next)
    }
}

pub(super) fn conflict(one: usize, other: usize) -> MatcherError {
    MatcherError::Conflict { first: one.min(other), second: one.max(other) }
}
