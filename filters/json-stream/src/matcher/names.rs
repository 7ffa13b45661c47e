//! The names that paths speak of, numbered.

use std::collections::BTreeSet;

use crate::Step;

/// All names, sorted; a name's number is its place. Comparing whole names, not hashes, leaves nothing to guess.
#[derive(Debug)]
pub(super) struct Names {
    sorted: Vec<Box<[u8]>>,
    /// By a key's first byte, which lengths names with it have: a bit each, the last for all that are longer.
    /// Most keys of a body are no path's, and end here.
    lengths: Box<[u64; 256]>,
}

impl Names {
    pub(super) fn of<'a>(steps: impl Iterator<Item = &'a Step>) -> Self {
        let names = steps.filter_map(|step| match step {
            Step::Name(name) | Step::Descendant(name) => Some(name.as_bytes()),
            Step::Index(_) | Step::Any => None,
        });
        let sorted: Vec<Box<[u8]>> = names.collect::<BTreeSet<_>>().into_iter().map(Box::from).collect();
        let mut lengths = Box::new([0; 256]);
        for name in &sorted {
            if let Some(bits) = lengths.get_mut(first(name)) {
                *bits |= bit(name);
            }
        }
        Self { sorted, lengths }
    }

    /// The number of a name, if some path speaks of it.
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        let bits = self.lengths.get(first(key))?;
        if bits & bit(key) == 0 {
            return None;
        }
        let at = self.sorted.binary_search_by(|name| (**name).cmp(key)).ok()?;
        u32::try_from(at).ok()
    }
}

fn first(name: &[u8]) -> usize {
    name.first().map_or(0, |byte| usize::from(*byte))
}

fn bit(name: &[u8]) -> u64 {
    1 << name.len().min(63)
}
