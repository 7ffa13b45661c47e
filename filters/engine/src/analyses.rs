//! A cache of what the analysis found in texts, by the text, and by the text's shape without its plain values.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::rc::Rc;

use fieldveil_sql::{Analysis, Catalog, Names, Refusal, Replacement, Shape, Template};
use lru::LruCache;

use crate::token_words::holds_word;

/// Texts and shapes held at most, of each.
const MAX_HELD: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Bytes that all of either take at most, with what is known of them.
const MAX_BYTES: usize = 8 << 20;
/// Text longer than this is analyzed anew each time.
const MAX_TEXT: usize = 8 << 10;
/// What an entry takes beside its text and what is known of it.
const ENTRY: usize = 128;

/// What analysis said of a text: the same for all who ask.
#[derive(Clone)]
pub struct WeighedAnalysis {
    /// What the text does.
    pub analysis: Rc<Analysis>,
    /// Bytes that it takes.
    pub bytes: usize,
}

/// The analyses of one worker.
pub struct Analyses {
    texts: Cache<WeighedAnalysis>,
    shapes: Cache<WeighedTemplate>,
    /// By the hash of what texts begin with, the hash of the shape that the last of them had.
    beginnings: LruCache<u64, u64>,
}

impl Default for Analyses {
    fn default() -> Self {
        Self { texts: Cache::new(), shapes: Cache::new(), beginnings: LruCache::new(MAX_HELD) }
    }
}

impl Analyses {
    /// The analysis of a text against the catalog with this fingerprint, and whether it was there. `in_use` tells how many
    /// bytes of memory are in use.
    pub fn of(
        &mut self,
        text: &str,
        catalog: &Catalog,
        fingerprint: u64,
        names: &dyn Names,
        in_use: &dyn Fn() -> usize,
    ) -> (Result<WeighedAnalysis, Refusal>, bool) {
        if let Some(known) = self.texts.get(fingerprint, text) {
            return (Ok(known.clone()), true);
        }
        let may_be_kept = text.len() <= MAX_TEXT && !holds_word(text);
        let (known, shape) =
            if may_be_kept { self.by_shape(text, catalog, fingerprint) } else { (None, None) };
        if let Some(known) = known {
            debug_assert_eq!(
                Some(&*known.analysis),
                fieldveil_sql::analyze_in(text, catalog, names).ok().as_ref()
            );
            return (Ok(known), true);
        }
        let before = in_use();
        let analyzed = match fieldveil_sql::analyze_in(text, catalog, names) {
            Ok(analysis) => {
                let analysis = Rc::new(analysis);
                WeighedAnalysis { analysis, bytes: in_use().saturating_sub(before) }
            }
            Err(refusal) => return (Err(refusal), false),
        };
        let analysis = &analyzed.analysis;
        // Another session may have prepared what this one has not, and does not know what this one has.
        if !may_be_kept || analysis.statements.iter().any(|statement| statement.session.is_some()) {
            return (Ok(analyzed), false);
        }
        let before = in_use();
        if let Some(shape) = &shape
            && let Some(template) = shape.template(text, analysis)
        {
            let bytes = in_use().saturating_sub(before).saturating_add(analyzed.bytes);
            let template = WeighedTemplate { template, bytes: analyzed.bytes };
            self.shapes.put(fingerprint, shape.key(), template, bytes);
        }
        if !analysis.splices.iter().any(is_value) {
            self.texts.put(fingerprint, text, analyzed.clone(), analyzed.bytes);
        }
        (Ok(analyzed), false)
    }

    /// The analysis of a text whose shape is known; else its shape, if it has one.
    fn by_shape(
        &mut self,
        text: &str,
        catalog: &Catalog,
        fingerprint: u64,
    ) -> (Option<WeighedAnalysis>, Option<Shape>) {
        let beginning = self.shapes.hash(fingerprint, before_values(text));
        // Most texts have the shape of the last one that began as they do.
        let last = self.beginnings.get(&beginning).and_then(|shape| self.shapes.at(*shape, fingerprint));
        let known =
            last.and_then(|held| Some(held.value.weighed(held.value.template.analysis_of(text, catalog)?)));
        if known.is_some() {
            return (known, None);
        }
        let Some(shape) = Shape::of(text, catalog) else { return (None, None) };
        self.beginnings.put(beginning, self.shapes.hash(fingerprint, shape.key()));
        let held = self.shapes.get(fingerprint, shape.key());
        let known = held.and_then(|held| Some(held.weighed(held.template.analysis(text, &shape)?)));
        (known, Some(shape))
    }
}

/// A template, with the bytes that an analysis takes which is made of it.
struct WeighedTemplate {
    template: Template,
    bytes: usize,
}

impl WeighedTemplate {
    fn weighed(&self, analysis: Analysis) -> WeighedAnalysis {
        WeighedAnalysis { analysis: Rc::new(analysis), bytes: self.bytes }
    }
}

/// What a text begins with, before the first byte that a value may have. Most texts of one shape begin with the same.
fn before_values(text: &str) -> &str {
    let may_begin = |byte: u8| byte == b'\'' || byte.is_ascii_digit();
    let end = text.bytes().position(may_begin).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

fn is_value(splice: &fieldveil_sql::Splice) -> bool {
    matches!(splice.with, Replacement::Seal { .. })
}

/// The entries that were used last, by a text and the catalog that it was read against. A lookup allocates nothing.
struct Cache<V> {
    /// By the hash of what [`HeldAnalysis`] has in full.
    held: LruCache<u64, HeldAnalysis<V>>,
    hasher: lru::DefaultHasher,
    bytes: usize,
}

struct HeldAnalysis<V> {
    fingerprint: u64,
    text: Box<str>,
    value: V,
    bytes: usize,
}

impl<V> Cache<V> {
    fn new() -> Self {
        Self { held: LruCache::new(MAX_HELD), hasher: lru::DefaultHasher::default(), bytes: 0 }
    }

    fn get(&mut self, fingerprint: u64, text: &str) -> Option<&V> {
        let held = self.at(self.hash(fingerprint, text), fingerprint)?;
        (*held.text == *text).then_some(&held.value)
    }

    fn hash(&self, fingerprint: u64, text: &str) -> u64 {
        self.hasher.hash_one((fingerprint, text))
    }

    /// The entry with this hash, if it was read against this catalog.
    fn at(&mut self, hash: u64, fingerprint: u64) -> Option<&HeldAnalysis<V>> {
        self.held.get(&hash).filter(|held| held.fingerprint == fingerprint)
    }

    /// Keeps a value of so many bytes, in the place of those that were used longest ago.
    fn put(&mut self, fingerprint: u64, text: &str, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(text.len()).saturating_add(ENTRY);
        if bytes > MAX_BYTES {
            return;
        }
        let hash = self.hash(fingerprint, text);
        let replaced =
            self.held.push(hash, HeldAnalysis { fingerprint, text: Box::from(text), value, bytes });
        let replaced = replaced.map_or(0, |(_, held)| held.bytes);
        self.bytes = self.bytes.saturating_add(bytes).saturating_sub(replaced);
        while self.bytes > MAX_BYTES
            && let Some((_, held)) = self.held.pop_lru()
        {
            self.bytes = self.bytes.saturating_sub(held.bytes);
        }
    }
}
