//! What analysis said of texts, so that it says it once: by the text, and by what a text is apart from its plain values.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::rc::Rc;

use fieldveil_sql::{Analysis, Catalog, Names, Refusal, Replacement, Shape, Template};
use lru::LruCache;

use crate::database::holds_word;

/// Texts and shapes held at most, of each.
const MAX_HELD: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Text longer than this is analysed anew each time: 1,024 of them bound each cache to about 8 MiB.
const MAX_TEXT: usize = 8 << 10;

/// What analysis said of a text: the same for all who ask.
pub type Analysed = Rc<Result<Analysis, Refusal>>;

/// The analyses of one worker.
pub struct Analyses {
    texts: Cache<Analysed>,
    shapes: Cache<Template>,
}

impl Default for Analyses {
    fn default() -> Self {
        Self { texts: Cache::new(), shapes: Cache::new() }
    }
}

impl Analyses {
    /// The analysis of a text against the catalog with this fingerprint, and whether it was there.
    pub fn of(
        &mut self,
        text: &str,
        catalog: &Catalog,
        fingerprint: u64,
        names: &dyn Names,
    ) -> (Analysed, bool) {
        if let Some(known) = self.texts.get(fingerprint, text) {
            return (Rc::clone(known), true);
        }
        let may_be_kept = text.len() <= MAX_TEXT && !holds_word(text);
        let shape = if may_be_kept { Shape::of(text, catalog) } else { None };
        let known = shape.as_ref().and_then(|shape| {
            self.shapes.get(fingerprint, shape.key()).and_then(|template| template.analysis(text, shape))
        });
        if let Some(known) = known {
            debug_assert_eq!(Some(&known), fieldveil_sql::analyze_in(text, catalog, names).ok().as_ref());
            return (Rc::new(Ok(known)), true);
        }
        let analysed = fieldveil_sql::analyze_in(text, catalog, names);
        // Another session may have prepared what this one has not, and does not know what this one has.
        let everyones = analysed
            .as_ref()
            .ok()
            .filter(|_| may_be_kept)
            .filter(|analysis| analysis.statements.iter().all(|statement| statement.session.is_none()));
        if let (Some(analysis), Some(shape)) = (everyones, &shape)
            && let Some(template) = shape.template(text, analysis)
        {
            self.shapes.put(fingerprint, shape.key(), template);
        }
        let is_kept = everyones.is_some_and(|analysis| !analysis.splices.iter().any(is_value));
        let analysed = Rc::new(analysed);
        if is_kept {
            self.texts.put(fingerprint, text, Rc::clone(&analysed));
        }
        (analysed, false)
    }
}

fn is_value(splice: &fieldveil_sql::Splice) -> bool {
    matches!(splice.with, Replacement::Seal { .. })
}

/// The last that were used, by a text and the catalog that it was read against. To look for one takes no memory.
struct Cache<V> {
    /// By the hash of what [`Held`] has in full.
    held: LruCache<u64, Held<V>>,
    hasher: lru::DefaultHasher,
}

struct Held<V> {
    fingerprint: u64,
    text: Box<str>,
    value: V,
}

impl<V> Cache<V> {
    fn new() -> Self {
        Self { held: LruCache::new(MAX_HELD), hasher: lru::DefaultHasher::default() }
    }

    fn get(&mut self, fingerprint: u64, text: &str) -> Option<&V> {
        let held = self.held.get(&self.hasher.hash_one((fingerprint, text)))?;
        (held.fingerprint == fingerprint && *held.text == *text).then_some(&held.value)
    }

    fn put(&mut self, fingerprint: u64, text: &str, value: V) {
        let hash = self.hasher.hash_one((fingerprint, text));
        self.held.put(hash, Held { fingerprint, text: Box::from(text), value });
    }
}
