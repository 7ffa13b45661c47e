//! From the tree of paths to a deterministic automaton, by the subset construction.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::names::Names;
use super::tree::{Node, NodeId, TOP, Tree, conflict};
use super::{Matcher, MatcherError, State, StateId};

/// States: enough for 4,096 paths, the most that a plan has, of ten steps each; about 3 MB.
const MAX_STATES: usize = 40_960;
/// Keys and indexes that lead from a state to another: 1 MB.
const MAX_EDGES: usize = 131_072;

/// The state of the outermost value: the first that is made.
pub(super) const ROOT: StateId = 1;

/// Where in the tree a value can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// At a node: every step from it can be taken.
    At(NodeId),
    /// Anywhere below a node: only its `..name` steps can be.
    Below(NodeId),
}

/// All places of one value: what a state stands for.
type Places = BTreeSet<Place>;

/// Labels, names' numbers or indexes, and the states that they lead to.
type Edges = Vec<(u32, StateId)>;

/// Which of a node's steps can be taken at a place, by label.
type Leads = fn(&Node, Place) -> &BTreeMap<u32, NodeId>;

impl Place {
    fn node(self) -> NodeId {
        match self {
            Self::At(node) | Self::Below(node) => node,
        }
    }
}

impl Node {
    fn named(&self, place: Place) -> &BTreeMap<u32, NodeId> {
        match place {
            Place::At(_) => &self.names,
            Place::Below(_) => &self.descendants,
        }
    }

    /// Asked of what is at a node alone: no index is looked for below one.
    fn indexed(&self, place: Place) -> &BTreeMap<u32, NodeId> {
        match place {
            Place::At(_) => &self.indexes,
            Place::Below(_) => &NOTHING,
        }
    }
}

static NOTHING: BTreeMap<u32, NodeId> = BTreeMap::new();

fn is_at(place: Place) -> bool {
    matches!(place, Place::At(_))
}

fn append(to: &mut Edges, edges: Edges) -> Range<usize> {
    let begin = to.len();
    to.extend(edges);
    begin..to.len()
}

pub(super) fn determinize(tree: &Tree, names: Names) -> Result<Matcher, MatcherError> {
    let mut build = Builder {
        tree,
        known: BTreeMap::new(),
        waiting: Vec::new(),
        made: Matcher { names, states: Vec::new(), by_name: Vec::new(), by_index: Vec::new() },
    };
    // The first is DEAD: no place at all.
    build.state(Places::new())?;
    let mut top = Places::new();
    build.enter(TOP, &mut top);
    build.state(top)?;
    while let Some((id, places)) = build.waiting.pop() {
        build.connect(id, &places)?;
    }
    Ok(build.made)
}

struct Builder<'a> {
    tree: &'a Tree,
    known: BTreeMap<Places, StateId>,
    waiting: Vec<(StateId, Places)>,
    made: Matcher,
}

impl Builder<'_> {
    /// The state that stands for these places, made if it is not there yet.
    fn state(&mut self, places: Places) -> Result<StateId, MatcherError> {
        let field = self.field(&places)?;
        // Nothing is looked for inside a field, so all places that select it are one state.
        let places = match field {
            Some(_) => places.into_iter().filter(|place| self.selects(*place)).take(1).collect(),
            None => places,
        };
        if let Some(id) = self.known.get(&places) {
            return Ok(*id);
        }
        let too_large = MatcherError::TooLarge { what: "states", limit: MAX_STATES };
        let id = self.made.states.len();
        if id >= MAX_STATES {
            return Err(too_large);
        }
        let id = StateId::try_from(id).map_err(|_| too_large)?;
        self.made.states.push(State { field, ..State::default() });
        self.known.insert(places.clone(), id);
        if field.is_none() && !places.is_empty() {
            self.waiting.push((id, places));
        }
        Ok(id)
    }

    /// The field that selects a value at these places; two are a conflict.
    fn field(&self, places: &Places) -> Result<Option<usize>, MatcherError> {
        let mut fields = places.iter().filter_map(|place| self.node(*place)?.field.filter(|_| is_at(*place)));
        let Some(field) = fields.next() else { return Ok(None) };
        match fields.find(|other| *other != field) {
            Some(other) => Err(conflict(field, other)),
            None => Ok(Some(field)),
        }
    }

    fn selects(&self, place: Place) -> bool {
        is_at(place) && self.node(place).is_some_and(|node| node.field.is_some())
    }

    /// Makes all that leads on from a state.
    fn connect(&mut self, id: StateId, places: &Places) -> Result<(), MatcherError> {
        let (here, below): (Places, Places) = places.iter().partition(|place| is_at(**place));
        let mut rest = below.clone();
        for any in here.iter().filter_map(|place| self.node(*place)?.any) {
            self.enter(any, &mut rest);
        }
        // Without [*] all other children are just below, and that state knows the names of each ..name.
        let inherits = rest == below && !here.is_empty() && !below.is_empty();

        let names = self.edges(places, if inherits { &here } else { places }, &rest, Node::named)?;
        let by_name = append(&mut self.made.by_name, names);
        let indexes = self.edges(places, &here, &rest, Node::indexed)?;
        let by_index = append(&mut self.made.by_index, indexes);
        if self.made.by_name.len().saturating_add(self.made.by_index.len()) > MAX_EDGES {
            return Err(MatcherError::TooLarge { what: "keys and indexes to follow", limit: MAX_EDGES });
        }
        let other = self.state(rest)?;
        if let Some(state) = usize::try_from(id).ok().and_then(|id| self.made.states.get_mut(id)) {
            *state = State { field: None, names: by_name, indexes: by_index, other, inherits };
        }
        Ok(())
    }

    /// Where each label that is known at some of the places leads from all of them, sorted.
    fn edges(
        &mut self,
        all: &Places,
        some: &Places,
        rest: &Places,
        leads: Leads,
    ) -> Result<Edges, MatcherError> {
        let tree = self.tree;
        let of = |place: &Place| tree.node(place.node()).map(|node| leads(node, *place));
        let labels: BTreeSet<u32> = some.iter().filter_map(of).flatten().map(|(label, _)| *label).collect();
        let mut edges = Edges::with_capacity(labels.len());
        for label in labels {
            let mut next = rest.clone();
            for node in all.iter().filter_map(of).filter_map(|edges| edges.get(&label)) {
                self.enter(*node, &mut next);
            }
            edges.push((label, self.state(next)?));
        }
        Ok(edges)
    }

    /// Adds the places of a value that a step to this node selects.
    fn enter(&self, node: NodeId, places: &mut Places) {
        places.insert(Place::At(node));
        if self.tree.node(node).is_some_and(|node| !node.descendants.is_empty()) {
            places.insert(Place::Below(node));
        }
    }

    fn node(&self, place: Place) -> Option<&Node> {
        self.tree.node(place.node())
    }
}
