//! The names that paths speak of, numbered.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::{Case, Step};

/// All names, sorted; a name's number is its place. Comparing whole names, not hashes, leaves nothing to guess.
#[derive(Debug)]
pub(super) struct Names {
    case: Case,
    sorted: Vec<Box<[u8]>>,
    /// By a key's first byte, which lengths names with it have: a bit each, the last for all that are longer.
    lengths: Box<[u64; 256]>,
}

impl Names {
    pub(super) fn of<'a>(steps: impl Iterator<Item = &'a Step>, case: Case) -> Self {
        let names = steps.filter_map(|step| match step {
            Step::Name(name) | Step::Descendant(name) => Some(case.folded(name.as_bytes())),
            Step::Index(_) | Step::Any => None,
        });
        let sorted: Vec<Box<[u8]>> =
            names.collect::<BTreeSet<_>>().into_iter().map(|name| Box::from(&*name)).collect();
        let mut lengths = Box::new([0; 256]);
        for name in &sorted {
            if let Some(bits) = lengths.get_mut(first(name)) {
                *bits |= bit(name);
            }
        }
        Self { case, sorted, lengths }
    }

    /// Could some path speak of this key? Most keys of a body end here.
    #[inline(always)]
    pub(super) fn may_have(&self, key: &[u8]) -> bool {
        self.case == Case::Ignored || self.has_one_like(key)
    }

    /// The number of a name, if some path speaks of it.
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        let may_fold = |byte: &u8| byte.is_ascii_uppercase() || !byte.is_ascii();
        let key = match self.case {
            Case::Ignored if key.iter().any(may_fold) => self.case.folded(key),
            _ => Cow::Borrowed(key),
        };
        if !self.has_one_like(&key) {
            return None;
        }
        let at = self.sorted.binary_search_by(|name| (**name).cmp(&key)).ok()?;
        u32::try_from(at).ok()
    }

    #[inline(always)]
    fn has_one_like(&self, key: &[u8]) -> bool {
        self.lengths.get(first(key)).is_some_and(|bits| bits & bit(key) != 0)
    }
}

impl Case {
    /// As it is compared: without case letters that differ in it are one, also those outside ASCII that fold into it.
    fn folded(self, name: &[u8]) -> Cow<'_, [u8]> {
        match (self, std::str::from_utf8(name)) {
            (Self::Ignored, Ok(text)) => {
                let folded = text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
                Cow::Owned(folded.collect::<String>().into_bytes())
            }
            _ => Cow::Borrowed(name),
        }
    }
}

fn first(name: &[u8]) -> usize {
    name.first().map_or(0, |byte| usize::from(*byte))
}

fn bit(name: &[u8]) -> u64 {
    1 << name.len().min(63)
}
